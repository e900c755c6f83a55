// SPDX-License-Identifier: Apache-2.0
// Schedule: into which periods the steps of a run fall, and which steps are sampled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "describe/description.hpp"
#include "output/model_time.hpp"

namespace afterbay::output {

/// The same period for all spellings of it: 24h is 1d, 12mo is 1y. `resolved`: without steps.
Period in_largest_units(const ModelTime& time, Period resolved);

/// A period by which something happens, with its alignment. Periods in steps are counted from the
/// start.
class Clock {
 public:
  /// Throws, with `what` in the message, if `every` is not a multiple of the model's step, or if no
  /// step ends where a period does.
  Clock(const ModelTime& time, const Period& every, const describe::Align& align, const std::string& what);

  /// The period that contains the time just before `date`.
  [[nodiscard]] const Interval& until(const Date& date);
  [[nodiscard]] const Period& every() const noexcept { return every_; }
  [[nodiscard]] const Alignment& alignment() const noexcept { return alignment_; }

 private:
  const ModelTime* time_;
  Period every_;
  Alignment alignment_;
  std::optional<Interval> current_;
};

/// The parts of a cycle into which periods are folded: hours of the day, months of the year.
class Cycle {
 public:
  /// Throws as Clock does, and invalid_argument if the cycle has too many parts.
  Cycle(const ModelTime& time, const describe::Timing& timing, const std::string& file);

  /// The number of parts.
  [[nodiscard]] std::size_t parts() const noexcept { return parts_; }
  /// The part that contains the time just before `date`.
  [[nodiscard]] std::size_t part_until(const Date& date);
  /// What the run covers of a part in a period.
  struct Span {
    Interval covered;  ///< from the begin of its first occurrence to the end of its last one
    Interval stamped;  ///< the occurrence in which the time of the record lies
  };
  /// The span of a part in the period that the run covers from `begin` to `end`. A part that the
  /// period does not reach has the occurrence in the first cycle. Times lie in the first whole
  /// cycle, or, if there is none, in the first one, so that they ascend.
  [[nodiscard]] Span span(std::size_t part, const Date& begin, const Date& end) const;

 private:
  [[nodiscard]] Date part_begin(const Date& cycle_begin, std::size_t part) const;
  [[nodiscard]] Interval occurrence(const Interval& cycle, std::size_t part) const;

  const ModelTime* time_;
  Clock cycle_;
  Clock part_;
  std::size_t parts_ = 0;
  /// The first part of the cycle that was asked for last.
  struct First {
    std::int64_t cycle = 0;
    std::int64_t part = 0;
  };
  std::optional<First> first_;
};

class Schedule {
 public:
  /// `file`: whose timing it is, for messages.
  Schedule(const ModelTime& time, const describe::Timing& timing, const std::string& file);
  /// Only steps in one part of the cycle are sampled.
  Schedule(const ModelTime& time, const describe::Timing& timing, const std::string& file, const Cycle& cycle,
           std::size_t part);
  /// The schedule of a reduction with a period of its own.
  Schedule(const ModelTime& time, const Period& every, const describe::Align& align, const std::string& what);

  /// Goes to a step. Throws conflict if it passes the end of a period, which only steps can do
  /// whose length is not a multiple of it.
  void go_to(std::int64_t step);
  /// The same with the dates of the step before and of this one, if they are known. Step 0: both
  /// are the start.
  void go_to(std::int64_t step, const Date& previous, const Date& now);
  /// The run ends with the current step: periods that have begun end now.
  void end_run() noexcept {
    ends_ = begun_;
    at_end_ = true;
  }

  /// Whether values of the current step enter statistics.
  [[nodiscard]] bool sampled() const noexcept { return at_end_ ? ends_ : sampled_; }
  /// Whether the period ends with the current step.
  [[nodiscard]] bool ends() const noexcept { return ends_; }
  /// Whether the end comes early, because the run ends.
  [[nodiscard]] bool at_end_of_run() const noexcept { return at_end_; }
  /// What the run covers of the current period so far.
  [[nodiscard]] const Date& begin() const noexcept { return begin_; }
  [[nodiscard]] const Date& now() const noexcept { return now_; }
  /// Where the current period ends if the run goes on.
  [[nodiscard]] const Date& period_end() const noexcept { return period_end_; }
  /// Whether the run covers the period, which ends now, as a whole.
  [[nodiscard]] bool covers_whole() const noexcept { return whole_; }
  /// Seconds from the last sample to this one.
  [[nodiscard]] double sample_seconds() const noexcept { return seconds_; }
  [[nodiscard]] const Period& every() const noexcept { return period_.every(); }
  [[nodiscard]] const Alignment& alignment() const noexcept { return period_.alignment(); }
  /// Whether each of its periods consists of whole periods of `finer`, with the same samples,
  /// whatever the date: months of days, days of 6 hours.
  [[nodiscard]] bool consists_of(const Schedule& finer) const;
  /// Whether some period of `inner` ends in a step that is sampled.
  [[nodiscard]] bool samples_an_end_of(const Schedule& inner) const;
  /// Whether the step is sampled in which the current period of `inner` ends if the run goes on.
  [[nodiscard]] bool samples_end_of(const Schedule& inner) const;
  [[nodiscard]] const ModelTime& time() const noexcept { return *time_; }
  /// The owner of the schedule, for messages.
  [[nodiscard]] const std::string& what() const noexcept { return what_; }
  /// Two schedules with the same text are the same, however their periods are written.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const std::optional<Period>& sample() const noexcept { return sample_period_; }
  /// The cycle of which it samples one part; nullopt: it samples all steps of its periods.
  [[nodiscard]] const std::optional<Cycle>& cycle() const noexcept { return cycle_; }

 private:
  [[nodiscard]] bool has_samples_of(const Schedule& other) const;

  const ModelTime* time_;
  Clock period_;
  std::optional<Clock> samples_;
  std::optional<Period> sample_period_;
  std::optional<Cycle> cycle_;
  std::size_t part_ = 0;
  Period offset_;
  std::string what_;
  std::string text_;
  Date begin_;
  Date now_;
  Date period_end_;
  double seconds_ = 0;
  bool sampled_ = false;
  bool ends_ = false;
  bool begun_ = false;
  bool whole_ = false;
  bool at_end_ = false;
};

/// The name in the description.
std::string text_of(const describe::Align& align);
/// Where the periods of a file begin.
Alignment alignment_of(const ModelTime& time, const describe::Align& align);

}  // namespace afterbay::output
