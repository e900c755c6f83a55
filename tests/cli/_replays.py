# SPDX-License-Identifier: Apache-2.0
"""Tests that replay a small file."""
import os
import pathlib

import netCDF4
import numpy

from _cli import CommandTest


class ReplayTest(CommandTest):
    """Each test runs in its own directory, with `../in.nc`: RECORDS of POINTS consecutive
    numbers."""

    POINTS, RECORDS = 5000, 4

    @classmethod
    def setUpClass(cls):
        with netCDF4.Dataset("in.nc", "w") as data:
            data.createDimension("time", None)
            data.createDimension("x", cls.POINTS)
            values = numpy.arange(cls.RECORDS * cls.POINTS, dtype="f4").reshape(cls.RECORDS, cls.POINTS)
            data.createVariable("T", "f4", ("time", "x"))[:] = values

    def setUp(self):
        work = pathlib.Path(self.id().split(".")[-1])
        work.mkdir()
        self.addCleanup(os.chdir, pathlib.Path.cwd())
        os.chdir(work)
