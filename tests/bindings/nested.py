#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nested parallel regions and tasks of OpenMP, whose threads put through endpoints of their own or
of a pool, in C++ and Fortran: the contents are the same as if the session puts everything, with
shared memory and with a server on another node."""
import netCDF4
import numpy as np

from lib_bindings import mpirun, program, same_files

TWO_NODES = ["--afterbay.nodes=0,0,1", "--afterbay.isolate_nodes=off"]


def run(language, how, *settings):
    path = f"{language}_{how}{'_nodes' if settings else ''}.nc"
    mpirun(3, program(f"nested_{language}"), how, path, "--afterbay.servers=1", "--afterbay.deadline=30s", "--afterbay.report.table=off", *settings)
    return path


def main():
    plain = run("cpp", "none")
    with netCDF4.Dataset(plain) as data:
        deep = np.arange(5)[:, None, None, None] * 10000 + np.arange(3)[:, None, None] * 1000 + np.arange(260).reshape(26, 10)
        np.testing.assert_array_equal(data["t"][:], deep)
        np.testing.assert_array_equal(data["s"][:], deep[:, 0])
    for language in ("cpp", "fortran"):
        for how in ("bound", "lent", "tasks"):
            for settings in ([], TWO_NODES):
                same_files(plain, run(language, how, *settings))
                print(f"{language}: {how} {' '.join(settings)}: good", flush=True)


main()
