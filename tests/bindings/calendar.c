/* SPDX-License-Identifier: Apache-2.0
   Answers questions about calendars: one per line of the input, in fields with "|" between them,
   one line of output each. lib_calendars.py asks them and compares with cftime. Its Fortran twin is
   calendar_fortran.f90. With the argument "refusals" it checks the errors of the interface
   itself. */
#include <afterbay/afterbay.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 8, LINE = 4096 };

static afterbay_calendar* calendar;
static char* field[FIELDS];

#define OK(call)                          \
  do {                                    \
    const int code = (call);              \
    if (code != AFTERBAY_OK) return code; \
  } while (0)

static int date_in(int index, afterbay_date* date) {
  return afterbay_calendar_parse(calendar, field[index], date);
}

static int print_date(const afterbay_date* date, const char* end) {
  char text[AFTERBAY_DATE_BYTES];
  OK(afterbay_calendar_print(calendar, date, NULL, text, sizeof text));
  printf("%s%s", text, end);
  return AFTERBAY_OK;
}

static int print_period(const afterbay_period* period) {
  char text[AFTERBAY_DATE_BYTES];
  OK(afterbay_period_print(period, text, sizeof text));
  printf("%s\n", text);
  return AFTERBAY_OK;
}

static int new_calendar(void) {
  afterbay_calendar* made;
  OK(afterbay_calendar_create(field[1], &made));
  afterbay_calendar_free(calendar);
  calendar = made;
  printf("ok\n");
  return AFTERBAY_OK;
}

/* months|LENGTHS|LEAP_YEAR|LEAP_MONTH|DAY_SECONDS; "-": not given */
static int new_months(void) {
  int lengths[64];
  size_t count = 0;
  char* rest = field[1];
  while (*rest != '\0' && count < 64) lengths[count++] = (int)strtol(rest, &rest, 10);
  afterbay_calendar_rules rules = {lengths, count, 0, 0, 0, 0};
  if (strcmp(field[2], "-") != 0) {
    rules.has_leap_year = 1;
    rules.leap_year = strtoll(field[2], NULL, 10);
    rules.leap_month = (int)strtol(field[3], NULL, 10);
  }
  if (strcmp(field[4], "-") != 0) rules.day_seconds = strtoll(field[4], NULL, 10);
  afterbay_calendar* made;
  OK(afterbay_calendar_create_from(&rules, &made));
  afterbay_calendar_free(calendar);
  calendar = made;
  printf("ok\n");
  return AFTERBAY_OK;
}

/* table|UNITS|FIRST|LAST: per month, its last day and the numbers of its first and its last day */
static int table(void) {
  int zero, months;
  OK(afterbay_calendar_has_year_zero(calendar, &zero));
  OK(afterbay_calendar_lengths(calendar, &months, NULL));
  for (int64_t year = strtoll(field[2], NULL, 10); year <= strtoll(field[3], NULL, 10); ++year) {
    if (year == 0 && !zero) continue;
    for (int month = 1; month <= months; ++month) {
      afterbay_date date = {year, month, 1, 0, 0, 0, 0};
      double first, last;
      OK(afterbay_calendar_number(calendar, field[1], &date, &first));
      for (date.day = 31; afterbay_calendar_check(calendar, &date) != AFTERBAY_OK;) --date.day;
      OK(afterbay_calendar_number(calendar, field[1], &date, &last));
      printf("%" PRId64 " %d %d %.0f %.0f\n", year, month, date.day, first, last);
    }
  }
  printf("end\n");
  return AFTERBAY_OK;
}

static int number(void) {
  afterbay_date date;
  double value;
  OK(date_in(2, &date));
  OK(afterbay_calendar_number(calendar, field[1], &date, &value));
  printf("%.17g\n", value);
  return AFTERBAY_OK;
}

static int date_of(void) {
  afterbay_date date;
  OK(afterbay_calendar_date(calendar, field[1], strtod(field[2], NULL), &date));
  return print_date(&date, "\n");
}

static int add(void) {
  afterbay_date date, later;
  afterbay_period period;
  OK(date_in(1, &date));
  OK(afterbay_period_parse(field[2], &period));
  OK(afterbay_calendar_add(calendar, &date, &period, strtoll(field[3], NULL, 10), &later));
  return print_date(&later, "\n");
}

static int difference(void) {
  afterbay_date from, to;
  afterbay_duration found;
  OK(date_in(1, &from));
  OK(date_in(2, &to));
  OK(afterbay_calendar_difference(calendar, &from, &to, &found));
  printf("%" PRId64 " %d\n", found.seconds, found.nanoseconds);
  return AFTERBAY_OK;
}

