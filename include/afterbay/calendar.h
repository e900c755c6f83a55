/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Calendars of models, dates, periods and the numbers of time axes, for C; part of
   afterbay/afterbay.h, whose rules for errors, values and handles hold. docs/reference/calendars.md
   explains the rules of calendars.

   These functions need no session and no MPI, do not wait, and may be called by any threads at
   once, also with the same calendar. Errors of all functions in this file:
   AFTERBAY_INVALID_ARGUMENT for NULL, for another wrong argument and for a result that is out of
   range; nothing is wrapped around or clipped. All arithmetic is in 64-bit integers and exact;
   floating point occurs only in the numbers of time axes.

   @code
   afterbay_calendar* calendar;
   afterbay_calendar_create("noleap", &calendar);
   afterbay_calendar_parse(calendar, "2001-01-31", &start);
   afterbay_period_parse("1mo", &month);
   afterbay_calendar_add(calendar, &start, &month, 2, &date);
   afterbay_calendar_number(calendar, "days since 2000-01-01", &date, &number);
   afterbay_calendar_free(calendar);
   @endcode */
#ifndef AFTERBAY_CALENDAR_H
#define AFTERBAY_CALENDAR_H

#include <stddef.h>
#include <stdint.h>

#include "afterbay/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct afterbay_calendar afterbay_calendar; /**< the rules by which dates are counted */

/** A date and time of day, without a calendar. */
typedef struct afterbay_date {
  int64_t year;   /**< year 0 exists in some calendars only: afterbay_calendar_has_year_zero */
  int month;      /**< from 1 */
  int day;        /**< from 1 */
  int hour;       /**< from 0 */
  int minute;     /**< 0 to 59 */
  int second;     /**< 0 to 59; there are no leap seconds */
  int nanosecond; /**< 0 to 999 999 999 */
} afterbay_date;

/** An exact length of time: seconds + nanoseconds / 10^9. */
typedef struct afterbay_duration {
  int64_t seconds; /**< whole seconds, rounded down: -0.5 s is -1 s and 500 000 000 ns */
  int nanoseconds; /**< 0 to 999 999 999 */
} afterbay_duration;

/** A step or a frequency. Years, months and days are counts, because their lengths depend on the
    calendar and on the date. Set unused members to zero. */
typedef struct afterbay_period {
  int64_t years;   /**< calendar years */
  int64_t months;  /**< calendar months */
  int64_t days;    /**< calendar days: 86400 s in most calendars */
  int64_t seconds; /**< whole seconds, rounded down */
  int64_t steps;   /**< time steps of the model */
  int nanoseconds; /**< 0 to 999 999 999 */
} afterbay_period;

/** One of the intervals into which a period divides time: from `begin` up to, and without,
   `end`. */
typedef struct afterbay_interval {
  afterbay_date begin; /**< the first moment */
  afterbay_date end;   /**< the first moment of the next interval */
  int64_t index;       /**< 0 begins at the origin, -1 ends there */
} afterbay_interval;

/** Where intervals begin. */
enum afterbay_align {
  /** Where hours, days, months, years and decades of the calendar begin: at multiples of the period
      from the first day of year 0 (in calendars without a year 0, of the year -1). */
  AFTERBAY_ALIGN_CALENDAR = 0,
  /** The same from the December before: 3mo is DJF, MAM, JJA, SON. */
  AFTERBAY_ALIGN_SEASONS = 1,
  AFTERBAY_ALIGN_START = 2 /**< at multiples of the period from a given date */
};

/** Whether a period is an integer multiple of another one. */
enum afterbay_multiple {
  AFTERBAY_MULTIPLE_NO = 0,     /**< never */
  AFTERBAY_MULTIPLE_YES = 1,    /**< whatever the date */
  AFTERBAY_MULTIPLE_DEPENDS = 2 /**< on the date: 1mo is 30d in some months only */
};

/** Rules of a user-defined calendar; month_lengths, leap_year and leap_month as in the CF
    conventions 1.11, section 4.4. Other numbers of months and lengths of days are an extension, for
    planets. */
typedef struct afterbay_calendar_rules {
  const int* month_lengths; /**< days per month of a year without leap day */
  size_t months;            /**< months per year: 1 to 1000 */
  int has_leap_year;        /**< 0: `leap_year` is not used, all years are equal */
  int64_t leap_year;        /**< it and every fourth year before and after it have a leap day */
  int leap_month;           /**< the month, from 1, that it is added to; 0 stands for 2 */
  int64_t day_seconds;      /**< length of a day; 0 stands for 86400 */
} afterbay_calendar_rules;

/** Bytes that hold any date or period as text, with the NUL. */
#define AFTERBAY_DATE_BYTES 192

/** Makes a calendar of the CF conventions, whatever the case: standard or gregorian (Julian until
    1582-10-04, which 1582-10-15 follows), proleptic_gregorian, noleap or 365_day, all_leap or
    366_day, 360_day, julian. AFTERBAY_UNKNOWN_NAME, with the nearest name. */
AFTERBAY_API int afterbay_calendar_create(const char* name, afterbay_calendar** calendar);
/** Makes a user-defined calendar. */
AFTERBAY_API int afterbay_calendar_create_from(const afterbay_calendar_rules* rules,
                                               afterbay_calendar** calendar);
/** Releases the calendar. */
AFTERBAY_API void afterbay_calendar_free(afterbay_calendar* calendar);
/** Returns CF's name in lower case ("standard" for gregorian); "user_defined". Valid as long as the
    handle. */
