#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`afterbay replay` to a format of the Unified Model gives the same bytes whatever the layout, and
iris and cf-python read from them the values, levels, times, names and coordinates of the netCDF
input.

iris unpacks WGDOS only with mo_pack, which PyPI does not have: cf-python reads packed values."""
import os
import pathlib
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")
try:
    import cf
    import iris
    import netCDF4
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

AFTERBAY = pathlib.Path(os.environ["AFTERBAY_BUILD"], "apps", "afterbay", "afterbay")
LAYOUTS = {
    "inline": (["--afterbay.topology=inline", "--afterbay.inline.mode=synchronous"], 2),
    "thread": (["--afterbay.topology=inline", "--afterbay.inline.mode=thread"], 3),
    "dedicated": (["--servers", "1"], 4),
    "two_servers": (["--servers", "2", "--afterbay.placement=slab"], 5),
    "mpi": (["--servers", "1", "--afterbay.transport=mpi", "--afterbay.writers=1"], 3),
    "little_memory": (["--servers", "1", "--afterbay.memory.chunks=64KiB"], 3),
}
MISSING = -1e30
ACCURACY = -6


def variable(file, name, kind, dimensions, values=None, fill=None, **attributes):
    made = file.createVariable(name, kind, dimensions, fill_value=fill)
    made.setncatts(attributes)
    if values is not None:
        made[:] = values
    return made


def make_input(path):
    """A forecast: temperatures on levels (packed), screen temperatures, mean rain, a mask."""
    random = np.random.default_rng(1)
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("time", None), ("plev", 3), ("lat", 37), ("lon", 72), ("bnds", 2)):
            file.createDimension(name, length)
        hours = {"units": "hours since 2026-11-01", "calendar": "360_day"}
        time = variable(file, "time", "f8", ("time",), standard_name="time", bounds="time_bnds", **hours)
        bounds = variable(file, "time_bnds", "f8", ("time", "bnds"))
        variable(file, "reference", "f8", (), -12.0, standard_name="forecast_reference_time", **hours)
        variable(file, "plev", "f8", ("plev",), [85000, 50000, 25000], units="Pa", standard_name="air_pressure")
        variable(file, "height", "f8", (), 1.5, units="m", standard_name="height")
        variable(file, "lat", "f8", ("lat",), np.linspace(90, -90, 37), units="degrees_north", standard_name="latitude")
        variable(file, "lon", "f8", ("lon",), np.arange(72) * 5, units="degrees_east", standard_name="longitude")
        ta = variable(file, "ta", "f4", ("time", "plev", "lat", "lon"), fill=MISSING, units="K", standard_name="air_temperature",
                      coordinates="reference", PP_packing="wgdos", PP_accuracy=np.int32(ACCURACY))
        tas = variable(file, "tas", "f8", ("time", "lat", "lon"), units="K", standard_name="air_temperature", coordinates="height reference")
        rain = variable(file, "pr", "f4", ("time", "lat", "lon"), units="kg m-2 s-1", standard_name="precipitation_flux",
                        cell_methods="time: mean (interval: 1 hour)", coordinates="reference")
        variable(file, "lsm", "i4", ("lat", "lon"), random.integers(0, 2, (37, 72)), units="1", standard_name="land_binary_mask")
        for record in range(4):
            time[record] = 6 * record + 6
            bounds[record] = [6 * record, 6 * record + 6]
            values = 250 + 20 * random.random((3, 37, 72))
            values[0, 3, record] = MISSING
            ta[record] = values
            tas[record] = 250 + 20 * random.random((37, 72))
            rain[record] = 1e-4 * random.random((37, 72))


def replay(store, source, directory, flags, processes):
    pathlib.Path(directory).mkdir()
    words = ["mpirun", "--oversubscribe", "-np", str(processes), str(AFTERBAY), "replay", str(pathlib.Path(source).absolute()), f"out.{store}",
             "--store", store, *flags]
    result = subprocess.run(["timeout", "-k", "5", "60", *words], capture_output=True, text=True, cwd=directory)
    assert result.returncode == 0, f"{' '.join(words)}\n{result.stdout}{result.stderr}"
    subprocess.run([str(AFTERBAY), "verify", directory], check=True, capture_output=True)
    return pathlib.Path(directory, f"out.{store}")


def equal(found, wanted):
    found, wanted = np.ma.asarray(found), np.ma.asarray(wanted)
    np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(wanted))
    np.testing.assert_array_equal(found.filled(0), wanted.filled(0))


def screen_values(wanted, real):
    """The field of type float64, in the type in which the file holds it."""
    return wanted["tas"].astype(real)


def read_by_iris(path, wanted, real):
    cubes = iris.load(path)
    by_name = {(cube.name(), bool(cube.coords("pressure"))): cube for cube in cubes}
    assert set(by_name) == {("air_temperature", True), ("air_temperature", False), ("precipitation_flux", False), ("land_binary_mask", False)}
    levels = by_name["air_temperature", True]
    np.testing.assert_array_equal(sorted(levels.coord("pressure").points), [250, 500, 850])
    screen = by_name["air_temperature", False]
    equal(screen.data, screen_values(wanted, real))
    assert screen.coord("height").points == [1.5] and str(screen.units) == "K"
    np.testing.assert_allclose(screen.coord("latitude").points, np.linspace(90, -90, 37), atol=1e-5)
    np.testing.assert_allclose(screen.coord("longitude").points, np.arange(72) * 5, atol=1e-5)
    assert screen.coord("longitude").circular
    assert screen.coord("time").units.calendar == "360_day"
    assert [str(cell.point) for cell in screen.coord("time").cells()][-1] == "2026-11-02 00:00:00"
    assert str(screen.coord("forecast_reference_time").cell(0).point) == "2026-10-30 12:00:00"
    np.testing.assert_array_equal(screen.coord("forecast_period").points, [18, 24, 30, 36])
    rain = by_name["precipitation_flux", False]
    equal(rain.data, wanted["pr"])
    assert str(rain.cell_methods[0]) == "time: mean (interval: 1 hour)", rain.cell_methods
    assert [str(bound) for bound in rain.coord("time").cell(1).bound] == ["2026-11-01 06:00:00", "2026-11-01 12:00:00"]
    equal(by_name["land_binary_mask", False].data, wanted["lsm"])
    print(f"iris {iris.__version__}: good; WGDOS is not read, it needs mo_pack", flush=True)


def read_by_cf(path, wanted, real):
    fields = {(field.identity(), field.size // (37 * 72)): field for field in cf.read(str(path))}
    levels = fields["air_temperature", 12]
    pressures = [float(value) for value in levels.construct("air_pressure").array]
    values = np.ma.asarray(levels.array)
    assert values.shape == (4, 3, 37, 72), values.shape
    for level, pressure in enumerate((850, 500, 250)):
        found, expected = values[:, pressures.index(pressure)], wanted["ta"][:, level]
        np.testing.assert_array_equal(np.ma.getmaskarray(found), np.ma.getmaskarray(expected))
        assert np.ma.abs(found.astype("f8") - expected).max() <= 2.0 ** (ACCURACY - 1)
    screen = fields["air_temperature", 4]
    equal(screen.array.reshape(4, 37, 72), screen_values(wanted, real))
    times = [str(date) for date in screen.construct("time").datetime_array]
    assert times[0] == "2026-11-01 06:00:00" and times[-1] == "2026-11-02 00:00:00", times
    rain = fields["precipitation_flux", 4]
    assert rain.construct("cellmethod0").method == "mean"
    equal(rain.array.reshape(4, 37, 72), wanted["pr"])
    print(f"cf-python {cf.__version__}: good, WGDOS too", flush=True)


def make_land_input(path):
    """Surface temperatures at the land points of a mask."""
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("time", None), ("lat", 37), ("lon", 72)):
            file.createDimension(name, length)
        variable(file, "time", "f8", ("time",), [0.0], standard_name="time", units="hours since 2026-11-01")
        variable(file, "lat", "f8", ("lat",), np.linspace(90, -90, 37), units="degrees_north")
        variable(file, "lon", "f8", ("lon",), np.arange(72) * 5, units="degrees_east")
        mask = np.zeros((37, 72), "i4")
        mask[5:20, 10:50] = 1
        variable(file, "lsm", "i4", ("lat", "lon"), mask, units="1", standard_name="land_binary_mask")
        variable(file, "ts", "f4", ("time", "lat", "lon"), 250 + np.arange(37 * 72).reshape(1, 37, 72) / 8, units="K",
                 standard_name="surface_temperature", PP_packing="land", PP_mask="lsm",
                 PP_outside_mask="drop")


def read_land_points(store):
    make_land_input("land.nc")
    cubes = iris.load(replay(store, "land.nc", "land", ["--servers", "1"], 3))
    found = cubes.extract_cube("surface_temperature").data
    land = cubes.extract_cube("land_binary_mask").data != 0
    assert land.sum() == 600
    np.testing.assert_array_equal(np.ma.getmaskarray(found), ~land)
    np.testing.assert_array_equal(found[land], (250 + np.arange(37 * 72).reshape(37, 72) / 8).astype("f4")[land])
    print("land points: read by iris", flush=True)


def main(store, real):
    """`real`: the type in which the format holds float64. Returns the path of a file."""
    make_input("in.nc")
    with netCDF4.Dataset("in.nc") as file:
        wanted = {name: file[name][:] for name in ("ta", "tas", "pr", "lsm")}
    contents = {name: replay(store, "in.nc", name, *LAYOUTS[name]).read_bytes() for name in LAYOUTS}
    assert len(set(contents.values())) == 1, {name: hash(value) for name, value in contents.items()}
    print(f"{len(contents)} layouts: the same bytes", flush=True)
    path = f"dedicated/out.{store}"
    read_by_iris(path, wanted, real)
    read_by_cf(path, wanted, real)
    read_land_points(store)
    return path
