// SPDX-License-Identifier: Apache-2.0
// Intervals [origin + k * period, origin + (k + 1) * period). Their beginnings grow with k also for
// months, because each is in another month.
#include <limits>

#include "time/periods.hpp"

namespace afterbay::dates {
namespace {

Result<Date> origin_of(const Rules& rules, const Alignment& alignment) {
  if (alignment.origin) {
    AFTERBAY_TRY(check_date(rules, *alignment.origin));
    return *alignment.origin;
  }
  AFTERBAY_TRY_ASSIGN(const Day day, months_later(rules, {}, -Wide{alignment.months_before}));
  return Date{year_of_user(rules, day.year), static_cast<int>(day.month) + 1};
}

Result<> check_period(const Period& period, const Length& length) {
  if (length.months != 0 && length.nanoseconds != 0)
    return fail(
        ErrorCode::invalid_argument,
        "intervals of {} have no calendar: the period mixes months with days or seconds; give one of them",
        print_period(period));
  if (length.months <= 0 && length.nanoseconds <= 0)
    return fail(ErrorCode::invalid_argument, "intervals of {} do not exist: the period must be positive",
                print_period(period));
  return {};
}

Result<std::int64_t> checked_index(Wide index) {
  if (index < std::numeric_limits<std::int64_t>::min() || index >= std::numeric_limits<std::int64_t>::max())
    return fail(
        ErrorCode::invalid_argument,
        "the interval's number does not fit 64 bits: give a longer period, or an origin nearer to the date");
  return static_cast<std::int64_t>(index);
}

/// Counts intervals of months from an origin.
class Months {
 public:
  Months(const Rules& rules, const Date& origin, Wide length)
      : rules_(rules), origin_(origin), first_(day_of(rules, origin)), length_(length) {}

  Result<Date> begin(Wide index) const {
    AFTERBAY_TRY_ASSIGN(const Day day, months_later(rules_, first_, index * length_));
    Date date = origin_;
    date.year = year_of_user(rules_, day.year);
    date.month = static_cast<int>(day.month) + 1;
    date.day = static_cast<int>(day.day) + 1;
    return date;
  }
  /// The interval that begins in the month of `date` or before it.
  [[nodiscard]] Wide near(const Date& date) const {
    const Day day = day_of(rules_, date);
    return floor_div((Wide{day.year} - first_.year) * rules_.months() + day.month - first_.month, length_);
  }

 private:
  const Rules& rules_;
  Date origin_;
  Day first_;
  Wide length_;
};

Result<Interval> interval_of_months(const Months& months, const Date& date) {
  Wide index = months.near(date);
  AFTERBAY_TRY_ASSIGN(Date begin, months.begin(index));
  if (date < begin) {
    --index;
    AFTERBAY_TRY_ASSIGN(begin, months.begin(index));
  }
  AFTERBAY_TRY_ASSIGN(const Date end, months.begin(index + 1));
  AFTERBAY_TRY_ASSIGN(const std::int64_t number, checked_index(index));
  return Interval{begin, end, number};
}

Result<Interval> interval_of_time(const Rules& rules, const Date& date, const Date& origin,
                                  Wide nanoseconds) {
  const Instant start = instant_of(rules, origin);
  const Wide since = wide(between(start, instant_of(rules, date)));
  const Wide index = floor_div(since, nanoseconds);
  AFTERBAY_TRY_ASSIGN(const std::int64_t number, checked_index(index));
  const auto moment = [&](Wide passed) {
    const Wide at = passed + wide({start.seconds, start.nanoseconds});
    return date_of(rules, floor_div(at, Wide{second_ns}), static_cast<int>(floor_mod(at, Wide{second_ns})));
  };
  const Wide begin_ns = since - floor_mod(since, nanoseconds);
  AFTERBAY_TRY_ASSIGN(const Date begin, moment(begin_ns));
  AFTERBAY_TRY_ASSIGN(const Date end, moment(begin_ns + nanoseconds));
  return Interval{begin, end, number};
}

}  // namespace

Result<Interval> interval(const Rules& rules, const Date& date, const Period& period,
                          const Alignment& alignment) {
  AFTERBAY_TRY(check_date(rules, date));
  AFTERBAY_TRY_ASSIGN(const Length length, length_of(rules, period));
  AFTERBAY_TRY(check_period(period, length));
  AFTERBAY_TRY_ASSIGN(const Date origin, origin_of(rules, alignment));
  if (length.months != 0) return interval_of_months(Months(rules, origin, length.months), date);
  return interval_of_time(rules, date, origin, length.nanoseconds);
}

}  // namespace afterbay::dates
