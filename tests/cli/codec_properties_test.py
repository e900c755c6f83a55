# SPDX-License-Identifier: Apache-2.0
"""Random shapes, values, missing data, limits, filters and accuracies: stated bounds hold for every
value, special values survive (NaN, infinities, denormals, signs of zeros), no value becomes missing
or invalid, or the reverse, the contents do not depend on the layout, and all readers agree. CDO
reads the cases without infinities, which it cannot write, and without several missing values, of
which it knows one."""
import itertools
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
TYPES = ("f4", "f8")
#: Types, filters before compression and compressors: neighbours differ in all three.
COMBINATIONS = tuple(itertools.product(COMPRESSORS, BEFORE, TYPES))
STRIDE = 7  #: has no divisor in common with their number
SEEDS = 20
OTHER_MISSING = (9999.0, -8888.5)  #: besides the fill value
LIMITS = {"packed": (-300.0, 300.0)}
USUAL_LIMITS = (-1000.0, 2000.0)
VARIABLES = ("absolute", "relative", "digits", "bits", "granular", "groom", "packed", "plain")
MEASURED = ("absolute", "relative", "digits")


class Case:
    """Everything follows from the seed."""

    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.shape = tuple(int(n) for n in self.random.integers(1, (5, 30, 50)))
        self.chunk = tuple(int(self.random.integers(1, n + 1)) for n in self.shape)
        compressor, before, self.type = self.combination = COMBINATIONS[seed * STRIDE % len(COMBINATIONS)]
        self.filters = {**before, **compressor}
        if self.type == "f8" and {"fletcher32", "bitshuffle"} <= self.filters.keys():
            del self.filters["bitshuffle"]
        # Periods without a common divisor, so that nothing is tied to a type or a filter.
        self.has_infinities = seed % 3 == 0  # CDO cannot write them
        self.has_lists = seed % 5 < 2
        self.has_layouts = seed % 7 < 2
        self.error = float(10 ** self.random.uniform(-4, 1))
        self.relative = float(10 ** self.random.uniform(-5, -1))
        self.digits = int(self.random.integers(1, 6))
        self.bits = int(self.random.integers(1, 15))
        self.limits = {name: LIMITS.get(name, USUAL_LIMITS) for name in VARIABLES if self.random.random() < 0.4}
        self.lists = [name for name in VARIABLES if self.has_lists and self.random.random() < 0.6]
        self.constants = [name for name in VARIABLES if self.random.random() < 0.2]
        self.values = {name: self.values_of(name) for name in VARIABLES}

    def values_of(self, name):
        if name in self.constants:
            values = numpy.full(self.shape, self.random.choice([273.15, -0.1, 1e-3, 0]))
            if self.random.random() < 0.5:
                values[self.random.random(self.shape) < 0.3] = self.random.choice([MISSING, numpy.nan])
            return values.astype(self.type)
        magnitudes = 10 ** self.random.uniform(-6, 6, self.shape)
        values = self.random.normal(0, 1, self.shape) * (50 if name == "packed" else magnitudes)
        values[self.random.random(self.shape) < 0.1] = 0
        values = numpy.clip(values, -400, 400) if name == "packed" else values
        if name != "packed":  # rounding must not make them missing
            near = self.random.random(self.shape) < 0.05
            values[near] = MISSING * (1 + self.random.choice([-1e-3, 1e-4, 1e-6], self.shape)[near])
        # Values beside a limit or another missing value must not become valid or invalid, either.
        critical = [*self.limits.get(name, ()), *(OTHER_MISSING if name in self.lists else ())]
        if name == "packed":  # limits are packed, too
            for limit in self.limits.get(name, ()):
                values[numpy.abs(values - limit) <= 3 * self.error] = 0
        elif critical:
            near = self.random.random(self.shape) < 0.1
            values[near] = (self.random.choice(critical, self.shape) * (1 + self.random.choice([-1e-3, -1e-6, 0, 1e-5, 1e-3], self.shape)))[near]
        if name in self.lists:
            other = self.random.random(self.shape) < 0.05
            values[other] = self.random.choice(OTHER_MISSING, self.shape)[other]
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
                if name in self.lists:
                    variable.missing_value = numpy.array([MISSING, *OTHER_MISSING], self.type)
                if name in self.limits:
                    variable.valid_range = numpy.array(self.limits[name], self.type)
                variable[:] = self.values[name]

    def is_missing(self, name):
        """The points that are NaN or have one of the missing values."""
        put = self.values[name]
        others = OTHER_MISSING if name in self.lists else ()
        return numpy.isnan(put) | numpy.isin(put, numpy.array([MISSING, *others], self.type))

    def is_invalid(self, name):
        """Also those beyond the limits."""
        put = self.values[name]
        low, high = numpy.array(self.limits.get(name, (-numpy.inf, numpy.inf)), self.type)
        with numpy.errstate(invalid="ignore"):
            return self.is_missing(name) | (put < low) | (put > high)

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
                logarithm = numpy.log10(size)  # of powers of ten, within its precision
                last = numpy.floor(logarithm * (1 + 1e-12 * numpy.sign(logarithm))) + 1 - self.digits
            return 0.5 * 10.0 ** last * (1 + 1e-9)
        return numpy.zeros(self.shape)


