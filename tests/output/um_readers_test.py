#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PP files and WGDOS packing of src/packing, read by iris and cf-python: values, coordinates,
units, times and cell methods of many headers; random packed fields; files of iris-sample-data,
rewritten.

iris unpacks WGDOS only with mo_pack, which PyPI does not have: cf-python reads packed values."""
import os
import pathlib
import subprocess
import sys
import warnings

import numpy as np

warnings.filterwarnings("ignore")
try:
    import cf
    import iris
    import iris_sample_data
    from iris.fileformats.um_cf_map import STASH_TO_CF
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

PROGRAM = pathlib.Path(os.environ["AFTERBAY_BUILD"]) / "tests" / "output" / "um_fields"
MISSING = -(2.0**30)
LATITUDES, LONGITUDES = np.linspace(-90, 90, 19), np.arange(0, 360, 10.0)
DAY = {"begin": "2000-01-01", "end": "2000-01-02", "reference": "1999-12-31", "cell_methods": "time: mean (interval: 1 hour)"}
HEIGHT = {"name": "air_temperature", "units": "K", "level": "height", "level_units": "m", "level_value": 1.5}
SURFACE = {"name": "surface_air_pressure", "units": "Pa", "level": "surface"}


def um_fields(*words, fails=False):
    done = subprocess.run([str(word) for word in (PROGRAM, *words)], capture_output=True, text=True, timeout=120)
    assert (done.returncode != 0) == fails, (words[:3], done.stdout, done.stderr)
    return done.stderr if fails else done.stdout


def text_of(value):
    return " ".join(repr(float(x)) for x in value) if isinstance(value, (np.ndarray, list, tuple)) else str(value)


def encode(path, values, **keys):
    """Appends a field; returns the largest error that was reported."""
    keys = {"latitudes": LATITUDES, "longitudes": LONGITUDES, "begin": "2000-01-01", **keys}
    values.tofile("values.raw")
    keys["float"] = 8 * values.itemsize
    out = um_fields("encode", "values.raw", path, *(f"{key}={text_of(value)}" for key, value in keys.items()))
    return float(out.split()[1])


def unpack(path, shape):
    pathlib.Path("unpacked.raw").unlink(missing_ok=True)
    um_fields("unpack", path, "unpacked.raw")
    return np.fromfile("unpacked.raw", "f4").reshape(shape)


def smooth(shape=(19, 36)):
    y, x = np.mgrid[0:shape[0], 0:shape[1]]
    return (280 + 20 * np.sin(x / 9) * np.cos(y / 5)).astype("f4")


def cube_of(path):
    (cube,) = iris.load(path)
    return cube


def field_of(path):
    (field,) = cf.read(path)
    return field


def fresh(name):
    pathlib.Path(name).unlink(missing_ok=True)
    return name


def same(found, expected):
    np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-6, atol=1e-5)


def test_mean_of_a_forecast():
    path, values = fresh("mean.pp"), smooth()
    values[3, 4] = MISSING
    encode(path, values, **HEIGHT, **DAY)
    cube, field = cube_of(path), field_of(path)
    assert cube.standard_name == field.standard_name == "air_temperature"
    assert str(cube.units) == field.units == "K"
    np.testing.assert_array_equal(np.ma.filled(cube.data, MISSING), values)
    np.testing.assert_array_equal(np.ma.filled(field.array.squeeze(), MISSING), values)
    assert cube.data.mask.sum() == 1 and field.array.mask.sum() == 1
    same(cube.coord("latitude").points, LATITUDES)
    same(cube.coord("longitude").points, LONGITUDES)
    assert cube.coord("longitude").circular
    same(field.construct("latitude").array, LATITUDES)
    same(field.construct("longitude").array, LONGITUDES)
    same(cube.coord("height").points, [1.5])
    assert str(cube.coord("forecast_reference_time").cell(0).point) == "1999-12-31 00:00:00"
    same(cube.coord("forecast_period").bounds, [[24, 48]])
    assert [str(bound) for bound in cube.coord("time").cell(0).bound] == ["2000-01-01 00:00:00", "2000-01-02 00:00:00"]
    assert str(cube.cell_methods[0]) == "time: mean (interval: 1 hour)", cube.cell_methods
    assert str(field.construct("time").bounds.datetime_array[0, 1]) == "2000-01-02 00:00:00"
    assert field.construct("cellmethod0").method == "mean"


def test_calendars_and_moments():
    for calendar, date in (("standard", "2000-02-29"), ("360_day", "2000-02-30"), ("noleap", "2001-02-28")):
        path = fresh("moment.pp")
        encode(path, smooth(), **HEIGHT, calendar=calendar, begin=f"{date} 06:30:00", reference=f"{date} 00:00:00")
        cube, field = cube_of(path), field_of(path)
        assert str(cube.coord("time").cell(0).point) == f"{date} 06:30:00"
        assert cube.coord("time").units.calendar == {"noleap": "365_day"}.get(calendar, calendar)
        same(cube.coord("forecast_period").points, [6.5])
        assert not cube.cell_methods
        assert str(field.construct("time").datetime_array[0]) == f"{date} 06:30:00"
        encode(fresh(path), smooth(), **HEIGHT, calendar=calendar, begin=f"{date} 06:30:15")
        assert str(cube_of(path).coord("time").cell(0).point) == f"{date} 06:30:15"
        assert cube_of(path).coords("forecast_period") == []


def test_minima_maxima_and_zonal_means():
    for method in ("minimum", "maximum"):
        encode(fresh("method.pp"), smooth(), **HEIGHT, **{**DAY, "cell_methods": f"time: {method}"})
        assert str(cube_of("method.pp").cell_methods[0]) == f"time: {method}"
        assert field_of("method.pp").construct("cellmethod0").method == method
    zonal = smooth((19, 1))
    encode(fresh("zonal.pp"), zonal, **HEIGHT, **{**DAY, "cell_methods": "longitude: mean time: mean"}, longitudes=[180.0])
    found = {str(method) for method in cube_of("zonal.pp").cell_methods}
    assert found == {"time: mean", "longitude: mean"}, found


def test_levels():
    def level(**keys):
        encode(fresh("level.pp"), smooth(), **{"name": "air_temperature", "units": "K", **keys})
        return cube_of("level.pp"), field_of("level.pp")

    cube, field = level(level="air_pressure", level_units="Pa", level_value=85000)
    same(cube.coord("pressure").points, [850])
    assert str(cube.coord("pressure").units) == "hPa"
    same(field.construct("air_pressure").array, [850])
    cube, _ = level(level="hybrid_height", level_value=50, level_bounds=(40, 60), coefficient=0.9, coefficient_bounds=(0.95, 0.85), level_number=3)
    same(cube.coord("level_height").points, [50])
    same(cube.coord("level_height").bounds, [[40, 60]])
    same(cube.coord("sigma").points, [0.9])
    same(cube.coord("sigma").bounds, [[0.95, 0.85]])
    assert cube.coord("model_level_number").points == [3]
    cube, _ = level(level="hybrid_pressure", level_value=2000, level_bounds=(1500, 2500), coefficient=0.5, coefficient_bounds=(0.6, 0.4), level_number=7)
    same(cube.coord("level_pressure").bounds, [[1500, 2500]])
    same(cube.coord("sigma").bounds, [[0.6, 0.4]])
    cube, field = level(name="sea_water_temperature", stash="m02s00i101", level="depth", level_units="m", level_value=5, level_bounds=(0, 10))
    same(cube.coord("depth").points, [5])
    same(cube.coord("depth").bounds, [[0, 10]])
    cube, _ = level(level="air_potential_temperature", level_units="K", level_value=320, stash="m01s30i003", name="x")
    same(cube.coord("air_potential_temperature").points, [320])


def test_heights():
    """Readers give values of screen temperature's code 1.5 m: 2 m need the field code."""
    encode(fresh("height.pp"), smooth(), **{**HEIGHT, "level_value": 2, "field_code": 16})
    cube = cube_of("height.pp")
    assert cube.standard_name == "air_temperature" and str(cube.units) == "K"
    same(cube.coord("height").points, [2])
    encode(fresh("height.pp"), smooth(), name="eastward_wind", units="m s-1", level="height", level_units="m", level_value=10)
    same(cube_of("height.pp").coord("height").points, [10])


