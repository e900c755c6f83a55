// SPDX-License-Identifier: Apache-2.0
#include "statistics/sums.hpp"

#include <cmath>

#include "base/strict_floating_point.hpp"

namespace afterbay::statistics {
void add_values(double* __restrict sums, const double* __restrict values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sums[i] += values[i];
}

void add_weighted(double* __restrict sums, const double* __restrict values, double weight,
                  std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sums[i] += weight * values[i];
}

void add_moments(double* __restrict means, double* __restrict squares, const double* __restrict values,
                 double weight, double total, std::size_t count) {
  const double ratio = weight / total;
  for (std::size_t i = 0; i < count; ++i) {
    const double difference = values[i] - means[i];
    const double mean = means[i] + difference * ratio;
    squares[i] += (weight * difference) * (values[i] - mean);
    means[i] = mean;
  }
}

// With valid = 0 the divisor is not 0, and nothing changes: mean + 0 * difference, square + 0. If
// the mean is infinite, the sum of squares is NaN already.
void add_moments_valid(double* __restrict means, double* __restrict squares, const double* __restrict values,
                       const double* __restrict valid, double weight, const double* __restrict totals,
                       std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const double own_weight = weight * valid[i];
    const double ratio = own_weight / (totals[i] + (1.0 - valid[i]));
    const double difference = values[i] - means[i];
    const double mean = means[i] + difference * ratio;
    squares[i] += (own_weight * difference) * (values[i] - mean);
    means[i] = mean;
  }
}

void widen(double* __restrict to, const std::uint32_t* __restrict from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
}

void round_to_integers(double* values, std::size_t count) {
  constexpr double no_fraction = 4503599627370496.0;  // 2^52: from there on all doubles are integers
  for (std::size_t i = 0; i < count; ++i) {
    const double size = std::fabs(values[i]);
    const double rounded = std::copysign((size + no_fraction) - no_fraction, values[i]);
    values[i] = size < no_fraction ? rounded : values[i];
  }
}

}  // namespace afterbay::statistics
