#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the programs of the documentation, and checks its YAML. A fenced block that
follows `<!-- test: NAME -->` is one; the programs of one name must all write the same file, in
every language. A block that follows `<!-- body: NAME -->` is the middle of a program, whose
beginning and end are in FRAMES. A block that follows `<!-- describe: NAME -->` is an output
description; programs and settings of the page find it beside them. A block that follows `<!--
preview: NAME -->` is a command and what it prints of this description and the program of the page.
Pages that also have commands to run (`<!-- run: TITLE -->`) are followed from an installation, by
tests/install."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import netCDF4
import numpy

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
SOURCE = pathlib.Path(os.environ["AFTERBAY_SOURCE"])
BLOCK = re.compile(r"<!-- (test|body|describe): (\S+) -->\n```\w+\n(.*?)```", re.S)
PREVIEW = re.compile(r"<!-- preview: (\S+) -->\n```console\n\$ afterbay ([^\n]+)\n(.*?)```", re.S)
INCLUDES = [f"-I{SOURCE}/include", f"-I{BUILD}/include"]
LIBRARY = [f"-L{BUILD}/src", "-lafterbay", f"-Wl,-rpath,{BUILD}/src"]
OPENMP = re.compile(r"^\s*(#pragma|!\$)\s*omp\b", re.M)

#: text before and after the blocks `<!-- body: NAME -->`
FRAMES = {
    "readme.cpp": ("""
#include <vector>

#include "afterbay/afterbay.hpp"

namespace {
void compute(std::vector<double>& temperature, int step) {
  for (double& value : temperature) value = 280.0 + step;
}

void run(int rank, int size) {
  const int columns = 8, mine = 3, rows = mine * size, first = mine * rank, steps = 3;
  afterbay::Schema schema;
  schema.dimension("lat", rows).dimension("lon", columns);
  schema.variable("temperature", afterbay::Type::float32, {"lat", "lon"}).on("grid");
  std::vector<double> temperature(mine * columns);
""", """
}
}  // namespace

int main(int argc, char** argv) {
  int provided = 0, rank = 0, size = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  run(rank, size - 1);
  MPI_Finalize();
}
"""),
    "readme.f90": ("""
program readme
  use mpi
  use afterbay
  implicit none
  integer, parameter :: columns = 8, mine = 3, steps = 3
  type(afterbay_session) :: session
  type(afterbay_schema) :: schema
  type(afterbay_collection) :: history
  type(afterbay_file) :: file
  double precision :: temperature(columns, mine)
  integer :: rows, first, step, rank, size, provided, status
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, status)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, status)
  call MPI_Comm_size(MPI_COMM_WORLD, size, status)
  rows = mine*(size - 1)
  first = mine*rank + 1
  call schema%dimension('lat', rows)
  call schema%dimension('lon', columns)
  call schema%variable('temperature', AFTERBAY_FLOAT32, 'lon lat', decomposition='grid')
""", """
  call MPI_Finalize(status)
contains
  subroutine compute(field, at)
    double precision, intent(out) :: field(:, :)
    integer, intent(in) :: at
    field = 280d0 + at
  end subroutine
end program
"""),
}


def sh(*command, cwd):
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def fortran_flags():
    module, library = BUILD / "include/afterbay/fortran", BUILD / "bindings"
    if not (module / "afterbay.mod").exists():
        return None
    return [f"-I{module}", f"-L{library}", "-lafterbay_fortran", f"-Wl,-rpath,{library}"]


def compile_program(source, work):
    threads = ["-pthread", *(["-fopenmp"] if OPENMP.search(source.read_text()) else [])]
    if source.suffix == ".cpp":
        sh("mpicxx", "-std=c++20", "-DOMPI_SKIP_MPICXX", *threads, *INCLUDES, source.name, *LIBRARY, "-o", "program", cwd=work)
    elif source.suffix == ".c":
        sh("mpicc", "-std=c99", "-Wall", "-Werror", *threads, *INCLUDES, source.name, *LIBRARY, "-o", "program", cwd=work)
    else:
        flags = fortran_flags()
        if flags is None:
            return False
        sh("mpif90", *threads, source.name, *flags, *LIBRARY, "-o", "program", cwd=work)
    return True