class CodecProperties(CommandTest):
    def check_values(self, case, name, found, what):
        """`found`: unpacked, NaN where values are missing or invalid."""
        put = case.values[name]
        missing = case.is_invalid(name)
        found = found.astype("f8")
        numpy.testing.assert_array_equal(numpy.isnan(found), missing, f"{what} {name}")
        infinite = numpy.isinf(put) & ~missing
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

    def largest_of_all(self, case, name, variable, what):
        """The largest error, with the values beyond limits, which are rounded, too."""
        put = case.values[name].astype("f8")
        variable.set_auto_maskandscale(False)
        found = variable[:].astype("f8")
        usual = numpy.isfinite(put) & ~case.is_missing(name)
        errors = numpy.abs(found[usual] - put[usual])
        self.assertTrue((errors <= case.bound(name, case.values[name])[usual]).all(), f"{what} {name}")
        return float(errors.max(initial=0))

    def check_with_netcdf(self, case, path, what):
        with netCDF4.Dataset(path) as file:
            for name in VARIABLES:
                found = numpy.ma.filled(file[name][:].astype("f8"), numpy.nan)
                largest = self.check_values(case, name, found, what)
                if name in MEASURED:
                    self.assertEqual(file[name].largest_error, self.largest_of_all(case, name, file[name], what), f"{what} {name}")
                if name == "packed" and name not in case.limits:  # unpacked in double precision
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
        for seed in range(SEEDS):
            case = Case(seed)
            what = f"seed {seed}: {case.type}, {case.filters}, limits {case.limits}, lists {case.lists}, constants {case.constants}"
            case.write("in.nc")
            replace = "--afterbay.collections.replay.existing=replace"
            self.expect(OK, "replay", "in.nc", "one.nc", "--afterbay.topology=inline", replace, *case.settings())
            self.check_with_netcdf(case, "one.nc", what)
            self.check_with_h5py(case, "one.nc", what)
            if shutil.which("cdo") and not case.has_infinities and not case.lists:
                self.check_with_cdo(case, "one.nc", what)
            if case.has_layouts:
                done = run("replay", "in.nc", "many.nc", "--servers", "2", "--afterbay.placement=slab", replace,
                           *case.settings(), launcher=("mpirun", "--oversubscribe", "-np", "4"))
                self.assertEqual(done.returncode, OK, f"{what}\n{done.stderr}")
                self.expect(OK, "compare", "one.nc", "many.nc")

    def test_types_and_filters_are_combined(self):
        """float32 was never shuffled, nor float64 with bitshuffle before a compressor."""
        cases = [Case(seed) for seed in range(SEEDS)]
        compressors, before, types = zip(*(case.combination for case in cases))
        for some, all_of in ((types, TYPES), (before, BEFORE), (compressors, COMPRESSORS)):
            self.assertEqual({str(it) for it in some}, {str(it) for it in all_of})
        pairs = {(str(filters), type_) for filters, type_ in zip(before, types)}
        self.assertEqual(len(pairs), len(BEFORE) * len(TYPES))
        self.assertEqual(len({(str(compressor), type_) for compressor, type_ in zip(compressors, types)}), len(COMPRESSORS) * len(TYPES))
        for has in (lambda case: case.has_infinities, lambda case: case.lists, lambda case: case.limits, lambda case: case.constants,
                    lambda case: case.has_layouts, lambda case: not case.has_infinities and not case.lists):
            self.assertGreaterEqual(sum(bool(has(case)) for case in cases), 4)
            self.assertEqual({case.type for case in cases if has(case)}, set(TYPES))


if __name__ == "__main__":
    unittest.main()
