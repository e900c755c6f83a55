// SPDX-License-Identifier: Apache-2.0
// Iterates over a variable in slabs, and formats values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "afterbay/schema.hpp"

namespace afterbay::app {

/// Cuts an index space into boxes of whole trailing dimensions, in C order.
class SlabWalk {
 public:
  /// Boxes have at most `most_points` points, unless a single innermost index range is larger.
  SlabWalk(std::vector<std::uint64_t> shape, std::uint64_t most_points);

  [[nodiscard]] bool done() const noexcept { return done_; }
  void next();

  [[nodiscard]] const std::vector<std::uint64_t>& start() const noexcept { return start_; }
  [[nodiscard]] const std::vector<std::uint64_t>& count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t points() const noexcept;

 private:
  std::vector<std::uint64_t> shape_;
  std::vector<std::uint64_t> start_;
  std::vector<std::uint64_t> count_;
  std::size_t cut_ = 0;  ///< the dimension cut into steps; earlier dimensions advance by one
  std::uint64_t step_ = 1;
  bool done_ = false;
};

/// The index of point `number` (C order) of the box that begins at `start` with `count` lengths:
/// "[3, 10]".
std::string text_of_index(std::span<const std::uint64_t> start, std::span<const std::uint64_t> count,
                          std::uint64_t number);

/// One value: 273.15, 'a', "text". With `bits`, floating-point numbers are followed by their bits:
/// nan (0x7fc00001).
std::string text_of_value(Type type, const std::byte* value, bool bits);
std::string text_of_string(std::string_view value);

/// Type and values, with long lists shortened: float64 0.5, 1.5; text "K".
std::string text_of_values(const Values& values, bool bits);

}  // namespace afterbay::app
