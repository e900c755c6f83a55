#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands that afterbay status recommends, executed verbatim by a shell, after a run was
killed at an epoch."""
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

import netCDF4

from _cli import BUILD, COMMAND, LOST, OK, CommandTest

MODEL = BUILD / "tests/fault/epoch_model"


def kill_after_an_epoch(output, journal):
    """One process, killed while it writes OUTPUT/packed.nc and OUTPUT/classic.nc, once the journal
    contains an epoch."""
    job = subprocess.Popen(["mpirun", "--oversubscribe", "-np", "1", MODEL, output, "1000000", "--afterbay.topology=inline",
                            f"--afterbay.journal.directory={journal}"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 60
        while not any('"event":"epoch_completed"' in it.read_text() for it in journal.glob("server-*.jsonl")):
            if time.monotonic() > deadline or job.poll() is not None:
                raise AssertionError("the run made no epoch")
            time.sleep(0.05)
        os.kill(int(pathlib.Path("pid.model.0").read_text()), signal.SIGKILL)
        job.wait(timeout=60)
    finally:
        job.kill()
        job.wait()


class StatusAdviceTest(CommandTest):
    def setUp(self):
        work = pathlib.Path(self.id().split(".")[-1])
        (work / "elsewhere").mkdir(parents=True)
        self.addCleanup(os.chdir, pathlib.Path.cwd())
        os.chdir(work)

    def advice(self, *words):
        return re.findall("to be restored: (.*)", self.expect(LOST, "status", *words).stdout)

    def follow(self, advice, directory="elsewhere"):
        path = f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"
        for line in advice:
            done = subprocess.run(line, shell=True, executable="/bin/sh", cwd=directory, env=os.environ | {"PATH": path}, capture_output=True,
                                  text=True, timeout=60, check=False)
            self.assertEqual((done.returncode, done.stderr), (OK, ""), line)

    def check(self, output, *words):
        """Both files are restored, by netCDF, and status and verify know it."""
        run = json.loads(self.expect(LOST, "status", "--json", *words).stdout)["runs"][0]
        self.assertEqual(run["last_epoch"]["to_recover"], [])
        self.assertEqual(run["last_epoch"]["gone"], [])
        self.assertEqual(run["unpublished"], [])
        self.assertIn("2 of 2 files are what the journal says", self.expect(OK, "verify", *words).stdout)
        for name in ("packed.nc", "classic.nc"):
            with netCDF4.Dataset("any", memory=(output / name).read_bytes()) as data:  # which takes no name that is not UTF-8
                self.assertEqual(len(data.dimensions["time"]), int(run["last_epoch"]["name"]))

    def test_the_journal_is_neither_here_nor_beside_the_files(self):
        """Before, the line did not name the journal: the recovery was not recorded, and status said
        that the files were gone."""
        output, journal = pathlib.Path("a run's output/x/y").resolve(), pathlib.Path("its journal")
        output.mkdir(parents=True)
        journal.mkdir()
        kill_after_an_epoch(output, journal.resolve())
        advice = self.advice(str(journal))
        self.assertEqual(len(advice), 2)
        for line in advice:
            self.assertIn(f" --journal '{journal.resolve()}' ", line)
        self.follow(advice)
        self.check(output, str(journal))

    def test_names_that_are_not_printable(self):
        """Before, the line was for bash only."""
        output, journal = (pathlib.Path(f"{name}'s \udcff$x\\\n").resolve() for name in ("out", "journal"))
        output.mkdir()
        journal.mkdir()
        kill_after_an_epoch(output, pathlib.Path("afterbay-journal").resolve())
        pathlib.Path("afterbay-journal").rename(journal / "afterbay-journal")
        advice = self.advice(str(journal))
        self.assertEqual(len(advice), 2)
        for line in advice:
            self.assertTrue(line.startswith('eval "$(printf ') and line.isascii() and line.isprintable(), line)
        self.follow(advice)
        self.check(output, str(journal))

    def test_the_journal_in_the_working_directory_only(self):
        """The line is also valid in other directories."""
        output = pathlib.Path("out/x/y").resolve()
        output.mkdir(parents=True)
        kill_after_an_epoch(output, pathlib.Path("afterbay-journal").resolve())
        advice = self.advice()
        self.assertIn(f" --journal {pathlib.Path('afterbay-journal').resolve()} ", advice[0])
        self.follow(advice)
        self.check(output)

    def test_the_journal_above_the_files(self):
        """A search finds it; a journal of others in the working directory prevents that."""
        output = pathlib.Path("out").resolve()
        output.mkdir()
        kill_after_an_epoch(output, pathlib.Path("afterbay-journal").resolve())
        here = pathlib.Path.cwd()
        others = pathlib.Path("elsewhere/afterbay-journal")
        others.mkdir()
        (others / "server-0.jsonl").write_text("")
        advice = self.advice()
        for line in advice:
            self.assertNotIn("--journal", line)
        os.chdir("elsewhere")
        for line in self.advice(str(here)):
            self.assertIn("--journal", line)
        os.chdir(here)
        self.follow(advice)
        self.check(output)


if __name__ == "__main__":
    unittest.main()
