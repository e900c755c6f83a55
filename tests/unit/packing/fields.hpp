// SPDX-License-Identifier: Apache-2.0
// Fields for the tests of packing: random shapes, magnitudes, missing points and zeros.
#pragma once

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "packing/wgdos.hpp"

namespace afterbay::packing::test {

template <class T>
struct Field {
  FieldShape shape;
  int accuracy = 0;
  std::vector<T> values;
};

/// Rows of different kinds: smooth, noise, constant, zero, all missing, and mixtures with missing
/// points and zeros. The accuracy leaves at most 31 bits for each row.
template <class T>
Field<T> random_field(std::mt19937_64& generator, std::size_t most_rows = 12,
                      std::size_t most_columns = 300) {
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(generator() % limit); };
  const auto chance = [&](int percent) { return below(100) < static_cast<std::size_t>(percent); };
  std::normal_distribution<double> normal;
  Field<T> field;
  field.shape = {1 + below(most_rows), 1 + below(most_columns)};
  const int magnitude = static_cast<int>(below(50)) - 30;
  field.accuracy = magnitude - static_cast<int>(below(24)) + 4;
  for (std::size_t row = 0; row < field.shape.rows; ++row) {
    const auto kind = below(6);
    const double offset = std::ldexp(normal(generator), magnitude + static_cast<int>(below(4)));
    const int missing = chance(40) ? static_cast<int>(below(101)) : 0;
    const int zeros = chance(40) ? static_cast<int>(below(101)) : 0;
    for (std::size_t column = 0; column < field.shape.columns; ++column) {
      const double x = static_cast<double>(column);
      double value = offset;
      if (kind == 1) value = std::ldexp(normal(generator), magnitude);
      if (kind == 2) value += std::ldexp(std::sin(x / 20), magnitude);
      if (kind == 3) value = 0;
      if (kind == 4) value += std::ldexp(normal(generator), magnitude - 6);
      if (chance(zeros)) value = chance(50) ? 0.0 : -0.0;
      if (kind == 5 || chance(missing)) value = um_missing;
      field.values.push_back(static_cast<T>(value));
    }
  }
  return field;
}

}  // namespace afterbay::packing::test
