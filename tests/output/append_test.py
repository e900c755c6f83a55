#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`existing: append` without a saved state: a run that continues an earlier one goes on with its
files; any other one is refused before its first step, or when it comes to the file, with the place
in the description. No record is doubled, out of order, or lost."""
import glob
import hashlib
import os
import pathlib
import re
import shutil

import cftime
import netCDF4
import numpy as np
import xarray

from lib_described import Fields, check, read, run

FIELDS = Fields()
UNITS = 'time_units: "days since 2000-01-01"'
REPLACED = "--afterbay.collections.*.existing="


def fresh(name):
    os.chdir(os.environ["SCRATCH_ROOT"])
    shutil.rmtree(name, ignore_errors=True)
    os.makedirs(name)
    os.chdir(name)


def contents():
    return {path: hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest() for path in glob.glob("*.nc")}


def refused(description, parts, **options):
    """Before the first step: the model makes none."""
    before = contents()
    said = run(description, expect=1, seconds=60, **{**options, "first": 1, "last": 0})
    for part in parts:
        assert part in said, f"expected {part!r} in:\n{said}"
    assert "output.yaml:" in said, said
    after = contents()
    assert before == after and not glob.glob("*.part*"), f"{before.keys()}, {glob.glob('*')}"
    return said


def ascend(path, records):
    """Times as xarray reads them."""
    with xarray.open_dataset(path, decode_times=xarray.coders.CFDatetimeCoder(use_cftime=True)) as file:
        times = file.time.values
        assert len(times) == records and all(a < b for a, b in zip(times, times[1:])), times
        if "time_bnds" in file:
            bounds = file.time_bnds.values
            assert all(a[1] <= b[0] for a, b in zip(bounds, bounds[1:])) or (bounds[:, 0] == bounds[:, 1]).all(), bounds
        return times


def instants():
    """Run, the same run again, and a run that continues."""
    fresh("instants")
    append = f"files: {{a: {{every: 6h, existing: append, {UNITS}, instant: [tas], once: [orog]}}}}\n"
    run(append, last=8)
    refused(append, ["output.yaml:1:9", "a.nc", "has records up to 2000-01-03T00:00", "is that of 2000-01-01T06:00", "doubled"], last=8)
    refused(append, ["is that of 2000-01-02T18:00"], last=8, start="2000-01-02T12:00")
    run(append, last=4, start="2000-01-03", ranks=3)
    ascend("a.nc", 12)
    check("a.nc", "tas", np.array([FIELDS.value("tas", n) for n in [*range(1, 9), *range(1, 5)]]))
    # After a gap.
    run(append, last=2, start="2000-01-10", servers=2)
    times = ascend("a.nc", 14)
    assert times[12] == cftime.DatetimeGregorian(2000, 1, 10, 6)
    # The end of the earlier run is a record of step 0, too.
    at_start = append.replace("once:", "at_start: true, once:")
    said = refused_later(at_start, "a.nc", first=0, last=2, start="2000-01-10T12:00")
    assert "is that of 2000-01-10T12:00" in said, said
    run(at_start, first=0, last=2, start="2000-01-10T18:00")
    ascend("a.nc", 17)
    # A run that begins with step 1 has no record of its start.
    run(at_start, first=1, last=1, start="2000-01-11T06:00")
    ascend("a.nc", 18)
    # Without servers, and with settings instead of the key.
    plain = append.replace("existing: append, ", "")
    refused(plain, ["a.nc, which exists already", "existing: replace", "saved state"], last=8)
    refused(plain, ["has records up to"], last=8, settings=[f"{REPLACED}append", "--afterbay.topology=inline"], servers=0)
    run(plain, last=2, start="2000-01-11T12:00", settings=[f"{REPLACED}append", "--afterbay.topology=inline"], servers=0)
    ascend("a.nc", 20)
    run(append, last=1, settings=[f"{REPLACED}replace"])
    ascend("a.nc", 1)


def statistics():
    for keys in ("", "bounds: false, ", "stamp: end, ", "stamp: end, bounds: false, ", "stamp: start, bounds: false, "):
        fresh("statistics")
        append = f"files: {{a: {{every: 1d, existing: append, {keys}{UNITS}, mean: [tas], max: [toce]}}}}\n"
        run(append, last=8)
        refused(append, ["output.yaml:1:9", "begins at 2000-01-01T00:00", "out of order"], last=8)
        if "start" not in keys:
            refused(append, ["begins at 2000-01-02T0"], last=8, start="2000-01-02" + ("T06:00" if "bounds: false" in keys and "end" not in keys else ""))
        run(append, last=10, start="2000-01-03", ranks=3)
        days = [(0, 4), (4, 8)]
        mean = [sum(FIELDS.value("tas", n) for n in range(a + 1, b + 1)) / 4 for a, b in days]
        mean += [sum(FIELDS.value("tas", n) for n in range(a + 1, b + 1)) / 4 for a, b in days]
        mean += [sum(FIELDS.value("tas", n) for n in (9, 10)) / 2]
        check("a.nc", "tas", np.array(mean))
        ascend("a.nc", 5)
        # The period that the run did not finish goes on with a record of its own.
        run(append, last=2, start="2000-01-05T12:00")
        ascend("a.nc", 6)


def skipped():
    """Periods that the run covers in part have no records, and so are not an obstacle."""
    fresh("skipped")
    append = f"files: {{a: {{every: 1d, partial: skip, existing: append, {UNITS}, mean: [tas]}}}}\n"
    run(append, last=6)
    run(append, last=6, start="2000-01-02T12:00")
    times = ascend("a.nc", 2)
    assert [str(t)[:10] for t in times] == ["2000-01-01", "2000-01-03"], times
    refused(append, ["begins at 2000-01-03"], last=6, start="2000-01-02T12:00")


def folded():
    fresh("folded")
    append = f"files: {{a: {{every: 1mo, cycle: 1d, cycle_step: 6h, existing: append, {UNITS}, mean: [tas]}}}}\n"
    run(append, last=31 * 4)
    refused(append, ["2000-02-01T00:00", "begins at 2000-01-01"], last=31 * 4)
    refused(append, ["begins at 2000-01-30"], last=8, start="2000-01-30")
    run(append, last=29 * 4, start="2000-02-01")
    with netCDF4.Dataset("a.nc") as file:
        assert len(file.dimensions["time"]) == 8 and (np.diff(file["time"][:]) > 0).all(), file["time"][:]
        assert file["climatology_bounds"][4:].tolist() == [[31 + 0.25 * k, 59.25 + 0.25 * k] for k in range(4)]


def parts():
    """Files that `split` makes: by dates, and by records, of which a run continues the last one."""
    fresh("parts")
    months = f"files: {{a: {{every: 1d, split: 1mo, existing: append, {UNITS}, instant: [tas]}}}}\n"
    run(months, last=40 * 4)
    refused(months, ["a_2000-01-2000-01.nc", "has records up to 2000-02-01"], last=8)
    run(months, last=30 * 4, start="2000-02-10")
    ascend("a_2000-01-2000-01.nc", 31)
    ascend("a_2000-02-2000-02.nc", 29)
    ascend("a_2000-03-2000-03.nc", 10)
    # A run that comes to a later part that has records.
    os.remove("a_2000-01-2000-01.nc")
    said = refused_later(months, "a_2000-02-2000-02.nc", last=40 * 4)
    assert "has records up to 2000-03-01T00:00" in said and "is that of 2000-02-02T00:00" in said, said
    # Numbers begin anew in each run.
    numbers = months.replace("split: 1mo", 'split: 1mo, name: "n_{part}"')
    fresh("numbers")
    run(numbers, last=31 * 4)
    refused(numbers, ["n_1.nc", "all before this part of the run, which begins at 2000-02-01", "{start}"], last=8, start="2000-02-01")
    records = f'files: {{a: {{every: 6h, split: 5 records, name: "r_{{part:02}}", existing: append, {UNITS}, instant: [tas]}}}}\n'
    fresh("records")
    run(records, last=7)
    refused(records, ["r_02.nc", "has records up to"], last=7)
    run(records, last=13, start="2000-01-02T18:00")
    assert [len(read(f"r_{k:02}.nc", "time")[0]) for k in range(1, 5)] == [5, 5, 5, 5], os.listdir()
    run(records, last=4, start="2000-01-06", ranks=2)
    assert sorted(glob.glob("*.nc")) == [f"r_{k:02}.nc" for k in range(1, 6)] and len(read("r_05.nc", "time")[0]) == 4
    times = np.concatenate([read(f"r_{k:02}.nc", "time")[0] for k in range(1, 6)])
    assert np.array_equal(times, np.arange(1, 25) / 4), times
    values = np.concatenate([read(f"r_{k:02}.nc", "tas")[0] for k in range(1, 6)])
    expected = np.array([FIELDS.value("tas", n) for n in [*range(1, 8), *range(1, 14), *range(1, 5)]])
    assert np.array_equal(values, expected.astype("f4").astype("f8"))
    starts = records.replace("{part:02}", "{start:%Y}")
    fresh("starts")
    run(starts, last=5)
    refused(starts, ["r_2000.nc", "has 5 records already", "{part}"], last=2, start="2000-01-02T06:00")


def refused_later(description, path, **options):
    before = contents()
    said = run(description, expect=1, seconds=60, **options)
    assert "output.yaml:1:9" in said and path in said, said
    after = contents()
    assert all(after[name] == digest for name, digest in before.items()), "a file was changed"
    return said


def resumed():
    """A run that appends and saves its state before its first record: the run that resumes keeps
    the records of the first run."""
    expected = [sum(FIELDS.value("tas", n) for n in range(a + 1, a + 5)) / 4 for a in (0, 4, 0, 4)]
    for keys, names in ((UNITS, ["a.nc"]), (f'split: 3 records, name: "a_{{part}}", {UNITS}', ["a_1.nc", "a_2.nc"])):
        fresh("resumed")
        append = f"files: {{a: {{every: 1d, existing: append, {keys}, mean: [tas]}}}}\n"
        run(append, last=8)
        run(append, last=3, start="2000-01-03", save_at=2)
        # What the run wrote after its state is written again.
        run(append, first=3, last=8, start="2000-01-03", resume="state.nc", ranks=3)
        assert sorted(glob.glob("a*.nc")) == names, os.listdir()
        values = np.concatenate([read(name, "tas")[0] for name in names])
        assert np.allclose(values, np.array(expected), rtol=1e-6), values - expected
        times = np.concatenate([read(name, "time")[0] for name in names])
        assert np.array_equal(times, [0.5, 1.5, 2.5, 3.5]), times


def written_again():
    """A later file of the run that saved the state has a record of a part of a period: the run that
    resumes writes it again, whole."""
    for keys in ("", "stamp: end, ", "stamp: start, "):
        fresh("written_again")
        append = f'files: {{a: {{every: 1d, split: 2 records, name: "a_{{part}}", existing: append, {keys}{UNITS}, mean: [tas]}}}}\n'
        run(append, last=11, save_at=9)
        ascend("a_2.nc", 1)
        run(append, first=10, last=16, resume="state.nc", ranks=2)
        values = np.concatenate([read(f"a_{k}.nc", "tas")[0] for k in (1, 2)])
        expected = np.array([sum(FIELDS.value("tas", n) for n in range(a + 1, a + 5)) / 4 for a in (0, 4, 8, 12)])
        assert values.shape == expected.shape and np.allclose(values, expected, rtol=1e-6), (keys, values.shape)


def in_memory():
    """Files that no run publishes are in nobody's way."""
    fresh("in_memory")
    for keys in ("", "existing: append, "):
        text = f"files: {{a: {{every: 6h, {keys}{UNITS}, instant: [tas]}}}}\n"
        if not keys:
            run(text, last=2)
        before = contents()
        run(text, last=2, settings=["--afterbay.collections.*.store=memory"])
        assert contents() == before


