"""What files of described output must contain, computed from the definitions alone: dates by
cftime, statistics by numpy. Nothing here uses Afterbay, except that `run` starts the model."""
import os
import pathlib
import subprocess
import sys

import cftime
import netCDF4
import numpy as np

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
MODEL = BUILD / "tests/output/output_model"
NUMBERS = {"tas": 1, "uas": 2, "vas": 3, "toce": 4, "e3t": 5, "count": 6, "co2": 7, "orog": 8, "band_flux": 10, "eps": 11, "eps_all": 11,
           "mask": 20, "level": 21, "small": 22, "large": 23}
TYPES = {"e3t": "f8", "co2": "f8", "count": "i4"}
MISSING = np.float32(-999)
HOUR = 3600


def run(description, ranks=4, servers=1, settings=(), expect=0, seconds=100, **options):
    """Runs the model; returns what it printed."""
    pathlib.Path("output.yaml").write_text(description)
    command = ["timeout", "-k", "5", str(seconds), "mpirun", "--oversubscribe", "-np", str(ranks + servers), str(MODEL),
               *[f"{key}={value}" for key, value in options.items()], "--afterbay.output=output.yaml",
               *([f"--afterbay.servers={servers}"] if servers else []), "--afterbay.report.table=off", *settings]
    done = subprocess.run(command, capture_output=True, text=True)
    if (done.returncode == 0) != (expect == 0):
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}")
    return done.stdout + done.stderr


def mixed(field, step, points):
    """0 to 65535 for each point, as model.cpp computes it."""
    with np.errstate(over="ignore"):
        h = np.uint64(field) * np.uint64(83492791) + np.uint64(step) * np.uint64(73856093)
        h = h + points.astype(np.uint64) * np.uint64(19349663)
        h ^= h >> np.uint64(13)
        h *= np.uint64(0x9E3779B97F4A7C15)
    return (h >> np.uint64(32)) & np.uint64(0xFFFF)


class Times:
    """The steps of a run."""

    def __init__(self, calendar="standard", start="2000-01-01", step="6h", last=8, **_):
        self.calendar = calendar
        date, _, clock = start.partition("T")
        year, month, day = (int(x) for x in date.split("-"))
        hour, minute = (int(x) for x in clock.split(":")[:2]) if clock else (0, 0)
        self.start = cftime.datetime(year, month, day, hour, minute, calendar=calendar)
        count, unit = int("".join(c for c in step if c.isdigit())), "".join(c for c in step if c.isalpha())
        self.seconds = count * {"min": 60, "h": HOUR, "d": 24 * HOUR}[unit]
        self.last = int(last)

    def date(self, n):
        return self.start + n * np.timedelta64(self.seconds, "s").astype(object)

    def days(self, date, reference=None):
        return cftime.date2num(date, f"days since {(reference or self.start).strftime('%Y-%m-%d %H:%M:%S')}", self.calendar)


def month_start(date, months, back=0):
    """The begin of the period of so many months, counted from January or `back` months before
    it."""
    number = date.year * 12 + date.month - 1 + back
    return number - number % months - back


