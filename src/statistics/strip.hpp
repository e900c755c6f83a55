// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace afterbay::statistics {

/// Points that all statistics of a bundle process before the next points: their values in double
/// precision and the parts of the states fit the first-level cache. Results do not depend on it.
inline constexpr std::size_t strip_points = 256;

}  // namespace afterbay::statistics
