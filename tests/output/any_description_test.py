#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`afterbay describe --definitions` with descriptions of all kinds: each is shown or refused with
its place, in a short time. Periods in several spellings, cycles, samples, splits, `once`, defaults,
groups, expressions with statistics inside. Then descriptions that were once mistaken.
AFTERBAY_TEST_FIRST, AFTERBAY_TEST_ROUNDS: other seeds."""
import json
import os
import pathlib
import random
import re
import subprocess
import time

COMMAND = pathlib.Path(os.environ["AFTERBAY_BUILD"]) / "apps/afterbay/afterbay"
REFERENCE = pathlib.Path(os.environ["AFTERBAY_SOURCE"]) / "docs/reference/description.md"
SECONDS = 10  # for one preview, most of which take some hundredths
TIMES = [("standard", "2000-01-01T00:00:00", "30min"), ("standard", "1999-12-31T21:00:00", "450s"),
         ("standard", "2000-01-15T12:00:00", "30min"), ("360_day", "1978-09-01T00:00:00", "20min"),
         ("noleap", "2000-01-16T06:00:00", "6h"), ("noleap", "2000-01-01T00:00:00", "1mo"),
         ("julian", "2000-03-01T00:00:00", "1d")]
DEFINITIONS = """\
version: 1
processes: {{model_ranks: 4, servers: 2}}
time: {{calendar: {}, start: "{}", step: {}}}
dimensions:
  lat: {{type: float64, units: degrees_north, standard_name: latitude, values: [-80, -40, 0, 40, 80]}}
  lon: {{type: float64, units: degrees_east, standard_name: longitude, values: [0, 60, 120, 180, 240, 300]}}
  depth: {{type: float64, units: m, standard_name: depth, values: [5, 15, 30]}}
grids:
  atm: {{dimensions: [lat, lon], lengths: [5, 6], kind: block}}
coordinates:
  cell: {{grid: atm, type: float64, units: m2, standard_name: cell_area}}
fields:
  tas: {{grid: atm, units: K}}
  pr: {{grid: atm, units: kg m-2 s-1}}
  psl: {{grid: atm, units: Pa}}
  uas: {{grid: atm, units: m s-1}}
  vas: {{grid: atm, units: m s-1}}
  snc: {{grid: atm, units: "1"}}
  orog: {{grid: atm, units: m}}
  area: {{grid: atm, units: m2}}
  toce: {{grid: atm, axes: [depth], units: degC, fill: -999}}
  e3t: {{grid: atm, axes: [depth], units: m, fill: -999}}
  count: {{grid: atm, type: int32}}