def check_compmaps(file):
    file.set_auto_mask(False)
    steps = 1000.0 * numpy.arange(1, 3)[:, None, None]
    expected = steps + 100.0 * numpy.arange(1, 4)[:, None] + numpy.arange(1, 21)
    expected[:, :, -1] = netCDF4.default_fillvals["f4"]  # a column that no rank holds
    numpy.testing.assert_array_equal(file["T"][:], expected.astype("f4"))
    numpy.testing.assert_array_equal(file["U"][:], expected.astype("f4"))
    expected[:, :, -1] = netCDF4.default_fillvals["f8"]
    numpy.testing.assert_array_equal(file["Q"][:], expected.transpose(0, 2, 1))
    expected[:, :, -1] = file["PS"]._FillValue
    numpy.testing.assert_array_equal(file["PS"][:], expected[:, 0])
    assert file["PS"]._FillValue == -999


def check_restart(file):
    assert file["step"][...] == 20
    numpy.testing.assert_array_equal(file["h"][:], numpy.repeat(100.0 * numpy.arange(1, 13)[:, None] + 20, 8, axis=1))


def make_inputs(work):
    """Input of `driven`: one classic file, one packed and with the other byte order."""
    with netCDF4.Dataset(work / "initial.nc", "w", format="NETCDF3_64BIT_OFFSET") as file:
        for name, length in (("time", None), ("lat", 12), ("lon", 8)):
            file.createDimension(name, length)
        file.createVariable("lat", "f4", ("lat",))[:] = numpy.arange(12) * 7.5
        t = file.createVariable("t", "f4", ("time", "lat", "lon"))
        t.units = "degC"
        t[0] = numpy.arange(96).reshape(12, 8)
    with netCDF4.Dataset(work / "forcing.nc", "w") as file:
        for name, length in (("time", None), ("lat", 12), ("lon", 8)):
            file.createDimension(name, length)
        wind = file.createVariable("wind", "f8", ("time", "lat", "lon"), zlib=True, endian="big", chunksizes=(2, 5, 3))
        wind[:] = numpy.arange(5 * 96).reshape(5, 12, 8)


def check_driven(file):
    expected = 273.0 + numpy.arange(96).reshape(12, 8) + numpy.cumsum(numpy.arange(480.0).reshape(5, 12, 8), axis=0)
    numpy.testing.assert_array_equal(file["t"][:], expected)
    numpy.testing.assert_array_equal(file["lat"][:], numpy.arange(12) * 7.5)


def make_mesh(work):
    """Input of `halos`: a ring of 24 cells, and two more."""
    with netCDF4.Dataset(work / "mesh.nc", "w") as file:
        file.createDimension("cells", 26)
        file.createVariable("t", "f4", ("cells",))[:] = numpy.arange(26) ** 2


def check_halos(file):
    file.set_auto_mask(False)
    ring = numpy.arange(24.0) ** 2
    numpy.testing.assert_array_equal(file["sum"][:24], numpy.roll(ring, 1) + ring + numpy.roll(ring, -1))
    numpy.testing.assert_array_equal(file["sum"][24:], netCDF4.default_fillvals["f8"])  # cells that no rank holds


def check_epochs(file):
    assert file["T"].shape == (30, 300), file["T"].shape
    numpy.testing.assert_array_equal(file["T"][:], 273.15)


def check_units(file):
    file.set_auto_mask(False)
    numpy.testing.assert_allclose(file["ps"][:], 1013.25, rtol=1e-15)
    expected = numpy.full((1, 300), 300.15 - 273.15)
    expected[:, ::100] = -999  # the fill value
    numpy.testing.assert_allclose(file["tas"][:], expected, rtol=1e-6)


