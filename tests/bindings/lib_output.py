# SPDX-License-Identifier: Apache-2.0
"""Runs output.c or output_fortran.f90 and compares its files with what numpy computes from the same
formulas."""
import pathlib

import cftime
import netCDF4
import numpy as np

from lib_bindings import mpirun, program

DESCRIPTION = """
case: bindings
defaults: {name: "{case}_{file}"}
files:
  day: {every: 1d, mean: [tas, ta], name: "{case}_{file}_{member:02}"}
  snap: {every: 6h, instant: [tas, ta, i1, i2, i4, i8, co2], at_start: true}
  daily: {every: 1d, instant: psl}
  mon: {every: 1mo, max: [tas, ta]}
  fx: {once: orog}
"""
LAST = 34  # steps of 6 h from 26 February, which has 28 days: 12 in February, 22 in March; the last day is not complete
FILL = -999.0
Y, X = np.arange(6)[:, None], np.arange(8)[None, :]


def run(language, directory, *arguments, description=DESCRIPTION, seconds=100, expect=0):
    """Returns what the program printed. Each run has a server; `directory` is that of the files."""
    directory = pathlib.Path(directory)
    directory.mkdir(exist_ok=True)
    (directory / "output.yaml").write_text(description)
    return mpirun(5, "-wdir", str(directory.absolute()), program(f"output_{language}"), *map(str, arguments), "--afterbay.output=output.yaml",
                  "--afterbay.servers=1", "--afterbay.memory.server=32MiB", "--afterbay.deadline=30s", "--afterbay.report.table=off",
                  seconds=seconds, expect=expect)


def tas(n):
    values = 280 + Y + 0.5 * X + 7 * n % 13
    values[0, 0] = np.nan
    if n % 2:
        values[1, 1] = np.nan
    return values


def ta(n):
    return 100.0 * np.arange(3)[:, None, None] + 10 * Y + X + n % 5


def days(date):
    return cftime.date2num(date, "days since 1999-12-31", "noleap")


START = cftime.datetime(2000, 2, 26, calendar="noleap")


def check_values(variable, expected, rtol=0.0):
    """NaN: missing."""
    found = np.ma.filled(variable[...].astype("f8"), np.nan)
    np.testing.assert_allclose(found, expected, rtol=rtol, err_msg=variable.name)


def check_time(file, ends, begins=None):
    """Times at `ends` days after the start; of periods: their centre, with bounds."""
    time = file["time"]
    assert time.calendar == "noleap" and time.standard_name == "time", time
    assert time.units.split()[:3] == ["days", "since", "1999-12-31"], time.units
    ends = days(START) + np.asarray(ends)
    begins = ends if begins is None else days(START) + np.asarray(begins)
    np.testing.assert_array_equal(time[:], (begins + ends) / 2)
    np.testing.assert_array_equal(file[time.bounds][:], np.stack([begins, ends], axis=1))


def check_coordinates(file):
    lat = -75.0 + 30 * np.arange(6)
    np.testing.assert_array_equal(file["lat"][:], lat)
    np.testing.assert_array_equal(file[file["lat"].bounds][:], np.stack([lat - 15, lat + 15], axis=1))
    assert (file["lat"].units, file["lat"].standard_name, file["lat"].dtype) == ("degrees_north", "latitude", "f8")
    np.testing.assert_array_equal(file["lon"][:], 45 * np.arange(8))
    assert (file["lon"].units, file["lon"].long_name, file["lon"].dtype) == ("degrees_east", "eastward", "f4")
    np.testing.assert_array_equal(file["pole_distance"][:], 90 - lat)
    np.testing.assert_array_equal(file["soil"][:], 10 * Y + X)
    assert file["soil"].units == "m" and file["soil"].dimensions == ("lat", "lon"), file["soil"]
    assert file["soil"].bounds == "soil_range" and file["soil_range"].dimensions == ("lat", "lon", "band"), file
    np.testing.assert_array_equal(file["soil_range"][:], (10 * Y + X)[..., None] + [0, 1])