def test_grids():
    encode(fresh("grid.pp"), smooth((9, 20)), **SURFACE, latitudes=np.linspace(60, 56, 9), longitudes=np.arange(355, 365, 0.5),
           pole_latitude=37.5, pole_longitude=177.5)
    cube, field = cube_of("grid.pp"), field_of("grid.pp")
    same(cube.coord("grid_latitude").points, np.linspace(60, 56, 9))
    same(cube.coord("grid_longitude").points, np.arange(355, 365, 0.5))
    assert not cube.coord("grid_longitude").circular
    same(cube.coord_system().grid_north_pole_latitude, 37.5)
    same(cube.coord_system().grid_north_pole_longitude, 177.5)
    same(field.construct("grid_latitude").array, np.linspace(60, 56, 9))
    latitudes, longitudes = np.array([-10, 0, 7, 30.5]), np.array([1, 2, 4, 8, 16.25])
    for packing in (0, 1):
        encode(fresh("irregular.pp"), smooth((4, 5)), **SURFACE, latitudes=latitudes, longitudes=longitudes, packing=packing, accuracy=-4)
        cube = cube_of("irregular.pp")
        same(cube.coord("latitude").points, latitudes)
        same(cube.coord("longitude").points, longitudes)
    same(field_of("irregular.pp").construct("longitude").array, longitudes)


