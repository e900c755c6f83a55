// SPDX-License-Identifier: Apache-2.0
// Values of any type of numbers as doubles.
#pragma once

#include <vector>

#include "afterbay/schema.hpp"

namespace afterbay::output {

/// Numbers, to the nearest double; empty for text and strings.
std::vector<double> numbers_of(const Values& values);

/// The values at these places, in this order; of rows of `row` values each.
Values selected(const Values& values, const std::vector<std::uint64_t>& places, std::size_t row = 1);

}  // namespace afterbay::output
