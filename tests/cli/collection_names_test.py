# SPDX-License-Identifier: Apache-2.0
"""Settings of variables reach the file; those of variables that a collection does not have are
refused."""
import pathlib
import sys
import unittest

from _cli import OK, CommandTest, run

try:
    import netCDF4
except ImportError:
    print("netCDF4 for Python is not installed; skipped")
    sys.exit(77)

MPIRUN = ("timeout", "-k", "5", "60", "mpirun", "--oversubscribe", "-np", "2")
REPLAY = ("replay", "in.nc", "out.nc", "--afterbay.report.table=off")


class VariableNames(CommandTest):
    def setUp(self):
        pathlib.Path("out.nc").unlink(missing_ok=True)
        with netCDF4.Dataset("in.nc", "w") as file:
            file.createDimension("time", None)
            file.createDimension("x", 5)
            file.createVariable("temperature", "f4", ("time", "x"))[:] = [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]

    def test_settings_reach_the_file(self):
        done = run(*REPLAY, "--afterbay.collections.re*.variables.temp*.deflate=3", launcher=MPIRUN)
        self.assertEqual(done.returncode, OK, done.stderr)
        with netCDF4.Dataset("out.nc") as file:
            self.assertEqual(file["temperature"].filters()["complevel"], 3)
            self.assertEqual(file["temperature"][1].tolist(), [6, 7, 8, 9, 10])

    def test_unknown_variable(self):
        done = run(*REPLAY, "--afterbay.collections.replay.variables.temprature.deflate=3", launcher=MPIRUN)
        self.assertNotIn(done.returncode, (OK, 124), done.stderr)
        self.assertIn('the collection "replay" has no variable "temprature"; did you mean "temperature"?', done.stderr)
        self.assertFalse(pathlib.Path("out.nc").exists())


if __name__ == "__main__":
    unittest.main()
