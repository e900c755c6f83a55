#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names, parts, time axes, subsets, units and attributes of described files, as xarray and CDO read
them."""
import glob
import os
import shutil
import subprocess

import netCDF4
import numpy as np
import xarray

from lib_described import Fields, Times, check, read, run

FIELDS = Fields()


def fresh(name):
    os.chdir(os.environ["SCRATCH_ROOT"])
    shutil.rmtree(name, ignore_errors=True)
    os.makedirs(name)
    os.chdir(name)


def steps_of(path, reference="2000-01-01 00:00:00", step_hours=6):
    """The steps at whose ends the records of instants lie."""
    days = read(path, "time")[0]
    return [round(day * 24 / step_hours) for day in days]


def names():
    fresh("names")
    run("""
case: ctl
files:
  a: {every: 1d, split: 1mo, name: "{case}_{period}_{file}_{start}-{end}", instant: [tas]}
  b: {every: 1d, split: 1mo, name: "{file}_{start:%Y%m%d}-{end:%Y%m%d}", end_date: exclusive, instant: [tas]}
  c: {every: 1d, split: 20 records, name: "{file}{part:02}_{start}", instant: [tas]}
  d: {every: 6h, split: 12h, name: "{file}_{start}_m{member:03}", directory: sub, instant: [tas]}
  e: {every: 1d, split: 1y, instant: [tas]}
  f: {every: 12h, name: "{file}_from_{start}", instant: [tas]}
""", last=180, start="2000-01-16", member=7)
    found = sorted(glob.glob("*.nc"))
    assert found == [
        "b_20000101-20000201.nc", "b_20000201-20000301.nc", "c01_2000-01-16.nc", "c02_2000-02-05.nc", "c03_2000-02-25.nc",
        "ctl_1d_a_2000-01-2000-01.nc", "ctl_1d_a_2000-02-2000-02.nc", "e_2000-2000.nc", "f_from_2000-01-16T000000.nc",
    ], found
    assert len(glob.glob("sub/d_*_m007.nc")) == 90 and os.path.exists("sub/d_2000-01-16T120000_m007.nc")
    # A record whose time is the boundary belongs to the file that ends there.
    with xarray.open_dataset("ctl_1d_a_2000-01-2000-01.nc") as january:
        assert str(january.time.values[-1]).startswith("2000-02-01T00:00") and january.sizes["time"] == 16
    with xarray.open_dataset("ctl_1d_a_2000-02-2000-02.nc") as february:
        assert str(february.time.values[0]).startswith("2000-02-02T00:00") and february.sizes["time"] == 29


def times():
    fresh("times")
    run("""
defaults: {time_units: "hours since 1999-12-31 12:00"}
files:
  start: {every: 6h, instant: [tas], at_start: true}
  none: {every: 6h, instant: [tas], bounds: false, cell_methods: false}
  both: {every: 1d, mean: [tas], instant: [uas], stamp: start}
  later: {every: 1d, instant: [tas], mean: [uas]}
  sampled: {every: 1d, sample: 12h, sample_offset: 6h, mean: [tas], instant: [uas]}
""", first=0, last=8)
    with netCDF4.Dataset("start.nc") as file:
        assert file["time"].units == "hours since 1999-12-31 12:00:00" and file["time"].calendar == "standard"
        assert file["time"].units_metadata == "leap_seconds: none"
        assert file["time"][:].tolist() == [12.0 + 6 * n for n in range(9)]
        assert file["tas"].cell_methods == "time: point" and file.Conventions == "CF-1.11"
        assert np.array_equal(file["time_bnds"][:, 0], file["time"][:])
        for n in range(9):
            assert np.array_equal(file["tas"][n], FIELDS.value("tas", n))
    with netCDF4.Dataset("none.nc") as file:
        assert "time_bnds" not in file.variables and "bounds" not in file["time"].ncattrs()
        assert "cell_methods" not in file["tas"].ncattrs() and len(file.dimensions["time"]) == 8
    with netCDF4.Dataset("both.nc") as file:
        assert file["time"][:].tolist() == [12, 36] and file["time_bnds"][:].tolist() == [[12, 36], [36, 60]]
        assert file["time_instant"][:].tolist() == [36, 60] and "time_instant" in file["uas"].coordinates
        assert "time_instant" not in file["tas"].coordinates
    with netCDF4.Dataset("later.nc") as file:
        assert file["time_bnds"][:].tolist() == [[12, 36], [36, 60]] and file["time"][:].tolist() == [24, 48]
    with netCDF4.Dataset("sampled.nc") as file:
        assert file["tas"].cell_methods == "time: mean (interval: 12 hours)", file["tas"].cell_methods
        assert len(file.dimensions["time"]) == 2
    # Samples at 06 and 18 hours.
    mean = np.array([sum(FIELDS.value("tas", n) for n in pair) / 2 for pair in ([1, 3], [5, 7])])
    check("sampled.nc", "tas", mean)
    check("sampled.nc", "uas", np.array([FIELDS.value("uas", n) for n in (4, 8)]))


def subsets():
    fresh("subsets")
    for decomposition, ranks in (("block", 4), ("map", 3), ("whole", 2)):
        run("""