def period_of(times, n, every, align):
    """(begin, end) of the period that contains the time just before the end of step n; as dates."""
    end = times.date(n)
    inside = end - np.timedelta64(1, "us").astype(object)
    count, unit = int("".join(c for c in every if c.isdigit())), "".join(c for c in every if c.isalpha())
    if unit == "ts" or align == "start":
        length = count * (times.seconds if unit == "ts" else {"h": HOUR, "d": 24 * HOUR}[unit])
        k = (n * times.seconds - 1) // length
        at = [times.start + np.timedelta64(i * length, "s").astype(object) for i in (k, k + 1)]
        return at[0], at[1]
    make = lambda y, m, d: cftime.datetime(y, m, d, calendar=times.calendar)
    if unit in ("mo", "y"):
        months = count * (12 if unit == "y" else 1)
        first = month_start(inside, months, 1 if align == "seasons" else 0)
        return tuple(make(i // 12, i % 12 + 1, 1) for i in (first, first + months))
    assert unit in ("h", "d") and (unit == "h" or count == 1) and (unit == "d" or 24 % count == 0), every
    length = count * (HOUR if unit == "h" else 24 * HOUR)
    day = make(inside.year, inside.month, inside.day)
    k = int((inside - day).total_seconds() // length)
    at = [day + np.timedelta64(i * length, "s").astype(object) for i in (k, k + 1)]
    return at[0], at[1]


class Fields:
    """Values of fields on the global grid, in float64 with NaN for missing ones."""

    def __init__(self, lat=6, lon=8, lev=3, members=0, **_):
        self.shape = {"toce": (int(lev), int(lat), int(lon)), "e3t": (int(lev), int(lat), int(lon)), "co2": (),
                      "band_flux": (3,)}
        self.shape["eps"] = self.shape["eps_all"] = (int(members), int(lat), int(lon))
        self.plane = (int(lat), int(lon))

    def value(self, name, n):
        shape = self.shape.get(name, self.plane)
        points = np.arange(int(np.prod(shape, dtype=int))).reshape(shape)
        h = mixed(NUMBERS[name], 0 if name == "orog" else n, points)
        values = h.astype("f8") if name in ("count", "large") else h / 256.0
        if name == "mask":
            values = np.where(h % np.uint64(5) == 0, np.nan, (h % np.uint64(5)).astype("f8") - 1)
        elif name == "level":
            values = (h % np.uint64(200)).astype("f8")
        elif name == "small":
            values = h.astype("i2").astype("f8")
        if name == "toce":
            values = np.where(h % np.uint64(7) == 0, np.nan, values)
        return values

    def derived(self, expression, n):
        names = {name: self.value(name, n) for name in NUMBERS if name in expression}
        with np.errstate(all="ignore"):
            return eval(expression.replace("^", "**"), {"sqrt": np.sqrt, **names})


def reduce(operation, series, before, seconds, missing="ignore"):
    """A statistic of float64 arrays with NaN for missing ones; sums in the order of time."""
    stack = np.array(series)
    valid = ~np.isnan(stack)
    n = valid.sum(axis=0)
    total = np.zeros(stack.shape[1:])
    for values in series:
        total = total + np.where(np.isnan(values), -0.0, values)
    with np.errstate(all="ignore"):
        if operation == "mean":
            result = total / n
        elif operation == "sum":
            result = total
        elif operation == "rate":
            result = total / seconds if missing == "poison" else total / (seconds / len(series) * n)
        elif operation in ("min", "max", "range"):
            low = np.where(valid, stack, np.inf).min(axis=0)
            high = np.where(valid, stack, -np.inf).max(axis=0)
            result = {"min": low, "max": high, "range": high - low}[operation]
        elif operation == "stddev":
            mean = total / n
            result = np.sqrt(np.where(valid, (stack - mean) ** 2, 0).sum(axis=0) / n)
        elif operation == "difference":
            return series[-1] - (series[0] if before is None else before)
        else:
            raise ValueError(operation)
    if missing == "ignore":
        least = n >= 1
    elif missing == "poison":
        least = n == len(series)
    else:
        least = n >= float(missing) * len(series)
    return np.where(least, result, np.nan)


class Expected:
    """The records of one file of a description."""

    def __init__(self, times, fields, every, align="calendar", sample=1, missing="ignore", partial="write"):
        self.times, self.fields, self.missing = times, fields, missing
        self.periods = []  # (begin, end, steps, whole)
        for n in range(1, times.last + 1):
            begin, end = period_of(times, n, every, align)
            if not self.periods or self.periods[-1][1] != end:
                self.periods.append((max(begin, times.start), end, [], begin >= times.start))
            self.periods[-1][2].append(n)
        self.sample = sample
        self.complete = [times.date(steps[-1]) == end and whole for _, end, steps, whole in self.periods]
        self.partial = partial

    def records(self):
        return [(begin, min(end, self.times.date(self.times.last)), steps)
                for (begin, end, steps, _), complete in zip(self.periods, self.complete)
                if complete or self.partial == "write"]

    def time(self, stamp="centre"):
        """Numbers of the time axis and its bounds, in days since the start of the run."""
        bounds = np.array([[self.times.days(begin), self.times.days(end)] for begin, end, _ in self.records()])
        return {"start": bounds[:, 0], "centre": bounds.mean(axis=1), "end": bounds[:, 1]}[stamp], bounds

    def sampled(self, steps):
        return [n for n in steps if n % self.sample == 0]

    def statistic(self, operation, name):
        value = (lambda n: self.fields.value(name, n)) if name in NUMBERS else (lambda n: self.fields.derived(name, n))
        records, before = [], None
        for (begin, end, steps, _), complete in zip(self.periods, self.complete):
            series = [value(n) for n in self.sampled(steps)]
            seconds = len(series) * self.sample * self.times.seconds
            if complete or self.partial == "write":
                records.append(reduce(operation, series, before, seconds, self.missing))
            before = series[-1] if series else before
        return np.array(records)

    def instants(self, name):
        """At ends of periods that a step reaches."""
        value = (lambda n: self.fields.value(name, n)) if name in NUMBERS else (lambda n: self.fields.derived(name, n))
        steps = [steps[-1] for _, end, steps, _ in self.periods if self.times.date(steps[-1]) == end]
        return [self.times.date(n) for n in steps], np.array([value(n) for n in steps])


def read(path, name):
    """Values as float64 with NaN for missing ones."""
    with netCDF4.Dataset(path) as file:
        values = np.ma.asarray(file[name][...])
        return values.astype("f8").filled(np.nan), file[name].dtype


def check(path, name, expected, exact=True):
    found, dtype = read(path, name)
    if np.issubdtype(dtype, np.floating):
        expected = expected.astype(dtype).astype("f8")
    else:
        expected = np.rint(expected)
    assert found.shape == expected.shape, f"{path}: {name}: shape {found.shape}, expected {expected.shape}"
    if exact:
        assert np.array_equal(found, expected, equal_nan=True), \
            f"{path}: {name}: {np.argwhere(~((found == expected) | (np.isnan(found) & np.isnan(expected))))[:3]} differ: " \
            f"{found.ravel()[:4]}, expected {expected.ravel()[:4]}"
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-6, err_msg=f"{path}: {name}")
