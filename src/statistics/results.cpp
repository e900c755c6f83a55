// SPDX-License-Identifier: Apache-2.0
// Bundle::result: from states to values of the file.
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/default_arithmetic.hpp"
#include "base/strict_floating_point.hpp"
#include "model/convert/kernels.hpp"
#include "statistics/bundle.hpp"
#include "statistics/statistic_traits.hpp"
#include "statistics/strip.hpp"
#include "statistics/sums.hpp"

namespace afterbay::statistics {
namespace {

bool selects(StatisticKind kind) { return traits_of(kind).selects_a_value; }

bool is_integer(Type type) { return type != Type::float32 && type != Type::float64; }

/// How the sums of an interval are divided.
struct Divisor {
  const double* per_point;  ///< null: `all` for every point
  double all;
  [[nodiscard]] double at(std::size_t i) const { return per_point != nullptr ? per_point[i] : all; }
};

void divide(double* to, const double* sums, const Divisor& by, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = sums[i] / by.at(i);
}

/// `subtract`: 1 for samples. A negative sum of squares cannot occur: each term is a product of two
/// factors of the same sign.
void deviate(double* to, const double* squares, const Divisor& by, double subtract, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = std::sqrt(squares[i] / (by.at(i) - subtract));
}

/// One NaN for all: which bits a NaN has after an addition depends on the order of the operands.
void unify_nans(double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    values[i] = values[i] == values[i] ? values[i] : std::numeric_limits<double>::quiet_NaN();
}

Result<> check_target(const ResultFormat& target, Type field) {
  if (target.fill.type != target.type || target.fill.count() != 1)
    return fail(ErrorCode::invalid_argument, "the fill value for results of type {} is {} of type {}",
                name_of(target.type), target.fill.count(), name_of(target.fill.type));
  if (!model::kernel(field, target.type, target.swap_bytes))
    return fail(ErrorCode::wrong_type, "results of a field of type {} cannot be stored as {}", name_of(field),
                name_of(target.type));
  return {};
}

}  // namespace

Result<ResultCounts> Bundle::result(std::size_t number, const ResultFormat& target, std::byte* to,
                                    std::size_t first, std::size_t count) const {
  assert(first <= points_ && count <= points_ - first);
  AFTERBAY_TRY(check_target(target, field_.type));
  const DefaultArithmetic arithmetic;
  ResultCounts all;
  for (std::size_t done = 0; done < count; done += strip_points) {
    const ResultCounts part = strip_result(items_[number], target, to + done * size_of(target.type),
                                           first + done, std::min(strip_points, count - done));
    all.missing += part.missing;
    all.out_of_range += part.out_of_range;
  }
  return all;
}

ResultCounts Bundle::strip_result(const Item& item, const ResultFormat& target, std::byte* to,
                                  std::size_t first, std::size_t count) const {
  alignas(64) std::array<double, strip_points> values;  // or values of the field's type, which are not larger
  std::array<std::uint8_t, strip_points> marks{};
  auto* const from = reinterpret_cast<std::byte*>(values.data());
  const bool selected = selects(item.statistic.kind);
  const Type type = selected ? field_.type : Type::float64;
  const std::size_t from_bytes = size_of(type);
  const std::size_t to_bytes = size_of(target.type);
  ResultCounts outcome;
  if (item.state.progress().steps == 0) {
    std::fill_n(marks.data(), count, std::uint8_t{1});
  } else {
    if (selected)
      std::memcpy(from, item.state.values(0) + first * from_bytes, count * from_bytes);
    else
      compute(item, values.data(), first, count);
    mark(item, marks.data(), first, count);
    if (!selected) {
      if (item.statistic.missing == Missing::poison)
        for (std::size_t i = 0; i < count; ++i) marks[i] |= static_cast<std::uint8_t>(values[i] != values[i]);
      unify_nans(values.data(), count);
      if (is_integer(target.type)) round_to_integers(values.data(), count);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (marks[i] == 0) continue;
    ++outcome.missing;
    std::memset(from + i * from_bytes, 0, from_bytes);  // 0 is in the range of every type
  }
  outcome.out_of_range = model::kernel(type, target.type, target.swap_bytes)
                             .row(to, from, count, static_cast<std::ptrdiff_t>(to_bytes),
                                  static_cast<std::ptrdiff_t>(from_bytes));
  if (outcome.missing == 0) return outcome;
  std::array<std::byte, sizeof(double)> fill{};
  std::memcpy(fill.data(), target.fill.bytes.data(), to_bytes);
  if (target.swap_bytes) std::reverse(fill.begin(), fill.begin() + static_cast<std::ptrdiff_t>(to_bytes));
  for (std::size_t i = 0; i < count; ++i)
    if (marks[i] != 0) std::memcpy(to + i * to_bytes, fill.data(), to_bytes);
  return outcome;
}

void Bundle::compute(const Item& item, double* to, std::size_t first, std::size_t count) const {
  const State& state = item.state;
  const Statistic& statistic = item.statistic;
  if (statistic.kind == StatisticKind::range || statistic.kind == StatisticKind::difference) {
    const std::size_t at = first * state.layout().value_bytes;
    return loops_->subtract(to, state.values(1) + at, state.values(0) + at, count);
  }
  const bool by_duration = statistic.weighted || statistic.kind == StatisticKind::rate;
  Divisor by{nullptr, by_duration ? state.progress().duration : static_cast<double>(state.progress().steps)};
  alignas(64) std::array<double, strip_points> counts;
  if (state.layout().durations) by.per_point = state.durations() + first;
  if (state.layout().counts) {
    widen(counts.data(), state.counts() + first, count);
    by.per_point = counts.data();
  }
  if (statistic.kind == StatisticKind::standard_deviation)
    deviate(to, state.doubles(1) + first, by, statistic.sample ? 1 : 0, count);
  else if (statistic.kind == StatisticKind::sum)
    std::copy_n(state.doubles(0) + first, count, to);
  else
    divide(to, state.doubles(0) + first, by, count);
}

/// Sets marks of missing results; those of sums with the policy `poison` are NaN instead.
void Bundle::mark(const Item& item, std::uint8_t* marks, std::size_t first, std::size_t count) const {
  const State& state = item.state;
  const Statistic& statistic = item.statistic;
  const Layout& layout = state.layout();
  if (statistic.missing != Missing::none)
    for (std::uint32_t column = 0; column < layout.values; ++column)
      loops_->mark_missing(marks, state.values(column) + first * layout.value_bytes, count);
  const auto mark_if = [&](auto is_missing) {
    for (std::size_t i = 0; i < count; ++i) marks[i] |= static_cast<std::uint8_t>(is_missing(i));
  };
  const IntervalProgress& progress = state.progress();
  const auto mark_too_few = [&](const auto* valid, double all) {
    mark_if([&](std::size_t i) {
      const auto part = static_cast<double>(valid[i]);
      return part == 0 || part / all < statistic.threshold;  // the threshold of other policies is 0
    });
  };
  if (layout.counts) mark_too_few(state.counts() + first, static_cast<double>(progress.steps));
  if (layout.durations) mark_too_few(state.durations() + first, progress.duration);
  if (!statistic.sample) return;
  if (layout.counts)
    mark_if([valid = state.counts() + first](std::size_t i) { return valid[i] < 2; });
  else if (progress.steps < 2)
    std::fill_n(marks, count, std::uint8_t{1});
}

}  // namespace afterbay::statistics