/* day|DATE: day of the year, days of the month and of the year, weekday or 0 */
static int day(void) {
  afterbay_date date;
  int64_t of_year, in_year;
  int in_month, weekday = 0;
  OK(date_in(1, &date));
  OK(afterbay_calendar_day_of_year(calendar, &date, &of_year));
  OK(afterbay_calendar_days_in_month(calendar, date.year, date.month, &in_month));
  OK(afterbay_calendar_days_in_year(calendar, date.year, &in_year));
  if (afterbay_calendar_weekday(calendar, &date, &weekday) != AFTERBAY_OK) weekday = 0;
  printf("%" PRId64 " %d %" PRId64 " %d\n", of_year, in_month, in_year, weekday);
  return AFTERBAY_OK;
}

/* interval|DATE|PERIOD|calendar, seasons or a date to start from */
static int interval(void) {
  afterbay_date date, start;
  afterbay_period period;
  afterbay_interval found;
  int align = AFTERBAY_ALIGN_START;
  OK(date_in(1, &date));
  OK(afterbay_period_parse(field[2], &period));
  if (strcmp(field[3], "calendar") == 0)
    align = AFTERBAY_ALIGN_CALENDAR;
  else if (strcmp(field[3], "seasons") == 0)
    align = AFTERBAY_ALIGN_SEASONS;
  else
    OK(date_in(3, &start));
  OK(afterbay_calendar_interval(calendar, &date, &period, align,
                                align == AFTERBAY_ALIGN_START ? &start : NULL, &found));
  OK(print_date(&found.begin, " "));
  OK(print_date(&found.end, " "));
  printf("%" PRId64 "\n", found.index);
  return AFTERBAY_OK;
}

static int format(void) {
  char text[LINE];
  afterbay_date date;
  OK(date_in(1, &date));
  OK(afterbay_calendar_print(calendar, &date, field[2], text, sizeof text));
  printf("%s\n", text);
  return AFTERBAY_OK;
}

/* period|A|COUNT|B|STEP: A + COUNT * B, with STEP as time step */
static int period(void) {
  afterbay_period a, b, step;
  OK(afterbay_period_parse(field[1], &a));
  OK(afterbay_period_parse(field[3], &b));
  OK(afterbay_period_parse(field[4], &step));
  OK(afterbay_period_add(&a, strtoll(field[2], NULL, 10), &b, &a));
  OK(afterbay_period_resolve(&a, &step, &a));
  return print_period(&a);
}

static int multiple(void) {
  afterbay_period whole, unit;
  int answer;
  OK(afterbay_period_parse(field[1], &whole));
  OK(afterbay_period_parse(field[2], &unit));
  OK(afterbay_calendar_multiple(calendar, &whole, &unit, &answer));
  printf("%d\n", answer);
  return AFTERBAY_OK;
}

static const struct {
  const char* name;
  int (*function)(void);
} questions[] = {{"calendar", new_calendar}, {"months", new_months}, {"table", table},
                 {"number", number},         {"date", date_of},      {"add", add},
                 {"difference", difference}, {"day", day},           {"interval", interval},
                 {"format", format},         {"period", period},     {"multiple", multiple}};

static int answer(void) {
  for (size_t i = 0; i < sizeof questions / sizeof *questions; ++i)
    if (strcmp(field[0], questions[i].name) == 0) return questions[i].function();
  fprintf(stderr, "no question %s\n", field[0]);
  exit(1);
}

