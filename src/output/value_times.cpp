// SPDX-License-Identifier: Apache-2.0
#include "output/value_times.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "output/axis_reduction.hpp"
#include "output/formula.hpp"
#include "output/grid_reduction.hpp"
#include "output/refuse.hpp"

namespace afterbay::output {

namespace {

/// What a series is made of: fields of the model and reductions over time.
struct Parts {
  std::vector<const FieldSeries*> sources;
  std::vector<const ReducedSeries*> reduced;

  std::set<const Series*> known;

  void add(const Series& of) {
    if (!known.insert(&of).second) return;
    if (const auto* const source = dynamic_cast<const FieldSeries*>(&of)) sources.push_back(source);
    if (const auto* const some = dynamic_cast<const ReducedSeries*>(&of)) reduced.push_back(some);
    if (const auto* const subset = dynamic_cast<const SubsetSeries*>(&of)) add(subset->of());
    if (const auto* const computed = dynamic_cast<const FormulaSeries*>(&of))
      for (const Series* const operand : computed->operands()) add(*operand);
    if (const auto* const by_axes = dynamic_cast<const AxisReduction*>(&of)) add(by_axes->of());
    if (const auto* const by_grid = dynamic_cast<const GridReduction*>(&of)) add(by_grid->of());
  }
};

Date end_after(const ModelTime& time, const Schedule& schedule, const Date& date) {
  return time.calendar.interval(date, schedule.every(), schedule.alignment()).end;
}

Parts parts_of(const Series& of) {
  Parts parts;
  parts.add(of);
  return parts;
}

/// The reductions over time of which a series has values, without those inside of others.
std::vector<const ReducedSeries*> reductions_in(const Series& of) { return parts_of(of).reduced; }

/// Whether their periods have the same lengths, though they may begin at other times.
bool have_equal_lengths(const Schedule& one, const Schedule& other, const ModelTime& time) {
  return time.calendar.multiple(one.every(), other.every()) == Multiple::yes &&
         time.calendar.multiple(other.every(), one.every()) == Multiple::yes;
}

}  // namespace

bool are_equal_periods(const Schedule& one, const Schedule& other, const ModelTime& time) {
  if (&one == &other) return true;
  if (!have_equal_lengths(one, other, time)) return false;
  // Months have different lengths.
  constexpr int compared = 12;
  Date end = time.start;
  for (int i = 0; i < compared; ++i) {
    const Date before = end;
    end = end_after(time, one, before);
    if (end != end_after(time, other, before)) return false;
  }
  return true;
}

bool may_lack_ends_of(const Schedule& outer, const Schedule& inner, const ModelTime& time) {
  if (time.calendar.multiple(outer.every(), inner.every()) != Multiple::depends) return false;
  // All months of leap years and of others.
  constexpr int compared = 60;
  const auto lengths = [&](const Schedule& of) {
    std::pair<Duration, Duration> found;  // the shortest, the longest
    Date end = time.start;
    for (int i = 0; i < compared; ++i) {
      const Interval interval = time.calendar.interval(end, of.every(), of.alignment());
      const Duration length = time.calendar.difference(interval.begin, interval.end);
      found = i == 0 ? std::pair(length, length)
                     : std::pair(std::min(found.first, length), std::max(found.second, length));
      end = interval.end;
    }
    return found;
  };
  return lengths(inner).second > lengths(outer).first;
}

namespace {

/// Two parts of an expression that have values at different times.
struct Mixture {
  const ReducedSeries* reduced;
  const Series* other;
  /// The periods over which `other` is a reduction; null: `other` has a value in each step.
  const Schedule* schedule;
};

/// The first ones in a series; nullopt: all of it has values at the same times. Coordinates of
/// grids have values at all times.
std::optional<Mixture> mixture_in(const Series& of, const ModelTime& time) {
  const Parts parts = parts_of(of);
  if (parts.reduced.empty()) return std::nullopt;
  const ReducedSeries* const first = parts.reduced.front();
  if (!parts.sources.empty()) return Mixture{first, parts.sources.front(), nullptr};
  for (const ReducedSeries* const other : parts.reduced)
    if (!are_equal_periods(first->schedule(), other->schedule(), time))
      return Mixture{first, other, &other->schedule()};
  return std::nullopt;
}

}  // namespace

bool has_values_of_steps(const Series& of) {
  const Parts parts = parts_of(of);
  return !parts.sources.empty() && !parts.reduced.empty();
}

void check_periods(const Series& of, const Schedule& schedule, const describe::File& file,
                   const describe::Variable& variable, const ModelTime& time) {
  for (const ReducedSeries* const reduced : reductions_in(of)) {
    const Schedule& own = reduced->schedule();
    if (are_equal_periods(own, schedule, time)) continue;
    if (have_equal_lengths(own, schedule, time))
      refuse_at(variable.at, ErrorCode::conflict,
                "'{}' has values of a statistic over {}, the first one at {}, but the periods of the file "
                "\"{}\" ({}) end at other times, the first one at {}: periods in steps are counted from the "
                "start of the run, others as align says. Write the same period for both",
                variable.field, own.every().text(), time.calendar.text(end_after(time, own, time.start)),
                file.name, file.timing.every->text(),
                time.calendar.text(end_after(time, schedule, time.start)));
    if (time.calendar.multiple(schedule.every(), own.every()) != Multiple::yes)
      refuse_at(variable.at, ErrorCode::conflict,
                "'{}' has a value every {}, but the file \"{}\" has a record every {}, so that some records "
                "would have none: write it into a file with \"every: {}\"",
                variable.field, own.every().text(), file.name, schedule.every().text(), own.every().text());
    const std::string advice =
        mixture_in(of, time)
            ? "reduce all that it combines over the period of the file"
            : fmt::format("reduce it over the period of the file, for example mean({})", variable.field);
    refuse_at(
        variable.at, ErrorCode::conflict,
        "'{}' has values of a statistic over {}, but the file \"{}\" has a record every {}, which would "
        "have the last of them only: {}, or write a file with that period",
        variable.field, own.every().text(), file.name, schedule.every().text(), advice);
  }
}

void check_times(const Series& of, const Schedule& schedule, const describe::Position& at,
                 const std::string& what, const ModelTime& time) {
  if (const auto mixture = mixture_in(of, time)) {
    const std::string every = mixture->reduced->schedule().every().text();
    const std::string& other = mixture->other->name();
    refuse_at(at, ErrorCode::conflict,
              "{} combines '{}', which has a value every {}, with '{}', which has one every {}: a statistic "
              "over time of it would have the steps only in which both have one. Reduce both over the same "
              "period{}",
              what, mixture->reduced->name(), every, other,
              mixture->schedule == nullptr ? "step" : mixture->schedule->every().text(),
              mixture->schedule != nullptr
                  ? ""
                  : fmt::format(", for example mean({0}, {1}), or instant({0}, {1}) for its last value",
                                other, every));
  }
  for (const ReducedSeries* const reduced : reductions_in(of)) {
    if (may_lack_ends_of(schedule, reduced->schedule(), time))
      refuse_at(at, ErrorCode::invalid_argument,
                "{} has a value every {}, so that some periods of {} ({}) would have none: choose a period "
                "that is not longer than the shortest of these",
                what, reduced->schedule().every().text(), schedule.what(), schedule.every().text());
    if (!schedule.samples_an_end_of(reduced->schedule()))
      refuse_at(at, ErrorCode::conflict,
                "{} has a value every {}, but none in a step that {} samples: remove sample, or change it or "
                "sample_offset",
                what, reduced->schedule().every().text(), schedule.what());
  }
}

}  // namespace afterbay::output
