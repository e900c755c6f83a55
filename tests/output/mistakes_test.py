#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wrong descriptions and wrong calls: what is reported, where, and that nothing hangs or is
published as complete."""
import glob
import os
import pathlib
import re
import subprocess

from lib_described import MODEL, run

DAY = "files:\n  day: {every: 1d, mean: [tas, uas], max: [e3t]}\n"


def expect(parts, description=DAY, **options):
    for path in glob.glob("*.nc*"):
        os.remove(path)
    found = run(description, expect=1, ranks=2, seconds=40, **{"last": 8, **options})
    for part in parts:
        assert part in found, f"expected {part!r} in:\n{found}"
    return found


def expect_file(parts, line, fields="", **options):
    expect(["output.yaml:", *parts], f"{fields}files:\n  f: {{{line}}}\n", **options)
    assert not glob.glob("*.nc"), "a file was made although the description is wrong"


def one_rank():
    """A definition that one rank lacks: the others had waited for it until the deadline."""
    said = run(DAY, expect=1, ranks=4, seconds=60, last=8, without="uas", without_rank=2, hesitate_ms=8000)
    failed = re.findall(r"rank (\d) failed at (\d+) ms: (.*)", said)
    assert sorted(rank for rank, _, _ in failed) == ["0", "1", "2", "3"], said
    times = [int(at) for _, at, _ in failed]
    assert max(times) - min(times) < 4000, said
    assert {message for _, _, message in failed} == {failed[0][2]} and "no field 'uas'" in failed[0][2], said


def one_rank_that_looks_for_no_points():
    """The others look for points of each variable, for which they had waited until the deadline."""
    stations = "grids: {g: {stations: {a: [10, 20]}}}\nfiles: {day: {every: 1d, grid: g, mean: [sst, ice]}}\n"
    said = run(stations, expect=1, ranks=4, seconds=60, last=8, grids="global", without="sst,ice", without_rank=2, hesitate_ms=8000)
    failed = re.findall(r"rank (\d) failed at (\d+) ms: (.*)", said)
    assert sorted(rank for rank, _, _ in failed) == ["0", "1", "2", "3"], said
    times = [int(at) for _, at, _ in failed]
    assert max(times) - min(times) < 4000, said
    assert all("no field 'sst'" in message for _, _, message in failed), said


one_rank()
one_rank_that_looks_for_no_points()

# Found at start(), with their places.
expect_file(["output.yaml:2:25", "no field 'taz'", 'did you mean "tas"'], "every: 1d, mean: [taz]")
expect_file(["no field 'tas'"], "every: 1d, mean: [tas]", without="tas")
expect_file(["every of the file \"f\" (5h) is not a multiple of the model's step (6h)"], "every: 5h, mean: [tas]")
expect_file(["no step does", "align: start"], "every: 1d, mean: [tas]", start="2000-01-01T01:00")
expect_file(["sample of the file \"f\" (4h) is not a multiple"], "every: 1d, sample: 4h, mean: [tas]")
expect_file(["lev 3 x lat 6 x lon 8", "one grid"], "every: 1d, mean: [x]", "fields: {x: tas + toce}\n")
expect_file(["units of 'tas'", "Pa"], "every: 1d, mean: [tas: {units: Pa}]")
expect_file(["another zero"], "every: 1d, sum: [tas: {units: degC}]")
expect_file(["the model defines a field of this name"], "every: 1d, mean: [tas]", "fields: {tas: uas*2}\n")
expect_file(["depend on themselves"], "every: 1d, mean: [a]", "fields: {a: b + 1, b: a + 1}\n")
expect_file(["column 7 of the expression"], "every: 1d, mean: [a]", "fields: {a: 'sqrt(+)'}\n")
expect_file(["not a multiple of the period"], "every: 1d, write: [a]", "fields: {a: 'mean(max(tas, 5d))'}\n")
expect_file(["units of 't'", "Pa"], "every: 1d, write: [t]", "fields: {t: {expression: 'mean(max(tas, 1d))', units: Pa}}\n")
expect_file(["output.yaml:1:", "has a value every 45d", "some periods of the file \"f\" (1mo) would have none"], "every: 1mo, write: [a]",
            "fields: {a: 'mean(max(tas, 45d))'}\n")
expect_file(["output.yaml:3:", "has a value every 1mo", "some periods of the file \"f\" (30d) would have none"], "every: 30d, mean: [a]",
            "fields: {a: 'max(tas, 1mo)'}\n")
expect_file(["every of the file \"f\" (1d) is shorter than the model's step (1mo)"], "every: 1d, mean: [tas]", step="1mo")
# Periods of the same length that begin at different times.
for every, period, ends in (("1d", "4ts", ("2000-01-02T06:00:00", "2000-01-02T00:00:00")), ("4ts", "1d", ("2000-01-02T00:00:00", "2000-01-02T06:00:00"))):
    expect_file([f"'x' has values of a statistic over {'24h' if period == '4ts' else period}, the first one at {ends[0]}",
                 f"the file \"f\" ({every}) end at other times, the first one at {ends[1]}"], f"every: {every}, write: [x]",
                f"fields: {{x: 'max(tas, {period})'}}\n", start="2000-01-01T06:00")
expect_file(["which has a value every 24h", "which has one every 1d", "Reduce both over the same period"], "every: 1mo, mean: [x]",
            "fields: {x: 'mean(tas, 4ts) - mean(uas, 1d)'}\n", start="2000-01-01T06:00")
expect_file(["the cycle of the file \"f\" (1d) begins at 2000-01-01T00:00:00, but no part of 2ts does", "1999-12-31T18:00:00",
             "write cycle_step in hours or days"], "every: 1mo, cycle: 1d, cycle_step: 2ts, mean: [tas]", start="2000-01-01T06:00")
expect_file(["at_start"], "every: 1d, at_start: true, mean: [tas]")
expect_file(["{end}"], "every: 1d, name: 'a_{end}', mean: [tas]")
expect(["step 1 cannot be the first one", "the file \"f\" has at_start (at output.yaml:2:3)", "Begin with step 0"],
       "files:\n  f: {every: 6h, at_start: true, instant: [tas]}\n")
expect_file(["{member}"], "every: 1d, name: 'a_{member}', mean: [tas]")
expect_file(["keeps no point of the dimension 'lat'"], "every: 1d, grid: g, mean: [tas]",
            "grids: {g: {box: {lat: [1, 2]}}}\n")
expect_file(["index 6 of 'lat' does not exist", "0 to 5"], "every: 1d, grid: g, mean: [tas]",
            "grids: {g: {index: {lat: [0, 6]}}}\n")
expect_file(["no dimension 'lev'"], "every: 1d, grid: g, mean: [tas]", "grids: {g: {index: {lev: [0, 1]}}}\n")
expect_file(["has no level 15", "10, 20, 30"], "every: 1d, grid: g, mean: [toce]", "grids: {g: {levels: {lev: [15]}}}\n")
expect_file(["two variables 'lat'"], "every: 1d, mean: [tas: lat]")
expect_file(["'tas' cannot be folded"], "every: 1mo, cycle: 1d, cycle_step: 6h, instant: [tas]")
expect_file(["cycle_step of the file \"f\" (4h) is not a multiple"], "every: 1mo, cycle: 1d, cycle_step: 4h, mean: [tas]")
expect_file(["has 1 part of 1d"], "every: 1mo, cycle: 1d, cycle_step: 1d, mean: [tas]")
expect_file(["2001-02-31"], "every: 1d, align: 2001-02-31, mean: [tas]", calendar="360_day", start="2001-03-01")
CYCLE = "every: 4y, cycle: 1y, cycle_step: 1d, mean: [tas]"
expect_file(["has 365 parts of 1d at 2001-01-01", "366 at 2004-01-01"], CYCLE, start="2001-01-01", step="1d")
expect_file(["has 29 parts of 1d at 2000-02-01", "31 at 2000-03-01"], CYCLE.replace("4y", "1y").replace("1y, cycle_", "1mo, cycle_"),
            start="2000-02-01", step="1d")
expect_file(["every of the file \"f\" (1mo): a period ends at 2001-04-01", "no step does"], "every: 1mo, mean: [tas]",
            calendar="noleap", start="2001-02-01", step="16h")
expect_file(["split of the file \"f\" (6 records) is not a multiple of the 4 records", 'write "8 records"'],
            "every: 1mo, cycle: 1d, cycle_step: 6h, split: 6 records, name: 'f_{part}', mean: [tas]")
expect_file(["two parts of the file 'f'", '"x_200001.nc"'],
            "every: 6h, split: 1d, existing: replace, name: 'x_{start:%Y%m}', mean: [tas]")
expect_file(["every (12h)", "not a multiple of the period of \"max(tas, 1d)\""], "every: 12h, write: [y]",
            "fields: {x: 'max(tas, 1d)', y: x * 2}\n")
for expression in ("max(tas, 1d)", "max(tas, 1d)*2", "tas - max(tas, 1d)", "b + 1", "mean(max(toce, 1d) over lev)",
                   "mean(max(tas, 1d) over lat)"):
    advice = "reduce all that it combines over the period of the file" if expression.startswith("tas -") else "mean(x)"
    expect_file(["'x' has values of a statistic over 1d", "a record every 1mo", advice], "every: 1mo, write: [x]",
                f"fields: {{b: 'max(tas, 1d)', x: '{expression}'}}\n")
# Statistics of values of different times would have some of them only.
for line, expression, other in (("mean: [x]", "tas - mean(tas, 1d)", "step"), ("write: [x]", "mean((tas - mean(tas, 1d))^2)", "step"),
                                ("max: [x]", "mean(tas, 1d) - mean(tas, 12h)", "12h"), ("mean: [x]", "mean(toce/max(toce, 1d) over lev)", "step"),
                                ("mean: [x]", "b*2", "step")):
    found = expect(["output.yaml:", "which has a value every 1d", f"which has one every {other}", "Reduce both over the same period"],
                   f"fields: {{b: 'uas - max(uas, 1d)', x: '{expression}'}}\nfiles:\n  f: {{every: 1mo, {line}}}\n")
    assert ("instant(" in found) == (other == "step") and ("output.yaml:3:" in found) == (line != "write: [x]"), found
    assert not glob.glob("*.nc*")
expect_file(["'x' has a value every 1d, but none in a step that the file \"f\" samples"], "every: 1mo, sample: 12h, sample_offset: 6h, mean: [x]",
            "fields: {x: 'max(tas, 1d)'}\n")
for options in ({"line": "sample: 12h, sample_offset: 6h", "step": "12h"}, {"line": "sample: 6h, sample_offset: 5h"}):
    line = options.pop("line")
    expect_file([f"sample_offset of the file \"f\" ({line.split()[-1]})", "not a multiple of the model's step", "no step would be sampled"],
                f"every: 1d, {line}, mean: [tas]", **options)
# Names in expressions.
expect_file(["output.yaml:1:13: field 'x': in an expression, \"pi\" is the constant"], "every: 1d, mean: [x]", "fields: {x: 2*pi + tas}\n",
            extra="pi")
expect_file(["output.yaml:1:13: field 'x': \"a-b\" is the name of a field"], "every: 1d, mean: [x]", "fields: {x: a-b + tas}\n", extra="a-b")
found = expect(["output.yaml:1:13: field 'x': there is no field 'uaz'", 'did you mean "uas"'],
               "fields: {x: uaz*2}\nfiles:\n  f: {every: 1d, mean: [x], max: [x]}\n")
assert "itself" not in found, found
expect_file(["there is no field 'cell_indx'", 'did you mean "cell_index"'], "every: 1d, mean: [x]", "fields: {x: tas*cell_indx}\n")
# Lengths that only the model's step tells.
expect_file(["sample_offset of the file \"f\" (3ts) must be shorter than sample (12h)"], "every: 1d, sample: 12h, sample_offset: 3ts, mean: [tas]")
expect_file(["split of the file 'f' (1ts) is shorter than every (1d)", "1 records"], "every: 1d, split: 1ts, mean: [tas]")
for name in ("time", "bnds"):
    expect([f"dimension '{name}'", "choose another name"], dimension=name)
# Every other problem is found before the first step; this one depends on values.
expect(["mean of count", "results of a period do not fit into int8"], "files: {f: {every: 1d, type: int8, mean: [count]}}\n")
expect(["two parts of the file 'f'", '"x_2000.nc"'],
       "files: {f: {every: 6h, split: 2 records, existing: replace, name: 'x_{start:%Y}', mean: [tas]}}\n")
# States at epochs.
STATE = "files: {f: {every: 1d, epochs: 1mo, mean: [tas]}}\nstate: "
expect(["output.yaml:2:8", "all states would have the name", "{date} or {step}"], STATE + "a\n")
expect(["'{dete}' is unknown", "did you mean"], STATE + "'a_{dete}'\n")
expect(["{member}", "has not given the number"], STATE + "'a_{step}_{member}'\n")
expect(["output.yaml:2:8", '"a_2000.nc"', "a finer format"], STATE + "'a_{date:%Y}'\n")
expect(["no file has epochs"], STATE.replace("epochs: 1mo, ", "") + "'a_{step}'\n")
assert not glob.glob("*.nc")
# All problems at once.
found = expect(["taz", "uaz"], "files:\n  a: {every: 1d, mean: [taz]}\n  b: {every: 1d, max: [uaz]}\n")
assert "output.yaml:2:" in found and "output.yaml:3:" in found

# Calls.
expect(["step 1 cannot end", "the field uas in this step, which has not been put. It is for uas of the file \"day\", at output.yaml:2:32"],
       forget="uas")
expect(["the field uas in this step", "It is for y of the file \"f\", at output.yaml:3:25"],
       "fields: {x: tas + uas, y: 'max(x, 6h)*2'}\nfiles:\n  f: {every: 1d, mean: [y]}\n", forget="uas")
expect(["field 'tas' has been put in step 2 before"], mistake="twice")
expect(["field 'tas' holds float32, but float64 was put"], mistake="type")
expect(["there is no field 'tsa'", 'did you mean "tas"'], mistake="name")
expect(["there is no field 'uass'", 'did you mean "uas"'], mistake="wants")
expect(["step 4 cannot follow step 2", "expected 3"], mistake="skip")
expect(["step 1 cannot follow step 2", "expected 3"], mistake="back")
expect(["step 2 cannot follow step 2"], mistake="again")
expect(["field comes before start()"], mistake="late")
expect(["this session has an Output already"], mistake="second")
expect(["step 5 cannot follow the start of the run"], first=5)
expect(["2000-02-30"], start="2000-02-30")
expect(["the model's step"], step="0s")

# Entries under `fields` that no field of the model has: another model may have it.
for path in glob.glob("*.nc"):
    os.remove(path)
said = run("fields: {tass: {units: degC}, vas: {units: cm s-1}, off: {enabled: false, units: K}}\n" + DAY, ranks=2, last=4)
assert said.count("has no effect") == 1, said
assert "output.yaml:1:10: fields: the model has no field 'tass'" in said and 'did you mean "tas"' in said, said
os.remove("day.nc")

# A run that begins within a period, and one that goes on with it.
FIVE = "files: {five: {every: 5d, mean: [tas]}}\n"
said = run(FIVE, ranks=2, last=6, finalize_to="five_state.nc")
assert said.count("within a period of 5d that ends at 2000-01-04T00:00:00") == 1 and "output.yaml:1:9: files.five" in said, said
said = run(FIVE, ranks=2, first=7, last=9, resume="five_state.nc")
assert "within a period" not in said, said
for path in ("five.nc", "five_state.nc"):
    os.remove(path)

# Saved states of something else.
run(DAY, ranks=2, last=6, finalize_to="state.nc")
state = pathlib.Path("state.nc").read_bytes()


def resume(parts, description=DAY, **options):
    pathlib.Path("state.nc").write_bytes(state)
    for path in glob.glob("*.part*"):
        os.remove(path)
    found = run(description, expect=1, ranks=3, seconds=40, first=7, last=9, resume="state.nc", **options)
    for part in parts:
        assert part in found, f"expected {part!r} in:\n{found}"


resume(["calendar", "noleap", "standard"], calendar="noleap")
resume(["start", "2000-01-02"], start="2000-01-02")
resume(["step length", "12h"], step="12h")
resume(["have changed"], DAY.replace("max: [e3t]", "max: [e3t], min: [e3t]"))
resume(["the saved state has", "vas", "have changed"], DAY.replace("uas", "vas"))
resume(["the saved state has", "lon 9", "have changed"], lon=9)
os.remove("day.nc")
resume(["day.nc", "record 1"])

# What differs is found also if no file has been written yet.
EARLY = "{fields: {ws: uas + vas}, grids: {g: {index: {lat: [0, 1]}}}, files: {a: {every: 2d, grid: g, mean: [ws, tas]}}}\n"
for path in glob.glob("*.nc"):
    os.remove(path)
run(EARLY, ranks=2, last=6, finalize_to="state.nc")
state = pathlib.Path("state.nc").read_bytes()
resume(["ws = x0 + x1", "ws = x0 - x1", "have changed"], EARLY.replace("uas + vas", "uas - vas"))
resume(["lat 0-1", "lat 2-3", "have changed"], EARLY.replace("[0, 1]", "[2, 3]"))

# Ranks that give the output different options: records had wrong values and times, or the run
# stood still.
for path in glob.glob("*.nc"):
    os.remove(path)
run(DAY, last=6, finalize_to="state.nc")
for key, most, other, first, second in (
        ("start", "reference=2000-01-01", "reference=2000-01-01 start=2000-01-01T12:00", "2000-01-01T00:00:00", "2000-01-01T12:00:00"),
        ("step", "", "step=12h", "6h", "12h"), ("reference", "", "reference=1999-01-01", "2000-01-01T00:00:00", "1999-01-01T00:00:00"),
        ("calendar", "", "calendar=noleap", "standard", "noleap"), ("member", "", "member=0", "none", "0"),
        ("resume", "resume=state.nc first=7", "first=7", "state.nc", "none")):
    for place in (0, 2):
        command = ["timeout", "-k", "5", "30", "mpirun", "--oversubscribe"]
        for rank in range(4):
            command += [*([":"] if rank else []), "-np", "1", str(MODEL), "last=8", *(other if rank == place else most).split(),
                        "--afterbay.output=output.yaml", "--afterbay.servers=1", "--afterbay.report.table=off"]
        done = subprocess.run(command, capture_output=True, text=True)
        found = done.stdout + done.stderr
        here, there = (second, first) if place == 0 else (first, second)
        assert done.returncode not in (0, 124), found
        for part in ("the options of the output differ", f'rank 0 gives the {key} "{here}"', f'but rank {place or 1} gives "{there}"'):
            assert part in found, f"expected {part!r} in:\n{found}"
        for path in glob.glob("*.part*"):
            os.remove(path)

# Ranks whose descriptions differ.
pathlib.Path("other.yaml").write_text(DAY.replace("mean", "min"))
command = ["timeout", "-k", "5", "40", "mpirun", "--oversubscribe"]
for i, description in enumerate(["output.yaml", "other.yaml", "output.yaml"]):
    command += ([":"] if i else []) + ["-np", "1", str(MODEL), "last=4", f"--afterbay.output={description}"]
done = subprocess.run(command, capture_output=True, text=True)
assert done.returncode not in (0, 124) and "output" in done.stderr and "rank 1" in done.stderr, done.stderr
print("all mistakes are reported")
