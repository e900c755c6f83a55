#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Threads that put through endpoints of their own, in C (pthreads) and Fortran (OpenMP, inside a
parallel region): the file is the same for any numbers of ranks, threads and servers, and the same
as if the session puts everything, whole parts or sections."""
import itertools
import pathlib

import netCDF4
import numpy as np

from lib_bindings import mpirun, program, same_files

#: model ranks, servers, threads (0: none; -1: none, and sections)
RUNS = [(2, 1, 0), (3, 1, -1), (1, 1, 4), (2, 2, 3), (3, 1, 16)]
TYPES = {"i1": "i1", "i2": "i2", "i4": "i4", "i8": "i8", "r4": "f4", "r8": "f8", "halo": "f8", "slot": "f8"}


#: three ranks, one server, on another node than a part of them: data go through the thread that
#: uses the session
TWO_NODES = ["--afterbay.nodes=0,0,1,1", "--afterbay.isolate_nodes=off"]


def run(language, ranks, servers, threads, level=None, *settings):
    path = pathlib.Path(f"{language}_{ranks}_{servers}_{threads}{'_' + level if level else ''}{'_nodes' if settings else ''}.nc")
    levels = ["-x", f"THREAD_LEVEL={level}"] if level else []
    if level == "teams_differ":
        levels = ["-x", "TEAMS_DIFFER=yes"]
    if list(settings) == TWO_NODES:
        levels += ["-x", "OVER_MPI=0"]
    mpirun(ranks + servers, "-x", "OMP_DYNAMIC=false", *levels, program(f"threads_{language}"), str(threads), str(path), f"--afterbay.servers={servers}",
           "--afterbay.deadline=30s", "--afterbay.report.table=off", *settings)
    return path


def check_contents(path):
    with netCDF4.Dataset(path) as data:
        data.set_auto_chartostring(False)
        deep = np.arange(3)[:, None, None, None] * 10000 + np.arange(3)[:, None, None] * 1000 + np.arange(260).reshape(26, 10)
        flat = deep[:, 0]
        assert data["n"][:].tolist() == [0, 1, 2], data["n"][:]
        for name, dtype in TYPES.items():
            assert data[name].dtype == dtype, data[name]
            np.testing.assert_array_equal(data[name][:], flat % 100 if name == "i1" else flat, name)
        np.testing.assert_array_equal(data["c"][:], (flat % 26 + ord("a")).astype("u1").view("S1"))
        np.testing.assert_array_equal(data["t"][:], deep)
        np.testing.assert_array_equal(data["q"][:], deep)


def main():
    first = run("c", *RUNS[0])
    check_contents(first)
    for language in ("c", "fortran"):
        if language == "fortran":
            program("threads_fortran")
        for numbers in RUNS if language == "fortran" else RUNS[1:]:
            same_files(first, run(language, *numbers))
            print(f"{language}: {numbers}: good", flush=True)
    for language in ("c", "fortran"):
        for level, settings in itertools.product(("funneled", "teams_differ", "serialized", "multiple"), ([], TWO_NODES)):
            if level == "funneled" and not settings:
                continue
            same_files(first, run(language, 3, 1, 4, level, *settings))
            print(f"{language}: {level}: {' '.join(settings)}: good", flush=True)


main()