def axes():
    """Other units or another calendar."""
    fresh("axes")
    append = "files: {a: {every: 6h, existing: append, instant: [tas]}}\n"
    run(append, last=8)
    refused(append, ['counts "days since 2000-01-01 00:00:00"', 'write "time_units: days since 2000-01-01 00:00:00"'], last=4, start="2000-01-03")
    refused(append, ["in the calendar standard", "noleap"], last=4, start="2000-01-03", calendar="noleap", reference="2000-01-01")
    run(append, last=4, start="2000-01-03", reference="2000-01-01")
    ascend("a.nc", 12)


def texts():
    """What a file says of its values must stay as it is: the run had been refused with its first
    record, and without a line. Texts that only tell of the file are kept, as by a run that
    resumes."""
    fresh("texts")
    append = (f"files: {{a: {{every: 6h, existing: append, {UNITS}, attributes: {{title: first}},\n"
              "  instant: [tas: {attributes: {comment: first, standard_name: air_temperature}}, uas]}}\n")
    run(append, last=4, units_of="uas:m s-1")
    later = {"last": 4, "start": "2000-01-02", "units_of": "uas:m s-1"}
    refused(append, ["output.yaml:2:82: the file 'a' goes on with", "a.nc", "attribute 'uas:units': text \"km h-1\" wanted, text \"m s-1\" in the file",
                     "existing: replace"], **{**later, "units_of": "uas:km h-1"})
    for old, new, parts in (
            ("air_temperature", "air_potential_temperature", ["2:13", "attribute 'tas:standard_name'", "air_potential_temperature", "air_temperature"]),
            ("uas]", "uas: {type: float64}]", ["output.yaml:2:", "variable 'uas': type float64 wanted, float32 in the file"]),
            (", uas]", "]", ["output.yaml:1:9", "variable 'uas' is in the file but not wanted"])):
        assert old in append
        refused(append.replace(old, new), ["goes on with", *parts], **later)
    # A setting of the session, and no server processes.
    refused(append.replace("existing: append, ", "").replace("air_", "sea_"), ["attribute 'tas:standard_name'"],
            settings=[f"{REPLACED}append", "--afterbay.topology=inline"], servers=0, **later)
    run(append.replace("first", "second"), **later)
    ascend("a.nc", 8)
    with xarray.open_dataset("a.nc") as file:
        assert (file.attrs["title"], file.tas.attrs["comment"]) == ("first", "first"), file
        assert file.uas.attrs["units"] == "m s-1", file.uas


