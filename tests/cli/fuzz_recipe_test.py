#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The fuzz recipe of CONTRIBUTING.md covers every command that reads files: `./dev fuzz COMMAND` is
run (tools/fuzz.sh), with this build and a few mutants."""
import os
import pathlib
import re
import subprocess
import unittest

SOURCE = pathlib.Path(os.environ["AFTERBAY_SOURCE"])
BUILD = os.environ["AFTERBAY_BUILD"]
COMMANDS = {"compare", "decomp", "recover", "replay", "status", "top"}


def fuzz(*arguments):
    environment = os.environ | {"AFTERBAY_TEST_FUZZ_BUILD": BUILD, "AFTERBAY_TEST_FUZZ_SCRATCH": str(pathlib.Path.cwd())}
    return subprocess.run(["bash", SOURCE / "tools/fuzz.sh", *arguments], env=environment, capture_output=True, text=True, timeout=100, check=False)


class FuzzRecipe(unittest.TestCase):
    def test_every_command_has_a_line(self):
        listed = re.findall(r"^\./dev fuzz (\w+)$", (SOURCE / "CONTRIBUTING.md").read_text(), re.M)
        self.assertEqual((set(listed), len(listed)), (COMMANDS, len(COMMANDS)))

    def test_every_line_gives_its_command_the_mutants(self):
        for command in sorted(COMMANDS):
            done = fuzz(command, "12", "3")
            said = f"{command}: {done.stdout}{done.stderr}"
            self.assertEqual(done.returncode, 0, said)
            self.assertIn(f"{command} survived 12 mutants", done.stdout)
            if command == "recover":  # the test programs would accept a filter that matches nothing
                self.assertEqual(re.findall(r"^(\d+) mutants, [1-9]", done.stdout, re.M), ["6", "6"], said)
            else:
                self.assertIn("Ran 1 test", done.stderr, said)

    def test_another_command_is_refused(self):
        for arguments in ((), ("verify",)):
            done = fuzz(*arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("recover", done.stderr)


if __name__ == "__main__":
    unittest.main()
