#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What belongs to saved states: settings for all files leave them alone, fields of a resumed run
must be those of the state, and files of another run are never published."""
import copy
import glob
import json
import os
import pathlib
import subprocess

import netCDF4
import xarray

from lib_described import run
from lib_jobs import inside

DAY = "files:\n  day: {every: 1d, mean: [tas, toce], max: [tas]}\n"
ONE = "files: {day: {every: 1d, mean: [tas]}}\n"


def settings_for_all_files():
    """They had reached the state."""
    settings = [f"--afterbay.collections.*.{setting}" for setting in
                ("store=cdf5", "directory=elsewhere", "existing=replace", "droppable=on", "optional=on")]
    run(DAY, last=6, finalize_to="state.nc", settings=settings)
    kind = lambda path: subprocess.run(["ncdump", "-k", path], capture_output=True, text=True).stdout.strip()
    assert kind("elsewhere/day.nc") == "cdf5", kind("elsewhere/day.nc")
    assert kind("state.nc") == "netCDF-4", kind("state.nc")
    run(DAY, first=7, last=12, resume="state.nc", settings=settings[1:2] + settings[:1])
    with netCDF4.Dataset("elsewhere/day.nc") as file:
        assert len(file["time"]) == 3, file
    before = pathlib.Path("state.nc").read_bytes()
    found = run(ONE, last=6, finalize_to="state.nc", settings=settings, expect=1)
    # Servers compute the statistics of the file, and write their states into a file of their own.
    assert "state.nc exists already" in found or "state.day.nc exists already" in found, found
    assert pathlib.Path("state.nc").read_bytes() == before, "a state that exists was replaced"


def other_fields():
    """A resumed run had not compared units and fill values with those of the state."""
    run(DAY, last=6, finalize_to="state.nc")
    cases = [("units_of", "tas:degC", ["field 'tas'", 'the units "K" in the saved state', '"degC" in this run']),
             ("fill_of", "toce:-1", ["field 'toce'", "-999", "-1"]),
             ("fill_of", "tas:-999", ["field 'tas'", 'fill value "none"', "-999"])]
    before = pathlib.Path("day.nc").read_bytes()
    for option, value, parts in cases:
        found = run(DAY, first=7, last=12, resume="state.nc", expect=1, **{option: value})
        for part in [*parts, "Give the field what it had"]:
            assert part in found, f"expected {part!r} in:\n{found}"
        assert pathlib.Path("day.nc").read_bytes() == before
        for path in glob.glob("*.part*"):
            os.remove(path)
    run(DAY, first=7, last=12, resume="state.nc", units_of="vas:km h-1")  # which nothing uses


def changed_descriptions():
    """Files would have had records of two kinds."""
    before = """fields: {a: uas + vas, w: a*2}
grids: {g: {index: {lon: [0, 1]}}}
files:
  f: {every: 12h, instant: [w, tas: {grid: g}], once: [orog]}
  m: {every: 1d, mean: [tas], stamp: start}
