// SPDX-License-Identifier: Apache-2.0
// The public types: each call is forwarded, and its Error is thrown.
#include "afterbay/calendar.hpp"

#include <utility>

#include "time/date_text.hpp"
#include "time/instant.hpp"
#include "time/periods.hpp"
#include "time/rules.hpp"
#include "time/time_units.hpp"

namespace afterbay {
namespace {

template <class T>
T value_of(Result<T> result) {
  if (!result) throw Failure(std::move(result).error());
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

std::shared_ptr<const dates::Rules> shared(dates::Rules rules) {
  return std::make_shared<const dates::Rules>(std::move(rules));
}

}  // namespace

Period Period::parse(std::string_view text) { return value_of(dates::parse_period(text)); }
std::string Period::text() const { return dates::print_period(*this); }
Period Period::resolved(const Period& step) const { return value_of(dates::resolve(*this, step)); }
Period operator+(const Period& a, const Period& b) { return value_of(dates::sum(a, b)); }
Period operator*(std::int64_t count, const Period& period) { return value_of(dates::product(count, period)); }

Calendar::Calendar() : Calendar("standard") {}
Calendar::Calendar(std::string_view name) : rules_(shared(value_of(dates::named_rules(name)))) {}
Calendar::Calendar(const CalendarRules& rules) : rules_(shared(value_of(dates::rules_of_user(rules)))) {}

const std::string& Calendar::name() const noexcept { return rules_->name; }
bool Calendar::has_year_zero() const noexcept { return rules_->year_zero; }
int Calendar::months_per_year() const noexcept { return static_cast<int>(rules_->months()); }
std::int64_t Calendar::day_seconds() const noexcept { return rules_->day_seconds; }
std::int64_t Calendar::max_year() const noexcept { return rules_->max_year; }

void Calendar::check(const Date& date) const { value_of(dates::check_date(*rules_, date)); }

int Calendar::days_in_month(std::int64_t year, int month) const {
  value_of(dates::check_month(*rules_, year, month));
  return static_cast<int>(dates::days_in_month(*rules_, dates::astronomical(*rules_, year), month - 1));
}

std::int64_t Calendar::days_in_year(std::int64_t year) const {
  value_of(dates::check_year(*rules_, year));
  const std::int64_t astronomical = dates::astronomical(*rules_, year);
  return dates::first_day_of(*rules_, astronomical + 1) - dates::first_day_of(*rules_, astronomical);
}

std::int64_t Calendar::day_of_year(const Date& date) const {
  check(date);
  return dates::day_of_year(*rules_, dates::day_of(*rules_, date));
}

int Calendar::weekday(const Date& date) const {
  check(date);
  return value_of(dates::weekday(*rules_, dates::day_of(*rules_, date)));
}

Date Calendar::parse(std::string_view text) const { return value_of(dates::parse_date(*rules_, text)); }

std::string Calendar::text(const Date& date) const {
  check(date);
  return dates::day_text(date) + "T" + dates::time_text(date);
}

std::string Calendar::format(const Date& date, std::string_view pattern) const {
  check(date);
  return value_of(dates::format_date(*rules_, date, pattern));
}

Date Calendar::add(const Date& date, const Period& period, std::int64_t count) const {
  return value_of(dates::add(*rules_, date, period, count));
}

Duration Calendar::difference(const Date& from, const Date& to) const {
  check(from);
  check(to);
  return dates::between(dates::instant_of(*rules_, from), dates::instant_of(*rules_, to));
}

Multiple Calendar::multiple(const Period& period, const Period& unit) const {
  return value_of(dates::multiple(*rules_, period, unit));
}

Interval Calendar::interval(const Date& date, const Period& period, const Alignment& alignment) const {
  return value_of(dates::interval(*rules_, date, period, alignment));
}

TimeUnits::TimeUnits(const Calendar& calendar, std::string_view text) : calendar_(calendar) {
  const auto [unit, reference] = value_of(dates::split_units(text));
  const dates::UnitName found = value_of(dates::find_unit(*calendar_.rules_, unit));
  unit_ = found.plural;
  unit_nanoseconds_ = found.nanoseconds;
  reference_ = calendar_.parse(reference);
}

TimeUnits::TimeUnits(const Calendar& calendar, std::string_view unit, const Date& reference)
    : calendar_(calendar), reference_(reference) {
  calendar_.check(reference);
  const dates::UnitName found = value_of(dates::find_unit(*calendar_.rules_, unit));
  unit_ = found.plural;
  unit_nanoseconds_ = found.nanoseconds;
}

std::string TimeUnits::text() const {
  return unit_ + " since " + dates::day_text(reference_) + " " + dates::time_text(reference_);
}

double TimeUnits::number(const Date& date) const {
  calendar_.check(date);
  return dates::number_of(*calendar_.rules_, reference_, date, unit_nanoseconds_);
}

Date TimeUnits::date(double number) const {
  return value_of(dates::date_of_number(*calendar_.rules_, reference_, number, unit_nanoseconds_));
}

}  // namespace afterbay
