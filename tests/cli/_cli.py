# SPDX-License-Identifier: Apache-2.0
"""Runs the command `afterbay` of the build in AFTERBAY_BUILD and checks its output."""
import os
import pathlib
import subprocess
import unittest

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
SOURCE = pathlib.Path(os.environ.get("AFTERBAY_SOURCE", pathlib.Path(__file__).parents[2]))
COMMAND = BUILD / "apps" / "afterbay" / "afterbay"

OK, WRONG, USAGE, IO, LOST, INTERNAL, RUNNING = range(7)


def run(*arguments, settings=None, launcher=()):
    """The finished process; `settings` are the only AFTERBAY_* variables in its environment."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AFTERBAY_")}
    environment.update(settings or {})
    return subprocess.run([*launcher, COMMAND, *arguments], env=environment, capture_output=True, text=True,
                          timeout=60, check=False)


class CommandTest(unittest.TestCase):
    def expect(self, code, *arguments, **options):
        """Runs the command, checks its exit code and returns its output."""
        done = run(*arguments, **options)
        self.assertEqual(done.returncode, code, f"\nstdout: {done.stdout}\nstderr: {done.stderr}")
        return done

    def write(self, name, text):
        path = pathlib.Path(name)
        path.write_text(text)
        return str(path)
