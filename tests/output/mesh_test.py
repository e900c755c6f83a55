#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files with a mesh follow UGRID 1.0: ugrid-checks finds nothing in them, and xugrid reads the
topology and the values of fields on faces and nodes, of whole meshes and of a part of the faces."""
import os
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
PYTHON = pathlib.Path(os.environ.get("TEST_CHECKERS", ".")) / "python"

DESCRIPTION = """
grids:
  north: {box: {lat: [0, 20]}}
  north_500: {box: {lat: [0, 20]}, levels: {lev: [500]}}
  south: {box: {lat: [-20, 0]}}
  places: {stations: {a: [21, 6]}}
files:
  all: {every: 1d, mean: [tas], instant: [psi, ta]}
  faces: {every: 1d, instant: [tas]}
  nodes: {every: 1d, instant: [psi]}
  part: {every: 1d, grid: north_500, instant: [tas, ta]}
  both: {every: 1d, instant: [tas: {name: tas_north, grid: north}, tas, tas: {name: tas_south, grid: south}, psi]}
  with_nodes: {every: 1d, instant: [tas: {name: tas_north, grid: north}, psi]}
  node_part: {every: 1d, grid: north, instant: [psi]}
  stations: {every: 1d, grid: places, instant: [tas]}
"""

CHECK = r'''
import netCDF4, numpy as np, xugrid
import ugrid_checks.check

columns, rows, quads = 6, 4, 23
def nodes_of(face):
    square = min(face, quads)
    a = square // columns * (columns + 1) + square % columns
    b, c, d = a + 1, a + columns + 2, a + columns + 1
    return [a, b, c, d] if face < quads else [a, b, c, -1] if face == quads else [a, c, d, -1]

CONNECTIVITY = np.array([nodes_of(face) for face in range(25)])
NODE_LON, NODE_LAT = 10.0 * (np.arange(35) % 7), 10.0 * (np.arange(35) // 7) - 20
def middle(of):
    return np.array([np.mean([of[n] for n in row if n >= 0]) for row in CONNECTIVITY])
FACE_LAT = middle(NODE_LAT)
NORTH, SOUTH = np.flatnonzero(FACE_LAT >= 0), np.flatnonzero(FACE_LAT <= 0)
EVERY = np.arange(25)

def check(name, meshes, values):
    """meshes: by name, their faces. values: by name of a variable, its mesh, location and values."""
    checker = ugrid_checks.check.check_dataset(f"{name}.nc", print_summary=False)
    # Meshes of one file share their nodes, against which it advises.
    found = checker.logger.N_FAILURES + (checker.logger.N_WARNINGS if len(meshes) == 1 else 0)
    assert found == 0, f"{name}: {checker.checking_report()}"
    with netCDF4.Dataset(f"{name}.nc") as file:
        assert file.Conventions == "CF-1.11 UGRID-1.0", file.Conventions
        for mesh, faces in meshes.items():
            partial = len(faces) < 25
            assert hasattr(file[mesh], "face_face_connectivity") != partial, f"{name}: {mesh}"
    data = xugrid.open_dataset(f"{name}.nc")
    grids = {grid.name: grid for grid in data.ugrid.grids}
    assert grids.keys() == meshes.keys(), (name, grids.keys())
    for mesh, faces in meshes.items():
        np.testing.assert_array_equal(grids[mesh].face_node_connectivity, CONNECTIVITY[faces], name)
        np.testing.assert_array_equal(grids[mesh].node_x, NODE_LON)
        np.testing.assert_array_equal(grids[mesh].node_y, NODE_LAT)
        np.testing.assert_allclose(grids[mesh].face_coordinates[:, 1], FACE_LAT[faces])
    for variable, (mesh, location, expected) in values.items():
        assert (data[variable].attrs["mesh"], data[variable].attrs["location"]) == (mesh, location), (name, variable)
        np.testing.assert_array_equal(data[variable].values, expected, f"{name}: {variable}")
        grid = grids[mesh]
        of_grid = grid.face_dimension if location == "face" else grid.node_dimension
        assert data[variable].dims[-1] == of_grid, (name, variable, data[variable].dims, of_grid)

STEPS = 100.0 * np.array([4, 8])[:, None]
FACES, NODES = STEPS + EVERY, STEPS + np.arange(35)
MEAN = 100.0 * np.array([2.5, 6.5])[:, None] + EVERY
TA = np.stack([FACES, FACES + 1000], axis=1)
tas, psi = ("mesh", "face", FACES), ("mesh", "node", NODES)
check("all", {"mesh": EVERY}, {"tas": ("mesh", "face", MEAN), "psi": psi, "ta": ("mesh", "face", TA)})
check("faces", {"mesh": EVERY}, {"tas": tas})
check("nodes", {"mesh": EVERY}, {"psi": psi})
check("part", {"mesh": NORTH}, {"tas": ("mesh", "face", FACES[:, NORTH]), "ta": ("mesh", "face", TA[:, 1:, NORTH])})
check("both", {"mesh": EVERY, "mesh_north": NORTH, "mesh_south": SOUTH},
      {"tas": tas, "tas_north": ("mesh_north", "face", FACES[:, NORTH]), "tas_south": ("mesh_south", "face", FACES[:, SOUTH]), "psi": psi})
check("with_nodes", {"mesh": EVERY, "mesh_north": NORTH}, {"tas_north": ("mesh_north", "face", FACES[:, NORTH]), "psi": psi})
for name, variable in (("node_part", "psi"), ("stations", "tas")):
    with netCDF4.Dataset(f"{name}.nc") as file:
        assert file.Conventions == "CF-1.11" and "mesh" not in file.variables, name
        assert not hasattr(file[variable], "mesh") and not hasattr(file[variable], "location"), name
'''

for module in ("ugrid_checks", "xugrid"):
    if not PYTHON.exists() or subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode != 0:
        print(f"skipped: {module} is not installed: ./dev test does it")
        sys.exit(77)
pathlib.Path("output.yaml").write_text(DESCRIPTION)
# Python of its own: no modules of the tests.
environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
for ranks in (3, 1):
    for path in pathlib.Path(".").glob("*.nc"):
        path.unlink()
    subprocess.run(["timeout", "-k", "5", "100", "mpirun", "--oversubscribe", "-np", str(ranks + 1), BUILD / "tests/output/mesh_model",
                    "--afterbay.output=output.yaml", "--afterbay.servers=1", "--afterbay.report.table=off"], check=True)
    subprocess.run([PYTHON, "-c", CHECK], check=True, env=environment)
    print(f"{ranks} ranks: good")
