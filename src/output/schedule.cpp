// SPDX-License-Identifier: Apache-2.0
#include "output/schedule.hpp"

#include <algorithm>
#include <numeric>

#include "output/refuse.hpp"

namespace afterbay::output {

namespace {

/// Periods are counted in nanoseconds for the comparison with the step.
__extension__ using Nanoseconds = __int128;

Nanoseconds nanoseconds(const Duration& length) {
  return static_cast<Nanoseconds>(length.seconds) * 1'000'000'000 + length.nanoseconds;
}

bool is_in_months(const Period& period) { return period.years != 0 || period.months != 0; }

bool are_equal(const Alignment& one, const Alignment& other) {
  return one.origin == other.origin && one.months_before == other.months_before;
}

/// Calls `task`. What a calendar refuses, such as dates after its last year, names no key: it is
/// refused with `what`.
template <class Task>
auto computed_for(const std::string& what, const Period& every, Task task) {
  try {
    return task();
  } catch (const Failure& failure) {
    refuse(failure.code(), "{} ({}): {}", what, every.text(), failure.error().message);
  }
}

/// Identifies the periods of a clock. Periods in steps begin at the start of the run.
std::string text_of_periods(const ModelTime& time, const Period& every, const describe::Align& align) {
  return fmt::format("{} by {}", in_largest_units(time, every.resolved(time.step)).text(),
                     every.steps != 0 ? "start" : output::text_of(align));
}

/// Years after which the lengths of months and years are the same again.
std::int64_t leap_cycle_of(const Calendar& calendar) {
  constexpr std::int64_t gregorian = 400;
  constexpr std::int64_t every_4th = 4;
  return calendar.name() == "user_defined" ? every_4th : gregorian;
}

/// After the first one, of which the ends must be compared with steps: months and years have
/// different lengths. A step that divides days ends where each day does.
std::int64_t further_periods(const ModelTime& time, const Period& every) {
  constexpr std::int64_t year = 12;
  const Calendar& calendar = time.calendar;
  if (is_in_months(time.step)) return every.months % year == 0 && is_in_months(every) ? 0 : year;
  if (!is_in_months(every) || calendar.multiple(Period{.days = 1}, time.step) == Multiple::yes) return 0;
  const auto months = static_cast<std::int64_t>(calendar.months_per_year());
  const std::int64_t length = every.years * months + every.months;
  const std::int64_t repeated = leap_cycle_of(calendar) * months;
  return repeated / std::gcd(repeated, length);
}

/// Whether dates are ends of steps, asked in ascending order.
class StepEnds {
 public:
  explicit StepEnds(const ModelTime& time) : time_(&time) {}

  [[nodiscard]] bool has(const Date& date) {
    if (!is_in_months(time_->step)) {
      const Nanoseconds step = nanoseconds(time_->calendar.difference(time_->start, time_->at(1)));
      return nanoseconds(time_->calendar.difference(time_->start, date)) % step == 0;
    }
    while (time_->at(number_) < date) ++number_;
    return time_->at(number_) == date;
  }

