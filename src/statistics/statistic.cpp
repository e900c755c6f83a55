// SPDX-License-Identifier: Apache-2.0
#include "statistics/statistic.hpp"

namespace afterbay::statistics {
namespace {

bool can_be_weighted(StatisticKind kind) {
  return kind == StatisticKind::mean || kind == StatisticKind::sum ||
         kind == StatisticKind::standard_deviation;
}

}  // namespace

bool can_be_absorbed(const Statistic& statistic, Type type) noexcept {
  switch (statistic.kind) {
    case StatisticKind::minimum:
    case StatisticKind::maximum:
    case StatisticKind::range: return true;
    case StatisticKind::mean:
    case StatisticKind::sum:
    case StatisticKind::rate: return !statistic.weighted && size_of(type) <= sizeof(float);
    case StatisticKind::instant:
    case StatisticKind::standard_deviation:
    case StatisticKind::once:
    case StatisticKind::difference: return false;
  }
  return false;
}

std::string_view name_of(StatisticKind kind) noexcept {
  switch (kind) {
    case StatisticKind::instant: return "instant";
    case StatisticKind::mean: return "mean";
    case StatisticKind::sum: return "sum";
    case StatisticKind::minimum: return "minimum";
    case StatisticKind::maximum: return "maximum";
    case StatisticKind::range: return "range";
    case StatisticKind::standard_deviation: return "standard_deviation";
    case StatisticKind::rate: return "rate";
    case StatisticKind::once: return "once";
    case StatisticKind::difference: return "difference";
  }
  return "unknown";
}

std::string text_of(const Statistic& statistic) {
  std::string text(name_of(statistic.kind));
  if (statistic.sample) text += " of a sample";
  if (statistic.weighted) text += ", weighted by duration";
  switch (statistic.missing) {
    case Missing::none: break;
    case Missing::ignore: text += ", missing values ignored"; break;
    case Missing::poison: text += ", missing if any value is"; break;
    case Missing::threshold:
      text += fmt::format(", missing if less than {} of the values are valid", statistic.threshold);
      break;
  }
  return text;
}

Result<> check(const Statistic& statistic, Type type) {
  if (name_of(statistic.kind) == "unknown" || statistic.missing > Missing::threshold)
    return fail(ErrorCode::invalid_argument, "there is no statistic of kind {} with policy {}",
                static_cast<int>(statistic.kind), static_cast<int>(statistic.missing));
  if (type == Type::text || type == Type::string || name_of(type) == "unknown")
    return fail(ErrorCode::wrong_type, "a statistic ({}) needs numbers, and the field has values of type {}",
                name_of(statistic.kind), name_of(type));
  if (statistic.weighted && !can_be_weighted(statistic.kind))
    return fail(ErrorCode::invalid_argument,
                "{} cannot be weighted by duration: mean, sum and standard_deviation can",
                name_of(statistic.kind));
  if (statistic.sample && (statistic.kind != StatisticKind::standard_deviation || statistic.weighted))
    return fail(ErrorCode::invalid_argument,
                "only a standard_deviation without weights can be that of a sample");
  const bool fraction = statistic.threshold > 0 && statistic.threshold <= 1;
  if (statistic.missing == Missing::threshold ? !fraction : statistic.threshold != 0)
    return fail(ErrorCode::invalid_argument,
                "the threshold of {} is {}: give a fraction above 0 and up to 1 with the policy threshold, "
                "and 0 with other policies",
                name_of(statistic.kind), statistic.threshold);
  return {};
}

}  // namespace afterbay::statistics