grids:
  box: {box: {lon: [-50, 100], lat: [-31, 76]}}
  index: {index: {lat: [1, 4], lon: [2, 2]}}
  stride: {stride: {lon: 3, lat: 2}, reverse: [lat]}
  levels: {levels: {lev: [30, 10]}, reverse: [lev]}
files:
  box: {every: 1d, grid: box, mean: [tas, toce]}
  index: {every: 1d, grid: index, instant: [tas, toce], once: [orog]}
  stride: {every: 1d, grid: stride, max: [tas]}
  mixed: {every: 1d, instant: [toce, lower: {field: toce, grid: levels}]}
""".replace("lower: {field: toce, grid: levels}", "e3t: {grid: levels}"), ranks=ranks, decomposition=decomposition, last=8,
            settings=["--afterbay.collections.*.existing=replace"])
        lat = -90 + (np.arange(6) + 0.5) * 30
        lon = 45.0 * np.arange(8)
        rows = np.flatnonzero((lat >= -31) & (lat <= 76))
        columns = np.flatnonzero(((lon + 50) % 360) <= 150)
        mean = lambda name, last: sum(FIELDS.value(name, n) for n in range(last - 3, last + 1)) / 4
        check("box.nc", "tas", np.array([mean("tas", last)[np.ix_(rows, columns)] for last in (4, 8)]))
        assert np.array_equal(read("box.nc", "lon")[0], lon[columns]) and np.array_equal(read("box.nc", "lat")[0], lat[rows])
        assert np.array_equal(read("box.nc", "cell_index")[0], (np.arange(48).reshape(6, 8) + 0.25)[np.ix_(rows, columns)])
        assert np.array_equal(read("box.nc", "lat_bnds")[0], np.stack([lat - 15, lat + 15], axis=1)[rows])
        check("index.nc", "toce", np.array([FIELDS.value("toce", n)[:, 1:5, 2:3] for n in (4, 8)]))
        check("index.nc", "orog", FIELDS.value("orog", 0)[1:5, 2:3])
        largest = lambda last: np.max([FIELDS.value("tas", n) for n in range(last - 3, last + 1)], axis=0)
        check("stride.nc", "tas", np.array([largest(last)[::2, ::3][::-1] for last in (4, 8)]))
        assert np.array_equal(read("stride.nc", "lat")[0], lat[::2][::-1])
        check("mixed.nc", "toce", np.array([FIELDS.value("toce", n) for n in (4, 8)]))
        check("mixed.nc", "e3t", np.array([FIELDS.value("e3t", n)[[2, 0]] for n in (4, 8)]))
        assert read("mixed.nc", "lev")[0].tolist() == [10, 20, 30] and read("mixed.nc", "lev_levels")[0].tolist() == [30, 10]


def units():
    fresh("units")
    run("""
fields:
  tas: {units: degC}
  warm: {expression: tas, units: degC}
  highest: {expression: "mean(max(warm, 12h))", units: degC}
  column: {expression: mean(toce over lev), units: K}
  double: {expression: tas*2, units: degC}