def check_threads(file):
    surface = 1000.0 * numpy.arange(1, 5)[:, None, None] + numpy.arange(1, 25)[:, None] + numpy.zeros(8)
    numpy.testing.assert_array_equal(file["PS"][:], surface)
    if "T" in file.variables:
        numpy.testing.assert_array_equal(file["T"][:], surface[:, None] + 100 * numpy.arange(1, 4)[:, None, None])


#: files that the program of docs/how-to/describe-output.md writes with each description of the page
DESCRIBED = {
    "first": ["day.nc", "month.nc"],
    "instants": ["both.nc", "fixed.nc", "noon.nc", "snap.nc"],
    "names": ["output/control_1d_day_2000-01-2000-01.nc", "output/control_1d_day_2000-02-2000-02.nc",
              "output/control_1d_day_2000-03-2000-03.nc", "output/control_snap_001.nc", "output/control_snap_002.nc",
              "output/control_snap_003.nc"],
    "stations": ["moorings.nc", "profiles.nc"],
    "subsets": ["corner.nc", "europe.nc", "thin.nc", "tropics.nc"],
    "derived": ["day.nc", "month.nc"],
    "cycles": ["diurnal.nc"],
    "missing": ["half.nc", "sea.nc"],
    "months": ["day_2000-01.nc", "day_2000-02.nc", "day_2000-03.nc", "month_2000.nc"],
    "states": ["day.nc", "month.nc"],
}


def described(folder, name, ranks=4, **environment):
    folder.mkdir(exist_ok=True)
    os.environ.update(environment)
    sh("mpirun", "--oversubscribe", "-np", ranks, folder.parent.resolve() / "program",
       f"--afterbay.output={folder.parent.resolve() / name}.yaml", "--afterbay.output.definitions=model.yaml",
       "--afterbay.report.table=off", cwd=folder)
    for key in environment:
        del os.environ[key]
    found = (str(path.relative_to(folder)) for path in folder.rglob("*.nc"))
    return sorted(path for path in found if not re.match(r"(state|end)_", path))