def test_land_and_sea_points():
    mask = (smooth() > 285).astype("u1")
    mask.tofile("mask.raw")
    for packing, stored in ((120, mask == 1), (220, mask == 0)):
        path = fresh("land.pp")
        # iris inverts the bits of the mask to find sea points: true must be -1.
        encode(path, -mask.astype("f4"), name="land_binary_mask", level="surface", type=3)
        encode(path, smooth(), name="surface_temperature", level="surface", packing=packing, mask="mask.raw")
        cubes = iris.load(path)
        found = cubes.extract_cube("surface_temperature").data
        np.testing.assert_array_equal(~np.ma.getmaskarray(found), stored)
        np.testing.assert_array_equal(found[stored], smooth()[stored])
        np.testing.assert_array_equal(np.asarray(cubes.extract_cube("land_binary_mask").data != 0, "u1"), mask)


def random_fields(count):
    random = np.random.default_rng(5)
    for _ in range(count):
        shape = tuple(random.integers(1, [20, 400]))
        magnitude = int(random.integers(-20, 15))
        values = random.normal(size=shape) * 2.0**magnitude + random.choice([0, 3.5, -70]) * 2.0**magnitude
        values[random.random(shape) < random.choice([0, 0.3, 0.9])] = 0
        values[random.random(shape) < random.choice([0, 0.2, 1])] = MISSING
        yield values.astype(random.choice(["f4", "f8"])), magnitude - int(random.integers(0, 14))


def test_packed_fields():
    for number, (values, accuracy) in enumerate(random_fields(40)):
        rows, columns = values.shape
        path = fresh("packed.pp")
        reported = encode(path, values, **SURFACE, packing=1, accuracy=accuracy, latitudes=np.linspace(-40, 40, rows) if rows > 1 else [0.0],
                          longitudes=np.arange(columns) * 0.5)
        missing = values == MISSING
        read = np.ma.asarray(field_of(path).array.reshape(values.shape))
        np.testing.assert_array_equal(np.ma.getmaskarray(read), missing, err_msg=str(number))
        np.testing.assert_array_equal(read.filled(-1e30), unpack(path, values.shape), err_msg=str(number))
        # Both readers return float32: values of float64 are rounded by that.
        errors = np.abs(read.filled(0).astype("f8") - np.where(missing, 0, values))
        rounding = 0 if values.itemsize == 4 else np.abs(values[~missing]).max(initial=0) * 2.0**-24
        assert errors.max() <= 2.0 ** (accuracy - 1) + rounding, (number, errors.max(), accuracy)
        assert abs(errors.max() - reported) <= rounding, (number, errors.max(), reported)


