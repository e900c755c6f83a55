# SPDX-License-Identifier: Apache-2.0
"""Random shapes, values, missing data, filters and accuracies: stated bounds hold for every value,
special values survive (NaN, infinities, denormals, signs of zeros), the contents do not depend on
the layout, and all readers agree. CDO reads the cases without infinities, which it cannot write."""
import os
import shutil
import subprocess
import sys
import unittest

try:
    import hdf5plugin
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)
os.environ["HDF5_PLUGIN_PATH"] = hdf5plugin.PLUGIN_PATH  # before netCDF4 sets its own
import h5py
import netCDF4
import numpy

from _cli import OK, CommandTest, run

MISSING = -1e30
COMPRESSORS = ({}, {"deflate": 2}, {"zstd": 3}, {"lz4": "on"}, {"blosc": 3})
BEFORE = ({}, {"shuffle": "on"}, {"bitshuffle": "on"}, {"fletcher32": "on"})
VARIABLES = ("absolute", "relative", "digits", "bits", "granular", "groom", "packed", "plain")
MEASURED = ("absolute", "relative", "digits")


class Case:
    """Everything follows from the seed."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.shape = tuple(int(n) for n in self.random.integers(1, (5, 30, 50)))
        self.chunk = tuple(int(self.random.integers(1, n + 1)) for n in self.shape)
        self.type = ("f4", "f8")[seed % 2]
        self.filters = {**BEFORE[seed % len(BEFORE)], **COMPRESSORS[seed // 2 % len(COMPRESSORS)]}
        if self.type == "f8" and {"fletcher32", "bitshuffle"} <= self.filters.keys():
            del self.filters["bitshuffle"]
        self.has_infinities = seed // 2 % 2 == 0  # CDO cannot write them
        self.error = float(10 ** self.random.uniform(-4, 1))
        self.relative = float(10 ** self.random.uniform(-5, -1))
        self.digits = int(self.random.integers(1, 6))
        self.bits = int(self.random.integers(1, 15))
        self.values = {name: self.values_of(name) for name in VARIABLES}

    def values_of(self, name):
        magnitudes = 10 ** self.random.uniform(-6, 6, self.shape)
        values = self.random.normal(0, 1, self.shape) * (50 if name == "packed" else magnitudes)
        values[self.random.random(self.shape) < 0.1] = 0
        values = numpy.clip(values, -400, 400) if name == "packed" else values
        if name != "packed":  # rounding must not make them missing
            near = self.random.random(self.shape) < 0.05
            values[near] = MISSING * (1 + self.random.choice([-1e-3, 1e-4, 1e-6], self.shape)[near])
        values[self.random.random(self.shape) < 0.15] = MISSING
        values[self.random.random(self.shape) < 0.05] = numpy.nan
        if name != "packed" and self.has_infinities:
            infinite = self.random.random(self.shape) < 0.05
            values[infinite] = self.random.choice([-numpy.inf, numpy.inf], self.shape)[infinite]
        values[self.random.random(self.shape) < 0.05] = -0.0
        values = values.astype(self.type)
        if name != "packed":
            denormal = self.random.random(self.shape) < 0.05
            least = numpy.finfo(self.type).smallest_subnormal
            values[denormal] = (least * self.random.integers(-1000, 1000, self.shape))[denormal]
        return values

    def write(self, path):
        with netCDF4.Dataset(path, "w") as file:
            for dimension, length in zip(("time", "y", "x"), (None, *self.shape[1:])):
                file.createDimension(dimension, length)
            for name in VARIABLES:
                variable = file.createVariable(name, self.type, ("time", "y", "x"), fill_value=MISSING)
                variable.set_auto_mask(False)
                variable[:] = self.values[name]

    def settings(self):
        variables = {"absolute": {"absolute_error": self.error}, "relative": {"relative_error": self.relative},
                     "digits": {"significant_digits": self.digits}, "bits": {"bitround": self.bits},
                     "granular": {"granular_bitround": self.digits}, "groom": {"bitgroom": self.digits},
                     "packed": {"pack": "auto", "pack_range": "-400,400", "absolute_error": self.error}}
        flags = [f"--afterbay.collections.replay.{name}={value}" for name, value in self.filters.items()]
        flags.append(f"--afterbay.collections.replay.variables.*.chunk={','.join(map(str, self.chunk))}")
        for variable, given in variables.items():
            flags += [f"--afterbay.collections.replay.variables.{variable}.{name}={value}" for name, value in given.items()]
        return flags

    def bound(self, name, values):
        """The largest error of each value."""
        size = numpy.abs(values.astype("f8"))
        if name in ("absolute", "packed"):
            return numpy.full(self.shape, self.error)
        if name == "relative":
            return size * self.relative
        if name == "bits":
            return size * 2.0 ** -(self.bits + 1)
        if name == "groom":
            return size * 2.0 ** -(numpy.ceil(self.digits * numpy.log2(10)) + 1)
        if name in ("digits", "granular"):
            with numpy.errstate(divide="ignore"):
                last = numpy.floor(numpy.log10(size) * (1 + 1e-12)) + 1 - self.digits
            return 0.5 * 10.0 ** last * (1 + 1e-9)
        return numpy.zeros(self.shape)


class CodecProperties(CommandTest):
    def check_values(self, case, name, found, what):
        """`found`: unpacked, NaN or the fill value where values are missing."""
        put = case.values[name]
        missing = (put == put.dtype.type(MISSING)) | numpy.isnan(put)
        found = found.astype("f8")
        is_missing = numpy.isnan(found) | (found == float(put.dtype.type(MISSING)))
        numpy.testing.assert_array_equal(is_missing, missing, f"{what} {name}")
        infinite = numpy.isinf(put)
        numpy.testing.assert_array_equal(found[infinite], put[infinite].astype("f8"), f"{what} {name}")
        usual = ~missing & ~infinite
        errors = numpy.abs(found[usual] - put[usual].astype("f8"))
        self.assertTrue((errors <= case.bound(name, put)[usual]).all(), f"{what} {name}")
        self.assertTrue((found[usual & (put == 0)] == 0).all(), f"{what} {name}")
        if name != "packed":
            unchanged = usual & (numpy.abs(put) < numpy.finfo(put.dtype).tiny)  # zeros and denormal numbers
            numpy.testing.assert_array_equal(found[unchanged], put[unchanged].astype("f8"), f"{what} {name}")
            numpy.testing.assert_array_equal(numpy.signbit(found[unchanged]), numpy.signbit(put[unchanged]), f"{what} {name}")
        return float(errors.max(initial=0))

    def check_with_netcdf(self, case, path, what):
        with netCDF4.Dataset(path) as file:
            for name in VARIABLES:
                found = numpy.ma.filled(file[name][:].astype("f8"), numpy.nan)
                largest = self.check_values(case, name, found, what)
                if name in MEASURED:
                    self.assertEqual(file[name].largest_error, largest, f"{what} {name}")
                if name == "packed":  # unpacked in double precision
                    numpy.testing.assert_allclose(file[name].largest_error, largest, rtol=0, atol=1e-12)

    def check_with_h5py(self, case, path, what):
        with h5py.File(path) as file, netCDF4.Dataset(path) as same:
            for name in VARIABLES:
                self.assertEqual(file[name].chunks, case.chunk, what)
                variable = same[name]
                variable.set_auto_maskandscale(False)
                self.assertEqual(file[name][...].tobytes(), variable[:].tobytes(), f"{what} {name}")

    def check_with_cdo(self, case, path, what):
        environment = {**os.environ, "HDF5_PLUGIN_PATH": hdf5plugin.PLUGIN_PATH}
        subprocess.run(["cdo", "-s", "-f", "nc", "-b", "F64", "copy", path, "cdo.nc"], check=True, env=environment,
                       capture_output=True, timeout=60)
        with netCDF4.Dataset("cdo.nc") as file, netCDF4.Dataset(path) as ours:
            for name in VARIABLES:
                found, expected = file[name][:].reshape(case.shape), ours[name][:]
                valid = ~numpy.ma.getmaskarray(expected) & numpy.isfinite(numpy.ma.filled(expected, numpy.nan))
                numpy.testing.assert_array_equal(numpy.ma.getdata(found)[valid], numpy.ma.getdata(expected)[valid],
                                                 f"{what} {name}")

    def test_random_cases(self):
        for seed in range(16):
            case = Case(seed)
            what = f"seed {seed}: {case.filters}"
            case.write("in.nc")
            replace = "--afterbay.collections.replay.existing=replace"
            self.expect(OK, "replay", "in.nc", "one.nc", "--afterbay.topology=inline", replace, *case.settings())
            self.check_with_netcdf(case, "one.nc", what)
            self.check_with_h5py(case, "one.nc", what)
            if shutil.which("cdo") and not case.has_infinities:
                self.check_with_cdo(case, "one.nc", what)
            if seed % 3 == 0:  # both types, all filters
                done = run("replay", "in.nc", "many.nc", "--servers", "2", "--afterbay.placement=slab", replace,
                           *case.settings(), launcher=("mpirun", "--oversubscribe", "-np", "4"))
                self.assertEqual(done.returncode, OK, f"{what}\n{done.stderr}")
                self.expect(OK, "compare", "one.nc", "many.nc")


if __name__ == "__main__":
    unittest.main()