files:
  u: {every: 1d, mean: [tas, warm, column, double, e3t: {name: e3t_cm, units: cm}], instant: [toce: {units: K, type: float64}],
      range: [tas: {name: tas_range}, warm: {name: warm_range}], rate: [e3t: {name: growth, units: m day-1}],
      difference: [tas: {name: change}], write: [highest],
      attributes: {title: units, numbers: [1, 2]}, max: [uas: {attributes: {comment: gusts, standard_name: ~}}]}
""", last=8)
    days = [range(1, 5), range(5, 9)]
    mean = np.array([sum(FIELDS.value("tas", n) for n in day) / 4 for day in days])
    check("u.nc", "tas", mean - 273.15, exact=False)
    # Derived fields that have values of a field are converted, others are what they are.
    check("u.nc", "warm", mean - 273.15, exact=False)
    check("u.nc", "double", mean * 2, exact=False)
    halves = [[np.max([FIELDS.value("tas", n) for n in half], axis=0) for half in (day[:2], day[2:])] for day in days]
    check("u.nc", "highest", np.array(halves).mean(axis=1) - 273.15, exact=False)
    columns = np.array([[np.nanmean(FIELDS.value("toce", n), axis=0) for n in day] for day in days])
    check("u.nc", "column", np.nanmean(columns, axis=1) + 273.15, exact=False)
    with netCDF4.Dataset("u.nc") as file:
        change = file["change"]
        assert change.units == "degC" and change.units_metadata == "temperature: difference", change
        assert "standard_name" not in change.ncattrs() and change.long_name == "difference of air_temperature", change
        assert file["tas_range"].units_metadata == "temperature: difference" and "units_metadata" not in file["tas"].ncattrs()
        assert all(file[name].units == units for name, units in (("warm", "degC"), ("highest", "degC"), ("column", "K"), ("double", "degC")))
    with netCDF4.Dataset("u.nc") as file:
        assert file["tas"].units == "degC" and file["e3t_cm"].units == "cm" and file["growth"].units == "m day-1"
        assert "standard_name" not in file["growth"].ncattrs(), "it would promise other units"
        assert file["tas"].standard_name == "air_temperature" and file.title == "units" and list(file.numbers) == [1, 2]
        assert file["uas"].comment == "gusts" and file["tas_range"].cell_methods == "time: range"
        assert file["tas"].coordinates.split() == ["height", "cell_index"] and file["height"][...] == 2
    spread = np.array([np.ptp([FIELDS.value("tas", n) for n in day], axis=0) for day in days])
    check("u.nc", "tas_range", spread, exact=False)
    check("u.nc", "warm_range", spread, exact=False)
    check("u.nc", "e3t_cm", np.array([100 * sum(FIELDS.value("e3t", n) for n in day) / 4 for day in days]), exact=False)
    check("u.nc", "toce", np.array([FIELDS.value("toce", day[-1]) + 273.15 for day in days]), exact=False)
    check("u.nc", "growth", np.array([sum(FIELDS.value("e3t", n) for n in day) for day in days]), exact=False)


def summands():
    """`add` under `fields` moves the zero of a scale, as units do."""
    fresh("summands")
    run("""
fields: {tas: {add: -273.15}, uas: {units: cm s-1}}
files:
  s: {every: 1d, mean: [tas, uas], range: [tas], stddev: [tas], difference: [tas], max: [tas: {name: high, add: 0}]}
""", last=8)
    days = [range(1, 5), range(5, 9)]
    values = np.array([[FIELDS.value("tas", n) for n in day] for day in days])
    with xarray.open_dataset("s.nc") as file:
        close = lambda name, expected: np.testing.assert_allclose(file[name].values, expected, rtol=1e-5, err_msg=name)
        close("tas", values.mean(axis=1) - 273.15)
        close("tas_range", np.ptp(values, axis=1))
        close("tas_stddev", values.std(axis=1))
        close("tas_difference", values[:, -1] - [values[0, 0], values[0, -1]])
        close("high", values.max(axis=1))
        close("uas", np.array([100 * sum(FIELDS.value("uas", n) for n in day) / 4 for day in days]))


def coordinates():
    fresh("coordinates")
    for decomposition, ranks in (("block", 4), ("map", 3), ("whole", 1)):
        run("""
