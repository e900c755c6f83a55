// SPDX-License-Identifier: Apache-2.0
// Totals: what is known of the values of which one result of a reduction over space is made. Totals
// of parts are added in any order: the result has the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "statistics/exact_sum.hpp"
#include "statistics/statistic.hpp"

namespace afterbay::statistics {

/// For mean, sum, minimum, maximum, range and standard_deviation (of the population). One thread at
/// a time, in the default floating-point environment.
class Totals {
 public:
  explicit Totals(StatisticKind kind) noexcept;

  /// NaN: the value is missing.
  void add(double value) noexcept;
  void clear() noexcept;
  /// Values, the missing ones included.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  /// Appends them: counts, and what the statistic needs of values that are not missing.
  void encode(std::vector<std::byte>& to) const;
  /// Adds encoded totals of the same kind, and removes them from `from`. Returns false if
  /// there are none.
  [[nodiscard]] bool add_encoded(std::span<const std::byte>& from) noexcept;

  /// NaN: the result is missing, because of the statistic's policy or because it is not a number.
  /// Sums are rounded once; a mean is the rounded sum divided by the number of values. -0.0 is
  /// smaller than 0.0.
  [[nodiscard]] double result(const Statistic& statistic) const;

 private:
  [[nodiscard]] bool sums() const noexcept;
  [[nodiscard]] double deviation() const;

  StatisticKind kind_;
  std::uint64_t count_ = 0;
  std::uint64_t valid_ = 0;
  ExactSum sum_;
  ExactSum squares_;  ///< only of standard deviations
  double lowest_ = 0;
  double highest_ = 0;
};

/// Appends a number; small ones take less room.
void encode_count(std::uint64_t count, std::vector<std::byte>& to);
/// Takes it from `from`; returns false if there is none.
[[nodiscard]] bool decode_count(std::uint64_t& count, std::span<const std::byte>& from) noexcept;

}  // namespace afterbay::statistics
