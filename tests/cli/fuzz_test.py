#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands survive damaged files: a few hundred mutants of real files each
(tests/fuzz/fuzz_commands.cpp).

AFTERBAY_TEST_MUTANTS says how many, AFTERBAY_TEST_SEED which, AFTERBAY_TEST_FUZZ names the program
of another build."""
import os
import pathlib
import resource
import shutil
import subprocess
import unittest

import netCDF4
import numpy

from _cli import BUILD, COMMAND

PROGRAM = os.environ.get("AFTERBAY_TEST_FUZZ", BUILD / "tests" / "fuzz" / "fuzz_commands")
MUTANTS = int(os.environ.get("AFTERBAY_TEST_MUTANTS", "300"))
SEED = os.environ.get("AFTERBAY_TEST_SEED", "1")
FORMATS = {"classic": "NETCDF3_CLASSIC", "cdf5": "NETCDF3_64BIT_DATA", "nc4": "NETCDF4"}


def call(*words):
    subprocess.run([str(word) for word in words], check=True, capture_output=True, timeout=60)


def no_core_files():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Fuzz(unittest.TestCase):
    def survives(self, command, *inputs):
        environment = {"AFTERBAY_READER": str(BUILD / "libexec" / "afterbay" / "afterbay-reader"), **os.environ}
        done = subprocess.run([PROGRAM, command, str(MUTANTS), SEED, *map(str, inputs)], capture_output=True, text=True,
                              env=environment, preexec_fn=no_core_files, check=False)
        errors = pathlib.Path("errors.txt").read_text(errors="replace")[-4000:]
        self.assertEqual(done.returncode, 0, f"{done.stderr}\n{errors}")
        self.assertIn(f"{MUTANTS} mutants survived", done.stderr)

    def maps(self):
        """Decomposition files of all kinds."""
        call(COMMAND, "decomp", "make", "mpas", "map.dat", "--cells", "300", "--ranks", "4", "--to", "pio", "--overwrite")
        for name, kind in (("map.e3sm.nc", "e3sm"), ("map.nc", "afterbay")):
            call(COMMAND, "decomp", "make", "mpas", name, "--cells", "300", "--ranks", "4", "--to", kind, "--overwrite")
        return "map.2.dat", "map.e3sm.nc", "map.nc"

    def histories(self):
        """The same small history file in the classic formats and in netCDF-4."""
        for name, kind in FORMATS.items():
            with netCDF4.Dataset(f"history.{name}.nc", "w", format=kind) as file:
                for dimension, length in (("time", None), ("y", 6), ("x", 40), ("two", 2)):
                    file.createDimension(dimension, length)
                file.setncatts({"title": "history", "levels": numpy.arange(5.0)})
                packing = {"zlib": True, "shuffle": True, "fletcher32": True} if name == "nc4" else {}
                temperature = file.createVariable("T", "f4", ("time", "y", "x"), fill_value=1e20, **packing)
                temperature.units = "K"
                temperature[:] = numpy.arange(720).reshape(3, 6, 40)
                file.createVariable("time", "f8", ("time",))[:] = [1, 2, 3]
                file.createVariable("mask", "i4", ("y", "x"))[:] = 1
                file.createVariable("text", "S1", ("two", "x"))[:] = "c"
                file.createVariable("counts", "i2", ("time", "x"))[:] = 7
                if name == "nc4":
                    file.createVariable("names", str, ("two",))[:] = numpy.array(["Elbe", "Weser"], object)
        return [f"history.{name}.nc" for name in FORMATS]

    def run_directory(self):
        """A directory with the journal and the statistics pages of two runs, the last of which left
        part files."""
        self.histories()
        directory = pathlib.Path("runs")
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir()
        for output in ("one.nc", "two.nc"):
            subprocess.run(["mpirun", "--oversubscribe", "-np", "3", COMMAND, "replay", "../history.cdf5.nc", output, "--servers", "1",
                            "--repeat", "2"], cwd=directory, check=True, capture_output=True, timeout=60)
        (directory / "two.nc").unlink()
        journal = next(directory.glob("afterbay-journal/server-*.jsonl"))
        lines = journal.read_text().splitlines(keepends=True)
        journal.write_text("".join(lines[:-2]))  # as if it had been killed
        return directory

    def test_decomp_survives_damaged_files(self):
        self.survives("decomp", *self.maps())

    def test_compare_survives_damaged_files(self):
        self.survives("compare", *self.histories())

    def test_replay_survives_damaged_files(self):
        self.survives("replay", *self.histories())

    def test_status_survives_damaged_journals(self):
        self.survives("status", self.run_directory() / "afterbay-journal")

    def test_top_survives_damaged_pages(self):
        self.survives("top", self.run_directory() / "afterbay-journal")


if __name__ == "__main__":
    unittest.main()
