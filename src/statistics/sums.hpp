// SPDX-License-Identifier: Apache-2.0
// The loops over sums and moments, in double precision. No function looks at a neighbour, so that
// results depend neither on cuts nor on the width of vectors. None has branches or selections, so
// that compilers vectorise all. Arrays do not overlap.
#pragma once

#include <cstddef>
#include <cstdint>

namespace afterbay::statistics {

/// sum += value, sum += weight * value. A missing value that is left out is -0.0 here.
void add_values(double* sums, const double* values, std::size_t count);
void add_weighted(double* sums, const double* values, double weight, std::size_t count);

/// The mean and the sum of squared differences from it, by the recurrences of Welford (1962), with
/// weights by West (1979). `total`: the sum of the weights up to this step.
void add_moments(double* means, double* squares, const double* values, double weight, double total,
                 std::size_t count);
/// The same with one total per point. `valid` is 1.0, or 0.0 if the value is left out; the value is
/// then any finite number.
void add_moments_valid(double* means, double* squares, const double* values, const double* valid,
                       double weight, const double* totals, std::size_t count);

/// Integers as doubles.
void widen(double* to, const std::uint32_t* from, std::size_t count);

/// Rounds to the nearest integer, halves to even; keeps NaN and infinities.
void round_to_integers(double* values, std::size_t count);

}  // namespace afterbay::statistics
