// SPDX-License-Identifier: Apache-2.0
// The reference for statistics over time: what adding values to sums costs at least.
#pragma once

#include <cstddef>

namespace bench {

/// Adds each value to its sum. Optimised also in builds whose programs are not; compilers vectorise
/// it.
template <class T>
[[gnu::noinline, gnu::optimize("O3")]] void plain_sum(double* __restrict sums, const T* __restrict values,
                                                      std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sums[i] += values[i];
}

}  // namespace bench
