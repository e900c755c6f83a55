#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Configuring with an older netCDF-C, or with none, fails with the version that is needed. Before,
compiling failed, because functions were unknown."""
import os
import pathlib
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ["AFTERBAY_SOURCE"])
PROJECT = f"""cmake_minimum_required(VERSION 3.25)
project(needs NONE)
find_package(PkgConfig REQUIRED)
include("{SOURCE}/cmake/SerialNetcdf.cmake")
"""


class NetcdfVersionTest(unittest.TestCase):
    def configured(self, version=None):
        """The result of configuring where pkg-config knows netCDF of this version only."""
        work = pathlib.Path(self.id().split(".")[-1]) / str(version)
        packages = work / "packages"
        packages.mkdir(parents=True)
        (work / "CMakeLists.txt").write_text(PROJECT)
        if version:
            (packages / "netcdf.pc").write_text(f"libdir=/opt/netcdf/lib\nName: netcdf\nDescription: netCDF\nVersion: {version}\n")
        return subprocess.run(["cmake", "-S", str(work), "-B", str(work / "build")], capture_output=True, text=True, check=False,
                              env=os.environ | {"PKG_CONFIG_LIBDIR": str(packages.resolve()), "PKG_CONFIG_PATH": ""})

    def said(self, *versions):
        done = self.configured(*versions)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return " ".join(done.stderr.split())

    def test_older_versions_are_refused(self):
        self.assertIn("Afterbay needs netCDF-C 4.8.0 or newer; pkg-config finds 4.7.4 in /opt/netcdf/lib. Install a newer one", self.said("4.7.4"))

    def test_none(self):
        self.assertIn("Afterbay needs netCDF-C 4.8.0 or newer, and pkg-config finds none. Install it (libnetcdf-dev)", self.said())

    def test_newer_versions_are_accepted(self):
        for version in ("4.8.0", "4.9.3", "4.10.0"):
            done = self.configured(version)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