grids: {part: {index: {lat: [2, 3], lon: [1, 4]}}, bands: {box: {longwave_band: [500, 800]}}}
files:
  all: {every: 1d, mean: [tas, toce]}
  part: {every: 1d, grid: part, mean: [tas, toce]}
  plain: {every: 1d, mean: [uas]}
  bands: {every: 1d, grid: bands, instant: [band_flux]}
""", ranks=ranks, decomposition=decomposition, last=4, rich=1, settings=["--afterbay.collections.*.existing=replace"])
        points = np.arange(48).reshape(6, 8)
        for path, kept in (("all.nc", points), ("part.nc", points[2:4, 1:5])):
            with netCDF4.Dataset(path) as file:
                assert np.array_equal(file["area"][...], kept + 1) and np.array_equal(file["lat2d"][...], kept / 2)
                assert file["lat2d_vertices"].dimensions == ("lat", "lon", "nv"), file["lat2d_vertices"].dimensions
                assert np.array_equal(file["lat2d_vertices"][...], 4 * kept[..., None] + np.arange(4))
                assert set(file["tas"].coordinates.split()) == {"height", "cell_index", "basin", "lat2d"}, file["tas"].coordinates
                assert file["tas"].cell_measures == "area: area" and file["tas"].mesh == "mesh"
                assert file["lat2d"].bounds == "lat2d_vertices" and file["mesh"].node_coordinates == "node_x node_y"
                assert file["node_x"][:].tolist() == [0, 1, 2, 3, 4]
                assert file["lev"].formula_terms == "a: hya ps: ps" and file["hya"][:].tolist() == [0.5] * 3
                # The area belongs to tas, which names it; toce has it as a coordinate.
                assert "area" in file["toce"].coordinates.split()
        check("bands.nc", "band_flux", np.array([FIELDS.value("band_flux", 4)[:2]]))
        with netCDF4.Dataset("plain.nc") as file:
            assert "mesh" not in file.variables and "hya" not in file.variables and "height" not in file.variables


def cycles():
    fresh("cycles")
    description = """
files:
  diurnal: {every: 1mo, cycle: 1d, cycle_step: 6h, mean: [tas, toce], max: [uas], once: [orog]}
  clim: {every: 2y, cycle: 1y, cycle_step: 1mo, align: start, mean: [tas]}
  thin: {every: 1mo, cycle: 1d, cycle_step: 12h, sample: 12h, mean: [tas]}
"""
    run(description, last=4 * 365 * 2 + 10, calendar="noleap", start="2001-01-01", step="6h", lat=3, lon=2)
    fields = Fields(lat=3, lon=2)
    month = range(1, 31 * 4 + 1)
    with netCDF4.Dataset("diurnal.nc") as file:
        assert len(file.dimensions["time"]) == 4 * 25 and file["time"].climatology == "climatology_bounds"
        assert file["tas"].cell_methods == "time: mean within days time: mean over days"
        assert file["time"][:4].tolist() == [0.125, 0.375, 0.625, 0.875] and file["time"][4] == 31.125
        assert file["climatology_bounds"][:4].tolist() == [[0.25 * k, 30.25 + 0.25 * k] for k in range(4)]
        for k in range(4):
            steps = [n for n in month if (n - 1) % 4 == k]
            mean = sum(fields.value("tas", n) for n in steps) / len(steps)
            assert np.array_equal(file["tas"][k], mean.astype("f4")), k
            largest = np.max([fields.value("uas", n) for n in steps], axis=0)
            assert np.array_equal(file["uas"][k], largest.astype("f4")), k
        # The run ends on the third day of a month.
        assert file["climatology_bounds"][-4:].tolist() == [[730 + 0.25 * k, (732.25 if k < 2 else 731.25) + 0.25 * k]
                                                            for k in range(4)], file["climatology_bounds"][-4:]
    with netCDF4.Dataset("clim.nc") as file:
        assert len(file.dimensions["time"]) == 24, len(file.dimensions["time"])
        assert file["tas"].cell_methods == "time: mean within years time: mean over years"
        assert file["climatology_bounds"][1].tolist() == [31, 365 + 59]
        february = [n for year in range(2) for n in range((year * 365 + 31) * 4 + 1, (year * 365 + 59) * 4 + 1)]
        mean = sum(fields.value("tas", n) for n in february) / len(february)
        assert np.array_equal(file["tas"][1], mean.astype("f4"))
    with xarray.open_dataset("diurnal.nc") as file:
        assert file.sizes["time"] == 100
    with netCDF4.Dataset("thin.nc") as file:
        assert file["tas"].cell_methods == "time: mean within days (interval: 12 hours) time: mean over days", file["tas"].cell_methods
        assert np.array_equal(file["tas"][0], np.mean([fields.value("tas", n) for n in month if n % 4 == 2], axis=0).astype("f4"))
    # Parts that the run does not reach have their first occurrence and no values.
    run("files:\n  early: {every: 1mo, cycle: 1d, cycle_step: 6h, mean: [tas]}\n", last=2)
    with netCDF4.Dataset("early.nc") as file:
        assert file["climatology_bounds"][2:].tolist() == [[0.5, 0.75], [0.75, 1]], file["climatology_bounds"][:]
        assert not np.ma.getmaskarray(file["tas"][:2]).any() and np.ma.getmaskarray(file["tas"][2:]).all()


def methods():
    fresh("methods")
    run("""
