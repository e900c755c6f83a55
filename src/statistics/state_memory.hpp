// SPDX-License-Identifier: Apache-2.0
// StateMemory: memory for the state of one statistic, aligned as states need it. Not initialised,
// so that it is allocated when it is used.
#pragma once

#include <cstddef>
#include <memory>
#include <memory_resource>
#include <span>

#include "base/rounding.hpp"
#include "statistics/state.hpp"

namespace afterbay::statistics {

class StateMemory {
 public:
  /// `from` outlives it. Throws std::bad_alloc when memory is out.
  StateMemory(const Statistic& statistic, Type type, std::size_t points,
              std::pmr::memory_resource& from = *std::pmr::new_delete_resource())
      : lines_(lines_of(statistic, type, points)),
        memory_(static_cast<Line*>(from.allocate(lines_ * sizeof(Line), alignof(Line))),
                Free{&from, lines_}) {}

  [[nodiscard]] std::span<std::byte> bytes() const noexcept {
    return {reinterpret_cast<std::byte*>(memory_.get()), lines_ * sizeof(Line)};
  }
  /// The size that such memory has.
  [[nodiscard]] static std::size_t bytes_of(const Statistic& statistic, Type type,
                                            std::size_t points) noexcept {
    return lines_of(statistic, type, points) * sizeof(Line);
  }

 private:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  struct Free {
    std::pmr::memory_resource* from;
    std::size_t lines;
    void operator()(Line* memory) const { from->deallocate(memory, lines * sizeof(Line), alignof(Line)); }
  };
  static std::size_t lines_of(const Statistic& statistic, Type type, std::size_t points) noexcept {
    return divided_up(state_bytes(statistic, type, points), sizeof(Line));
  }

  std::size_t lines_;
  std::unique_ptr<Line, Free> memory_;
};

}  // namespace afterbay::statistics