 private:
  const ModelTime* time_;
  std::int64_t number_ = 0;
};

}  // namespace

Period in_largest_units(const ModelTime& time, Period resolved) {
  const auto months = static_cast<std::int64_t>(time.calendar.months_per_year());
  resolved.years += resolved.months / months;
  resolved.months %= months;
  resolved.days += resolved.seconds / time.calendar.day_seconds();
  resolved.seconds %= time.calendar.day_seconds();
  return resolved;
}

std::string text_of(const describe::Align& align) {
  switch (align.to) {
    case describe::Align::To::calendar: return "calendar";
    case describe::Align::To::seasons: return "seasons";
    case describe::Align::To::start: return "start";
    case describe::Align::To::date: return align.date;
  }
  return {};
}

Alignment alignment_of(const ModelTime& time, const describe::Align& align) {
  switch (align.to) {
    case describe::Align::To::calendar: return Alignment::calendar();
    case describe::Align::To::seasons: return Alignment::seasons();
    case describe::Align::To::start: return Alignment::start(time.start);
    case describe::Align::To::date: return Alignment::start(time.calendar.parse(align.date));
  }
  return {};
}

Clock::Clock(const ModelTime& time, const Period& every, const describe::Align& align,
             const std::string& what)
    : time_(&time),
      every_(computed_for(what, every, [&] { return every.resolved(time.step); })),
      alignment_(every.steps != 0 ? Alignment::start(time.start) : alignment_of(time, align)) {
  const auto interval_at = [&](const Date& date) {
    return computed_for(what, every, [&] { return time.calendar.interval(date, every_, alignment_); });
  };
  const auto [is_multiple, is_shorter] = computed_for(what, every, [&] {
    return std::pair(time.calendar.multiple(every_, time.step) != Multiple::no,
                     time.calendar.add(time.start, every_) < time.at(1));
  });
  if (!is_multiple)
    refuse(ErrorCode::invalid_argument,
           "{} ({}) is not a multiple of the model's step ({}): choose a multiple of it", what, every.text(),
           time.step.text());
  if (is_shorter)
    refuse(ErrorCode::invalid_argument,
           "{} ({}) is shorter than the model's step ({}): choose a multiple of the step", what, every.text(),
           time.step.text());
  // Where the first period ends, a step must end.
  StepEnds steps(time);
  Date end = interval_at(time.start).end;
  if (!steps.has(end))
    refuse(
        ErrorCode::invalid_argument,
        "{} ({}): the first period ends at {}, but no step does, because the run starts at {} with steps of "
        "{}: write \"align: start\", or start the run at a multiple of its step",
        what, every.text(), time.calendar.text(end), time.calendar.text(time.start), time.step.text());
  for (std::int64_t more = further_periods(time, every_); more > 0; --more) {
    end = interval_at(end).end;
    if (!steps.has(end))
      refuse(
          ErrorCode::invalid_argument,
          "{} ({}): a period ends at {}, but no step does, because not all {} are multiples of steps of {}: "
          "choose a step that divides a day, or a period in days or steps",
          what, every.text(), time.calendar.text(end),
          every_.months == 0 && every_.years != 0 ? "years" : "months", time.step.text());
  }
}

const Interval& Clock::until(const Date& date) {
  if (!current_ || date > current_->end || date <= current_->begin)
    current_ = time_->calendar.interval(time_->before(date), every_, alignment_);
  return *current_;
}

Cycle::Cycle(const ModelTime& time, const describe::Timing& timing, const std::string& file)
    : time_(&time),
      cycle_(time, timing.cycle.value(), timing.align, "cycle of the file \"" + file + "\""),
      part_(time, timing.cycle_step.value(), timing.align, "cycle_step of the file \"" + file + "\"") {
  constexpr std::int64_t most_parts = 10'000;
  const Period every = timing.every.value().resolved(time.step);
  if (time.calendar.multiple(every, cycle_.every()) != Multiple::yes)
    refuse(
        ErrorCode::invalid_argument,
        "every of the file \"{}\" ({}) is not always a multiple of cycle ({}): choose one that consists of "
        "whole cycles",
        file, timing.every->text(), timing.cycle->text());
  if (time.calendar.multiple(cycle_.every(), part_.every()) == Multiple::no)
    refuse(ErrorCode::invalid_argument,
           "cycle of the file \"{}\" ({}) is not a multiple of cycle_step ({}): choose a multiple of it",
           file, timing.cycle->text(), timing.cycle_step->text());
  const Interval cycle = time.calendar.interval(time.start, cycle_.every(), cycle_.alignment());
  const auto number = [&](const Date& date) {
    return time.calendar.interval(date, part_.every(), part_.alignment()).index;
  };
  const auto parts_of = [&](const Interval& it) {
    return number(time.before(it.end)) - number(it.begin) + 1;
  };
  const std::int64_t parts = parts_of(cycle);
  if (parts < 2 || parts > most_parts)
    refuse(ErrorCode::invalid_argument,
           "the cycle of the file \"{}\" ({}) has {} part{} of {}: expected 2 to {}", file,
           timing.cycle->text(), parts, parts == 1 ? "" : "s", timing.cycle_step->text(), most_parts);
  // The k-th part must mean the same in all cycles, also in years with a leap day.
  const auto check_begin = [&](const Interval& it) {
    const Interval first = time.calendar.interval(it.begin, part_.every(), part_.alignment());
    if (first.begin != it.begin)
      refuse(ErrorCode::invalid_argument,
             "the cycle of the file \"{}\" ({}) begins at {}, but no part of {} does, the one before it at "
             "{}: {}",
             file, timing.cycle->text(), time.calendar.text(it.begin), timing.cycle_step->text(),
             time.calendar.text(first.begin),
             timing.cycle_step->steps != 0
                 ? "parts in steps are counted from the start of the run; write cycle_step in hours or days"
                 : "choose a cycle_step of which cycles consist, or another align");
  };
  check_begin(cycle);
  constexpr int compared = 12;
  Interval next = cycle;
  for (int i = 0; i < compared; ++i) {
    next = time.calendar.interval(next.end, cycle_.every(), cycle_.alignment());
    if (const std::int64_t others = parts_of(next); others != parts)
      refuse(
          ErrorCode::invalid_argument,
          "the cycle of the file \"{}\" ({}) has {} parts of {} at {}, but {} at {}: choose a cycle_step of "
          "months, or another one of which all cycles have the same number",
          file, timing.cycle->text(), parts, timing.cycle_step->text(), time.calendar.text(cycle.begin),
          others, time.calendar.text(next.begin));
    check_begin(next);
  }
  parts_ = static_cast<std::size_t>(parts);
}

std::size_t Cycle::part_until(const Date& date) {
  const Interval& cycle = cycle_.until(date);
  if (!first_ || first_->cycle != cycle.index)
    first_ = {cycle.index, time_->calendar.interval(cycle.begin, part_.every(), part_.alignment()).index};
  return static_cast<std::size_t>(part_.until(date).index - first_->part);
}

Date Cycle::part_begin(const Date& cycle_begin, std::size_t part) const {
  return time_->calendar.add(cycle_begin, part_.every(), static_cast<std::int64_t>(part));
}

Interval Cycle::occurrence(const Interval& cycle, std::size_t part) const {
  Interval all = cycle;
  all.begin = part_begin(cycle.begin, part);
  all.end = part_begin(cycle.begin, part + 1);
  return all;
}

Cycle::Span Cycle::span(std::size_t part, const Date& begin, const Date& end) const {
  const auto cycle_at = [&](const Date& date) {
    return time_->calendar.interval(date, cycle_.every(), cycle_.alignment());
  };
  const auto covered_in = [&](const Interval& cycle) {
    Interval covered = occurrence(cycle, part);
    if (covered.begin < begin) covered.begin = begin;
    if (covered.end > end) covered.end = end;
    return covered;
  };
  const auto is_reached = [](const Interval& it) { return it.begin < it.end; };
  const Interval first_cycle = cycle_at(begin);
  const Interval last_cycle = cycle_at(time_->before(end));
  Interval first = covered_in(first_cycle);
  if (!is_reached(first)) first = covered_in(cycle_at(first_cycle.end));
  if (!is_reached(first)) {
    const Interval all = occurrence(first_cycle, part);
    return {all, all};
  }
  Interval last = covered_in(last_cycle);
  if (!is_reached(last)) last = covered_in(cycle_at(time_->before(last_cycle.begin)));
  const Interval whole = first_cycle.begin < begin ? cycle_at(first_cycle.end) : first_cycle;
  Span span{first, occurrence(whole.end > end ? first_cycle : whole, part)};
  if (whole.end > end && first.begin < first_cycle.end) span.stamped = first;
  span.covered.end = last.end;
  return span;
}

Schedule::Schedule(const ModelTime& time, const describe::Timing& timing, const std::string& file)
    : time_(&time),
      period_(time, timing.every.value(), timing.align, "every of the file \"" + file + "\""),
      what_("the file \"" + file + "\"") {
  if (timing.sample) {
    sample_period_ = timing.sample->resolved(time.step);
    samples_.emplace(time, *timing.sample, timing.align, "sample of the file \"" + file + "\"");
    if (time.calendar.multiple(every(), *sample_period_) == Multiple::no)
      refuse(ErrorCode::invalid_argument,
             "every of the file \"{}\" ({}) is not a multiple of sample ({}): choose a multiple of it", file,
             timing.every->text(), timing.sample->text());
    if (timing.sample_offset) offset_ = timing.sample_offset->resolved(time.step);
    if (!offset_.is_zero() && time.calendar.multiple(offset_, time.step) == Multiple::no)
      refuse(
          ErrorCode::invalid_argument,
          "sample_offset of the file \"{}\" ({}) is not a multiple of the model's step ({}), so that no step "
          "would be sampled: choose a multiple of it",
          file, offset_.text(), time.step.text());
    if (time.calendar.add(time.start, offset_) < time.start)
      refuse(ErrorCode::invalid_argument,
             "sample_offset of the file \"{}\" ({}) is negative with steps of {}", file,
             timing.sample_offset->text(), time.step.text());
    if (time.calendar.add(time.start, offset_) >= time.calendar.add(time.start, *sample_period_))
      refuse(ErrorCode::invalid_argument,
             "sample_offset of the file \"{}\" ({}) must be shorter than sample ({})", file,
             timing.sample_offset->text(), timing.sample->text());
  }
  text_ = fmt::format("{} sample {} offset {}", text_of_periods(time, *timing.every, timing.align),
                      timing.sample ? text_of_periods(time, *timing.sample, timing.align) : "-",
                      in_largest_units(time, offset_).text());
  begin_ = now_ = time.start;
}

Schedule::Schedule(const ModelTime& time, const describe::Timing& timing, const std::string& file,
                   const Cycle& cycle, std::size_t part)
    : Schedule(time, timing, file) {
  cycle_ = cycle;
  part_ = part;
  text_ += fmt::format(" part {} of {} in {}", part, text_of_periods(time, *timing.cycle, timing.align),
                       text_of_periods(time, *timing.cycle_step, timing.align));
}

Schedule::Schedule(const ModelTime& time, const Period& every, const describe::Align& align,
                   const std::string& what)
    : time_(&time), period_(time, every, align, what), what_(what) {
  text_ = text_of_periods(time, every, align) + " sample - offset 0s";
  begin_ = now_ = time.start;
}

bool Schedule::has_samples_of(const Schedule& other) const {
  if (samples_.has_value() != other.samples_.has_value()) return false;
  if (!samples_) return true;
  const auto same = [&](const Period& one, const Period& another) {
    return in_largest_units(*time_, one) == in_largest_units(*time_, another);
  };
  return same(samples_->every(), other.samples_->every()) && same(offset_, other.offset_) &&
         are_equal(samples_->alignment(), other.samples_->alignment());
}

bool Schedule::consists_of(const Schedule& finer) const {
  if (cycle_ || finer.cycle_ || !has_samples_of(finer)) return false;
  const Period day{.days = 1};
  const auto counted_by_calendar = [](const Clock& clock) {
    return !clock.alignment().origin && (clock.alignment().months_before == 0 || is_in_months(clock.every()));
  };
  const auto is_multiple = [&](const Period& period, const Period& of) {
    return time_->calendar.multiple(period, of) == Multiple::yes;
  };
  if (!counted_by_calendar(period_) || !counted_by_calendar(finer.period_)) return false;
  // A period does not consist of another one of its length.
  if (in_largest_units(*time_, every()) == in_largest_units(*time_, finer.every())) return false;
  if (!is_multiple(day, finer.every())) return false;
  return is_in_months(every()) || is_multiple(every(), day) ||
         (is_multiple(day, every()) && is_multiple(every(), finer.every()));
}

bool Schedule::samples_an_end_of(const Schedule& inner) const {
  if (!samples_) return true;
  const Calendar& calendar = time_->calendar;
  const auto end_after = [&](const Date& date, const Period& every, const Alignment& alignment) {
    return calendar.interval(date, every, alignment).end;
  };
  const auto moved = [&](const Date& date, int by) {
    return offset_.is_zero() ? date : calendar.add(date, offset_, by);
  };
  const Alignment& sampling = samples_->alignment();
  // The ends of the longer ones are tried.
  const bool tries_inner = end_after(time_->start, inner.every(), inner.alignment()) >=
                           end_after(time_->start, *sample_period_, sampling);
  constexpr int tried = 1000;
  Date end = time_->start;
  for (int i = 0; i < tried; ++i) {
    if (tries_inner) {
      end = end_after(end, inner.every(), inner.alignment());
      const Date sampled = moved(end, -1);
      if (end_after(time_->before(sampled), *sample_period_, sampling) == sampled) return true;
    } else {
      end = end_after(end, *sample_period_, sampling);
      const Date sampled = moved(end, 1);
      if (end_after(time_->before(sampled), inner.every(), inner.alignment()) == sampled) return true;
    }
  }
  return false;
}

bool Schedule::samples_end_of(const Schedule& inner) const {
  if (!samples_) return true;
  const Calendar& calendar = time_->calendar;
  const Date end = offset_.is_zero() ? inner.period_end_ : calendar.add(inner.period_end_, offset_, -1);
  return calendar.interval(time_->before(end), *sample_period_, samples_->alignment()).end == end;
}

void Schedule::go_to(std::int64_t step) { go_to(step, time_->at(step > 0 ? step - 1 : 0), time_->at(step)); }

void Schedule::go_to(std::int64_t step, const Date& previous, const Date& now) {
  now_ = now;
  if (step == 0) {
    sampled_ = ends_ = begun_ = false;
    return;
  }
  const Interval& period = period_.until(now_);
  if (period.begin > previous)
    refuse(ErrorCode::conflict,
           "{}: step {} from {} to {} passes the end of a period at {}: the period must be a multiple of the "
           "step",
           what_, step, time_->calendar.text(previous), time_->calendar.text(now_),
           time_->calendar.text(period.begin));
  begin_ = period.begin > time_->start ? period.begin : time_->start;
  period_end_ = period.end;
  ends_ = period.end == now_;
  whole_ = ends_ && begin_ == period.begin;
  begun_ = !ends_;
  const bool in_part = !cycle_ || cycle_->part_until(now_) == part_;
  if (!samples_) {
    sampled_ = in_part;
    if (in_part) seconds_ = time_->seconds(previous, now_);
    return;
  }
  const Date shifted = offset_.is_zero() ? now_ : time_->calendar.add(now_, offset_, -1);
  const Interval& sample = samples_->until(shifted);
  sampled_ = in_part && sample.end == shifted;
  seconds_ = time_->seconds(sample.begin, sample.end);
}

}  // namespace afterbay::output