AFTERBAY_API int afterbay_calendar_name(const afterbay_calendar* calendar, const char** name);
/** *there = 1: year 0 exists; 0: the year before 1 is -1 (standard, julian). */
AFTERBAY_API int afterbay_calendar_has_year_zero(const afterbay_calendar* calendar, int* there);
/** Returns the last year of the calendar, 100 000 000 000 in those of CF; the first one is its
    negative. */
AFTERBAY_API int afterbay_calendar_max_year(const afterbay_calendar* calendar, int64_t* year);
/** Returns the months per year, and the seconds per day: 12 and 86400 in all calendars of CF.
    Either may be NULL. */
AFTERBAY_API int afterbay_calendar_lengths(const afterbay_calendar* calendar, int* months,
                                           int64_t* day_seconds);

/** Returns an error, which says what is wrong and what is valid, if the date does not exist. */
AFTERBAY_API int afterbay_calendar_check(const afterbay_calendar* calendar, const afterbay_date* date);
/** Returns the days of a month; October 1582 has 21 days in the standard calendar. */
AFTERBAY_API int afterbay_calendar_days_in_month(const afterbay_calendar* calendar, int64_t year, int month,
                                                 int* days);
/** Returns the days of a year; 1582 has 355 days in the standard calendar. */
AFTERBAY_API int afterbay_calendar_days_in_year(const afterbay_calendar* calendar, int64_t year,
                                                int64_t* days);
/** Returns the day of the year, from 1. */
AFTERBAY_API int afterbay_calendar_day_of_year(const afterbay_calendar* calendar, const afterbay_date* date,
                                               int64_t* day);
/** Returns the day of the week, from 1 (Monday) to 7 (Sunday), in the calendars standard,
    proleptic_gregorian and julian. */
AFTERBAY_API int afterbay_calendar_weekday(const afterbay_calendar* calendar, const afterbay_date* date,
                                           int* weekday);

/** Reads ISO 8601 and its common variants: 2000-01-01, 2000-01-01T06:30:15.25, 2000-1-1 6:30,
    20000101T0630, -0044-03-15, with or without Z or UTC at the end. Other time zones are
    refused. */
AFTERBAY_API int afterbay_calendar_parse(const afterbay_calendar* calendar, const char* text,
                                         afterbay_date* date);
/** Writes the date, with a NUL, into `text`, which has `bytes` bytes. `pattern` NULL: as
    "2000-01-01T06:30:15", with a fraction of a second if there is one; otherwise by a pattern with
    %Y %y %m %d %j %H %M %S and %%. */
AFTERBAY_API int afterbay_calendar_print(const afterbay_calendar* calendar, const afterbay_date* date,
                                         const char* pattern, char* text, size_t bytes);

/** Returns date + count * period. First months and years are added; a day that the month does not
    have becomes the last one before it. Then days, then seconds. To step through time take the
    start date and growing counts: 31 January + 1mo is 28 or 29 February, + 2mo is 31 March. */
AFTERBAY_API int afterbay_calendar_add(const afterbay_calendar* calendar, const afterbay_date* date,
                                       const afterbay_period* period, int64_t count, afterbay_date* result);
/** Returns the time from `from` to `to`; negative if `to` is earlier. */
AFTERBAY_API int afterbay_calendar_difference(const afterbay_calendar* calendar, const afterbay_date* from,
                                              const afterbay_date* to, afterbay_duration* difference);
/** Returns one of enum afterbay_multiple: whether `period` is n * `unit` with an integer n. `unit`
    must not be zero. */
AFTERBAY_API int afterbay_calendar_multiple(const afterbay_calendar* calendar, const afterbay_period* period,
                                            const afterbay_period* unit, int* answer);
/** Returns the interval that contains `date`. `period` must be positive, and consist either of
    years and months or of days and seconds. `align`: one of enum afterbay_align. `start`: for
    AFTERBAY_ALIGN_START, otherwise not used. */
AFTERBAY_API int afterbay_calendar_interval(const afterbay_calendar* calendar, const afterbay_date* date,
                                            const afterbay_period* period, int align,
                                            const afterbay_date* start, afterbay_interval* interval);

/** Returns the number of a date on a time axis with the units "UNIT since DATE": days, hours,
    minutes, seconds, milliseconds, microseconds or nanoseconds, also in the short forms of UDUNITS.
    It is the double nearest to the exact quotient. */
AFTERBAY_API int afterbay_calendar_number(const afterbay_calendar* calendar, const char* units,
                                          const afterbay_date* date, double* number);
/** Returns the date of a number. If several dates have this number, the one in whole seconds, or
    else in whole milliseconds, microseconds, or nanoseconds. */
AFTERBAY_API int afterbay_calendar_date(const afterbay_calendar* calendar, const char* units, double number,
                                        afterbay_date* date);

/** Reads a period: numbers with the units y, mo, d, h, min, s, ms, us, ns and ts (time steps), one
    after the other, as in "6h", "1d6h", "1.5h", "-1mo". A sign holds until the next one. */
AFTERBAY_API int afterbay_period_parse(const char* text, afterbay_period* period);
/** Writes the period, with a NUL, in the form that afterbay_period_parse reads, into `text`, which
    has `bytes` bytes. */
AFTERBAY_API int afterbay_period_print(const afterbay_period* period, char* text, size_t bytes);
/** Returns a + count * b, member by member. */
AFTERBAY_API int afterbay_period_add(const afterbay_period* a, int64_t count, const afterbay_period* b,
                                     afterbay_period* result);
/** Returns the period with `step`, which contains no time steps, in place of each of its time
   steps. */
AFTERBAY_API int afterbay_period_resolve(const afterbay_period* period, const afterbay_period* step,
                                         afterbay_period* result);

#ifdef __cplusplus
}
#endif

#endif
