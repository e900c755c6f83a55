// SPDX-License-Identifier: Apache-2.0
// StateMemory: memory for the state of one statistic, aligned as states need it. Not initialised,
// so that it is allocated when it is used.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "statistics/state.hpp"

namespace afterbay::statistics {

class StateMemory {
 public:
  StateMemory(const Statistic& statistic, Type type, std::size_t points)
      : lines_(lines_of(statistic, type, points)), memory_(std::make_unique_for_overwrite<Line[]>(lines_)) {}

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
  static std::size_t lines_of(const Statistic& statistic, Type type, std::size_t points) noexcept {
    return (state_bytes(statistic, type, points) + sizeof(Line) - 1) / sizeof(Line);
  }

  std::size_t lines_;
  std::unique_ptr<Line[]> memory_;
};

}  // namespace afterbay::statistics
