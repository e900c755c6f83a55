// SPDX-License-Identifier: Apache-2.0
// Axes of equal distances, whose points may have been 32-bit numbers.
#pragma once

#include <span>

namespace afterbay {

/// By how much points of an axis can be off if they were 32-bit numbers: two roundings of the
/// largest one.
double float32_tolerance(std::span<const double> points);

/// The mean distance of the points; 0 if there are less than two.
double mean_step(std::span<const double> points);

/// Whether all points are at most `tolerance` from those of equal distances between the first and
/// the last.
bool is_regular(std::span<const double> points, double tolerance);

}  // namespace afterbay
