// SPDX-License-Identifier: Apache-2.0
#include "statistics/state.hpp"

#include "base/rounding.hpp"

namespace afterbay::statistics {
namespace {

constexpr std::size_t line_bytes = 64;  // columns begin at multiples of it

constexpr std::size_t padded(std::size_t bytes) { return rounded_up(bytes, line_bytes); }

constexpr std::size_t head_bytes = padded(sizeof(IntervalProgress));

}  // namespace

Layout layout_of(const Statistic& statistic, Type type) noexcept {
  Layout layout;
  layout.value_bytes = size_of(type);
  const bool left_out = leaves_out(statistic.missing);
  switch (statistic.kind) {
    case StatisticKind::mean:
    case StatisticKind::sum:
    case StatisticKind::rate:
    case StatisticKind::standard_deviation:
      layout.doubles = statistic.kind == StatisticKind::standard_deviation ? 2 : 1;
      layout.durations = left_out && (statistic.weighted || statistic.kind == StatisticKind::rate);
      layout.counts = left_out && !layout.durations;
      if (layout.durations) ++layout.doubles;
      break;
    case StatisticKind::minimum:
    case StatisticKind::maximum:
    case StatisticKind::range:
      layout.values = statistic.kind == StatisticKind::range ? 2 : 1;
      layout.counts = statistic.missing == Missing::threshold;
      break;
    case StatisticKind::instant:
    case StatisticKind::once: layout.values = 1; break;
    case StatisticKind::difference: layout.values = 2; break;
  }
  return layout;
}

std::size_t Layout::state_bytes(std::size_t points) const noexcept {
  return head_bytes + doubles * padded(points * sizeof(double)) + values * padded(points * value_bytes) +
         (counts ? padded(points * sizeof(std::uint32_t)) : 0);
}

std::size_t Layout::column_bytes(std::size_t points) const noexcept {
  return points * (doubles * sizeof(double) + values * value_bytes + (counts ? sizeof(std::uint32_t) : 0));
}

double* State::doubles(std::uint32_t column) const noexcept {
  return reinterpret_cast<double*>(block_ + head_bytes + column * padded(points_ * sizeof(double)));
}

std::byte* State::values(std::uint32_t column) const noexcept {
  return reinterpret_cast<std::byte*>(doubles(layout_.doubles)) +
         column * padded(points_ * layout_.value_bytes);
}

std::uint32_t* State::counts() const noexcept {
  return reinterpret_cast<std::uint32_t*>(values(layout_.values));
}

State::Column State::column(std::uint32_t number) const noexcept {
  if (number < layout_.doubles)
    return {reinterpret_cast<std::byte*>(doubles(number)), points_ * sizeof(double)};
  number -= layout_.doubles;
  if (number < layout_.values) return {values(number), points_ * layout_.value_bytes};
  return {reinterpret_cast<std::byte*>(counts()), points_ * sizeof(std::uint32_t)};
}

}  // namespace afterbay::statistics
