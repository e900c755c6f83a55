#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random descriptions against numpy: calendars, also user-defined ones, steps of hours and months,
samples with offsets, cycles, reductions inside of others, subsets of grids, units, splits. Dates
are those of cftime, or for user-defined calendars days that are counted here."""
import bisect
import glob
import os
import random
import shutil

import cftime
import netCDF4
import numpy as np

from lib_described import NUMBERS, TYPES, Fields, read, reduce, run

HOUR, DAY = 3600, 86400
LEVELS = (10, 20, 30)
CALENDARS = ["standard", "proleptic_gregorian", "noleap", "all_leap", "360_day", "julian", "months"]


class Dates:
    """Seconds since the year 1997, and back to months."""

    first_year, years = 1997, 15

    def __init__(self, calendar, months=None, leap_year=None, leap_month=2):
        self.begins, self.months = [0], 12 if months is None else len(months)
        for year in range(self.first_year, self.first_year + self.years):
            for month in range(1, self.months + 1):
                if months is None:
                    ends = (year + 1, 1) if month == 12 else (year, month + 1)
                    days = (cftime.datetime(*ends, 1, calendar=calendar) - cftime.datetime(year, month, 1, calendar=calendar)).days
                else:
                    leaps = leap_year is not None and (year - leap_year) % 4 == 0
                    days = months[month - 1] + (leaps and month == leap_month)
                self.begins.append(self.begins[-1] + days * DAY)

    def month_before(self, seconds):
        """The month that contains the time just before, counted from the first year."""
        return bisect.bisect_left(self.begins, seconds) - 1

    def begin_of(self, year, month):
        return self.begins[(year - self.first_year) * self.months + month - 1]

    def add_months(self, seconds, months):
        month = bisect.bisect_right(self.begins, seconds) - 1
        return self.begins[month + months] + seconds - self.begins[month]

    def interval(self, seconds, every):
        """The interval of the calendar that contains the time just before."""
        count, unit = int("".join(filter(str.isdigit, every))), "".join(filter(str.isalpha, every))
        if unit in ("mo", "y"):
            count *= self.months if unit == "y" else 1
            # Years of 12 months, or whole ones: months are counted from a January.
            first = (self.month_before(seconds) + self.first_year * self.months) // count * count - self.first_year * self.months
            return self.begins[first], self.begins[first + count]
        length = count * {"h": HOUR, "d": DAY}[unit]
        first = (seconds - 1) // length * length  # the first year begins at midnight
        return first, first + length


class Plan:
    """One entry of a description: what records it has, and of which steps."""

    def __init__(self, dates, ends, durations, keys):
        self.dates, self.ends, self.durations, self.keys = dates, ends, durations, keys
        self.periods = []  # begin, end, numbers of steps
        for n in range(1, len(ends)):
            begin, end = dates.interval(ends[n], keys["every"])
            if not self.periods or self.periods[-1][1] != end:
                self.periods.append((begin, end, []))
            self.periods[-1][2].append(n)
        self.partial = [begin < ends[0] or end > ends[-1] for begin, end, _ in self.periods]

    def sampled(self, n):
        if "sample" not in self.keys:
            return True
        shifted = self.ends[n] - self.offset()
        return self.dates.interval(shifted, self.keys["sample"])[1] == shifted

    def offset(self):
        return int(self.keys.get("sample_offset", "0h")[:-1]) * HOUR

    def seconds(self, n):
        if "sample" not in self.keys:
            return self.durations[n]
        begin, end = self.dates.interval(self.ends[n] - self.offset(), self.keys["sample"])
        return end - begin

    def part(self, n):
        """The part of the cycle, which is a day."""
        return (self.ends[n] - 1) % DAY // (int(self.keys["cycle_step"][:-1]) * HOUR)

    def records(self):
        """Records of statistics: the period and the steps taken in, for each part of a cycle."""
        found = []
        parts = DAY // (int(self.keys["cycle_step"][:-1]) * HOUR) if "cycle" in self.keys else 1
        for (begin, end, steps), partial in zip(self.periods, self.partial):
            taken = [n for n in steps if self.sampled(n)]
            lists = [[n for n in taken if parts == 1 or self.part(n) == part] for part in range(parts)]
            if any(lists):
                found.append((max(begin, self.ends[0]), min(end, self.ends[-1]), lists, partial))
        return found

    def written(self, records):
        return [it for it in records if not it[3] or self.keys["partial"] == "write"]

    def statistic(self, operation, value, has_missing):
        policy = self.keys["missing"] if has_missing else "poison"
        results, before = [], [None] * 100
        for record in self.records():
            for part, steps in enumerate(record[2]):
                series = [value(n) for n in steps]
                if not series:
                    results.append((record, np.full_like(value(1), np.nan)))
                    continue
                if operation == "rate":
                    result = rate(series, [self.seconds(n) for n in steps], policy)
                else:
                    result = reduce(operation, series, before[part], 0, policy)
                before[part] = series[-1]
                results.append((record, result))
        return np.array([result for record, result in results if record in self.written([record])])

    def chained(self, operation, inner, value):
        """`operation` over the periods, of a statistic over days."""
        days = Plan(self.dates, self.ends, self.durations, {"every": "1d", "partial": "write", "missing": self.keys["missing"]})
        of_days = days.statistic(inner, value, True)
        ends = [min(end, self.ends[-1]) for _, end, _, _ in days.records()]
        results = []
        for begin, end, _, _ in self.written(self.records()):
            results.append(reduce(operation, [of for of, at in zip(of_days, ends) if begin < at <= end], None, 0, self.keys["missing"]))
        return np.array(results)


def rate(series, seconds, policy):
    stack, seconds = np.array(series), np.array(seconds, "f8").reshape(-1, *[1] * np.ndim(series[0]))
    valid = ~np.isnan(stack)
    with np.errstate(all="ignore"):
        result = np.where(valid, stack, 0).sum(axis=0) / (valid * seconds).sum(axis=0)
    if policy in ("ignore", "poison"):
        return np.where(valid.sum(axis=0) >= (1 if policy == "ignore" else len(series)), result, np.nan)
    return np.where((valid * seconds).sum(axis=0) >= float(policy) * seconds.sum(), result, np.nan)  # of the time


GRIDS = {
    "own": ("", lambda values: values),
    "part": ("{index: {lat: [1, 3], lon: [0, 4]}}", lambda values: values[..., 1:4, 0:5]),
    "thin": ("{stride: {lon: 2, lat: 3}, reverse: [lat]}", lambda values: values[..., ::3, ::2][..., ::-1, :]),
    "upper": ("{levels: {lev: [10, 20]}}", lambda values: values[..., :2, :, :] if values.ndim > 2 else values),
}
DERIVED = {"speed": "sqrt(uas^2 + vas^2)", "flux": "toce*e3t", "warm": "toce > 100 ? toce - 3 : 0/0"}
UNITS = {"tas": ("degC", lambda x: x - 273.15), "uas": ("km h-1", lambda x: x * 3.6)}
DEEP = ["toce", "e3t", "flux", "warm"]  # with levels
OPERATIONS = ["mean", "sum", "min", "max", "range", "stddev", "rate", "difference"]


def values_of(fields, name):
    if name == "warm":
        return lambda n: np.where(fields.value("toce", n) > 100, fields.value("toce", n) - 3, np.nan)
    return (lambda n: fields.derived(DERIVED[name], n)) if name in DERIVED else (lambda n: fields.value(name, n))


def choose_time(random_):
    calendar = random_.choice(CALENDARS)
    options, dates = {"calendar": calendar}, None
    if calendar == "months":
        months = [random_.randint(1, 40) for _ in range(random_.choice([3, 7, 12]))]
        rules = {"leap_year": random_.choice([2000, 2001]), "leap_month": random_.randint(1, len(months))} if random_.random() < 0.5 else {}
        options = {"months": ",".join(map(str, months)), **rules}
        dates = Dates(None, months, **rules)
    else:
        dates = Dates(calendar)
    step = random_.choice(["3h", "6h", "12h", "1d", "1mo"])
    year, month = random_.choice([1999, 2000]), random_.randint(1, dates.months)
    start, clock = dates.begin_of(year, month), ""
    if step in ("3h", "6h", "12h") and random_.random() < 0.3:
        start, clock = start + 12 * HOUR, "T12:00"
    last = random_.randint(1, 20 if step == "1mo" else 150)
    ends = [start]
    for n in range(1, last + 1):
        ends.append(dates.add_months(start, n) if step == "1mo" else start + n * (int(step[:-1]) * HOUR if step[-1] == "h" else DAY))
    options.update(step=step, last=last, start=f"{year}-{month:02}-01{clock}", lat=random_.randint(4, 7), lon=random_.randint(5, 9),
                   lev=len(LEVELS), decomposition=random_.choice(["block", "map", "whole"]))
    return options, dates, ends, [0] + [b - a for a, b in zip(ends, ends[1:])]


def choose_file(random_, step, number):
    length = {"1d": 24, "1mo": 0}.get(step) if step in ("1d", "1mo") else int(step[:-1])
    every = random_.choice(["1mo", "2mo", "1y"] if step == "1mo" else [p for p in ("6h", "12h", "1d", "1mo", "1y") if p[-1] != "h" or int(p[:-1]) % length == 0])
    keys = {"every": every, "missing": random_.choice(["ignore", "poison", "0.5"]), "partial": random_.choice(["write", "write", "skip"]),
            "type": random_.choice(["auto", "own", "float64", "float32"]), "grid": random_.choice(list(GRIDS)),
            "split": random_.choice(["3 records", "1mo", "1y"]), "name": '"{file}_{part:03}"'}
    if keys["split"] == "1mo" and every in ("2mo", "1y"):
        keys["split"] = "1y"
    kind = random_.choice(["plain", "plain", "sample", "cycle", "chain", "instant"])
    if step in ("1d", "1mo") or every not in ("1d", "1mo", "1y"):
        kind = "plain" if kind in ("sample", "cycle", "chain") else kind
    if kind == "sample":
        keys["sample"] = random_.choice([s for s in ("12h", "1d") if int(s[:-1]) * (24 if s[-1] == "d" else 1) > length])
        keys["sample_offset"] = f"{random_.choice([0, length])}h"
    if kind == "cycle":
        if every == "1d":
            keys["every"] = "1mo"
        keys.update(cycle="1d", cycle_step=random_.choice(["12h", f"{length}h"]), split="1y" if every == "1y" else "1mo")
    if kind == "chain" and every == "1d":
        keys["every"] = "1mo"
    names = random_.sample(["tas", "uas", "toce", "e3t", "count", *DERIVED], random_.randint(1, 4))
    if keys["grid"] == "upper" and (kind != "chain" and not set(names) <= set(DEEP)):
        keys["grid"] = "own"
    entries = []  # operation, field, name, units
    for field in names:
        for operation in ["instant"] if kind == "instant" else random_.sample(OPERATIONS, random_.randint(1, 2)):
            if operation == "difference" and kind == "cycle":
                continue
            units = field in UNITS and operation in ("mean", "min", "instant") and random_.random() < 0.5
            entries.append((operation, field, f"{field}_{operation}", units))
    if kind == "chain":
        entries = [("write", inner, name, False) for name, inner in (("hot", "max"), ("cold", "min"))]
    return kind, keys, entries or [("mean", "tas", "tas_mean", False)]


def text_of(files, chains):
    lines = ["fields:", *(f'  {name}: "{text}"' for name, text in DERIVED.items()), *(f"  {name}: mean({inner}(toce, 1d))" for name, inner in chains),
             "grids:", *(f"  {name}: {text}" for name, (text, _) in GRIDS.items() if text), "files:"]
    for f, (_, keys, entries) in enumerate(files):
        lines.append(f"  f{f}:")
        lines += [f"    {key}: {value}" for key, value in keys.items()]
        for operation in dict.fromkeys(operation for operation, *_ in entries):
            inner = [f"{name if op == 'write' else field}: " + (f"{{name: {name}, units: {UNITS[field][0]}}}" if units else name)
                     for op, field, name, units in entries if op == operation]
            lines.append(f"    {operation}: [{', '.join(inner)}]")
    return "\n".join(lines) + "\n"


def check_file(f, plan, fields, keys, kind, entries):
    paths = sorted(glob.glob(f"f{f}_*.nc"))
    start = plan.ends[0]
    if kind == "instant":
        ends = [end for _, end, _ in plan.periods if end in plan.ends]
        bounds = np.array([[(end - start) / DAY] * 2 for end in ends])
        steps = [plan.ends.index(end) for end in ends]
    else:
        records = plan.written(plan.records())
        bounds = np.array([[(begin - start) / DAY, (end - start) / DAY] for begin, end, _, _ in records])
    if len(bounds) == 0:
        assert not paths, f"f{f} has no record, but there are {paths}"
        return 0
    assert paths, f"there is no f{f}"
    whole = lambda name: np.concatenate([read(path, name)[0] for path in paths])
    if kind != "cycle":
        np.testing.assert_allclose(whole("time_bnds"), bounds, rtol=0, atol=1e-6, err_msg=f"f{f}")
        np.testing.assert_allclose(whole("time"), bounds.mean(axis=1), rtol=0, atol=1e-6, err_msg=f"f{f}")
    for operation, field, name, units in entries:
        if operation == "write":
            expected = plan.chained("mean", field, lambda n: fields.value("toce", n))
        elif operation == "instant":
            expected = np.array([values_of(fields, field)(n) for n in steps])
        else:
            expected = plan.statistic(operation, values_of(fields, field), field in ("toce", *DERIVED))
        if units:
            expected = UNITS[field][1](expected)
        expected = GRIDS[keys["grid"]][1](expected)
        dtype = read(paths[0], name)[1]
        assert keys["type"] in ("auto", "own") or dtype == keys["type"], f"{name}: {dtype}"
        if keys["type"] == "auto" and field == "count":
            assert dtype == {"mean": "f8", "stddev": "f8", "rate": "f8", "sum": "i8"}.get(operation, "f8" if units else "i4"), f"{name}: {dtype}"
        assert keys["type"] != "own" or field in (*DERIVED, "max", "min") or dtype == np.dtype(TYPES.get(field, "f4")), f"{name}: {dtype}"
        found = whole(name)
        assert found.shape == expected.shape, f"f{f}: {name}: shape {found.shape}, expected {expected.shape}"
        if np.issubdtype(dtype, np.integer):
            # Halves are rounded to even; sums of squares are rounded differently.
            assert np.array_equal(np.isnan(found), np.isnan(expected)) and np.nanmax(np.abs(found - expected), initial=0) <= 0.5 + 1e-6, f"f{f}: {name}"
        elif units or operation in ("stddev", "rate"):
            np.testing.assert_allclose(found, expected, rtol=3e-7 if dtype == "f4" else 1e-11, atol=1e-4 if dtype == "f4" else 1e-9, err_msg=f"f{f}: {name}")
        else:
            exact = expected.astype(dtype).astype("f8")
            assert np.array_equal(found, exact, equal_nan=True), \
                f"f{f}: {name}: {np.argwhere(~((found == exact) | (np.isnan(found) & np.isnan(exact))))[:3]} differ"
    return len(bounds)


def one(seed):
    random_ = random.Random(seed)
    options, dates, ends, durations = choose_time(random_)
    files = [choose_file(random_, options["step"], f) for f in range(random_.randint(1, 4))]
    ranks, servers = random_.randint(1, 4), random_.randint(1, 2)
    settings = random_.choice([[], [], ["--afterbay.placement=slab"], ["--afterbay.transport=mpi"]])
    text = text_of(files, {"hot": "max", "cold": "min"}.items() if any(kind == "chain" for kind, *_ in files) else {})
    shutil.rmtree("run", ignore_errors=True)
    os.makedirs("run")
    os.chdir("run")
    try:
        run(text, ranks=ranks, servers=servers, settings=settings, **options)
        fields = Fields(**options)
        counts = [check_file(f, Plan(dates, ends, durations, keys), fields, keys, kind, entries) for f, (kind, keys, entries) in enumerate(files)]
        if any(counts) and "months" in options:
            with netCDF4.Dataset(sorted(glob.glob("f*.nc"))[0]) as file:
                assert list(np.atleast_1d(file["time"].month_lengths)) == [int(x) for x in options["months"].split(",")]
    except BaseException:
        print(f"seed {seed}: {ranks} ranks, {servers} servers, {settings}, {options}\n{text}")
        raise
    os.chdir("..")
    print(f"seed {seed}: {options.get('calendar', 'months')}, {options['step']}: {', '.join(kind for kind, *_ in files)}: {counts} records", flush=True)


def a_part_ends_within_a_period():
    """The run ends there, too: the period is cut short, and its record lies in the part in which it
    would end. A longer run that resumes replaces it."""
    shutil.rmtree("ends", ignore_errors=True)
    os.makedirs("ends")
    os.chdir("ends")
    text = "files: {f: {every: 10d, split: 1mo, name: \"{file}_{part}\", align: start, mean: [tas]}}\n"
    bounds = lambda: [read(path, "time_bnds")[0].tolist() for path in sorted(glob.glob("f_*.nc"))]
    first = [[0, 10], [10, 20], [20, 30]]  # a month from the start on has 31 days
    for last, save_at in ((31, 31), (33, 31), (31, 25)):
        run(text, step="1d", last=last, start="2001-01-17", save_at=save_at, save_to=f"s{save_at}.nc")
        ended = bounds()
        assert ended == [first, [[30, last]]], ended
        run(text, step="1d", first=save_at + 1, last=45, start="2001-01-17", resume=f"s{save_at}.nc")
        assert bounds() == [first, [[30, 40], [40, 45]]], bounds()
        for path in glob.glob("f_*") + glob.glob("s*.nc"):
            os.remove(path)
    os.chdir("..")


assert set(DERIVED) & set(NUMBERS) == set()
a_part_ends_within_a_period()
for seed in range(int(os.environ.get("AFTERBAY_TEST_FIRST", "0")), int(os.environ.get("AFTERBAY_TEST_ROUNDS", "16"))):
    one(seed)