fields: {tm: mean(tas), long: mean(tx), tx: "max(tas, 1d)", deep: mean(tx), column: "mean(toce over lev)", warm: "max(column, 1d)"}
files:
  m: {every: 2d, align: start, mean: [tx, warm], write: [deep]}
  s: {every: 3d, align: start, sample: 1d12h, mean: [tas], write: [tm]}
  t: {every: 2d, align: start, sample: 12h, write: [long]}
""", last=24)
    with xarray.open_dataset("m.nc") as file:
        for name in ("tx", "deep"):
            assert file[name].attrs["cell_methods"] == "time: maximum time: mean", file[name].attrs
            largest = [np.max([FIELDS.value("tas", n) for n in range(4 * day + 1, 4 * day + 5)], axis=0) for day in range(6)]
            assert np.array_equal(file[name].values, np.array([sum(largest[k:k + 2]) / 2 for k in (0, 2, 4)], "f4")), name
        assert file["warm"].attrs["cell_methods"].endswith(": mean time: maximum time: mean"), file["warm"].attrs
    with xarray.open_dataset("s.nc") as file:
        for name in ("tas", "tm"):
            assert file[name].attrs["cell_methods"] == "time: mean (interval: 36 hours)", file[name].attrs
        assert np.array_equal(file["tas"].values, file["tm"].values)
    with xarray.open_dataset("t.nc") as file:  # all steps of a day have been looked at
        assert file["long"].attrs["cell_methods"] == "time: maximum time: mean", file["long"].attrs


def intervals():
    """CF 1.11, section 7.3.2: the spacing of the values of which statistics are made. By default
    only that of samples, which nobody could guess; `intervals: always` names all that are finer
    than the records."""
    fresh("intervals")
    run("""
defaults: {intervals: always}
fields: {tx: "max(tas, 1d)", deep: "mean(max(tas, 1d))", column: "mean(toce over lev)", sixths: "mean(tas, 1ts)"}
files:
  day: {every: 1d, mean: [tas, column], max: [uas], difference: [vas], once: [orog]}
  each: {every: 1ts, mean: [tas], instant: [uas]}
  long: {every: 2d, align: start, write: [deep], mean: [tx, sixths]}
  thin: {every: 1d, sample: 12h, mean: [tas]}
  usual: {every: 1d, intervals: sampled, mean: [tas]}
  fold: {every: 4d, align: start, cycle: 1d, cycle_step: 12h, mean: [tas]}
  none: {every: 1d, cell_methods: false, mean: [tas]}
