#!/usr/bin/env python3
"""The shallow-water model in Fortran, C and C++, with and without threads, writes the same files:
the same variables bit for bit in netCDF-4, the same bytes in CDF-5; and the same contents as plain
serial netCDF."""
import filecmp
import pathlib
import shutil
import subprocess

from lib_bindings import BUILD, mpirun, program, same_files

MODEL = ("--grid", "161x103", "--steps", "24", "--fields-every", "8", "--surface-every", "3")
# program, model ranks, servers: the contents do not depend on them
RUNS = {"fortran": ("shallow_water", 4, 2), "c": ("shallow_water_c", 3, 1), "cpp": ("shallow_water_cpp", 2, 1)}
#: those that need OpenMP; each rank has three threads
THREADS = {"fortran_threads": ("shallow_water_threads", 2, 1), "cpp_threads": ("shallow_water_threads_cpp", 2, 2)}
RUNS |= {language: run for language, run in THREADS.items() if (BUILD / "examples" / run[0]).exists()}


def run(language, store):
    name, model_ranks, servers = RUNS[language]
    directory = pathlib.Path(f"{language}_{store}")
    directory.mkdir()
    said = mpirun(model_ranks + servers, "-x", "OMP_NUM_THREADS=3", program(name), *MODEL, "--directory", str(directory),
                  f"--afterbay.servers={servers}", f"--afterbay.collections.*.store={store}")
    if language == "fortran":
        assert "drift of energy" in said and "the model was blocked for" in said, said
    assert sorted(p.name for p in directory.iterdir()) == ["fields.nc", "surface.nc"], list(directory.iterdir())
    return directory


def run_synchronous():
    directory = pathlib.Path("synchronous")
    directory.mkdir()
    mpirun(3, program("shallow_water"), *MODEL, "--directory", str(directory), "--output", "synchronous")
    return directory


def check_with_tools(first, second):
    """The same, checked by third-party tools, if they are installed."""
    if shutil.which("ncmpidiff"):
        done = subprocess.run(["mpirun", "--oversubscribe", "-np", "1", "ncmpidiff", "-b", str(first), str(second)],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and "DIFF" not in done.stdout, done.stdout + done.stderr
    if shutil.which("cdo"):
        done = subprocess.run(["cdo", "-s", "diffn", str(first), str(second)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr


def main():
    program("shallow_water")
    netcdf4 = {language: run(language, "netcdf4") for language in RUNS}
    cdf5 = {language: run(language, "cdf5") for language in RUNS}
    synchronous = run_synchronous()
    for name in ("fields.nc", "surface.nc"):
        for language in RUNS.keys() - {"fortran"}:
            same_files(netcdf4["fortran"] / name, netcdf4[language] / name)
            assert filecmp.cmp(cdf5["fortran"] / name, cdf5[language] / name, shallow=False), f"{language}/{name}"
            check_with_tools(cdf5["fortran"] / name, cdf5[language] / name)
        same_files(netcdf4["fortran"] / name, synchronous / name)
    # The comparison detects differences.
    try:
        same_files(netcdf4["c"] / "fields.nc", netcdf4["c"] / "surface.nc")
    except AssertionError:
        return
    raise SystemExit("different files were found to be the same")


main()
