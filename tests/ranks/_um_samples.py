#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of the Unified Model (those of iris-sample-data): read by iris, saved as netCDF, written
as PP or as fields files by `afterbay replay`, read by iris again. Cubes must be equal: values,
coordinates and their bounds, cell methods, STASH codes, versions. What such a file cannot hold is
refused.

With the argument `all`, every PP file of iris-sample-data is taken."""
import os
import pathlib
import subprocess
import sys
import warnings

warnings.filterwarnings("ignore")
try:
    import iris
    import iris_sample_data
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

AFTERBAY = pathlib.Path(os.environ["AFTERBAY_BUILD"], "apps", "afterbay", "afterbay")
ROOT = pathlib.Path(iris_sample_data.path)
#: Files that iris reads together.
SAMPLES = ("air_temp.pp", "A1B.2098.pp", "E1.2098.pp", "pre-industrial.pp", "wind_speed_lake_victoria.pp", "uk_hires.pp", "colpex.pp",
           "GloSea4/ensemble_000.pp", "GloSea4/ensemble_01[01].pp", "UM/northward_sea_ice_velocity.189[0-1].0[1-3].01.00.00.pp",
           "time_varying_hybrid_height/*_2160-1*.pp", "A1B_north_america.nc", "E1_north_america.nc", "rotated_pole.nc")
ALL = (*SAMPLES[:7], "GloSea4/*.pp", "UM/*.pp", "time_varying_hybrid_height/*.pp", *SAMPLES[-3:])
#: Other files, and why no file of the Unified Model can hold them.
REFUSED = {
    "hybrid_height.nc": ["'surface_altitude' has no time", "has no grid_mapping that says where the pole is"],
    "ostia_monthly.nc": ["'surface_temperature' has no PP header", "'month: year: mean'"],
    "toa_brightness_stereographic.nc": ["neither latitudes and longitudes nor those of a rotated grid"],
}


def read(sample):
    return sorted(iris.load([str(path) for path in sorted(ROOT.glob(sample))]), key=order)


def order(cube):
    return cube.name(), str(cube.attributes.get("STASH")), [str(cell) for cell in cube.coord("time").cells()][:1] if cube.coords("time") else []


def save(cube, path):
    """Times of a cube that has several are the records of the netCDF file."""
    cube = cube.copy()
    times = cube.coord_dims("time") if cube.coords("time") else ()
    for factory in cube.aux_factories:  # an orography that changes: the cube of that name has it
        if times and times[0] in cube.coord_dims("surface_altitude"):
            cube.remove_aux_factory(factory)
            cube.remove_coord("surface_altitude")
    if times and times[0] != 0:
        cube.transpose([times[0], *(d for d in range(cube.ndim) if d != times[0])])
    iris.save(cube, path, unlimited_dimensions=[coord.name() for coord in cube.coords(dimensions=0, dim_coords=True)] if times else [])


def replay(store, source, target):
    words = ["mpirun", "--oversubscribe", "-np", "2", str(AFTERBAY), "replay", str(source), str(target), "--store", store, "--servers", "1"]
    return subprocess.run(["timeout", "-k", "5", "60", *words], capture_output=True, text=True)


def rewrite(store, number, cubes):
    """The cubes of files to which these have been written, one each."""
    copies = []
    for part, cube in enumerate(cubes):
        source, target = f"{number}_{part}.nc", f"{number}_{part}.{store}"
        save(cube, source)
        done = replay(store, source, target)
        assert done.returncode == 0, f"{cube.summary(shorten=True)}\n{done.stdout}{done.stderr}"
        copies.append(target)
    return sorted(iris.load(copies), key=order)


def same_numbers(found, wanted, what):
    """PP headers have 32-bit numbers, and of regular grids the first point and the step."""
    np.testing.assert_allclose(np.asarray(found, "f8"), np.asarray(wanted, "f8"), rtol=1e-6, atol=2e-5, err_msg=what)


def is_regular(points):
    return len(points) < 2 or np.ptp(np.diff(points)) < 1e-3 * abs(points[1] - points[0])


def compare_coordinate(found, wanted, what, keeps_bounds):
    assert (found.standard_name, found.units, found.coord_system) == (wanted.standard_name, wanted.units, wanted.coord_system), (what, found, wanted)
    same_numbers(found.points, wanted.points, what)
    bounds = wanted.bounds
    if "itude" in wanted.name() and wanted.ndim == 1 and not found.has_bounds():  # regular, without bounds in the header
        if bounds is None or not (keeps_bounds or is_regular(wanted.points)):
            return
        found.guess_bounds()
    assert found.has_bounds() == (bounds is not None), (what, found, wanted)
    if bounds is not None:
        same_numbers(found.bounds, bounds, f"{what}: bounds")


def carried(cube):
    """What a PP header holds besides values and coordinates."""
    source = cube.attributes.get("source", "")[:34]
    return cube.standard_name, cube.units, cube.cell_methods, cube.attributes.get("STASH"), cube.attributes.get("um_version"), source


def compare(found, wanted, keeps_bounds):
    what = wanted.summary(shorten=True)
    found = found.copy()
    for dimension, coord in enumerate(wanted.dim_coords):  # records come first in a PP file
        place = found.coord_dims(coord.name())[0]
        found.transpose([*range(dimension), place, *(d for d in range(dimension, found.ndim) if d != place)])
    assert found.shape == wanted.shape and found.dtype == wanted.dtype, (found, wanted)
    assert carried(found) == carried(wanted), (carried(found), carried(wanted))
    assert np.array_equal(np.ma.getmaskarray(found.data), np.ma.getmaskarray(wanted.data)), what
    assert np.array_equal(np.ma.filled(found.data, 0), np.ma.filled(wanted.data, 0)), what
    names = {coord.name(): wanted.coord_dims(coord) for coord in wanted.coords()}
    assert {coord.name(): found.coord_dims(coord) for coord in found.coords()} == names, (found, wanted)
    for coord in wanted.coords():
        if coord.name() == "forecast_period" and coord.bounds is None and wanted.coord("time").has_bounds():  # of old versions of iris
            continue
        compare_coordinate(found.coord(coord.name()), coord, f"{what}: {coord.name()}", keeps_bounds)


def check_sample(store, number, sample, keeps_bounds):
    wanted = read(sample)
    found = rewrite(store, number, wanted)
    assert len(found) == len(wanted), (found, wanted)
    for cubes in zip(found, wanted):
        compare(*cubes, keeps_bounds)
    print(f"{sample}: {len(wanted)} cubes are equal", flush=True)


def check_refusal(store, number, sample, words):
    try:
        rewrite(store, f"refused{number}", read(sample))
    except AssertionError as error:
        assert all(word in str(error) for word in words), f"{sample}: {error}"
        print(f"{sample}: refused", flush=True)
    else:
        raise AssertionError(f"{sample} was not refused")


def main(store, keeps_bounds):
    """`keeps_bounds`: whether the format has bounds of irregular latitudes and longitudes."""
    failed = []
    for number, sample in enumerate(ALL if sys.argv[1:] == ["all"] else SAMPLES):
        try:
            check_sample(store, number, sample, keeps_bounds)
        except AssertionError as error:
            failed.append(sample)
            print(f"{sample}: {str(error)[:3000]}", flush=True)
    assert not failed, failed
    for number, (sample, words) in enumerate(REFUSED.items()):
        check_refusal(store, number, sample, words)