def check_described(work):
    """Runs the program with each description of its page, and in one job and in two."""
    wave = numpy.sin(0.1 * numpy.arange(241)[:, None, None] + 0.2 * numpy.arange(648).reshape(18, 36))
    tas = (280 + 10 * wave).astype("f4").astype("f8")
    for path in sorted(work.glob("*.yaml")):
        found = described(work / path.stem, path.stem)
        assert found == DESCRIBED[path.stem], f"{path}: {found}"
    kept = sorted(path.name for path in (work / "states").glob("state_0*.nc"))
    # Beside each state are those of statistics that servers computed: "state_000200.day.nc".
    kept = [name for name in kept if name.count(".") == 1]
    assert kept == ["state_000200.nc", "state_000240.nc"], kept
    with netCDF4.Dataset(work / "first/month.nc") as file:
        assert file["time"][:].tolist() == [15.5, 45, 59.5] and file["time_bnds"][:].tolist() == [[0, 31], [31, 59], [59, 60]]
        numpy.testing.assert_allclose(file["tas"][1], tas[125:237].mean(axis=0), rtol=1e-7)
        numpy.testing.assert_array_equal(file["tas_max"][0], tas[1:125].max(axis=0))
        assert file["tas_max"].cell_methods == "time: maximum"
    with netCDF4.Dataset(work / "instants/noon.nc") as file:
        numpy.testing.assert_array_equal(file["tas_noon"][:], tas[2::4])
    with netCDF4.Dataset(work / "instants/snap.nc") as file:
        numpy.testing.assert_array_equal(file["tas"][:], tas)
    with netCDF4.Dataset(work / "subsets/thin.nc") as file:
        assert file["tas"].shape == (60, 9, 18) and file["thetao"].shape == (60, 2, 18, 36)
    with netCDF4.Dataset(work / "stations/moorings.nc") as file:
        # 145W lies between two columns: of points that are as near, the first counts.
        assert file.featureType == "timeSeries" and file["lon"][:].tolist() == [210, 140], file["lon"][:]
        assert file["lat"][:].tolist() == [55, 35], file["lat"][:]
        points = [[tas[1:5, 14, 21].mean(), tas[1:5, 12, 14].mean()]]
        numpy.testing.assert_allclose(file["tas"][:1], points, rtol=1e-7)
    with netCDF4.Dataset(work / "derived/month.nc") as file:
        expected = tas[1:125].reshape(31, 4, 18, 36).max(axis=1).mean(axis=0)
        numpy.testing.assert_allclose(file["tasmax"][0], expected, rtol=1e-6)
    with netCDF4.Dataset(work / "cycles/diurnal.nc") as file:
        assert file["tas"].shape == (12, 18, 36) and file["climatology_bounds"][1].tolist() == [0.25, 30.5]
        numpy.testing.assert_allclose(file["tas"][1], tas[2:125:4].mean(axis=0), rtol=1e-7)
    described(work / "jobs", "months", LAST="150", SAVE="end_150.nc")
    assert described(work / "jobs", "months", ranks=3, RESUME="end_150.nc") == DESCRIBED["months"]
    for name in DESCRIBED["months"]:
        with netCDF4.Dataset(work / "months" / name) as one, netCDF4.Dataset(work / "jobs" / name) as two:
            for variable in one.variables:
                assert one[variable][:].tobytes() == two[variable][:].tobytes(), f"{name}: {variable} differs in two jobs"


def check_previews(page, work):
    """What the page shows of its descriptions, with the definitions that its program wrote."""
    for name, arguments, shown in PREVIEW.findall(page.read_text()):
        folder = work / pathlib.Path(name).stem
        shutil.copy(work / name, folder)
        printed = sh(BUILD / "apps/afterbay/afterbay", *arguments.split(), cwd=folder)
        assert printed == shown, f"{page} shows for `afterbay {arguments}`:\n{shown}the command prints:\n{printed}"


def run_grib(work):
    """Without ecCodes, the library says what is missing."""
    done = subprocess.run(["mpirun", "--oversubscribe", "-np", "4", "./program"], cwd=work, capture_output=True, text=True, timeout=120)
    if "has no ecCodes" in done.stdout + done.stderr:
        return
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    if not shutil.which("grib_get"):
        return
    lines = sh("grib_get", "-p", "shortName,level,stepRange,centre,packingType", "grib.grib2", cwd=work).splitlines()
    assert [line.split() for line in lines[:3]] == [["t", "850", "0", "edzw", "grid_simple"], ["t", "500", "0", "edzw", "grid_simple"],
                                                    ["tprate", "0", "0-6", "edzw", "grid_ccsds"]], lines
    assert len(lines) == 6, lines


def run_pp(work):
    """Headers of the fields: STASH code, packing, level, the word that an attribute sets."""
    sh("mpirun", "--oversubscribe", "-np", "4", "./program", cwd=work)
    content, begin, fields = (work / "pp.pp").read_bytes(), 0, []
    while begin < len(content):
        words = numpy.frombuffer(content, ">i4", 64, begin + 4)
        fields.append((int(words[41]), int(words[20]), int(words[32]), int(words[27])))
        begin += 264
        begin += 8 + int(numpy.frombuffer(content, ">i4", 1, begin)[0])
    assert fields == 2 * [(16203, 1, 850, 4711), (16203, 1, 500, 4711), (5216, 0, 9999, 4711)], fields


def check_history(file):
    numpy.testing.assert_array_equal(file["temperature"][:], numpy.full((9, 8), 283.0))