""", last=16)
    expected = {"day": {"tas": "time: mean (interval: 6 hours)", "uas": "time: maximum (interval: 6 hours)", "vas": None, "orog": None},
                "each": {"tas": "time: mean", "uas": "time: point"},
                "long": {"deep": "time: maximum (interval: 6 hours) time: mean (interval: 1 day)",
                         "tx": "time: maximum (interval: 6 hours) time: mean (interval: 1 day)", "sixths": "time: mean time: mean (interval: 6 hours)"},
                "thin": {"tas": "time: mean (interval: 12 hours)"}, "usual": {"tas": "time: mean"},
                "fold": {"tas": "time: mean within days (interval: 6 hours) time: mean over days"}, "none": {"tas": None}}
    for name, methods_ in expected.items():
        with xarray.open_dataset(f"{name}.nc") as file:
            for variable, method in methods_.items():
                assert file[variable].attrs.get("cell_methods") == method, f"{name}: {variable}: {file[variable].attrs}"
    with xarray.open_dataset("day.nc") as file:
        assert file["column"].attrs["cell_methods"].endswith("time: mean (interval: 6 hours)"), file["column"].attrs


def cut_cycles():
    """The run covers parts of the first and the last cycle: bounds say what values are made of."""
    fresh("cut_cycles")
    season = [[0, 60], [60, 152], [152, 244], [244, 335]]
    for keys, options, bounds, times, steps in (
            # The year begins with December, January and February.
            ("every: 1y, cycle: 1y, cycle_step: 3mo, align: seasons", {"last": 240}, season, [30, 106, 198, 289.5], {0: range(1, 241)}),
            ("every: 1y, cycle: 1y, cycle_step: 1mo", {"last": 60, "start": "2000-01-16"}, [[0, 15], [16, 45]], [7.5, 30.5],
             {0: range(1, 61)}),
            ("every: 1mo, cycle: 1d, cycle_step: 12h", {"last": 7}, [[0, 1.5], [0.5, 1.75]], [0.25, 0.75], {0: [1, 2, 5, 6], 1: [3, 4, 7]}),
            # No part of November gets a date in December.
            ("every: 1mo, cycle: 1d, cycle_step: 6h", {"last": 10, "start": "2000-11-30T12:00"},
             [[-0.5, -0.25], [-0.25, 0], [0, 0.25], [0.25, 0.5], [0.5, 1.75], [0.75, 2], [1, 2.25], [1.25, 2.5]],
             [-0.375, -0.125, 0.125, 0.375, 0.625, 0.875, 1.125, 1.375], {2: [1], 3: [2], 4: [3, 7], 7: [6, 10]}),
            # Times lie in the first whole day, so that they ascend.
            ("every: 1mo, cycle: 1d, cycle_step: 6h", {"last": 20, "start": "2000-11-15T12:00"},
             [[0.5, 4.75], [0.75, 5], [0, 4.25], [0.25, 4.5]], [0.625, 0.875, 1.125, 1.375], {0: range(3, 21, 4), 2: range(1, 21, 4)}),
            # Without a whole day, times of parts that only the second one reaches lie in the first.
            ("every: 1mo, cycle: 1d, cycle_step: 6h", {"last": 3, "start": "2000-11-15T12:00"},
             [[0.5, 0.75], [-0.25, 0], [0, 0.25], [0.25, 0.5]], [-0.375, -0.125, 0.125, 0.375], {0: [3], 2: [1], 3: [2]})):
        run(f"files: {{c: {{{keys}, existing: replace, mean: [tas]}}}}", **options)
        found = read("c.nc", "climatology_bounds")[0]
        assert found[:len(bounds)].tolist() == bounds, f"{keys}: {found}"
        with xarray.open_dataset("c.nc", decode_times=False) as file:
            assert file.time.values[:len(times)].tolist() == times, f"{keys}: {file.time.values}"
            assert file.indexes["time"].is_monotonic_increasing and (np.diff(file.time) > 0).all()
            reached = [k for k in range(len(bounds)) if not np.isnan(file.tas.values[k]).any()]
            for k, all_steps in steps.items():
                mean = sum(FIELDS.value("tas", n) for n in all_steps) / len(all_steps)
                assert k in reached and np.array_equal(file.tas.values[k], mean.astype("f4")), (keys, k)


def appended():
    """A run that appends to the file of an earlier one, without its state."""
    fresh("appended")
    description = 'files: {a: {every: 6h, EXISTING time_units: "days since 2000-01-01", instant: [tas], once: [orog]}}'
    append = description.replace("EXISTING", "existing: append,")
    run(append, last=8)
    run(append, last=4, start="2000-01-03", ranks=3)
    run(description.replace("EXISTING", ""), last=2, start="2000-01-04", settings=["--afterbay.collections.a.existing=append"])
    assert np.array_equal(read("a.nc", "time")[0], (np.arange(14) + 1) / 4), read("a.nc", "time")[0]
    check("a.nc", "tas", np.array([FIELDS.value("tas", n) for n in [*range(1, 9), *range(1, 5), 1, 2]]))


def alignments():
    """Reductions with a period of their own follow the alignment of the file."""
    fresh("alignments")
    run("""
