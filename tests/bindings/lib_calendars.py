# SPDX-License-Identifier: Apache-2.0
"""Compares what a program says of calendars with cftime: calendar.c and calendar_fortran.f90 answer
the same questions.

cftime counts days; everything finer is exact integer arithmetic here, so that answers are compared
with the right value and not with a rounded one. Months are added here by looking for the last day
that cftime accepts."""
import datetime
import fractions
import os
import random
import re
import subprocess
import warnings

import cftime
import numpy

warnings.filterwarnings("ignore", category=cftime.CFWarning if hasattr(cftime, "CFWarning") else Warning)

CALENDARS = ["standard", "proleptic_gregorian", "noleap", "all_leap", "360_day", "julian"]
UNITS = {"days": 86400 * 10**6, "hours": 3600 * 10**6, "minutes": 60 * 10**6, "seconds": 10**6, "milliseconds": 10**3, "microseconds": 1}
DAY_US = UNITS["days"]
DATE = re.compile(r"(-?\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)(?:\.(\d+))?")


class Program:
    """Collects questions, asks them all at once, and gives the answers to the functions that wait
    for them."""

    def __init__(self, path):
        self.path, self.questions, self.readers = path, [], []

    def ask(self, *fields, expect):
        """`expect`: the answer, or a function of the answer that is true if it is right."""
        self.questions.append("|".join(str(field) for field in fields))
        self.readers.append(expect)

    def run(self):
        output = self.lines(self.questions)
        assert len(output) == len(self.questions), f"{len(self.questions)} questions, {len(output)} answers"
        for question, answer, expected in zip(self.questions, output, self.readers):
            right = expected(answer) if callable(expected) else answer == expected
            assert right, f"{question}: the answer is {answer!r}, expected {'otherwise' if callable(expected) else repr(expected)}"
        count = len(self.questions)
        self.questions, self.readers = [], []
        return count

    def lines(self, questions):
        done = subprocess.run([self.path], input="\n".join(questions) + "\n", capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        return [line.strip() for line in done.stdout.splitlines()]


def has_year_zero(calendar):
    return calendar not in ("standard", "julian")


def make(calendar, year, month, day):
    """A date of cftime; None if it does not exist."""
    if year == 0 and not has_year_zero(calendar):
        return None
    try:
        return cftime.datetime(year, month, day, calendar=calendar)
    except ValueError:
        return None


def text(year, month, day, us=0):
    """As our programs print it: with a fraction only if there is one."""
    seconds, us = divmod(us, 10**6)
    fraction = f".{us:06}".rstrip("0") if us else ""
    return f"{'-' if year < 0 else ''}{abs(year):04}-{month:02}-{day:02}T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"


class Moment:
    """A date in a calendar, with microseconds of its day, and its days since 0001-01-01 by
    cftime."""

    def __init__(self, calendar, year, month, day, us=0):
        self.calendar, self.year, self.month, self.day, self.us = calendar, year, month, day, us
        self.days = int(cftime.date2num(make(calendar, year, month, day), "days since 0001-01-01", calendar=calendar))

    @property
    def total(self):
        return self.days * DAY_US + self.us

    def __str__(self):
        return text(self.year, self.month, self.day, self.us)

    @staticmethod
    def of_total(calendar, total):
        days, us = divmod(total, DAY_US)
        date = cftime.num2date(days, "days since 0001-01-01", calendar=calendar)
        return Moment(calendar, date.year, date.month, date.day, us)

    @staticmethod
    def random(source, calendar, years=5000):
        while True:
            year = source.choice([source.randint(-years, years), source.randint(-years, years), source.randint(-9, 9), source.randint(1580, 1584)])
            month, day = source.randint(1, 12), source.randint(1, 31)
            if make(calendar, year, month, day) is not None:
                us = source.choice([0, source.randrange(86400) * 10**6, source.randrange(DAY_US)])
                return Moment(calendar, year, month, day, us)

    def months_later(self, months):
        year = self.year + (1 if self.year < 0 and not has_year_zero(self.calendar) else 0)
        year, month = divmod(year * 12 + self.month - 1 + months, 12)
        if year < 1 and not has_year_zero(self.calendar):
            year -= 1
        day = self.day
        while make(self.calendar, year, month + 1, day) is None:
            day -= 1
        return Moment(self.calendar, year, month + 1, day, self.us)


def compare_table(program, calendar, first, last):
    """The first and the last day of each month: the numbers of our program, read as dates by
    cftime."""
    rows = program.lines([f"calendar|{calendar}", f"table|days since 0001-01-01|{first}|{last}"])
    assert rows[0] == "ok" and rows[-1] == "end", rows[:3]
    table = numpy.array([row.split() for row in rows[1:-1]], dtype=numpy.int64)
    years = [year for year in range(first, last + 1) if year != 0 or has_year_zero(calendar)]
    assert len(table) == 12 * len(years)
    assert (table[:, 0] == numpy.repeat(years, 12)).all() and (table[:, 1] == numpy.tile(range(1, 13), len(years))).all()
    assert (table[1:, 3] == table[:-1, 4] + 1).all(), "a month begins on the day after the month before it"
    for day, numbers in ((numpy.ones_like(table[:, 2]), table[:, 3]), (table[:, 2], table[:, 4])):
        dates = cftime.num2date(numbers, "days since 0001-01-01", calendar=calendar)
        theirs = numpy.array([(date.year, date.month, date.day) for date in dates])
        ours = numpy.stack([table[:, 0], table[:, 1], day], axis=1)
        wrong = numpy.flatnonzero((theirs != ours).any(axis=1))
        assert wrong.size == 0, f"{calendar}: our {ours[wrong[0]]} is number {numbers[wrong[0]]}, which cftime reads as {theirs[wrong[0]]}"
    return 2 * len(table)


def ask_numbers(program, source, calendar):
    reference, date = Moment.random(source, calendar), Moment.random(source, calendar)
    for unit, unit_us in UNITS.items():
        exact = fractions.Fraction(date.total - reference.total, unit_us)
        units = f"{unit} since {reference}"
        # The nearest double: Python's division of integers rounds correctly.
        program.ask("number", units, date, expect=lambda answer, exact=exact: float(answer) == float(exact))
        number = float(exact)
        program.ask("date", units, repr(number), expect=lambda answer, n=number, r=reference, u=unit_us: reads_as(answer, r, n, u))


def reads_as(answer, reference, number, unit_us):
    """Whether the date has this number, and is in whole seconds if such a date has it."""
    found = DATE.fullmatch(answer)
    if not found:
        return False
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    fraction = (found[7] or "").ljust(9, "0")
    moment = Moment(reference.calendar, year, month, day, 0)
    ns = (moment.total + ((hour * 60 + minute) * 60 + second) * 10**6) * 1000 + int(fraction)
    if float(fractions.Fraction(ns - reference.total * 1000, unit_us * 1000)) != number:
        return False
    exact_ns = fractions.Fraction(number) * unit_us * 1000 + reference.total * 1000
    whole = round(exact_ns / 10**9) * 10**9
    return float(fractions.Fraction(whole - reference.total * 1000, unit_us * 1000)) != number or ns % 10**9 == 0


def ask_num2date(program, source, calendar):
    """Numbers that need not be those of whole microseconds: the date of cftime, to its accuracy."""
    unit = source.choice(["days", "hours", "minutes", "seconds"])
    reference = Moment.random(source, calendar)
    number = source.uniform(-1, 1) * 1000 * 365 * DAY_US / UNITS[unit]
    theirs = cftime.num2date(number, f"{unit} since {str(reference).replace('T', ' ')}", calendar=calendar)
    expected = Moment(calendar, theirs.year, theirs.month, theirs.day).total + ((theirs.hour * 60 + theirs.minute) * 60 + theirs.second) * 10**6 + theirs.microsecond

    def close(answer):
        found = DATE.fullmatch(answer)
        year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
        total = Moment(calendar, year, month, day).total + ((hour * 60 + minute) * 60 + second) * 10**6 + int((found[7] or "").ljust(9, "0")) // 1000
        return abs(total - expected) <= 20

    program.ask("date", f"{unit} since {reference}", repr(number), expect=close)


def ask_arithmetic(program, source, calendar):
    date, other = Moment.random(source, calendar), Moment.random(source, calendar)
    us = other.total - date.total
    program.ask("difference", date, other, expect=f"{us // 10**6} {us % 10**6 * 1000}")

    count, months = source.randint(-300, 300), source.randint(-15, 15)
    program.ask("add", date, f"{months}mo", count, expect=str(date.months_later(count * months)))
    days, seconds = source.randint(-400, 400), source.randint(-10**5, 10**5)
    later = Moment.of_total(calendar, date.months_later(count * months).total + count * (days * DAY_US + seconds * 10**6))
    program.ask("add", date, f"{months}mo{days:+}d{seconds:+}s", count, expect=str(later))
    # cftime itself, for periods that it has
    theirs = make(calendar, date.year, date.month, date.day) + datetime.timedelta(days=days * count, seconds=seconds * count)
    midnight = Moment(calendar, date.year, date.month, date.day)
    expected = text(theirs.year, theirs.month, theirs.day, ((theirs.hour * 60 + theirs.minute) * 60 + theirs.second) * 10**6)
    program.ask("add", midnight, f"{days:+}d{seconds:+}s", count, expect=expected)


def ask_day(program, source, calendar):
    date = Moment.random(source, calendar)
    theirs = make(calendar, date.year, date.month, date.day)
    in_month = sum(make(calendar, date.year, date.month, day) is not None for day in range(1, 32))
    of_year = date.days - Moment(calendar, date.year, 1, 1).days + 1
    in_year = Moment(calendar, date.year, 1, 1).months_later(12).days - Moment(calendar, date.year, 1, 1).days
    assert of_year == theirs.dayofyr or (calendar, date.year) == ("standard", 1582)  # cftime counts the days that were left out
    weekday = theirs.dayofwk + 1 if calendar in ("standard", "proleptic_gregorian", "julian") else 0
    program.ask("day", date, expect=f"{of_year} {in_month} {in_year} {weekday}")
    if date.year > 0:
        program.ask("format", date, "%Y%m%d_%j", expect=f"{date.year:04}{date.month:02}{date.day:02}_{of_year:03}")


def ask_all_days(program, calendar):
    for year in (-4, -1, 0, 1, 4, 1500, 1582, 1900, 2000):
        for month in range(14):
            for day in range(33):
                ask_existence(program, calendar, year, month, day)


def ask_random_day(program, source, calendar):
    ask_existence(program, calendar, source.randint(-5000, 5000), source.randint(0, 13), source.choice([0, 1, 28, 29, 30, 31, 32]))


def ask_existence(program, calendar, year, month, day):
    written = text(year, month, day)
    if make(calendar, year, month, day) is not None:
        program.ask("add", written, "0s", 1, expect=written)
    else:
        program.ask("add", written, "0s", 1, expect=lambda answer: answer.startswith("error invalid_argument"))


def ask_intervals(program, source, calendar):
    date = Moment.random(source, calendar)
    first = Moment(calendar, date.year, date.month, 1)
    in_year_0 = Moment(calendar, -1 if not has_year_zero(calendar) else 0, 1, 1)
    year = date.year + (1 if date.year < 0 and not has_year_zero(calendar) else 0)
    month = year * 12 + date.month - 1

    def interval(period, align, begin, end, index):
        program.ask("interval", date, period, align, expect=f"{begin} {end} {index}")

    interval("1mo", "calendar", first, first.months_later(1), month)
    season = first.months_later(-((month + 1) % 3))
    interval("3mo", "seasons", season, season.months_later(3), (month + 1) // 3)
    january = first.months_later(1 - date.month)
    interval("1y", "calendar", january, january.months_later(12), year)
    decade = january.months_later(-12 * (year % 10))
    interval("10y", "calendar", decade, decade.months_later(120), year // 10)
    for hours, period in ((1, "1h"), (6, "6h"), (24, "1d"), (120, "5d")):
        length = hours * 3600 * 10**6
        index = (date.total - in_year_0.total) // length
        begin = in_year_0.total + index * length
        interval(period, "calendar", Moment.of_total(calendar, begin), Moment.of_total(calendar, begin + length), index)
    start = Moment.random(source, calendar)
    months = source.randint(1, 30)
    index = (month - (start.year + (1 if start.year < 0 and not has_year_zero(calendar) else 0)) * 12 - start.month + 1) // months
    if start.months_later(index * months).total > date.total:
        index -= 1
    interval(f"{months}mo", start, start.months_later(index * months), start.months_later((index + 1) * months), index)


def ask_user_defined(program, source):
    """CF's attributes that describe calendars which cftime has under a name."""
    roman = "31 28 31 30 31 30 31 31 30 31 30 31"
    for calendar, definition in (("noleap", (roman, "-", "-", "-")), ("360_day", (" ".join(["30"] * 12), "-", "-", "86400")),
                                 ("julian", (roman, "1904", "2", "-")), ("julian", (roman, "-8", "2", "-"))):
        program.ask("months", *definition, expect="ok")
        for _ in range(60):
            date, other = Moment.random(source, calendar), Moment.random(source, calendar)
            if date.year < 1 or other.year < 1:
                continue  # user-defined calendars have a year 0
            us = other.total - date.total
            program.ask("difference", date, other, expect=f"{us // 10**6} {us % 10**6 * 1000}")


def ask_periods(program):
    program.ask("period", "1h", 3, "1mo0.5s", "30min", expect="3mo1h1.5s")
    program.ask("period", "4ts", -1, "1d", "30min", expect="-1d+2h")
    program.ask("period", "1x", 1, "1d", "1s", expect=lambda answer: "is not a unit" in answer)
    program.ask("calendar", "standard", expect="ok")
    program.ask("multiple", "1mo", "30min", expect="1")
    program.ask("multiple", "1mo", "5d", expect="2")
    program.ask("multiple", "1d", "7h", expect="0")
    program.ask("multiple", "1d", "0s", expect=lambda answer: answer.startswith("error invalid_argument"))
    program.ask("calendar", "standrad", expect=lambda answer: answer.startswith("error unknown_name") and "\"standard\"" in answer)
    program.ask("format", "2000-01-01", "%Y%", expect=lambda answer: "ends with %" in answer)
    program.ask("number", "days since 2000-02-30", "2000-01-01", expect=lambda answer: "days 1 to 29" in answer)
    program.ask("number", "days since 2000-01-01 00:00 +02:00", "2000-01-01", expect=lambda answer: "time zone +02:00" in answer)
    program.ask("date", "days since 2000-01-01", "1e300", expect=lambda answer: "out of range" in answer)
    program.ask("add", "2000-01-01", "1y", 10**12, expect=lambda answer: "out of range" in answer)


def compare(path, years, rounds):
    """Years of the table, first and last, and the number of random questions of each kind and
    calendar."""
    seed = int(os.environ.get("AFTERBAY_TEST_SEED", "20261126"))
    print(f"AFTERBAY_TEST_SEED={seed}")
    source, program = random.Random(seed), Program(path)
    for calendar in CALENDARS:
        days = compare_table(program, calendar, *years)
        program.ask("calendar", calendar, expect="ok")
        ask_all_days(program, calendar)
        for _ in range(rounds):
            for ask in (ask_numbers, ask_num2date, ask_arithmetic, ask_day, ask_random_day, ask_intervals):
                ask(program, source, calendar)
        print(f"{calendar}: {days} first and last days of months, {program.run()} questions")
    ask_user_defined(program, source)
    ask_periods(program)
    print(f"others: {program.run()} questions")
    subprocess.run([path, "refusals"], check=True, timeout=30)