"""
DAYS = ["1d", "24h", "1440min"]
SPELLINGS = [["1d", "24h", "1440min", "86400s"], ["6h", "360min"], ["12h", "0.5h", "720min"], ["1h", "60min"], ["3h", "180min"],
             ["1mo"], ["3mo"], ["1y", "12mo"], ["2d", "48h"], ["5d"], ["7d"], ["10d"], ["1ts"], ["2ts"], ["10ts"], ["48ts"], ["4y"], ["10y"],
             ["1mo1d", "1d1ts", "99999999999y", "90000000000000d"]]
FIELDS = ["tas", "pr", "psl", "uas", "toce", "e3t", "count", "ws", "warm", "depth_mean", "celsius", "ws2"]
INNER = ["tasmax", "heat", "variance", "nested", "last", "anomaly", "extremes"]
LATE = ["zonal", "globe"]
OPERATIONS = ["mean", "sum", "min", "max", "range", "stddev", "rate", "difference", "instant"]
# Keys that may be wrong for a file: name, values, how often.
KEYS = [("split", ["1mo", "1y", "12mo", "2 records", "7 records", "10d", "48h", "30ts", "none"], 0.3),
        ("align", ["calendar", "seasons", "start", "2000-01-15", "1999-12-31T21:00:00"], 0.25),
        ("partial", ["skip", "write"], 0.2), ("at_start", ["true"], 0.1), ("sample_offset", ["0s", "1h", "2ts"], 0.05),
        ("grid", ["box", "thin", "point", "own"], 0.25), ("missing", ["poison", "0.5"], 0.2),
        ("type", ["float64", "int16", "float32"], 0.2), ("statistics", ["model", "servers"], 0.2),
        ("expressions", ["model", "servers"], 0.1), ("stamp", ["start", "end"], 0.1), ("bounds", ["false"], 0.1),
        ("end_date", ["exclusive"], 0.1), ("intervals", ["always"], 0.1), ("cmip", ["on"], 0.1), ("store", ["cdf5", "cdf2", "memory", "netcdf4"], 0.15),
        ("time_units", ["hours since 1970-01-01"], 0.1), ("placement", ["slab", "file", "variable", "least"], 0.15),
        ("name", ['"{file}_{start}-{end}"', '"{file}_{part:03}"', '"{file}_{start:%Y%m%d%H}"'], 0.25), ("max_detail", ["1"], 0.05)]


class Choices(random.Random):
    """Random choices. Most descriptions are tidy: few of their keys are wrong."""

    def __init__(self, seed):
        super().__init__(seed)
        self.tidy = self.random() < 0.7

    def period(self, usual=("1d", "24h", "1440min", "6h", "360min", "12h", "1mo", "1mo", "3mo", "12mo", "1y")):
        return self.choice(usual if self.tidy and self.random() < 0.95 else self.choice(SPELLINGS))


def more_keys(random_, share=1.0):
    share *= 0.3 if random_.tidy else 1
    keys = [f"{name}: {random_.choice(values)}" for name, values, often in KEYS if random_.random() < often * share]
    if random_.random() < 0.1 * share:
        keys.append(f"epochs: {random_.period()}")
    if random_.random() < 0.15 * share:
        keys.append(f"sample: {random_.period()}")
    if random_.random() < 0.12 * share:
        keys += [f"cycle: {random_.choice(['1d', '24h', '1y', '12mo', '1mo', random_.period()])}",
                 f"cycle_step: {random_.choice(['6h', '12h', '1h', '1mo', '3mo', random_.period()])}"]
    return keys


def lists_of(random_, pool, operations):
    return [f"{operation}: [{', '.join(f'{field}: {field}_{operation}' for field in random_.sample(pool, random_.randint(1, 2)))}]"
            for operation in random_.sample(operations, random_.randint(1, min(3, len(operations))))]


def file_of(random_):
    kind = random_.choice(["plain", "plain", "plain", "late", "inner", "group", "once", "cycle"])
    keys = {"plain": lambda: lists_of(random_, FIELDS, OPERATIONS), "late": lambda: lists_of(random_, LATE, OPERATIONS),
            "inner": lambda: [f"write: [{', '.join(random_.sample(INNER, 2))}]"], "once": lambda: ["once: [orog, tas: first]"],
            "group": lambda: ["mean: group(surface)"], "cycle": lambda: lists_of(random_, FIELDS, OPERATIONS[:7])}[kind]()
    if kind != "once" and random_.random() < 0.97:
        keys.append(f"every: {random_.period()}")
    if kind == "cycle":
        keys = [key for key in keys if not key.startswith("every")]
        keys += [f"every: {random_.choice(['1mo', '1y', '12mo', '1d', '10d'])}", f"cycle: {random_.choice(['1d', '24h', '1y', '1mo'])}",
                 f"cycle_step: {random_.choice(['6h', '12h', '360min', '1mo', '3mo'])}"]
    if kind == "plain" and random_.random() < 0.2:
        keys.append("once: [orog]")
    given = {key.split(":")[0] for key in keys}
    return "{" + ", ".join(keys + [key for key in more_keys(random_) if key.split(":")[0] not in given]) + "}"


def description(random_):
    defaults = [key for key in more_keys(random_, 0.4) if not key.startswith("max_detail")] if random_.random() < 0.4 else []
    text = f"defaults: {{{', '.join(defaults)}}}\n" + "groups:\n  surface: [tas, pr, psl: pressure]\n"
    text += f"""\
