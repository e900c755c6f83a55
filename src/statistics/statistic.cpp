// SPDX-License-Identifier: Apache-2.0
#include "statistics/statistic.hpp"

namespace afterbay::statistics {
namespace {

bool can_be_weighted(Operation operation) {
  return operation == Operation::mean || operation == Operation::sum ||
         operation == Operation::standard_deviation;
}

}  // namespace

bool can_be_absorbed(const Statistic& statistic, Type type) noexcept {
  switch (statistic.operation) {
    case Operation::minimum:
    case Operation::maximum:
    case Operation::range: return true;
    case Operation::mean:
    case Operation::sum:
    case Operation::rate: return !statistic.weighted && size_of(type) <= sizeof(float);
    case Operation::instant:
    case Operation::standard_deviation:
    case Operation::once:
    case Operation::difference: return false;
  }
  return false;
}

std::string_view name_of(Operation operation) noexcept {
  switch (operation) {
    case Operation::instant: return "instant";
    case Operation::mean: return "mean";
    case Operation::sum: return "sum";
    case Operation::minimum: return "minimum";
    case Operation::maximum: return "maximum";
    case Operation::range: return "range";
    case Operation::standard_deviation: return "standard_deviation";
    case Operation::rate: return "rate";
    case Operation::once: return "once";
    case Operation::difference: return "difference";
  }
  return "unknown";
}

std::string text_of(const Statistic& statistic) {
  std::string text(name_of(statistic.operation));
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
  if (name_of(statistic.operation) == "unknown" || statistic.missing > Missing::threshold)
    return fail(ErrorCode::invalid_argument, "there is no statistic with operation {} and policy {}",
                static_cast<int>(statistic.operation), static_cast<int>(statistic.missing));
  if (type == Type::text || type == Type::string || name_of(type) == "unknown")
    return fail(ErrorCode::wrong_type, "a statistic ({}) needs numbers, and the field has values of type {}",
                name_of(statistic.operation), name_of(type));
  if (statistic.weighted && !can_be_weighted(statistic.operation))
    return fail(ErrorCode::invalid_argument,
                "{} cannot be weighted by duration: mean, sum and standard_deviation can",
                name_of(statistic.operation));
  if (statistic.sample && (statistic.operation != Operation::standard_deviation || statistic.weighted))
    return fail(ErrorCode::invalid_argument,
                "only a standard_deviation without weights can be that of a sample");
  const bool fraction = statistic.threshold > 0 && statistic.threshold <= 1;
  if (statistic.missing == Missing::threshold ? !fraction : statistic.threshold != 0)
    return fail(ErrorCode::invalid_argument,
                "the threshold of {} is {}: give a fraction above 0 and up to 1 with the policy threshold, "
                "and 0 with other policies",
                name_of(statistic.operation), statistic.threshold);
  return {};
}

}  // namespace afterbay::statistics
