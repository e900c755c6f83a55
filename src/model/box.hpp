// SPDX-License-Identifier: Apache-2.0
// Box: a rectangular part of an index space of up to 8 dimensions (7 and one record dimension).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace afterbay::model {

inline constexpr std::size_t max_dimensions = 8;

/// A short list of lengths or indices, one per dimension, in C order.
struct Index {
  std::array<std::uint64_t, max_dimensions> values{};
  std::uint32_t size = 0;

  Index() = default;
  explicit Index(std::span<const std::uint64_t> from) : size(static_cast<std::uint32_t>(from.size())) {
    std::copy(from.begin(), from.end(), values.begin());
  }
  static Index filled(std::size_t count, std::uint64_t value) {
    Index index;
    index.size = static_cast<std::uint32_t>(count);
    std::fill_n(index.values.begin(), count, value);
    return index;
  }
  std::uint64_t& operator[](std::size_t i) { return values[i]; }
  const std::uint64_t& operator[](std::size_t i) const { return values[i]; }
  void push_back(std::uint64_t value) { values[size++] = value; }
  [[nodiscard]] const std::uint64_t* begin() const { return values.data(); }
  [[nodiscard]] const std::uint64_t* end() const { return values.data() + size; }
  [[nodiscard]] std::uint64_t product() const {
    std::uint64_t result = 1;
    for (std::uint32_t i = 0; i < size; ++i) result *= values[i];
    return result;
  }
  friend bool operator==(const Index& a, const Index& b) {
    return a.size == b.size && std::equal(a.begin(), a.end(), b.begin());
  }
};

struct Box {
  Index start;
  Index count;
  [[nodiscard]] std::size_t rank() const { return count.size; }
  [[nodiscard]] std::uint64_t points() const { return count.product(); }
  [[nodiscard]] bool empty() const { return points() == 0; }
  friend bool operator==(const Box&, const Box&) = default;
};

/// The common part; its count is 0 in some dimension if there is none. The ranks of both boxes must
/// be equal.
inline Box intersect(const Box& a, const Box& b) {
  Box common{Index::filled(a.rank(), 0), Index::filled(a.rank(), 0)};
  for (std::size_t i = 0; i < a.rank(); ++i) {
    const std::uint64_t low = std::max(a.start[i], b.start[i]);
    const std::uint64_t high = std::min(a.start[i] + a.count[i], b.start[i] + b.count[i]);
    common.start[i] = low;
    common.count[i] = high > low ? high - low : 0;
  }
  return common;
}

}  // namespace afterbay::model
