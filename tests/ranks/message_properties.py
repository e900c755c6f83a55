#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random grids, shapes, values, missing data and packings in GRIB2, PP and fields files: the same
bytes for two layouts, and ecCodes, iris and cf-python read values within the stated accuracy, and
constant fields exactly. A reader that is not installed is left out. AFTERBAY_TEST_FIRST,
AFTERBAY_TEST_ROUNDS: other seeds."""
import os
import pathlib
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")
try:
    import netCDF4
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

AFTERBAY = pathlib.Path(os.environ["AFTERBAY_BUILD"], "apps", "afterbay", "afterbay")
LAYOUTS = {"one": (["--afterbay.topology=inline"], 1), "many": (["--servers", "1", "--afterbay.writers=2"], 4)}
MISSING = -1e30
FIRST, SEEDS = int(os.environ.get("AFTERBAY_TEST_FIRST", "0")), int(os.environ.get("AFTERBAY_TEST_ROUNDS", "6"))
GRIDS = ("regular", "northward", "gaussian", "reduced", "unstructured")


class Case:
    """Everything follows from the seed. `nans`: NaN need not be the fill value."""

    def __init__(self, seed, grids=GRIDS, nans=False):
        self.seed = seed
        self.random = np.random.default_rng(seed)
        self.grid = grids[seed % len(grids)]
        records, levels, rows, columns = (int(n) for n in self.random.integers((1, 1, 1, 1), (4, 4, 40, 60)))
        self.fill = (MISSING, np.nan)[seed // 3 % 2]
        self.type = ("f4", "f8")[seed % 2]
        self.error = float(10 ** self.random.uniform(-3, 0))
        self.accuracy = int(self.random.integers(-10, 1))
        self.bits = int(self.random.integers(8, 25))
        if self.grid in ("gaussian", "reduced"):
            rows = 2 * int(self.random.integers(2, 16))
        self.latitudes = np.linspace(80, -70, rows)
        self.longitudes = np.arange(columns) * 360 / columns
        if self.grid == "northward":
            self.latitudes = self.latitudes[::-1]
        if self.grid in ("gaussian", "reduced"):
            self.latitudes = np.degrees(np.arcsin(np.polynomial.legendre.leggauss(rows)[0]))[::-1]
        if self.grid == "reduced":  # octahedral: 20 points beside the poles, 4 more in each row
            lengths = [20 + 4 * min(i, rows - 1 - i) for i in range(rows)]
            self.latitudes = np.repeat(self.latitudes, lengths)
            self.longitudes = np.concatenate([np.arange(n) * 360 / n for n in lengths])
        if self.grid == "unstructured":
            self.longitudes = self.random.uniform(0, 360, columns)
            self.latitudes = self.random.uniform(-90, 90, columns)
        self.has_rows = self.grid not in ("reduced", "unstructured")
        self.shape = records, levels, rows if self.has_rows else 1, len(self.longitudes)
        magnitude = 10 ** self.random.uniform(-1, 3)
        values = self.random.normal(0, magnitude, self.shape)
        values[self.random.random(self.shape) < 0.1] = 0
        for level in range(levels):  # no, some, all or all but one missing, or one value
            kind = self.random.integers(0, 6)
            part = values[:, level]
            if kind == 0:
                part[self.random.random(part.shape) < 0.3] = self.fill
            elif kind == 1:
                part[0] = self.fill
            elif kind == 2:
                part[:, :, 1:] = self.fill
            elif kind == 3:
                part[:] = self.random.choice([273.15, 273.5, 0.1, 5.0 * 2.0 ** -12])
            elif kind == 4 and nans:
                part[self.random.random(part.shape) < 0.1] = np.nan
        self.values = values.astype(self.type)
        self.missing = np.isnan(self.values) | (self.values == np.dtype(self.type).type(self.fill))

    def write(self, path, attributes):
        records, levels, rows, columns = self.shape
        horizontal = ("lat", "lon") if self.has_rows else ("cell",)
        with netCDF4.Dataset(path, "w") as file:
            for name, length in (("time", None), ("plev", levels), *zip(horizontal, (rows, columns) if self.has_rows else (columns,))):
                file.createDimension(name, length)

            def variable(name, kind, dimensions, values, fill=None, **given):
                made = file.createVariable(name, kind, dimensions, fill_value=fill)
                made.setncatts(given)
                made.set_auto_mask(False)
                made[:] = values

            # Sums of time steps, and distances that 32-bit numbers do not hold.
            variable("time", "f8", ("time",), np.cumsum(np.full(records, 1200 / 86400)), units="days since 2026-11-01", standard_name="time")
            variable("plev", "f4", ("plev",), 1000 - 100 * np.arange(levels), units="hPa", standard_name="air_pressure")
            for name, unit, values in (("lat", "degrees_north", self.latitudes), ("lon", "degrees_east", self.longitudes)):
                variable(name, "f8" if self.grid in ("gaussian", "reduced") else "f4", (name if self.has_rows else "cell",), values, units=unit)
            if not self.has_rows:
                attributes = {"coordinates": "lat lon", **attributes}
            variable("ta", self.type, ("time", "plev", *horizontal), self.values.reshape(records, levels, *((rows,) if self.has_rows else ()), columns),
                     self.fill, units="K", standard_name="air_temperature", **attributes)


def replay(case, store, flags):
    """The file, which is the same for all layouts."""
    bytes_of = {}
    for name, (layout, processes) in LAYOUTS.items():
        target = f"{name}.{store}"
        words = ["mpirun", "--oversubscribe", "-np", str(processes), str(AFTERBAY), "replay", "in.nc", target, "--store", store,
                 "--afterbay.collections.replay.existing=replace", *layout, *flags]
        done = subprocess.run(["timeout", "-k", "5", "60", *words], capture_output=True, text=True)
        assert done.returncode == 0, f"seed {case.seed}: {' '.join(words)}\n{done.stdout}{done.stderr}"
        bytes_of[name] = pathlib.Path(target).read_bytes()
    assert bytes_of["one"] == bytes_of["many"], f"seed {case.seed}: {store}"
    return f"one.{store}"


def check(case, found, bounds, what):
    """`found`: values of each message, missing ones as NaN; `bounds`: the largest error of each."""
    shape = case.shape
    found = np.asarray(found, "f8").reshape(shape)
    np.testing.assert_array_equal(np.isnan(found), case.missing, f"{what}, seed {case.seed}")
    wanted = np.where(case.missing, np.nan, case.values.astype("f8"))
    errors = np.nan_to_num(np.abs(found - wanted)).reshape(*shape[:2], -1).max(axis=2)
    assert (errors <= np.broadcast_to(bounds, shape[:2])).all(), f"{what}, seed {case.seed}: {errors} of {bounds}"


def grib_values(path):
    import eccodes

    messages = []
    with open(path, "rb") as file:
        while (handle := eccodes.codes_grib_new_from_file(file)) is not None:
            eccodes.codes_set(handle, "missingValue", MISSING)
            values = eccodes.codes_get_values(handle)
            has_missing = eccodes.codes_get(handle, "bitmapPresent")
            messages.append(np.where((values == MISSING) & bool(has_missing), np.nan, values))
            eccodes.codes_release(handle)
    return messages


def range_of(case):
    """The range and the largest magnitude of each message."""
    values = np.where(case.missing, np.nan, case.values.astype("f8")).reshape(*case.shape[:2], -1)
    least, largest = (np.nan_to_num(f(values, axis=2)) for f in (np.nanmin, np.nanmax))
    return largest - least, np.maximum(np.abs(least), np.abs(largest))


def check_grib2(case):
    try:
        import eccodes  # noqa: F401
    except (ImportError, RuntimeError) as error:
        return f"ecCodes: {error}"
    packing = ("grid_simple", "grid_ccsds")[case.seed // 2 % 2]
    spread, magnitude = range_of(case)
    case.write("in.nc", {"GRIB_packingType": packing, "GRIB_bitsPerValue": np.int32(case.bits)})
    # The step is a power of two, so that it is less than twice as large as the range needs.
    bounds = np.where(spread > 0, spread / (2.0 ** case.bits - 1) + 2.0 ** -22 * magnitude, 0)  # constants survive
    check(case, grib_values(replay(case, "grib2", [])), bounds, f"{packing}, {case.bits} bits")
    case.write("in.nc", {"GRIB_packingType": packing})
    bounds = np.where(spread > 0, case.error * (1 + 1e-9) + 1e-12 * magnitude, 0)
    check(case, grib_values(replay(case, "grib2", [f"--afterbay.collections.replay.variables.ta.absolute_error={case.error}"])), bounds,
          f"{packing}, absolute_error {case.error}")
    return "ecCodes: good"


def iris_values(path):
    import iris

    return [np.ma.filled(cube.data.astype("f8"), np.nan) for cube in iris.load_raw(path)]


def check_um(case, store):
    read = []
    spread, magnitude = range_of(case)
    single = case.type == "f8" and store == "pp"  # 32-bit numbers
    case.write("in.nc", {})
    path = replay(case, store, [])
    try:
        values = iris_values(path)
    except ImportError as error:
        read.append(f"iris: {error}")
    else:
        check(case, values, 2.0 ** -24 * magnitude if single else 0, f"{store} by iris")
        read.append("iris: good")
    case.write("in.nc", {"PP_accuracy": np.int32(case.accuracy)})
    path = replay(case, store, [])
    try:
        import cf
    except (ImportError, RuntimeError) as error:
        return ", ".join([*read, f"cf-python: {error}"])
    field, = cf.read(path)
    axis = field.construct("air_pressure")
    values = np.ma.filled(np.ma.asarray(field.array, "f8"), np.nan).reshape(case.shape)
    order = np.argsort(-np.asarray(axis.array).reshape(-1))
    bounds = np.where(spread > 0, 2.0 ** (case.accuracy - 1), 2.0 ** -24 * magnitude if single else 0)  # constants survive
    check(case, values[:, order], bounds, f"{store} by cf-python, 2^{case.accuracy}")
    return ", ".join([*read, "cf-python: good"])


def has_eccodes():
    """Whether the build has ecCodes, not this program."""
    Case(0).write("in.nc", {})
    done = subprocess.run([str(AFTERBAY), "replay", "in.nc", "try.grib2", "--store", "grib2", "--afterbay.topology=inline"],
                          capture_output=True, text=True)
    return "has no ecCodes" not in done.stdout + done.stderr


def main():
    writes_grib2 = has_eccodes()
    for seed in range(FIRST, FIRST + SEEDS):
        case = Case(seed, ("regular", "northward"), nans=True)
        what = f"seed {seed}, {case.grid}, {case.shape}, fill {case.fill}"
        print(f"{what}: pp: {check_um(case, 'pp')}", flush=True)
        print(f"{what}: fieldsfile: {check_um(case, 'fieldsfile')}", flush=True)
        if writes_grib2:
            case = Case(seed)
            print(f"seed {seed}, {case.grid}, {case.shape}, fill {case.fill}: grib2: {check_grib2(case)}", flush=True)


main()
