// SPDX-License-Identifier: Apache-2.0
// The columns of a state as planes: arrays with an element of 4 or 8 bytes for each point, so that
// they can be handed over and stored as values of a variable with this size are. A column of
// doubles has two planes of 4 bytes; counts in planes of 8 bytes have zeros in their upper halves.
#pragma once

#include <cstddef>
#include <cstdint>

#include "statistics/state.hpp"

namespace afterbay::statistics {

/// A state as planes whose elements have `element` bytes: 4 or 8, and 8 only if values of its field
/// have 8.
class Planes {
 public:
  Planes(const State& state, std::size_t element) noexcept : state_(state), element_(element) {}

  [[nodiscard]] std::uint32_t count() const noexcept;
  /// Copies a plane of all points to `to`, at any address. `number` < count().
  void get(std::uint32_t number, std::byte* to) const noexcept;
  /// Sets a plane of all points.
  void set(std::uint32_t number, const std::byte* from) const noexcept;

 private:
  const State& state_;
  std::size_t element_;
};

}  // namespace afterbay::statistics
