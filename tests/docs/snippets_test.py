#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles and runs the programs of the documentation, and checks its YAML. A fenced block that follows
`<!-- test: NAME -->` is one; the programs named hello.* must all write the same hello.nc."""
import os
import pathlib
import re
import subprocess
import sys

import netCDF4
import numpy

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
SOURCE = pathlib.Path(os.environ["AFTERBAY_SOURCE"])
BLOCK = re.compile(r"<!-- test: (\S+) -->\n```\w+\n(.*?)```", re.S)
INCLUDES = [f"-I{SOURCE}/include", f"-I{BUILD}/include"]
LIBRARY = [f"-L{BUILD}/src", "-lafterbay", f"-Wl,-rpath,{BUILD}/src"]


def sh(*command, cwd):
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def fortran_flags():
    module = next(BUILD.rglob("afterbay.mod"), None)
    library = next(BUILD.rglob("libafterbay_fortran.so"), None)
    if module is None or library is None:
        return None
    return [f"-I{module.parent}", f"-L{library.parent}", "-lafterbay_fortran", f"-Wl,-rpath,{library.parent}"]


def compile_program(source, work):
    if source.suffix == ".cpp":
        sh("mpicxx", "-std=c++20", "-DOMPI_SKIP_MPICXX", *INCLUDES, source.name, *LIBRARY, "-o", "program", cwd=work)
    elif source.suffix == ".c":
        sh("mpicc", "-std=c99", "-Wall", "-Werror", *INCLUDES, source.name, *LIBRARY, "-o", "program", cwd=work)
    else:
        flags = fortran_flags()
        if flags is None:
            return False
        sh("mpif90", source.name, *flags, *LIBRARY, "-o", "program", cwd=work)
    return True


def check_hello(work):
    sh("mpirun", "--oversubscribe", "-np", "4", "./program", cwd=work)
    with netCDF4.Dataset(work / "hello.nc") as file:
        assert file["t2m"].units == "K"
        expected = 280.0 + numpy.arange(96).reshape(12, 8) + 100.0 * numpy.arange(3)[:, None, None]
        numpy.testing.assert_array_equal(file["t2m"][:], expected)


def main():
    found = 0
    for page in [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]:
        for name, text in BLOCK.findall(page.read_text()):
            work = pathlib.Path(f"{page.stem}.{name}")
            work.mkdir()
            (work / name).write_text(text)
            found += 1
            if name.endswith(".yaml"):
                sh(BUILD / "apps/afterbay/afterbay", "check", name, cwd=work)
            elif compile_program(work / name, work):
                check_hello(work)
            print(f"{page.name}: {name}: good")
    assert found >= 4, f"only {found} tested snippets were found"


main()