fields:
  ws: sqrt(uas^2 + vas^2)
  ws2: ws*2 + count
  warm: "tas > 273.15 ? tas : 0/0"
  celsius: {{expression: tas, units: degC}}
  depth_mean: sum(toce*e3t over depth) / sum(e3t over depth)
  zonal: mean(tas over lon)
  globe: sum(tas*cell over lat, lon) / sum(cell over lat, lon)
  tasmax: "mean(max(tas, {random_.period(DAYS)}))"
  nested: "max(mean(max(ws, {random_.period(DAYS)}), {random_.period(DAYS)}))"
  extremes: "max(mean(tas, {random_.period(DAYS)})) - min(tas)"
  last: "max(instant(tas, {random_.period(DAYS)}))"
  anomaly: "max(tas) - mean(mean(tas, {random_.period(DAYS)}))"
  heat: mean(toce*e3t) / mean(e3t)
  variance: mean(tas^2) - mean(tas)^2
grids:
  box: {{box: {{lat: [-50, 50], lon: [-70, 70]}}}}
  thin: {{stride: {{lat: 2}}, reverse: [lat]}}
  point: {{index: {{lat: [0, 0], lon: [3, 3]}}}}
files:
"""
    return text + "".join(f"  f{number}: {file_of(random_)}\n" for number in range(random_.randint(1, 4)))


def preview(text, times=TIMES[0], definitions=DEFINITIONS, seconds=SECONDS, length="40d"):
    """The exit code and what was printed. Crashes, errors of the program and long times fail."""
    pathlib.Path("output.yaml").write_text(text)
    pathlib.Path("model.yaml").write_text(definitions.format(*times))
    began = time.monotonic()
    try:
        done = subprocess.run([COMMAND, "describe", "output.yaml", "--definitions", "model.yaml", "--length", length, "--json"],
                              capture_output=True, text=True, timeout=seconds, check=False)
        assert done.returncode in (0, 1), f"exit code {done.returncode}\n{done.stderr}"
        assert "unexpected" not in done.stderr and "bad " not in done.stderr, done.stderr
        if done.returncode == 1:
            for line in done.stderr.removeprefix("afterbay describe: ").splitlines():
                assert re.match(r" *output\.yaml:\d+:\d+: .+|the output description (is wrong|has \d+ problems):", line), f"no place: {line}"
    except BaseException:
        print(f"{times}, {length}, after {time.monotonic() - began:.1f} s:\n{text[:5000]}")
        raise
    return done.returncode, done.stdout or done.stderr


def shown(text, **options):
    code, printed = preview(text, **options)
    assert code == 0, f"{printed}\n{text[:2000]}"
    return json.loads(printed)


def refused(text, *parts, **options):
    code, printed = preview(text, **options)
    assert code == 1 and all(part in printed for part in parts), f"expected {parts} in\n{printed}\n{text}"


def equal_periods_share_a_statistic():
    for first, second in (("1d", "24h"), ("1440min", "1d"), ("12mo", "1y"), ("48ts", "48ts")):
        made = shown(f"files: {{a: {{every: {first}, mean: tas}}, b: {{every: {second}, mean: tas}}, c: {{every: 1mo, mean: tas}}}}\n")
        statistics = [stage for stage in made["stages"] if stage["kind"] == "statistic"]
        assert len(statistics) == 2, statistics
    # Samples may differ from the spelling of a period.
    shown("files: {a: {every: 1d, sample: 6h, mean: tas}, b: {every: 24h, sample: 360min, mean: tas}, c: {every: 24h, mean: tas}}\n")


def the_example_of_the_reference():
    example = re.search(r"```yaml\n(.*?)```", REFERENCE.read_text(), re.DOTALL)[1]
    made = shown(example, length="3mo", definitions=DEFINITIONS)
    names = {file["name"]: [part["path"] for part in file["files"]] for file in made["files"]}
    assert names["fx"] == ["control_fx.nc"], names["fx"]
    assert names["day"][0] == "control_1d_day_2000-01-2000-01.nc", names["day"]
    # Without a name of its own, too.
    made = shown(example.replace('name: "{case}_{file}", once', "once"), length="3mo")
    assert made["files"][-1]["files"][0]["path"] == "control_fx_fx.nc", made["files"][-1]


def periods_of_defaults_do_not_concern_once():
    for keys in ("cycle: 1d", "cycle: 1d, cycle_step: 6h, every: 1mo", "at_start: true, every: 5h", "split: 1mo, sample: 1h"):
        made = shown(f"defaults: {{{keys}}}\nfiles: {{fx: {{once: orog}}}}\n")
        assert [part["path"] for part in made["files"][0]["files"]] == ["fx.nc"] and not made["run"]["step_0"], made
    refused("fields: {x: mean(tas)}\nfiles: {fx: {once: x}}\n", "'x' is a statistic over time, which cannot be written once")


def periods_that_do_not_fit():
    refused("files: {a: {every: 10ts, cycle: 1d, cycle_step: 1h, mean: tas}}\n", "every", "(10ts)", "multiple of cycle (1d)")
    refused("files: {a: {every: 1mo, cycle: 7d, cycle_step: 1d, mean: tas}}\n", "every", "(1mo)", "multiple of cycle (7d)")
    refused("files: {a: {every: 10ts, sample: 2h, mean: tas}}\n", "every", "(10ts)", "multiple of sample (2h)")
    refused("files: {a: {every: 99999999999y, mean: tas}}\n", 'every of the file "a" (99999999999y)', "out of range")
    refused("files: {a: {every: 1mo1d, mean: tas}}\n", "every: 1mo1d mixes months")
    refused('fields: {x: "max(tas, 1mo)"}\nfiles: {a: {every: 1d, write: x}}\n', '"every: 1mo"')
    refused('fields: {x: "max(tas, 1d)"}\nfiles: {a: {every: 1mo, write: x}}\n', "for example mean(x)")
    refused("fields: {x: 2t - 273.15}\nfiles: {a: {every: 1d, mean: x}}\n", '"2t"', "the model must define it under another one")


def first_periods_are_noted():
    notes = shown("files: {a: {every: 5d, mean: tas}, b: {every: 5d, instant: tas}, c: {every: 1d, mean: tas}}\n")["first_periods"]
    assert len(notes) == 2 and "within a period of 5d that ends at 2000-01-04T00:00:00" in notes[0], notes
    assert "output.yaml:1:9: files.a" in notes[0] and "align: start" in notes[1] and "partial" not in notes[1], notes
    for keys in ("every: 5d, align: start", "every: 5d, partial: skip", "every: 240ts", "every: 1mo"):
        assert not shown(f"files: {{a: {{{keys}, mean: tas}}}}\n", times=TIMES[2])["first_periods"], keys


def many_fields():
    """The time for a plan grows as the number of its parts."""
    fields = [f"v{number}" for number in range(3000)]
    definitions = DEFINITIONS.split("fields:")[0] + "fields:\n" + "".join(f"  {field}: {{{{grid: atm}}}}\n" for field in fields)
    lists = ", ".join(fields)
    files = "".join(f"  f{every}: {{every: {every}, {operation}: [{lists}]}}\n"
                    for every, operation in (("1d", "mean"), ("1mo", "mean"), ("6h", "instant"), ("24h", "mean"), ("1y", "max")))
    made = shown(f"files:\n{files}", definitions=definitions, length="1d", seconds=30)
    assert made["run"]["steps"] == 48 and len(made["files"]) == 5
    lists = ", ".join(f"d{number}" for number in range(1000))
    derived = "".join(f"  d{number}: v{number}*2 + v{number + 1}\n" for number in range(1000))
    shown(f"fields:\n{derived}files:\n  a: {{every: 1d, mean: [{lists}]}}\n  b: {{every: 1mo, mean: [{lists}]}}\n",
          definitions=definitions, length="1d", seconds=30)
    # 1460 parts of a year, each with statistics of its own.
    made = shown("files: {a: {every: 1y, cycle: 1y, cycle_step: 6h, mean: [tas, pr]}}\n", times=("noleap", *TIMES[0][1:]), length="30d", seconds=30)
    assert made["files"][0]["records"] == 1460, made["files"][0]


equal_periods_share_a_statistic()
the_example_of_the_reference()
periods_of_defaults_do_not_concern_once()
periods_that_do_not_fit()
first_periods_are_noted()
many_fields()
first = int(os.environ.get("AFTERBAY_TEST_FIRST", "0"))
good = 0
rounds = range(first, first + int(os.environ.get("AFTERBAY_TEST_ROUNDS", "60")))
for seed in rounds:
    random_ = Choices(seed)
    code, _ = preview(description(random_), random_.choice(TIMES), length=random_.choice(["40d", "100d", "3mo"]))
    good += code == 0
print(f"{good} of {len(rounds)} descriptions are shown, the others refused")
