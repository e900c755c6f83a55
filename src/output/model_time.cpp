// SPDX-License-Identifier: Apache-2.0
#include "output/model_time.hpp"

#include "output/refuse.hpp"

namespace afterbay::output {

double ModelTime::seconds(const Date& from, const Date& to) const {
  const Duration length = calendar.difference(from, to);
  return static_cast<double>(length.seconds) + static_cast<double>(length.nanoseconds) * 1e-9;
}

Date ModelTime::before(const Date& date) const {
  return calendar.add(date, Period{.seconds = -1, .nanoseconds = 999'999'999});
}

ModelTime model_time(const OutputOptions& options) {
  ModelTime time{options.calendar, options.start, options.reference.value_or(options.start), options.step};
  time.calendar.check(time.start);
  time.calendar.check(time.reference);
  if (time.step.steps != 0)
    refuse(ErrorCode::invalid_argument,
           "the model's step is {}: give it in seconds or months, for example 30min", time.step.text());
  const bool months = time.step.years != 0 || time.step.months != 0;
  const bool seconds = time.step.days != 0 || time.step.seconds != 0 || time.step.nanoseconds != 0;
  if (months && seconds)
    refuse(ErrorCode::invalid_argument,
           "the model's step is {}: it must consist either of years and months or of days and seconds",
           time.step.text());
  if (!months && !seconds)
    refuse(ErrorCode::invalid_argument, "the model's step is missing: give it, for example 30min");
  if (time.calendar.add(time.start, time.step) <= time.start)
    refuse(ErrorCode::invalid_argument, "the model's step is {}: it must be longer than 0", time.step.text());
  return time;
}

}  // namespace afterbay::output
