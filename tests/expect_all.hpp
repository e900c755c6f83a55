// SPDX-License-Identifier: Apache-2.0
// Compares many values and names the first wrong one. One assertion per value would take most of
// the time of tests that read whole files, above all under sanitizers.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace afterbay::test {

/// Expects `size` values, the i-th of which is `expected(i)`. `of`: what has the values.
template <class T, class Expected>
void expect_all(const std::vector<T>& values, std::uint64_t size, Expected expected, const std::string& of) {
  ASSERT_EQ(values.size(), size) << of;
  for (std::uint64_t i = 0; i < size; ++i) {
    const T wanted = expected(i);
    if (values[i] == wanted) continue;
    FAIL() << of << ": value " << i << " is " << values[i] << ", not " << wanted;
  }
}

}  // namespace afterbay::test
