# SPDX-License-Identifier: Apache-2.0
"""Clang refuses workers that use state of the ingest thread. Skipped without clang++; ./dev lint
runs it too."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

SOURCE = pathlib.Path(os.environ["AFTERBAY_SOURCE"])
BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
HERE = SOURCE / "tests" / "cli"
CLANG = shutil.which("clang++")


def analyse(path):
    """Clang's output for a file whose warnings of the analysis are errors."""
    include = [f"-I{folder}" for folder in (SOURCE / "include", SOURCE / "src", BUILD / "include")]
    options = ["-std=c++20", "-fsyntax-only", "-Wthread-safety", "-Werror", "-ferror-limit=0", "-fno-caret-diagnostics"]
    libraries = ["-DFMT_SHARED", "-DSPDLOG_COMPILED_LIB", "-DSPDLOG_FMT_EXTERNAL", "-DSPDLOG_SHARED_LIB"]
    return subprocess.run([CLANG, *options, *libraries, *include, str(path)], capture_output=True, text=True, check=False)


def errors_of(text):
    """(file, line, message) of each error."""
    return [(pathlib.Path(file).name, int(line), message)
            for file, line, message in re.findall(r"^(.+?):(\d+):\d+: (?:fatal )?error: (.*)$", text, re.M)]


class ThreadRoles(unittest.TestCase):
    def test_workers_may_not_use_the_state_of_the_ingest_thread(self):
        path = HERE / "thread_roles.cpp"
        marked = {number: found[1] for number, line in enumerate(path.read_text().splitlines(), 1)
                  if (found := re.search(r"// refused: (.*)$", line))}
        self.assertGreater(len(marked), 10)
        result = analyse(path)
        errors = errors_of(result.stderr)
        for number, text in marked.items():
            said = [message for file, line, message in errors if (file, line) == (path.name, number)]
            with self.subTest(line=number):
                self.assertTrue(any(text in message and "'ingest_thread'" in message for message in said), said)
        others = [error for error in errors if error[0] != path.name or error[1] not in marked]
        self.assertEqual(others, [], result.stderr)
        self.assertNotEqual(result.returncode, 0)

    def test_a_worker_cannot_claim_to_be_the_ingest_thread(self):
        result = analyse(HERE / "thread_roles_claimed.cpp")
        self.assertEqual([file for file, _, _ in errors_of(result.stderr)], ["thread_functions.hpp"], result.stderr)
        self.assertIn("requires holding role 'ingest_thread'", result.stderr)


if __name__ == "__main__":
    if CLANG is None:
        print("skipped: there is no clang++, whose analysis this tests")
        sys.exit(77)
    unittest.main()
