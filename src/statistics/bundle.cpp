// SPDX-License-Identifier: Apache-2.0
#include "statistics/bundle.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>

#include "base/default_arithmetic.hpp"
#include "statistics/encoding.hpp"
#include "statistics/strip.hpp"
#include "statistics/sums.hpp"

namespace afterbay::statistics {
namespace {

constexpr std::size_t block_alignment = alignof(IntervalProgress);

/// Whether the values are added as they lie: memory is passed over once.
bool adds_raw(const Statistic& statistic) {
  return statistic.missing == Missing::none && !statistic.weighted &&
         statistic.kind != StatisticKind::standard_deviation;
}

}  // namespace

/// Values of up to strip_points points: as they lie, and in the forms that the statistics need.
struct Bundle::Strip {
  const std::byte* raw = nullptr;  ///< in the type of the field
  std::size_t first = 0;
  std::size_t count = 0;
  alignas(64) std::array<double, strip_points> plain;     ///< all values as numbers
  alignas(64) std::array<double, strip_points> left_out;  ///< missing values are -0.0
  alignas(64) std::array<double, strip_points> poisoned;  ///< missing values are NaN
  alignas(64) std::array<double, strip_points> valid;     ///< 1.0, or 0.0 for a missing value

  [[nodiscard]] const double* values(Missing policy) const {
    switch (policy) {
      case Missing::none: return plain.data();
      case Missing::poison: return poisoned.data();
      default: return left_out.data();
    }
  }
};

Result<Bundle> Bundle::create(const SampleFormat& field, std::size_t points) {
  if (field.missing.type != field.type || field.missing.count() == 0)
    return fail(ErrorCode::invalid_argument, "the missing values of a field of type {} are {} of type {}",
                name_of(field.type), field.missing.count(), name_of(field.missing.type));
  auto loops = value_loops(field.type, field.missing);
  if (!loops)
    return fail(ErrorCode::wrong_type, "statistics need numbers, and the field has values of type {}",
                name_of(field.type));
  return Bundle(field, points, std::move(loops));
}

Result<std::size_t> Bundle::add(const Statistic& statistic, std::span<std::byte> state) {
  AFTERBAY_TRY(check(statistic, field_.type));
  const Layout layout = layout_of(statistic, field_.type);
  const std::size_t needed = layout.state_bytes(points_);
  if (state.size() < needed)
    return fail(ErrorCode::invalid_argument, "the state of {} of {} points needs {} bytes, and has {}",
                text_of(statistic), points_, needed, state.size());
  if (reinterpret_cast<std::uintptr_t>(state.data()) % block_alignment != 0)
    return fail(ErrorCode::invalid_argument, "the state of {} is not aligned to {} bytes", text_of(statistic),
                block_alignment);
  items_.push_back({statistic, State(layout, state.data(), points_)});
  new (state.data()) IntervalProgress();
  if (layout.doubles != 0) {
    needs_.plain |= statistic.missing == Missing::none && !adds_raw(statistic);
    needs_.poisoned |= statistic.missing == Missing::poison;
    needs_.left_out |= leaves_out(statistic.missing);
    needs_.valid |=
        layout.durations || (layout.counts && statistic.kind == StatisticKind::standard_deviation);
  }
  return items_.size() - 1;
}

void Bundle::begin_interval(std::size_t number) {
  const Item& item = items_[number];
  IntervalProgress& progress = item.state.progress();
  if (item.statistic.kind == StatisticKind::difference && progress.steps != 0) {
    std::memcpy(item.state.values(0), item.state.values(1), points_ * item.state.layout().value_bytes);
    progress.has_reference = 1;
  }
  progress.steps = 0;
  progress.duration = 0;
}

Result<> Bundle::step(const std::byte* values, double duration) {
  AFTERBAY_TRY(begin_step(duration));
  run(values, 0, points_);
  end_step();
  return {};
}

Result<> Bundle::begin_step(double duration) {
  if (!(duration > 0) || !std::isfinite(duration))
    return fail(ErrorCode::invalid_argument, "a step has the duration {}: it must be finite and above 0",
                duration);
  for (const Item& item : items_)
    if (item.state.progress().steps >= most_steps)
      return fail(ErrorCode::resources, "an interval of {} has more than {} steps: use a shorter one",
                  text_of(item.statistic), most_steps);
  duration_ = duration;
  return {};
}

void Bundle::end_step() {
  const DefaultArithmetic arithmetic;
  for (const Item& item : items_) {
    ++item.state.progress().steps;
    item.state.progress().duration += duration_;
  }
}

void Bundle::run(const std::byte* values, std::size_t first, std::size_t count) const {
  assert(first <= points_ && count <= points_ - first && duration_ > 0);
  if (count == 0) return;
  const DefaultArithmetic arithmetic;
  Strip strip;
  const std::size_t value_bytes = size_of(field_.type);
  for (std::size_t done = 0; done < count; done += strip_points) {
    strip.raw = values + done * value_bytes;
    strip.first = first + done;
    strip.count = std::min(strip_points, count - done);
    if (needs_.plain) loops_->widen(strip.plain.data(), strip.raw, strip.count);
    if (needs_.left_out) loops_->widen_valid(strip.left_out.data(), strip.raw, strip.count);
    if (needs_.poisoned) loops_->widen_poisoned(strip.poisoned.data(), strip.raw, strip.count);
    if (needs_.valid) loops_->find_valid(strip.valid.data(), strip.raw, strip.count);
    for (const Item& item : items_) update(item, strip);
  }
}

void Bundle::update(const Item& item, const Strip& strip) const {
  const Layout& layout = item.state.layout();
  if (layout.counts) {
    std::uint32_t* const counts = item.state.counts() + strip.first;
    if (item.state.progress().steps == 0) std::fill_n(counts, strip.count, 0U);
    loops_->count_valid(counts, strip.raw, strip.count);
  }
  if (layout.doubles != 0)
    update_sums(item, strip);
  else
    update_values(item, strip);
}

void Bundle::update_values(const Item& item, const Strip& strip) const {
  const std::size_t value_bytes = item.state.layout().value_bytes;
  const bool is_first = item.state.progress().steps == 0;
  const auto at = [&](std::uint32_t column) { return item.state.values(column) + strip.first * value_bytes; };
  const auto copy = [&](std::uint32_t column) {
    std::memcpy(at(column), strip.raw, strip.count * value_bytes);
  };
  const auto keep = [&](bool lowest, std::uint32_t column) {
    if (is_first)
      copy(column);
    else
      loops_->keep_extreme(lowest, item.statistic.missing, at(column), strip.raw, strip.count);
  };
  switch (item.statistic.kind) {
    case StatisticKind::instant: copy(0); break;
    case StatisticKind::once:
      if (is_first) copy(0);
      break;
    case StatisticKind::difference:
      if (is_first && item.state.progress().has_reference == 0) copy(0);
      copy(1);
      break;
    case StatisticKind::minimum: keep(true, 0); break;
    case StatisticKind::maximum: keep(false, 0); break;
    case StatisticKind::range:
      keep(true, 0);
      keep(false, 1);
      break;
    default: assert(false && "the statistic has no values");
  }
}

void Bundle::update_sums(const Item& item, const Strip& strip) const {
  const Layout& layout = item.state.layout();
  const bool is_first = item.state.progress().steps == 0;
  if (layout.durations) {
    double* const durations = item.state.durations() + strip.first;
    if (is_first) std::fill_n(durations, strip.count, 0.0);
    add_weighted(durations, strip.valid.data(), duration_, strip.count);
  }
  if (item.statistic.kind == StatisticKind::standard_deviation) return update_moments(item, strip);
  double* const sums = item.state.doubles(0) + strip.first;
  if (is_first) std::fill_n(sums, strip.count, -0.0);  // -0.0 + x is x for every x
  if (adds_raw(item.statistic)) return loops_->add(sums, strip.raw, strip.count);
  const double* const values = strip.values(item.statistic.missing);
  if (item.statistic.weighted)
    add_weighted(sums, values, duration_, strip.count);
  else
    add_values(sums, values, strip.count);
}

void Bundle::update_moments(const Item& item, const Strip& strip) const {
  const IntervalProgress& progress = item.state.progress();
  const bool weighted = item.statistic.weighted;
  const double weight = weighted ? duration_ : 1;
  double* const means = item.state.doubles(0) + strip.first;
  double* const squares = item.state.doubles(1) + strip.first;
  if (progress.steps == 0) {
    std::fill_n(means, strip.count, 0.0);
    std::fill_n(squares, strip.count, 0.0);
  }
  const double* const values = strip.values(item.statistic.missing);
  if (!leaves_out(item.statistic.missing)) {
    const double total = weighted ? progress.duration + duration_ : static_cast<double>(progress.steps + 1);
    return add_moments(means, squares, values, weight, total, strip.count);
  }
  alignas(64) std::array<double, strip_points> counts;
  const double* totals = counts.data();
  if (weighted)
    totals = item.state.durations() + strip.first;
  else
    widen(counts.data(), item.state.counts() + strip.first, strip.count);
  add_moments_valid(means, squares, values, strip.valid.data(), weight, totals, strip.count);
}

Result<> Bundle::absorb(const Bundle& part) {
  assert(points_ == part.points_ && field_.type == part.field_.type);
  const DefaultArithmetic arithmetic;
  for (const Item& item : items_) {
    assert(can_be_absorbed(item.statistic, field_.type));
    const auto other = std::ranges::find(part.items_, item.statistic, &Item::statistic);
    assert(other != part.items_.end());
    const IntervalProgress& of_part = other->state.progress();
    IntervalProgress& progress = item.state.progress();
    if (of_part.steps == 0) continue;
    if (progress.steps > most_steps - of_part.steps)
      return fail(ErrorCode::resources, "an interval of {} has more than {} steps: use a shorter one",
                  text_of(item.statistic), most_steps);
    join(item, other->state);
    progress.steps += of_part.steps;
    progress.duration += of_part.duration;
  }
  return {};
}

void Bundle::join(const Item& item, const State& part) const {
  const State& state = item.state;
  const Layout& layout = state.layout();
  if (state.progress().steps == 0) {
    for (std::uint32_t column = 0; column < layout.columns(); ++column)
      std::memcpy(state.column(column).data, part.column(column).data, state.column(column).bytes);
    return;
  }
  for (std::uint32_t column = 0; column < layout.doubles; ++column)
    add_values(state.doubles(column), part.doubles(column), points_);
  if (layout.counts)
    for (std::size_t i = 0; i < points_; ++i) state.counts()[i] += part.counts()[i];
  for (std::uint32_t column = 0; column < layout.values; ++column) {
    const bool lowest = item.statistic.kind != StatisticKind::maximum && column == 0;
    loops_->keep_extreme(lowest, item.statistic.missing, state.values(column), part.values(column), points_);
  }
}

void Bundle::save(std::size_t number, std::vector<std::byte>& to) const {
  const Item& item = items_[number];
  encode({item.statistic, field_.type, field_.missing, points_}, item.state, to);
}

Result<> Bundle::restore(std::size_t number, std::span<const std::byte> saved) {
  const Item& item = items_[number];
  return decode({item.statistic, field_.type, field_.missing, points_}, saved, item.state);
}

}  // namespace afterbay::statistics
