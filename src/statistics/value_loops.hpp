// SPDX-License-Identifier: Apache-2.0
// The loops over values in the type of the field: conversion to double, missing values, extremes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "afterbay/schema.hpp"
#include "statistics/statistic.hpp"

namespace afterbay::statistics {

/// Loops for one type and its missing values. Immutable; may be used by any thread. `from` needs no
/// alignment. Arrays do not overlap.
class ValueLoops {
 public:
  virtual ~ValueLoops() = default;
  ValueLoops(const ValueLoops&) = delete;
  ValueLoops& operator=(const ValueLoops&) = delete;

  /// To the nearest double.
  virtual void widen(double* to, const std::byte* from, std::size_t count) const = 0;
  /// sum += value, the same sums as those of widened values.
  virtual void add(double* sums, const std::byte* from, std::size_t count) const = 0;
  /// Like widen; missing values become -0.0 (of integers: 0), which changes no sum.
  virtual void widen_valid(double* to, const std::byte* from, std::size_t count) const = 0;
  /// The same; missing values become NaN.
  virtual void widen_poisoned(double* to, const std::byte* from, std::size_t count) const = 0;
  /// 1.0 for values, 0.0 for missing ones.
  virtual void find_valid(double* to, const std::byte* from, std::size_t count) const = 0;
  /// Adds 1 for each value that is not missing.
  virtual void count_valid(std::uint32_t* counts, const std::byte* from, std::size_t count) const = 0;
  /// Keeps the smaller (`lowest`) or larger one of state and value, the state if they are equal (so
  /// are -0.0 and 0.0). NaN or missing values: `none`, a NaN stays; `poison`, a missing value
  /// stays; others, a missing value gives way. `extremes`: values of the field's type, aligned for
  /// it.
  virtual void keep_extreme(bool lowest, Missing policy, std::byte* extremes, const std::byte* from,
                            std::size_t count) const = 0;
  /// high - low, rounded once.
  virtual void subtract(double* to, const std::byte* high, const std::byte* low, std::size_t count) const = 0;
  /// Sets marks[i] to 1 if the value is missing; other marks remain.
  virtual void mark_missing(std::uint8_t* marks, const std::byte* from, std::size_t count) const = 0;

 protected:
  ValueLoops() = default;
};

/// `missing`: one or more values of `type`, which must be a type of numbers.
std::unique_ptr<const ValueLoops> value_loops(Type type, const Values& missing);

}  // namespace afterbay::statistics