fields: {x: "max(tas, 1d)", y: x * 2}
files:
  calendar: {every: 1d, write: [x, y]}
  start: {every: 1d, align: start, write: [x, y]}
  whole: {every: 1d, partial: skip, mean: [tas], instant: [uas]}
""", start="2000-01-01T06:00", last=11)
    largest = lambda first, last: np.max([FIELDS.value("tas", n) for n in range(first, last + 1)], axis=0)
    for path, days in (("calendar.nc", [(1, 3), (4, 7), (8, 11)]), ("start.nc", [(1, 4), (5, 8), (9, 11)])):
        maxima = np.array([largest(*day) for day in days])
        check(path, "x", maxima)
        check(path, "y", 2 * maxima)
    # Instants do not make the record that the statistics leave out.
    check("whole.nc", "tas", np.array([sum(FIELDS.value("tas", n) for n in day) / 4 for day in (range(4, 8), range(8, 12))]))
    check("whole.nc", "uas", np.array([FIELDS.value("uas", n) for n in (7, 11)]))


def names_of_functions():
    """A name before a parenthesis is a function, any other one a field; the only constant is pi."""
    fresh("names_of_functions")
    run("""
fields: {max: uas*2, e: vas + 1, mean: "max + max(e, tas) + 2*pi", y: "mean(mean) - mean(e)"}
files:
  f: {every: 6h, instant: [max, mean, e]}
  d: {every: 1d, write: [y]}
""", last=4)
    uas, vas, tas = (np.array([FIELDS.value(name, n) for n in range(1, 5)]) for name in ("uas", "vas", "tas"))
    made = 2 * uas + np.maximum(vas + 1, tas) + 2 * np.pi
    check("f.nc", "max", 2 * uas)
    check("f.nc", "e", vas + 1)
    check("f.nc", "mean", made)
    check("d.nc", "y", np.array([made.mean(axis=0) - (vas + 1).mean(axis=0)]), exact=False)


def sections():
    """Levels one by one, also on ranks without points."""
    fresh("sections")
    for decomposition in ("block", "map", "whole"):
        run("files: {a: {every: 6h, existing: replace, instant: [toce], sum: [e3t]}}", ranks=4, lat=2, sections=1, last=4,
            decomposition=decomposition, lon=8 if decomposition == "block" else 1)
        fields = Fields(lat=2, lon=8 if decomposition == "block" else 1)
        for name in ("toce", "e3t"):
            check("a.nc", name, np.array([fields.value(name, n) for n in range(1, 5)]))


def readers():
    fresh("readers")
    run("""
files:
  hours: {every: 6h, instant: [tas, toce]}
  day: {every: 1d, mean: [tas, toce]}
  mon: {every: 1mo, mean: [tas]}
""", last=400, calendar="noleap")
    with xarray.open_dataset("mon.nc") as months:
        assert [t.strftime("%Y-%m-%d %H") for t in months.time.values][:2] == ["2000-01-16 12", "2000-02-15 00"]
    if shutil.which("cdo"):
        subprocess.run(["cdo", "-s", "-O", "daymean", "-shifttime,-1sec", "hours.nc", "cdo.nc"], check=True)
        for name in ("tas", "toce"):
            ours, theirs = read("day.nc", name)[0], read("cdo.nc", name)[0]
            np.testing.assert_allclose(ours, theirs, rtol=2e-6, err_msg=name)
        subprocess.run(["cdo", "-s", "-O", "monmean", "-shifttime,-1sec", "hours.nc", "cdomon.nc"], check=True)
        np.testing.assert_allclose(read("mon.nc", "tas")[0], read("cdomon.nc", "tas")[0], rtol=2e-6)


os.environ["SCRATCH_ROOT"] = os.getcwd()
for case in (names, times, subsets, coordinates, units, summands, cycles, cut_cycles, methods, intervals, appended, alignments, names_of_functions, sections, readers):
    case()
    print(f"{case.__name__}: as expected")
