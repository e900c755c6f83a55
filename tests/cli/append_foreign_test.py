# SPDX-License-Identifier: Apache-2.0
"""Appends records to netCDF-4 files whose edge chunks HDF5 was told not to filter."""
import ctypes
import pathlib
import unittest

import h5py
import netCDF4
import numpy

from _cli import OK, CommandTest

UNFILTERED_EDGES = 2  # H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS


def hdf5_of_h5py():
    """The library of HDF5 that h5py uses."""
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        path = line.split()[-1]
        if "libhdf5" in path and "_hl" not in path and "netcdf4" not in path.lower():
            return ctypes.CDLL(path)
    raise AssertionError("no library of HDF5 is loaded")


def write(path, values, options):
    """`s(time, y, x)` of int16 in chunks of one record and 20 x 30 points."""
    with h5py.File(path, "w") as file:
        for name, length in zip(("time", "y", "x"), values.shape):
            scale = file.create_dataset(name, (length,), "f4", maxshape=(None,) if name == "time" else None,
                                        chunks=(1,) if name == "time" else None)
            scale.make_scale("This is a netCDF dimension but not a netCDF variable.%10d" % length)
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_chunk((1, 20, 30))
        creation.set_shuffle()
        creation.set_deflate(4)
        if options:
            changed = hdf5_of_h5py().H5Pset_chunk_opts(ctypes.c_int64(creation.id), ctypes.c_uint(options))
            assert changed == 0
        space = h5py.h5s.create_simple(values.shape, (h5py.h5s.UNLIMITED, *values.shape[1:]))
        h5py.h5d.create(file.id, b"s", h5py.h5t.NATIVE_INT16, space, creation)
        file["s"][...] = values
        for d, name in enumerate(("time", "y", "x")):
            file["s"].dims[d].attach_scale(file[name])


class AppendForeignTest(CommandTest):
    def appended(self, options):
        first = numpy.arange(3 * 37 * 53, dtype="i2").reshape(3, 37, 53)
        write("long.nc", first[:1], options)
        with netCDF4.Dataset("more.nc", "w") as file:
            for name, length in (("time", None), ("y", 37), ("x", 53)):
                file.createDimension(name, length)
            file.createVariable("s", "i2", ("time", "y", "x"), fill_value=False)[:] = first + 7000
        self.expect(OK, "replay", "more.nc", "long.nc", "--afterbay.topology=inline",
                    "--afterbay.collections.replay.existing=append",
                    "--afterbay.collections.replay.variables.s.chunk=1,20,30")
        with h5py.File("long.nc") as file:
            found = file["s"][...]
        numpy.testing.assert_array_equal(found, first + 7000)

    def test_all_chunks_are_filtered(self):
        self.appended(0)

    def test_edge_chunks_are_not_filtered(self):
        self.appended(UNFILTERED_EDGES)


if __name__ == "__main__":
    unittest.main()
