# SPDX-License-Identifier: Apache-2.0
"""Files with zstd, lz4, Blosc and bitshuffle are read by other software: h5py with hdf5plugin, for
zstd also netCDF-C 4.9 with its own plug-in; and Afterbay reads theirs."""
import sys
import unittest

try:
    import hdf5plugin
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
import h5py
import netCDF4
import numpy

from _cli import OK, USAGE, CommandTest

SHAPE = (5, 37, 53)
#: filters of HDF5 by setting
NUMBERS = {"deflate": 1, "shuffle": 2, "fletcher32": 3, "blosc": 32001, "lz4": 32004, "bitshuffle": 32008, "zstd": 32015}
CHAINS = ({"zstd": 4}, {"fletcher32": "on", "shuffle": "on", "zstd": 19}, {"lz4": "on"},
          {"bitshuffle": "on", "lz4": "on"}, {"bitshuffle": "on"}, {"bitshuffle": "on", "deflate": 3},
          {"fletcher32": "on", "bitshuffle": "on", "zstd": 1}, {"shuffle": "on", "lz4": "on"},
          {"blosc": 5}, {"fletcher32": "on", "blosc": 9}, {"bitshuffle": "on", "blosc": 1})


def values_of(name):
    """Smooth values, whose chunks are encoded, and noise, whose chunks are not."""
    if name == "noise":
        return numpy.random.default_rng(1).integers(0, 1 << 32, SHAPE, "u4").view("i4")
    smooth = numpy.sin(numpy.arange(numpy.prod(SHAPE)).reshape(SHAPE) / 300) * 1000
    return smooth.astype({"f": "f4", "d": "f8", "s": "i2"}[name])


def write_input(path, names, **compression):
    with netCDF4.Dataset(path, "w") as file:
        for dimension, length in zip(("time", "y", "x"), (None, *SHAPE[1:])):
            file.createDimension(dimension, length)
        for name in names:
            values = values_of(name)
            file.createVariable(name, values.dtype, ("time", "y", "x"), fill_value=False, **compression)[:] = values


class CodecsTest(CommandTest):
    def replay(self, source, target, chain, chunk="2,20,30", expected=OK):
        return self.expect(expected, "replay", source, target, "--afterbay.topology=inline",
                           *(f"--afterbay.collections.replay.{name}={value}" for name, value in chain.items()),
                           f"--afterbay.collections.replay.variables.*.chunk={chunk}")

    def filters_of(self, dataset):
        plist = dataset.id.get_create_plist()
        return [plist.get_filter(i)[0] for i in range(plist.get_nfilters())]

    def test_hdf5plugin_reads_every_chain(self):
        for number, chain in enumerate(CHAINS):
            names = ["f", "s", "noise"] if "fletcher32" in chain else ["f", "d", "s", "noise"]
            write_input("in.nc", names)
            target = f"out{number}.nc"
            self.replay("in.nc", target, chain)
            with h5py.File(target) as file:
                for name in names:
                    self.assertEqual(self.filters_of(file[name]), [NUMBERS[it] for it in chain], chain)
                    numpy.testing.assert_array_equal(file[name][...], values_of(name), f"{chain} {name}")
                if "zstd" in chain or "deflate" in chain:
                    self.assertLess(file["f"].id.get_storage_size(), 0.95 * file["f"].nbytes)

    def test_netcdf_reads_zstd(self):
        write_input("in.nc", ["f", "d", "noise"])
        self.replay("in.nc", "out.nc", {"zstd": 7, "shuffle": "on"})
        with netCDF4.Dataset("out.nc") as file:
            filters = file["f"].filters()
            self.assertTrue(filters["zstd"] and filters["shuffle"] and filters["complevel"] == 7, filters)
            for name in ("f", "d", "noise"):
                numpy.testing.assert_array_equal(file[name][...], values_of(name))

    def test_what_netcdf_wrote_with_zstd_is_read_and_kept(self):
        names = ["f", "d", "s"]
        write_input("theirs.nc", names, compression="zstd", complevel=5, shuffle=True)
        self.expect(OK, "replay", "theirs.nc", "ours.nc", "--afterbay.topology=inline")
        with h5py.File("ours.nc") as file, h5py.File("theirs.nc") as theirs:
            for name in names:
                self.assertIn(32015, self.filters_of(theirs[name]))
                self.assertEqual(self.filters_of(file[name]), self.filters_of(theirs[name]))
                numpy.testing.assert_array_equal(file[name][...], values_of(name))

    def test_what_hdf5plugin_wrote_is_read(self):
        write_input("in.nc", ["f"])
        for name, options in (("lz4", hdf5plugin.LZ4(nbytes=4096)), ("zstd", hdf5plugin.Zstd(clevel=11)),
                              ("bitshuffle", hdf5plugin.Bitshuffle(cname="none")),
                              *((f"blosc_{name}", hdf5plugin.Blosc(cname=name, shuffle=shuffle)) for name, shuffle in
                                (("lz4", hdf5plugin.Blosc.BITSHUFFLE), ("blosclz", hdf5plugin.Blosc.SHUFFLE), ("zlib", hdf5plugin.Blosc.NOSHUFFLE)))):
            with h5py.File("in.nc") as file, h5py.File("theirs.nc", "w") as theirs:
                for dimension in ("time", "y", "x"):
                    file.copy(dimension, theirs)
                data = theirs.create_dataset("f", SHAPE, "f4", chunks=(2, 20, 30), maxshape=(None, *SHAPE[1:]), **options)
                data[...] = values_of("f")
                for number, dimension in enumerate(("time", "y", "x")):
                    data.dims[number].attach_scale(theirs[dimension])
            self.expect(OK, "replay", "theirs.nc", f"{name}.nc", "--afterbay.topology=inline", "--afterbay.collections.replay.store=cdf5")
            with netCDF4.Dataset(f"{name}.nc") as file:
                numpy.testing.assert_array_equal(file["f"][...], values_of("f"), name)

    def test_a_chain_that_others_cannot_read_is_refused(self):
        write_input("in.nc", ["d"])
        done = self.replay("in.nc", "out.nc", {"fletcher32": "on", "bitshuffle": "on"}, expected=USAGE)
        self.assertIn("variable 'd' requests bitshuffle after a checksum of 4 bytes", done.stderr)
        done = self.replay("in.nc", "out.nc", {"zstd": 3, "lz4": "on"}, expected=USAGE)
        self.assertIn("one compressor", done.stderr)


if __name__ == "__main__":
    unittest.main()