"""
    run(before, last=6, finalize_to="state.nc")
    published = {path: pathlib.Path(path).read_bytes() for path in ("f.nc", "m.nc")}
    for old, new, parts in (
            ("mean: [tas]", "mean: [tas: {add: -273.15}]", ["5:25", "'m'", "the conversion of 'tas' was \"none\"", '"add: -273.15" now']),
            ("mean: [tas]", "mean: [tas: {type: float64}]", ["5:25", "'m'", "the type of 'tas'", "float64"]),
            ("mean: [tas]", "mean: [tas: t]", ["5:25", "'m'", "the saved state does not have the values of 't'"]),
            ("start", "end", ["5:3", "'m'", 'stamp was "start"', '"end" now']),
            ("uas + vas", "uas - vas", ["4:29", "'f'", "the values of 'w' was", "x0 - x1"]),
            ("[0, 1]", "[2, 3]", ["4:32", "'f'", "the points of 'tas'", "lon 2-3"]),
            ("12h", "6h", ["4:3", "'f'", "every was", "12h", "6h"]),
            ("12h", "12h, split: 1y, name: '{file}_{start}'", ["4:3", "'f'", 'split was "no"', '"1y" now'])):
        assert old in before
        found = run(before.replace(old, new), first=7, last=12, resume="state.nc", expect=1)
        for part in [*parts, "records of two kinds", "state.nc"]:
            assert part in found, f"{new}: expected {part!r} in:\n{found}"
        for path, data in published.items():
            assert pathlib.Path(path).read_bytes() == data, f"{new}: {path} was changed"
        for path in glob.glob("*.part*"):
            os.remove(path)
    run(before, first=7, last=12, resume="state.nc", ranks=2)
    with xarray.open_dataset("m.nc") as file:
        assert [str(time)[:10] for time in file.time.values] == ["2000-01-01", "2000-01-02", "2000-01-03"], file.time


def never_published():
    """A file that was refused at its end was published if the model ignored the error and finalized
    the session."""
    run(ONE, last=40, finalize_to="state.nc")
    run(ONE, first=41, last=80, resume="state.nc")
    before = pathlib.Path("day.nc").read_bytes()
    for options in ({"ignore": "error"}, {"ignore": "destroyed"}, {"not_finalized": 1}):
        found = run(ONE, first=41, last=60, resume="state.nc", expect=1, **options)
        assert "20 records of an earlier run, and this run ends with record 15" in found, found
        assert pathlib.Path("day.nc").read_bytes() == before, f"{options}: the file was published"
        for path in glob.glob("*.part*"):
            os.remove(path)
    # Files beside it are published as usual.
    two = "files: {day: {every: 1d, mean: [tas]}, hours: {every: 6h, split: 10 records, name: '{file}_{part}', instant: [uas]}}\n"
    for path in glob.glob("*.nc"):
        os.remove(path)
    run(two, last=40, finalize_to="state.nc")
    run(two, first=41, last=80, resume="state.nc")
    for path in glob.glob("hours_[5678].nc"):
        os.remove(path)
    found = run(two, first=41, last=50, resume="state.nc", expect=1, ignore="error")
    assert "20 records of an earlier run" in found and os.path.exists("hours_5.nc"), found


def not_finalized():
    """A session that ended before its output had published files without the last periods."""
    for path in glob.glob("*.nc"):
        os.remove(path)
    for options in ({}, {"ignore": "destroyed"}):
        found = run(DAY, last=6, expect=1, not_finalized=1, **options)
        for part in ("the output has not been finalized: step 6 has not ended", '"day" (1d, from 2000-01-02T00:00:00 on)',
                     "Call finalize() of the output"):
            assert part in found, f"expected {part!r} in:\n{found}"
        assert not os.path.exists("day.nc"), "a file was published without what its last period has"
        for path in glob.glob("*.part*"):
            os.remove(path)
    # What is wrong is that a field was not put; finalize() of the output has said so.
    found = run(DAY, last=1, expect=1, forget="tas", ignore="error")
    assert "ignored: " in found and "has not been finalized" not in found, found
    assert not os.path.exists("day.nc"), "a file was published"
    for path in glob.glob("*.part*"):
        os.remove(path)
    run(DAY, last=6)
    with netCDF4.Dataset("day.nc") as file:
        assert len(file["time"]) == 2, file


def fill_as_attribute():
    """It had been written, but statistics did not know it."""
    found = run(ONE, last=4, fill_attribute_of="tas:-999", expect=1)
    assert "field 'tas' has the attribute _FillValue" in found and "option `fill`" in found, found
    for description in ("fields: {tas: {attributes: {_FillValue: -999}}}\n" + ONE,
                        ONE.replace("[tas]", "[tas: {attributes: {_FillValue: ~}}]")):
        found = run(description, last=4, expect=1)
        assert "output.yaml:1:" in found and "attributes._FillValue" in found and "option `fill`" in found, found
    assert not glob.glob("*.nc*")


def text_in_other_encodings():
    """A state with text that is not UTF-8 had ended the run with SIGABRT when it was saved. Paths
    may have any bytes."""
    latin = os.fsdecode(b"\xfc")
    found = run(ONE, last=6, finalize_to="state.nc", expect=1, units_of=f"tas:{os.fsdecode(bytes([0xb0]))}C",
                settings=["--afterbay.output.definitions=model.yaml"])
    for part in ("field 'tas': its units must be UTF-8", '"\\xb0C" has the byte 0xb0 at 0', "convert text"):
        assert part in found, f"expected {part!r} in:\n{found}"
    assert not os.path.exists("model.yaml"), "definitions that cannot be read were written"
    os.environ["CASE"] = f"M{latin}ller"
    for top, line in (("case: '${CASE}'\n", 1), ("", 2)):
        description = f"{top}files:\n  f: {{every: 1d, mean: [tas], attributes: {{title: '{'a' if top else '${CASE}'}'}}}}\n"
        found = run(description, last=6, finalize_to="state.nc", expect=1)
        for part in (f"output.yaml:{line}:", 'must be UTF-8, but "M\\xfcller" has the byte 0xfc at 1', "value of the variable"):
            assert part in found, f"expected {part!r} in:\n{found}"
    del os.environ["CASE"]
    assert not glob.glob("*.nc*")
    os.mkdir(f"dir_{latin}")
    os.chdir(f"dir_{latin}")
    here = "files: {day: {every: 1d, mean: [tas], statistics: servers}, u: {every: 1d, sum: [uas]}}\n"
    run(here, last=6, finalize_to="state.nc", units_of="tas:°C")
    run(here, first=7, last=8, resume="state.nc", units_of="tas:°C", ranks=2)
    for path in ("day.nc", "u.nc"):
        with netCDF4.Dataset(path) as file:
            assert len(file["time"]) == 2, file
    os.chdir("..")


def other_spellings():
    """A cycle of 24h had no cell_methods, and was refused as another one than 1d."""
    cycle = "files: {a: {every: 1mo, cycle: 1d, cycle_step: 6h, mean: [tas]}, y: {every: 2y, cycle: 1y, cycle_step: 1mo, max: [tas]}}\n"
    run(cycle, last=6, finalize_to="state.nc")
    run(cycle.replace("1d", "24h").replace("6h", "360min").replace("cycle: 1y", "cycle: 12mo"), first=7, last=8, resume="state.nc")
    for path, expected in (("a.nc", "time: mean within days time: mean over days"),
                           ("y.nc", "time: maximum within years time: maximum over years")):
        with netCDF4.Dataset(path) as file:
            assert file["tas"].cell_methods == expected, file["tas"]
        os.remove(path)
    run(cycle.replace("1d", "24h").replace("cycle: 1y", "cycle: 12mo"), last=8)
    for path, method in (("a.nc", "within days"), ("y.nc", "within years")):
        with netCDF4.Dataset(path) as file:
            assert method in file["tas"].cell_methods, file["tas"]


def stores():
    """Nothing can be appended to GRIB2, PP and fields files: a state in which one was open could
    never be continued, and what the error said did not help."""
    months = "files: {day: {every: 1d, store: STORE, split: 1mo, mean: [tas]}}\n"
    for store, ending in (("grib2", "grib2"), ("pp", "pp"), ("fieldsfile", "ff")):
        description = months.replace("STORE", store)
        for path in glob.glob("*.nc") + glob.glob("day*"):
            os.remove(path)
        said = run(f"state: 'all_{{step}}'\n" + description.replace("split", "epochs: 2d, split"), last=10, finalize_to="state.nc", plain=1)
        assert said.count("the file 'day' (") == 1 and "output.yaml:2:9" in said and "must give it another name" in said, said
        first = pathlib.Path(f"day_2000-01-2000-01.{ending}").read_bytes()
        found = run(description, first=11, last=16, resume="state.nc", plain=1, expect=1)
        for part in ("output.yaml:1:9: the file 'day'", f"day_2000-01-2000-01.{ending}", "nothing can be appended", "another name"):
            assert part in found, f"expected {part!r} in:\n{found}"
        assert "step 11" not in found and not glob.glob("*.part*"), found
        # What the error says helps.
        run(description.replace("split", "name: 'more_{start}', split"), first=11, last=130, resume="state.nc", plain=1)
        assert pathlib.Path(f"day_2000-01-2000-01.{ending}").read_bytes() == first
        assert sorted(glob.glob(f"more*.{ending}")) == [f"more_2000-0{month}.{ending}" for month in (1, 2)], os.listdir()
        # A model that saves its state without saying so before: the warning comes with the state.
        for path in glob.glob("*.nc") + glob.glob("day*") + glob.glob("more*"):
            os.remove(path)
        said = run(description, last=10, save_at=8, finalize_to="end.nc", plain=1)
        assert said.count("is saved while") == 1, said
        for part in ("output.yaml:1:9: the state state.nc is saved while", f"day_2000-01-2000-01.{ending}' is open", "needs another name"):
            assert part in said, f"expected {part!r} in:\n{said}"
        # Nothing is open where parts end.
        for path in glob.glob("*.nc") + glob.glob("day*") + glob.glob("more*"):
            os.remove(path)
        said = run(description, last=31 * 4, finalize_to="state.nc", plain=1)
        assert "is saved while" not in said, said
        run(description, first=31 * 4 + 1, last=31 * 4 + 8, resume="state.nc", plain=1)
        assert len(glob.glob(f"day_*.{ending}")) == 2, os.listdir()


def attributes():
    """A file that had begun refused the next job if texts that only describe it had changed, or
    numbers."""
    job = "files: {mon: {every: 1mo, split: 2 records, name: '{file}_{part}', attributes: {job: '${JOB}', VALUE}, mean: [tas: {attributes: {comment: '${JOB}'}}]}}\n"
    for path in glob.glob("*"):
        os.remove(path) if os.path.isfile(path) else None
    for number, (first, last) in enumerate(((1, 130), (131, 140), (141, 400)), 1):
        os.environ["JOB"] = str(number)
        state = {"resume": f"state_{number - 1}.nc"} if number > 1 else {}
        description = job.replace("VALUE", ("title: first" if number == 1 else f"source: of {number}") + f", serial: {number}")
        save = {"finalize_to": f"state_{number}.nc"} if number < 3 else {}
        run(description, first=first, last=last, **state, **save)
    with xarray.open_dataset("mon_1.nc") as file:
        assert (file.attrs["job"], file.attrs["title"], file.tas.attrs["comment"]) == ("1", "first", "1"), file
        assert file.attrs["serial"] == 1, file
        assert "source" not in file.attrs and len(file.time) == 2, file
    with xarray.open_dataset("mon_2.nc") as file:
        assert (file.attrs["job"], file.attrs["source"], file.tas.attrs["comment"]) == ("3", "of 3", "3"), file
        assert file.attrs["serial"] == 3, file
        assert "title" not in file.attrs, file


def storing():
    """A file that has begun keeps its store and directory: what the run said came with the first
    record, and without a line."""
    before = "files: {mon: {every: 1mo, split: 1y, mean: [tas]}, day: {every: 1d, split: 1d, mean: [uas]}}\n"
    run(before, last=136, finalize_to="state.nc")
    for old, new, parts in (("1y,", "1y, store: cdf5,", ['store was "netcdf4"', '"cdf5" now']),
                            ("1y,", "1y, directory: elsewhere,", ['directory was ""', '"elsewhere" now'])):
        found = run(before.replace(old, new), first=137, last=140, resume="state.nc", expect=1)
        for part in ["output.yaml:1:9: the file 'mon'", "mon_2000-2000.nc", *parts]:
            assert part in found, f"expected {part!r} in:\n{found}"
        assert "step 137" not in found and not glob.glob("*.part*"), found
    # No file of `day` has begun that has not ended.
    run(before.replace("split: 1d,", "split: 1d, directory: elsewhere, store: cdf5,"), first=137, last=140, resume="state.nc")
    assert os.path.exists("elsewhere/day_2000-02-04-2000-02-04.nc"), os.listdir("elsewhere")


def damaged():
    """States of statistics whose parts lead to themselves: adding them up would not end."""
    both = "files: {t: {every: 1d, mean: [tas]}, u: {every: 1d, mean: [uas]}}\n"
    run(both, last=6, finalize_to="state.nc", settings=["--afterbay.topology=inline"], servers=0)
    whole = pathlib.Path("state.nc").read_bytes()
    with netCDF4.Dataset("state.nc") as file:
        good = json.loads(file.getncattr("afterbay_output_state"))
    first, second = (it["of"] for it in good["statistics"])
    before = {path: pathlib.Path(path).read_bytes() for path in ("t.nc", "u.nc")}
    for parts in ({0: first}, {0: second, 1: first}, {0: second, 1: second}):
        head = copy.deepcopy(good)
        for number, part in parts.items():
            head["statistics"][number]["from"] = part
        pathlib.Path("state.nc").write_bytes(whole)
        with netCDF4.Dataset("state.nc", "a") as file:
            file.setncattr("afterbay_output_state", json.dumps(head))
        found = run(both, first=7, last=8, resume="state.nc", expect=1, ranks=3, seconds=60)
        assert "state.nc" in found and "the state is damaged: a statistic is a part of itself" in found, f"{parts}: {found}"
        assert not glob.glob("*.part*"), os.listdir()
    assert all(pathlib.Path(path).read_bytes() == content for path, content in before.items())
    pathlib.Path("state.nc").write_bytes(whole)
    run(both, first=7, last=8, resume="state.nc", ranks=3)


for task in (settings_for_all_files, other_fields, changed_descriptions, never_published, not_finalized, fill_as_attribute,
             text_in_other_encodings, other_spellings, stores, attributes, storing, damaged):
    inside(task.__name__, task)
    print(f"{task.__name__}: good", flush=True)