def check_mesh(file):
    """8 x 4 faces, whose nodes are counted from 0 (C++) or 1 (Fortran)."""
    assert file.Conventions == "CF-1.11 UGRID-1.0", file.Conventions
    mesh = file["mesh"]
    assert mesh.cf_role == "mesh_topology" and mesh.topology_dimension == 2
    assert (mesh.node_coordinates, mesh.face_node_connectivity) == ("node_lon node_lat", "face_nodes")
    f = numpy.arange(32)
    corners = (f // 8 * 9 + f % 8)[:, None] + [0, 1, 10, 9]
    numpy.testing.assert_array_equal(file["face_nodes"][:] - file["face_nodes"].start_index, corners)
    numpy.testing.assert_array_equal(file["node_lon"][:], 10 * (numpy.arange(45) % 9))
    numpy.testing.assert_array_equal(file["node_lat"][:], 10 * (numpy.arange(45) // 9))
    numpy.testing.assert_array_equal(file["tas"][:], [250 + f, 650 + f])
    numpy.testing.assert_array_equal(file["tas_range"][:], numpy.full((2, 32), 300))
    numpy.testing.assert_array_equal(file["depth"][:], numpy.arange(45))
    assert (file["tas"].mesh, file["tas"].location, file["depth"].location) == ("mesh", "face", "node")
    assert file["tas_range"].mesh == "mesh"


CHECKS = {"readme": check_history, "mesh": check_mesh, "units": check_units, "epochs": check_epochs, "compmaps": check_compmaps, "restart": check_restart, "driven": check_driven, "halos": check_halos, "threads": check_threads, "tasks": check_threads}
INPUTS = {"driven": make_inputs, "halos": make_mesh}
#: programs without MPI, and what they print
OUTPUTS = {"calendars": "mean_200002.nc 31 59\nmean_200003.nc 59 90\nmean_200004.nc 90 120\n"}
RANKS = {"restart": (4, 3)}  # one run after the other
FILES = {"readme": "hist_0003.nc"}


def run_program(work, name):
    if name in OUTPUTS:
        printed = sh("./program", cwd=work)
        assert printed == OUTPUTS[name], f"{work}: printed {printed}"
        return
    if name == "offer":
        return check_described(work)
    if name == "grib":
        return run_grib(work)
    if name == "pp":
        return run_pp(work)
    if name in INPUTS:
        INPUTS[name](work)
    for ranks in RANKS.get(name, (4,)):
        sh("mpirun", "--oversubscribe", "-np", ranks, "./program", cwd=work)
    with netCDF4.Dataset(work / FILES.get(name, f"{name}.nc")) as file:
        CHECKS[name](file)


def main():
    os.environ.setdefault("OMP_NUM_THREADS", "3")
    os.environ.setdefault("AFTERBAY_MEMORY_SERVER", "32MiB")  # programs that run for a second: to
                                                              # avoid faulting in more memory
    found = 0
    for page in [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]:
        if "<!-- run: " in page.read_text():
            continue
        blocks = BLOCK.findall(page.read_text())
        for kind, name, text in blocks:
            work = pathlib.Path(f"{page.stem}.{name}")
            work.mkdir()
            for _, described_name, description in (block for block in blocks if block[0] == "describe"):
                (work / described_name).write_text(description)
            before, after = FRAMES[name] if kind == "body" else ("", "")
            (work / name).write_text(before + text + after)
            found += 1
            if kind == "describe":
                sh(BUILD / "apps/afterbay/afterbay", "describe", "--no-environment", name, cwd=work)
            elif name.endswith(".yaml"):
                sh(BUILD / "apps/afterbay/afterbay", "check", name, cwd=work)
            elif compile_program(work / name, work):
                run_program(work, pathlib.Path(name).stem)
                check_previews(page, work)
            print(f"{page.name}: {name}: good")
    assert found >= 4, f"only {found} tested snippets were found"


main()
