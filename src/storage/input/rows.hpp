// SPDX-License-Identifier: Apache-2.0
// for_each_row: cuts a box that lies in two dense arrays into rows that are contiguous in both.
#pragma once

#include <array>
#include <cstdint>

#include "base/result.hpp"
#include "model/box.hpp"

namespace afterbay::storage {

/// The position of a box in a dense array.
struct BoxInArray {
  model::Index lengths;  ///< lengths of the array
  model::Index start;    ///< start of the box in the array
};

/// Calls `row(from_element, to_element, elements)` for each row of a box of `count` values, in C
/// order, until one fails.
template <class Row>
Result<> for_each_row(const model::Index& count, const BoxInArray& from, const BoxInArray& to, Row&& row) {
  if (count.product() == 0) return {};
  std::size_t dims = count.size;
  std::uint64_t elements = 1;
  std::uint64_t from_stride = 1;
  std::uint64_t to_stride = 1;
  std::uint64_t from_at = 0;
  std::uint64_t to_at = 0;
  std::array<std::uint64_t, model::max_dimensions> from_strides{};
  std::array<std::uint64_t, model::max_dimensions> to_strides{};
  bool whole = true;  // all faster dimensions are complete in both arrays
  for (std::size_t d = count.size; d-- > 0;) {
    from_strides[d] = from_stride;
    to_strides[d] = to_stride;
    from_at += from.start[d] * from_stride;
    to_at += to.start[d] * to_stride;
    from_stride *= from.lengths[d];
    to_stride *= to.lengths[d];
    if (!whole) continue;
    dims = d;
    elements *= count[d];
    whole = count[d] == from.lengths[d] && count[d] == to.lengths[d];
  }
  std::array<std::uint64_t, model::max_dimensions> index{};
  while (true) {
    AFTERBAY_TRY(row(from_at, to_at, elements));
    std::size_t d = dims;
    for (; d > 0; --d) {
      from_at += from_strides[d - 1];
      to_at += to_strides[d - 1];
      if (++index[d - 1] < count[d - 1]) break;
      from_at -= count[d - 1] * from_strides[d - 1];
      to_at -= count[d - 1] * to_strides[d - 1];
      index[d - 1] = 0;
    }
    if (d == 0) return {};
  }
}

}  // namespace afterbay::storage