INLINE = {"servers": 0, "settings": ["--afterbay.topology=inline"]}


def coordinates():
    """Coordinates and the store were compared when the first record was written, and coordinates of
    which each rank holds a part not at all: the file had got other ones for all of its records."""
    fresh("coordinates")
    append = f"files: {{a: {{every: 6h, existing: append, {UNITS}, instant: [tas, toce]}}}}\n"
    run(append, last=4, ranks=3)
    later = {"last": 4, "start": "2000-01-02"}
    goes_on = ["output.yaml:1:9: the file 'a' goes on with", "a.nc", "Give the file what it had", "existing: replace"]
    for options in ({"ranks": 3}, {"servers": 2}, {"decomposition": "map"}, {"ranks": 1}, INLINE):
        refused(append, [*goes_on, "variable 'lat': constant value 0: -74.5 wanted, -75 in the file"], **{**later, **options, "lat_shift": 0.5})
        refused(append, [*goes_on, "variable 'cell_index': value 0 of rank", "in the file"], **{**later, **options, "index_shift": 1})
    said = refused(append, ["variable 'height': constant value 0: 10 wanted, 2 in the file", "'cell_index': value 0 of rank 2: 33.25 wanted, 32.25 in the file"],
                   ranks=3, height=10, index_shift=1, shift_rank=2, **later)
    assert "of rank 0" not in said and "of rank 1" not in said, said
    refused(append.replace("every", "store: cdf5, every"), [*goes_on, "store: cdf5 wanted, netcdf4 in the file"], **later)
    # Ranks may compute their parts; other decompositions round differently.
    run(append, index_shift=1e-13, **later)
    run(append, decomposition="map", last=4, start="2000-01-03", ranks=3)
    run(append, last=4, start="2000-01-04", **INLINE)
    ascend("a.nc", 16)
    assert np.array_equal(read("a.nc", "cell_index")[0].ravel(), np.arange(48) + 0.25), read("a.nc", "cell_index")
    # Settings that change the values in the file: what the model gives is not what it has.
    fresh("rounded_coordinates")
    rounding = ["--afterbay.collections.a.variables.cell_index.bitround=2"]
    run(append, last=4, settings=rounding)
    assert not np.array_equal(read("a.nc", "cell_index")[0].ravel(), np.arange(48) + 0.25)
    run(append, settings=rounding, **later)
    # A later file of the run, which has another grid.
    fresh("later_coordinates")
    months = f"files: {{a: {{every: 1d, split: 1mo, existing: append, {UNITS}, instant: [tas]}}}}\n"
    run(months, last=8, start="2000-02-01")
    said = refused_later(months, "a_2000-02-2000-02.nc", last=40 * 4, index_shift=1, shift_rank=1)
    assert "value 0 of rank 1" in said, said