def test_rows_of_one_value_have_it_as_their_base():
    """Also if it is no multiple of the accuracy."""
    for value, accuracy in ((273.5, 4), (-101325.5, 10), (0.375, 0), (16777213.0, 12)):
        values = np.full((19, 36), value, "f4")
        values[3, 5:9] = values[7] = MISSING
        assert encode(fresh("constant.pp"), values, **SURFACE, packing=1, accuracy=accuracy) == 0
        read = np.ma.filled(field_of("constant.pp").array.reshape(values.shape), MISSING)
        np.testing.assert_array_equal(read, values)
        np.testing.assert_array_equal(unpack("constant.pp", values.shape) == np.float32(value), values != MISSING)


def test_widest_rows_and_integers_that_cf_python_reads():
    for columns, largest in ((32767, 1.0), (30000, 511.0)):
        values = np.linspace(0, largest, columns).reshape(1, -1).astype("f4")
        encode(fresh("wide.pp"), values, **SURFACE, packing=1, accuracy=-15, latitudes=[0.0], longitudes=f"0:0.0078125:{columns}")
        read = field_of("wide.pp").array.reshape(values.shape)
        np.testing.assert_array_equal(read, unpack("wide.pp", values.shape))
        assert np.abs(read.astype("f8") - values).max() <= 2.0**-16


def sample_files():
    root = pathlib.Path(iris_sample_data.__file__).parent / "sample_data"
    files = sorted(root.glob("**/*.pp"))
    months = [path for path in files if path.parent.name in ("UM", "time_varying_hybrid_height", "GloSea4")]
    return [path for path in files if path not in months] + months[::25]


def test_files_of_the_unified_model():
    for path in sample_files():
        fresh("copy.pp")
        um_fields("repack", path, "copy.pp", 0, 0)
        originals, copies = iris.load(path), iris.load("copy.pp")
        assert len(originals) == len(copies) > 0 and all(a == b for a, b in zip(originals, copies)), path
        fresh("copy.pp")
        um_fields("repack", path, "copy.pp", 1, -6)
        originals, copies = cf.read(str(path)), cf.read("copy.pp")
        assert len(originals) == len(copies) > 0, path
        for original, copy in zip(originals, copies):
            assert original.identity() == copy.identity() and original.shape == copy.shape, path
            before, after = np.ma.asarray(original.array), np.ma.asarray(copy.array)
            np.testing.assert_array_equal(np.ma.getmaskarray(before), np.ma.getmaskarray(after))
            assert np.abs(before.astype("f8") - after).max() <= 2.0**-7, (path, original)


def test_codes_are_those_of_readers():
    other_names = {"eastward_wind": "x_wind", "northward_wind": "y_wind", "air_pressure_at_mean_sea_level": "air_pressure_at_sea_level"}
    rows = [line.split(";") for line in um_fields("codes").splitlines()]
    assert len(rows) > 50
    for name, units, stash in rows:
        known = STASH_TO_CF[stash]
        assert other_names.get(name, name) == known.standard_name, (name, stash, known)
        assert units.replace("kg kg-1", "1") == str(known.units).replace("kg kg-1", "1"), (name, units, known)


def test_refusals():
    smooth().tofile("values.raw")
    axes = [f"latitudes={text_of(LATITUDES)}", f"longitudes={text_of(LONGITUDES)}", "begin=2000-01-01"]
    error = um_fields("encode", "values.raw", "refused.pp", "variable=tas", "name=air_temprature", "level=height", "level_units=m", *axes, fails=True)
    assert "variable tas" in error and "LBUSER4" in error and "air_temperature" in error, error
    error = um_fields("encode", "values.raw", "refused.pp", "name=surface_temperature", "packing=1", "accuracy=-30", *axes, fails=True)
    assert "row 0" in error and "finest accuracy" in error, error
    assert not pathlib.Path("refused.pp").exists()


def main():
    tests = [value for name, value in globals().items() if name.startswith("test_") and (len(sys.argv) == 1 or name in sys.argv)]
    for test in tests:
        test()
        print("passed", test.__name__)
    print(f"iris {iris.__version__}, cf-python {cf.__version__}, {len(sample_files())} files of iris-sample-data")


if __name__ == "__main__":
    main()
