// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "afterbay/calendar.hpp"
#include "afterbay/error.hpp"
#include "parsers.hpp"

namespace afterbay::test {
namespace {

/// Ends the program if what was accepted is not read back from its text.
void expect(bool holds) {
  if (!holds) std::abort();
}

void expect_valid(const Calendar& calendar, const Date& date) {
  try {
    calendar.check(date);
  } catch (const Failure&) {
    std::abort();
  }
}

template <class Call>
void try_to(Call&& call) {
  try {
    call();
  } catch (const Failure&) {  // refused
  }
}

void parse_line(const Calendar& calendar, std::string_view line) {
  try_to([&] { Calendar named(line); });
  try_to([&] {
    const Date date = calendar.parse(line);
    expect(calendar.parse(calendar.text(date)) == date);
    const TimeUnits seconds(calendar, "seconds", date);
    expect(seconds.number(date) == 0 && seconds.date(0) == date);
  });
  try_to([&] {
    const Period period = Period::parse(line);
    expect(Period::parse(period.text()) == period);
    const Date date = calendar.add({2000, 2, 28, 6}, period, 3);
    expect_valid(calendar, date);
    const Interval interval = calendar.interval(date, period, Alignment::seasons());
    expect(interval.begin <= date && date < interval.end);
  });
  try_to([&] {
    const TimeUnits units(calendar, line);
    expect(TimeUnits(calendar, units.text()).reference() == units.reference());
    expect_valid(calendar, units.date(units.number({1850, 1, 1})));
  });
  try_to([&] { static_cast<void>(calendar.format({2000, 1, 1}, line)); });
}

}  // namespace

void parse_calendar_text(Bytes bytes) {
  static const Calendar calendars[] = {Calendar("standard"), Calendar("360_day"),
                                       Calendar(CalendarRules{{61, 66, 66, 65}, 3, 1, 88775})};
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    for (const Calendar& calendar : calendars) parse_line(calendar, text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace afterbay::test

AFTERBAY_FUZZ_ENTRY(parse_calendar_text);
