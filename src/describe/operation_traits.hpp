// SPDX-License-Identifier: Apache-2.0
// What is asked about the operations of descriptions: see statistics/statistic_traits.hpp.
#pragma once

#include "describe/description.hpp"
#include "statistics/statistic_traits.hpp"

namespace afterbay::describe {

/// The statistic that computes the operation over the period of a file. `write` writes the values
/// of its expression as they are.
constexpr statistics::StatisticKind statistic_of(Operation operation) noexcept {
  using To = statistics::StatisticKind;
  switch (operation) {
    case Operation::mean: return To::mean;
    case Operation::sum: return To::sum;
    case Operation::min: return To::minimum;
    case Operation::max: return To::maximum;
    case Operation::range: return To::range;
    case Operation::stddev: return To::standard_deviation;
    case Operation::rate: return To::rate;
    case Operation::difference: return To::difference;
    case Operation::once: return To::once;
    case Operation::instant:
    case Operation::write: return To::instant;
  }
  return To::instant;
}

constexpr statistics::StatisticTraits traits_of(Operation operation) noexcept {
  return statistics::traits_of(statistic_of(operation));
}

}  // namespace afterbay::describe
