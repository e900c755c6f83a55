#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fields files, read by other programs: see _um_readers.py. Besides, the words of the fixed-length
header and of the lookup are those of UM Documentation Paper F3, a lookup behind the values is read,
and iris reads a grid of variable resolution, winds too."""
import shutil

import _um_readers
import iris
import netCDF4
import numpy as np
from iris.fileformats import _ff

HEADER = {"data_set_format_version": 20, "sub_model": 1, "dataset_type": 3, "calendar": 2, "grid_staggering": 3, "horiz_grid_type": 0}
LATITUDES = [40, 41, 42.5, 44, 45, 47]
LONGITUDES = np.cumsum(np.linspace(0.5, 2, 24))


def check_header(path):
    header = _ff.FFHeader(path)
    found = {name: int(getattr(header, name)) for name in HEADER}
    assert found == HEADER, found
    assert [int(word) for word in header.first_validity_time[:6]] == [2026, 11, 1, 0, 0, 0], header.first_validity_time
    assert [int(word) for word in header.last_validity_time[:6]] == [2026, 11, 2, 0, 0, 0], header.last_validity_time
    assert len(header.integer_constants) == 46 and len(header.real_constants) == 38
    assert [int(n) for n in header.integer_constants[5:7]] == [72, 37]
    np.testing.assert_allclose(header.real_constants[:6], [5, -5, 90, 0, 90, 0])
    assert header.level_dependent_constants.shape == (2, 8)
    start, words, entries = (int(word) for word in header.lookup_table)
    assert (words, entries) == (64, 21), header.lookup_table  # 4 records of 3 levels and 2 fields, a mask
    data_start, data_words = (int(word) for word in header.data[:2])
    assert (data_start - 1) % 512 == 0 and data_start > start + 4096 * 64 - 1
    lookup = np.fromfile(path, ">i8", words * entries, offset=8 * (start - 1)).reshape(entries, words)
    begins, lengths = lookup[:, 28], lookup[:, 29]
    assert begins[0] == data_start - 1 and not (begins % 512).any() and not (lengths % 512).any()
    assert (begins[1:] >= begins[:-1] + lengths[:-1]).all()
    size = len(open(path, "rb").read())
    assert size == 8 * (data_start - 1 + data_words) and 8 * (begins[-1] + lengths[-1]) <= size
    assert sorted(set(lookup[:, 20])) == [0, 1, 2], set(lookup[:, 20])
    print(f"{entries} fields: header and lookup are good", flush=True)


def read_variable_resolution():
    """iris takes the coordinates from the constants of rows and columns. From STASH codes of winds,
    it would take other rows, so they have none."""
    with netCDF4.Dataset("irregular.nc", "w") as file:
        for name, length in (("time", None), ("lat", 6), ("lon", 24)):
            file.createDimension(name, length)
        _um_readers.variable(file, "time", "f8", ("time",), [6.0], standard_name="time", units="hours since 2026-11-01")
        _um_readers.variable(file, "lat", "f8", ("lat",), LATITUDES, units="degrees_north")
        _um_readers.variable(file, "lon", "f8", ("lon",), LONGITUDES, units="degrees_east")
        _um_readers.variable(file, "ts", "f4", ("time", "lat", "lon"), np.arange(144).reshape(1, 6, 24), units="K", standard_name="surface_temperature")
        _um_readers.variable(file, "height", "f8", (), 10.0, units="m", standard_name="height")
        for number, name in enumerate(("eastward_wind", "northward_wind"), 1):
            _um_readers.variable(file, name, "f4", ("time", "lat", "lon"), number + np.arange(144).reshape(1, 6, 24), units="m s-1", standard_name=name,
                                 coordinates="height")
    cubes = iris.load(_um_readers.replay("fieldsfile", "irregular.nc", "irregular", ["--servers", "1"], 3))
    by_name = {cube.name(): cube for cube in cubes}
    assert set(by_name) == {"surface_temperature", "x_wind", "y_wind"}, cubes
    for number, name in enumerate(("surface_temperature", "x_wind", "y_wind")):
        cube = by_name[name]
        np.testing.assert_array_equal(cube.coord("longitude").points, LONGITUDES)
        np.testing.assert_array_equal(cube.coord("latitude").points, LATITUDES)
        np.testing.assert_array_equal(cube.data, number + np.arange(144).reshape(6, 24))
        assert ("STASH" in cube.attributes) == (number == 0), cube.attributes
    print("variable resolution: read by iris, winds too", flush=True)


def read_lookup_behind_values():
    """More fields than headers were reserved."""
    shutil.copy("in.nc", "behind.nc")
    with netCDF4.Dataset("behind.nc", "a") as file:
        file.FF_reserved_headers = np.int32(1)
        wanted = {name: file[name][:] for name in ("ta", "tas", "pr", "lsm")}
    path = str(_um_readers.replay("fieldsfile", "behind.nc", "behind", ["--servers", "1"], 3))
    header = _ff.FFHeader(path)
    assert header.lookup_table[0] == header.data[0] + header.data[1], (header.lookup_table, header.data)
    assert header.lookup_table[2] == 21, header.lookup_table
    _um_readers.read_by_iris(path, wanted, "f8")
    _um_readers.read_by_cf(path, wanted, "f8")
    print("lookup behind the values: read", flush=True)


def main():
    check_header(_um_readers.main("fieldsfile", "f8"))
    read_lookup_behind_values()
    read_variable_resolution()


main()
