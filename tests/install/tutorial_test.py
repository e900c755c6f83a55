#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tutorial works to the letter from an installation, in C++, C and Fortran, with pkg-config and with CMake."""
import netCDF4
import numpy
from _follow import Newcomer


def check_file(path):
    with netCDF4.Dataset(path) as file:
        expected = 280.0 + numpy.arange(96).reshape(12, 8) + 100.0 * numpy.arange(3)[:, None, None]
        numpy.testing.assert_array_equal(file["t2m"][:], expected)
        assert file["t2m"].units == "K"
    path.unlink()


def main():
    user = Newcomer()
    user.read_settings()
    hello = user.work / "hello.nc"
    written = 0
    for kind, title, text in user.page("docs/tutorial.md"):
        if kind == "test":
            user.save(title, text)
        elif title not in ("settings", "as root"):
            for command in text.splitlines():
                user.run(f"{title}: {command}", command)
                if command.startswith("mpirun") or " mpirun" in command:
                    assert hello.exists(), f"{command} wrote no file"
                if hello.exists() and title != "C++" or command.startswith("ncdump"):
                    check_file(hello)
                    written += 1
    assert written == 6, f"{written} files were written"
    user.run("any number of ranks", "mpirun --oversubscribe -np 6 ./hello")
    check_file(hello)
    user.run("examples", "cmake -S ~/afterbay/share/doc/afterbay/examples -B examples -DCMAKE_PREFIX_PATH=$HOME/afterbay\n"
             "cmake --build examples\n"
             "mpirun --oversubscribe -np 3 examples/shallow_water_c --grid 64x64 --steps 10")


main()