def texts_of_later_parts():
    """A file that the run comes to, and that exists, had been refused if its title was another one:
    that of a run that resumes after a crash, and appends."""
    fresh("texts_of_later_parts")
    job = (f'files: {{a: {{every: 1d, split: 2 records, name: "a_{{part}}", existing: append, {UNITS}, attributes: {{title: JOB, NUMBER}},\n'
           "  mean: [tas: {attributes: {comment: JOB, standard_name: air_temperature}}]}}\n")
    first, second = (job.replace("JOB", name).replace("NUMBER", number) for name, number in (("first", "serial: 1"), ("second", "serial: 2, source: x")))
    run(first, last=11, save_at=9)
    ascend("a_2.nc", 1)
    second_file = pathlib.Path("a_2.nc").read_bytes()
    said = run(second.replace("air_t", "sea_t"), first=10, last=24, resume="state.nc", expect=1)
    assert "output.yaml:2:" in said and "goes on with" in said and "attribute 'tas:standard_name'" in said, said
    assert pathlib.Path("a_2.nc").read_bytes() == second_file
    for path in glob.glob("*.part*"):
        os.remove(path)
    run(second, first=10, last=24, resume="state.nc", ranks=3)
    values = np.concatenate([read(f"a_{k}.nc", "tas")[0] for k in (1, 2, 3)])
    expected = np.array([sum(FIELDS.value("tas", n) for n in range(a + 1, a + 5)) / 4 for a in range(0, 24, 4)])
    assert values.shape == expected.shape and np.allclose(values, expected, rtol=1e-6), values.shape
    for path, texts in (("a_2.nc", ("first", "first", 1, False)), ("a_3.nc", ("second", "second", 2, True))):
        with xarray.open_dataset(path) as file:
            assert (file.attrs["title"], file.tas.attrs["comment"], file.attrs["serial"], "source" in file.attrs) == texts, (path, file)


def files_that_exist():
    """The default: found before the first step, however long the period."""
    fresh("files_that_exist")
    default = "files:\n  fx: {once: [orog]}\n  mon: {every: 1mo, mean: [tas]}\n"
    run(default, last=31 * 4)
    os.remove("fx.nc")
    refused(default, ["output.yaml:3:3", "mon.nc, which exists already"], last=31 * 4)
    run(default, last=2, settings=["--afterbay.collections.mon.existing=replace"])
    ascend("mon.nc", 1)


os.environ["SCRATCH_ROOT"] = os.getcwd()
for case in (instants, statistics, skipped, folded, parts, resumed, written_again, in_memory, axes, texts, coordinates, texts_of_later_parts,
             files_that_exist):
    case()
    print(f"{case.__name__}: as expected", flush=True)