def check_levels(file):
    assert file["lev"][:].tolist() == [1000, 850, 500] and file["lev"].dtype == "i4", file["lev"]
    assert file["lev"].positive == "down" and file["lev"].valid_range.tolist() == [500, 1000], file["lev"]
    assert file["lev"].valid_range.dtype == "f8" and file["ta"].dimensions == ("time", "lev", "lat", "lon"), file["ta"]


def check_attributes(variable, fill=FILL):
    assert (variable.units, variable.standard_name, variable.long_name, variable.comment) == (
        "K", "air_temperature", "near-surface temperature", "at 2 m"), variable
    assert variable.dtype == "f8" and variable._FillValue == fill and variable.dimensions == ("time", "lat", "lon"), variable
    assert sorted(variable.coordinates.split()) == ["height", "pole_distance", "soil"], variable.coordinates
    assert variable.group()["height"][...] == 2 and variable.group()["height"].units == "m", variable


def mean(values, axis):
    """Missing only if all values are."""
    count = np.sum(~np.isnan(values), axis=axis)
    return np.where(count > 0, np.nansum(values, axis=axis) / np.maximum(count, 1), np.nan)


def maximum(values, axis):
    highest = np.max(np.where(np.isnan(values), -np.inf, values), axis=axis)
    return np.where(np.isinf(highest), np.nan, highest)


def steps(begin, end):
    """The numbers of the steps that end after `begin` and up to `end`, in days."""
    return range(int(4 * begin) + 1, int(4 * end) + 1)


def of_periods(begins, ends, function, operation):
    return np.stack([operation(np.stack([function(n) for n in steps(b, e)]), 0) for b, e in zip(begins, ends)])


def check_files(directory, last=LAST):
    directory = pathlib.Path(directory)
    end = last / 4
    day_ends = [*range(1, last // 4 + 1), *([end] if last % 4 else [])]
    day_begins = range(len(day_ends))
    with netCDF4.Dataset(directory / "bindings_day_07.nc") as file:
        check_time(file, day_ends, day_begins)
        check_coordinates(file)
        check_levels(file)
        check_attributes(file["tas"], netCDF4.default_fillvals["f8"])  # a mean might be FILL
        assert file["tas"].cell_methods == file["ta"].cell_methods == "time: mean", file["tas"]
        check_values(file["tas"], of_periods(day_begins, day_ends, tas, mean), rtol=1e-15)
        check_values(file["ta"], of_periods(day_begins, day_ends, ta, mean).astype("f4"))
    with netCDF4.Dataset(directory / "bindings_snap.nc") as file:
        numbers = np.arange(last + 1)
        check_time(file, numbers / 4)
        check_coordinates(file)
        check_attributes(file["tas"])
        check_values(file["tas"], np.stack([tas(n) for n in numbers]))
        check_values(file["ta"], np.stack([ta(n) for n in numbers]))
        plain = numbers[:, None, None] + 10 * Y + X
        for name, factor in (("i1", 1), ("i2", 100), ("i4", 10**6), ("i8", 10**12)):
            assert file[name].dtype == name, file[name]
            np.testing.assert_array_equal(file[name][:], factor * plain, name)
        assert file["co2"].dimensions == ("time",) and file["co2"].units == "1e-6", file["co2"]
        np.testing.assert_array_equal(file["co2"][:], 400 + numbers / 8)
    with netCDF4.Dataset(directory / "bindings_daily.nc") as file:
        whole = np.arange(1, last // 4 + 1)
        check_time(file, whole)
        check_values(file["psl"], 100000 + 4.0 * whole[:, None, None] + 0 * (Y + X))
    with netCDF4.Dataset(directory / "bindings_mon.nc") as file:
        check_time(file, [3, end], [0, 3])  # the bounds are those that the run covers
        assert file["tas"].cell_methods == "time: maximum", file["tas"]
        check_values(file["tas"], of_periods([0, 3], [3, end], tas, maximum))
        check_values(file["ta"], of_periods([0, 3], [3, end], ta, maximum))
    with netCDF4.Dataset(directory / "bindings_fx.nc") as file:
        assert "time" not in file.dimensions and file["orog"].dimensions == ("lat", "lon"), file
        check_values(file["orog"], 100.0 * Y + X)