static void fail(const char* what, int line) {
  fprintf(stderr, "calendar.c:%d: %s\n  last error: %s\n", line, what, afterbay_last_error());
  exit(1);
}
#define HOLDS(condition)                          \
  do {                                            \
    if (!(condition)) fail(#condition, __LINE__); \
  } while (0)
#define FAILS(call, expected, part)                                        \
  do {                                                                     \
    HOLDS((call) == (expected));                                           \
    if (strstr(afterbay_last_error(), part) == NULL) fail(part, __LINE__); \
  } while (0)

static void refusals(void) {
  const int invalid = AFTERBAY_INVALID_ARGUMENT;
  afterbay_calendar* made = NULL;
  afterbay_date date = {2000, 1, 31, 0, 0, 0, 0}, other = {7, 7, 7, 0, 0, 0, 0};
  afterbay_period month = {0, 1, 0, 0, 0, 0}, unchanged = {7, 7, 7, 7, 7, 7};
  afterbay_interval interval;
  const int lengths[] = {30, 0};
  const char* name;
  char text[20];
  double value;
  int number;

  FAILS(afterbay_calendar_create("nolaep", &made), AFTERBAY_UNKNOWN_NAME, "did you mean \"noleap\"?");
  HOLDS(made == NULL);
  FAILS(afterbay_calendar_create(NULL, &made), invalid, "`name` is NULL");
  FAILS(afterbay_calendar_create("noleap", NULL), invalid, "`calendar` is NULL");
  const afterbay_calendar_rules none = {NULL, 2, 0, 0, 0, 0}, zero = {lengths, 2, 0, 0, 0, 0},
                                negative = {lengths, 1, 0, 0, 0, -1}, leap = {lengths, 1, 1, 2000, 0, 0};
  FAILS(afterbay_calendar_create_from(NULL, &made), invalid, "`rules` is NULL");
  FAILS(afterbay_calendar_create_from(&none, &made), invalid, "`month_lengths` is NULL");
  FAILS(afterbay_calendar_create_from(&zero, &made), invalid,
        "month 2 of a user-defined calendar has 0 days");
  FAILS(afterbay_calendar_create_from(&negative, &made), invalid, "has -1 s");
  FAILS(afterbay_calendar_create_from(&leap, &made), invalid, "leap_month of a user-defined calendar is 2");

  HOLDS(afterbay_calendar_create("GREGORIAN", &made) == AFTERBAY_OK);
  HOLDS(afterbay_calendar_name(made, &name) == AFTERBAY_OK && strcmp(name, "standard") == 0);
  int64_t last = 0, seconds = 0;
  HOLDS(afterbay_calendar_max_year(made, &last) == AFTERBAY_OK && last == 100000000000);
  HOLDS(afterbay_calendar_lengths(made, NULL, &seconds) == AFTERBAY_OK && seconds == 86400);
  FAILS(afterbay_calendar_check(NULL, &date), invalid, "`calendar` is NULL");
  FAILS(afterbay_calendar_check(made, NULL), invalid, "`date` is NULL");
  FAILS(afterbay_calendar_days_in_month(made, 1000000000000, 1, &number), invalid, "out of range");
  FAILS(afterbay_calendar_days_in_month(made, 2000, 13, &number), invalid, "months 1 to 12");
  FAILS(afterbay_calendar_add(made, &date, NULL, 1, &other), invalid, "`period` is NULL");
  FAILS(afterbay_calendar_add(made, &date, &month, INT64_MAX, &other), invalid, "out of range");
  FAILS(afterbay_calendar_parse(made, "2000-02-30", &other), invalid, "days 1 to 29");
  HOLDS(other.year == 7 && other.month == 7 && other.day == 7);
  FAILS(afterbay_period_parse("1m", &unchanged), invalid, "min (minutes) or mo (months)");
  HOLDS(unchanged.years == 7 && unchanged.nanoseconds == 7);
  FAILS(afterbay_calendar_interval(made, &date, &month, 3, NULL, &interval), invalid, "enum afterbay_align");
  FAILS(afterbay_calendar_interval(made, &date, &month, AFTERBAY_ALIGN_START, NULL, &interval), invalid,
        "`start` is NULL");
  FAILS(afterbay_calendar_number(made, "months since 2000-01-01", &date, &value), invalid, "use days");
  FAILS(afterbay_calendar_print(made, &date, "%Q", text, sizeof text), invalid, "contains %Q");
  FAILS(afterbay_calendar_print(made, &date, NULL, text, 19), invalid, "`text` has 19 bytes; 20 are needed");
  FAILS(afterbay_calendar_print(made, &date, NULL, NULL, 0), invalid, "`text` is NULL");
  HOLDS(afterbay_calendar_print(made, &date, NULL, text, sizeof text) == AFTERBAY_OK);
  HOLDS(strcmp(text, "2000-01-31T00:00:00") == 0);
  afterbay_calendar_free(made);
  afterbay_calendar_free(NULL);
}

int main(int argc, char** argv) {
  static char line[LINE];
  if (argc > 1 && strcmp(argv[1], "refusals") == 0) {
    refusals();
    return 0;
  }
  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    char* rest = line;
    for (int i = 0; i < FIELDS; ++i) {
      field[i] = rest;
      char* const end = strchr(rest, '|');
      if (end != NULL) *end = '\0';
      rest = end != NULL ? end + 1 : rest + strlen(rest);
    }
    const int code = answer();
    if (code != AFTERBAY_OK) printf("error %s %s\n", afterbay_error_name(code), afterbay_last_error());
  }
  afterbay_calendar_free(calendar);
  return 0;
}
