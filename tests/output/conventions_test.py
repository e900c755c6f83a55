#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The files of the example with described output follow the CF conventions: compliance-checker
finds nothing."""
import os
import pathlib
import subprocess
import sys

from lib_described import BUILD

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/shallow_water/output.yaml"
checker = pathlib.Path(os.environ.get("TEST_CHECKERS", ".")) / "compliance-checker"
if not checker.exists():
    print("skipped: compliance-checker is not installed: ./dev test does it")
    sys.exit(77)

pathlib.Path("files").mkdir(exist_ok=True)
subprocess.run(["timeout", "-k", "5", "100", "mpirun", "--oversubscribe", "-np", "3", BUILD / "examples/shallow_water", "--grid", "168x112",
                "--steps", "450", "--output", "described", "--directory", "files", f"--afterbay.output={EXAMPLE}", "--afterbay.servers=1",
                "--afterbay.report.table=off"], check=True)
files = sorted(pathlib.Path("files").glob("*.nc"))
assert len(files) == 2, files
for file in files:
    # Python of its own: no modules of the tests.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run([checker, "-t", "cf:1.11", "-c", "strict", file], capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and "All tests passed!" in done.stdout, done.stdout + done.stderr
