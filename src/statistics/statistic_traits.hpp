// SPDX-License-Identifier: Apache-2.0
// StatisticTraits: what the rest of the library asks about a kind of statistic. One row per kind; a
// new one does not compile without its row.
#pragma once

#include <string_view>

#include "statistics/statistic.hpp"

namespace afterbay::statistics {

struct StatisticTraits {
  /// The method in cell_methods; empty: CF has none. Source: CF Conventions 1.11, appendix E.
  std::string_view cell_method = {};
  /// How results are named that are no values of the field's quantity, "rate of "; empty: they are.
  std::string_view new_quantity = {};
  /// The value of a single step as it is.
  bool copies_a_step = false;
  /// Each result is one of the values, so that their type holds it and it has their units.
  bool selects_a_value = false;
  /// No result is smaller than the smallest value, or larger than the largest one.
  bool keeps_limits = false;
  /// Results are proportional to the number of values: a shift of all values counts several times.
  bool is_sum = false;
  /// A shift of all values changes nothing.
  bool is_difference = false;
  /// With a negative factor, results are not those of the values before times the factor.
  bool needs_positive_factor = false;
  /// Results are divided by time.
  bool is_per_second = false;
  /// The state between steps consists of sums, so that values can be taken in a wider type.
  bool keeps_sums = false;
  /// May be computed for the parts of a cycle: depends on no value outside of the period.
  bool may_be_folded = true;
  /// May reduce dimensions other than time.
  bool may_reduce_dimensions = false;
};

constexpr StatisticTraits traits_of(StatisticKind kind) noexcept {
  switch (kind) {
    case StatisticKind::instant:
      return {.copies_a_step = true, .selects_a_value = true, .keeps_limits = true, .may_be_folded = false};
    case StatisticKind::once: return {.copies_a_step = true, .selects_a_value = true, .keeps_limits = true};
    case StatisticKind::mean:
      return {.cell_method = "mean", .keeps_limits = true, .keeps_sums = true, .may_reduce_dimensions = true};
    case StatisticKind::sum:
      return {.cell_method = "sum", .is_sum = true, .keeps_sums = true, .may_reduce_dimensions = true};
    case StatisticKind::rate:
      return {.new_quantity = "rate of ", .is_sum = true, .is_per_second = true, .keeps_sums = true};
    case StatisticKind::minimum:
      return {.cell_method = "minimum",
              .selects_a_value = true,
              .keeps_limits = true,
              .needs_positive_factor = true,
              .may_reduce_dimensions = true};
    case StatisticKind::maximum:
      return {.cell_method = "maximum",
              .selects_a_value = true,
              .keeps_limits = true,
              .needs_positive_factor = true,
              .may_reduce_dimensions = true};
    case StatisticKind::range:
      return {.cell_method = "range",
              .is_difference = true,
              .needs_positive_factor = true,
              .may_reduce_dimensions = true};
    case StatisticKind::standard_deviation:
      return {.cell_method = "standard_deviation",
              .is_difference = true,
              .needs_positive_factor = true,
              .keeps_sums = true,
              .may_reduce_dimensions = true};
    case StatisticKind::difference:
      return {.new_quantity = "difference of ", .is_difference = true, .may_be_folded = false};
  }
  return {};
}

}  // namespace afterbay::statistics
