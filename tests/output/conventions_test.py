#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files follow the CF conventions: compliance-checker and cfchecker find nothing in those of the
example, described and not, nor in files of a description with packed values, limits, units, subsets
and folded periods.

cfchecker 4.1 knows conventions up to CF-1.8, and wants the names of files to end with .nc: it gets
copies that say CF-1.8. Nothing is fetched: the table of standard names is that of
compliance-checker; those of area types and regions, of which no file has any, are empty."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import netCDF4

from lib_described import BUILD, run

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/shallow_water/output.yaml"
CHECKERS = pathlib.Path(os.environ.get("TEST_CHECKERS", "."))
checker = CHECKERS / "compliance-checker"
if not checker.exists():
    print("skipped: compliance-checker is not installed: ./dev test does it")
    sys.exit(77)
# Python of its own: no modules of the tests.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

TABLE = '<?xml version="1.0"?>\n<table><version_number>0</version_number><date>none</date></table>\n'
pathlib.Path("no_entries.xml").write_text(TABLE)
found = subprocess.run([CHECKERS / "python", "-c", "import compliance_checker; print(compliance_checker.__path__[0])"], capture_output=True,
                       text=True, check=True, env=ENVIRONMENT)
NAMES = pathlib.Path(found.stdout.strip()) / "data/cf-standard-name-table.xml"
assert NAMES.exists(), NAMES


def cfchecker(file):
    """What it says, without the names of variables that it checks."""
    shutil.copyfile(file, "checked.nc")
    with netCDF4.Dataset("checked.nc", "a") as copy:
        copy.Conventions = "CF-1.8"
    done = subprocess.run([CHECKERS / "cfchecks", "-v", "1.8", "-s", NAMES, "-a", "no_entries.xml", "-r", "no_entries.xml", "checked.nc"],
                          capture_output=True, text=True, env=ENVIRONMENT)
    assert "Checking variable: " in done.stdout, done.stdout + done.stderr
    return done


def check(path, version="1.11"):
    done = subprocess.run([checker, "-t", f"cf:{version}", "-c", "strict", path], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0 and "All tests passed!" in done.stdout, f"{path}: {done.stdout}{done.stderr}"
    done = cfchecker(path)
    counts = re.findall(r"(ERRORS detected|WARNINGS given|INFORMATION messages): (\d+)", done.stdout)
    assert done.returncode == 0 and counts == [("ERRORS detected", "0"), ("WARNINGS given", "0"), ("INFORMATION messages", "0")], \
        f"{path}: {done.stdout}{done.stderr}"


def checkers_find_mistakes():
    """Otherwise the test could not fail."""
    shutil.copyfile("files/day.nc", "wrong.nc")
    with netCDF4.Dataset("wrong.nc", "a") as file:
        file["speed"].units = "smoots"
        file["speed"].standard_name = "sped"
    done = cfchecker("wrong.nc")
    assert done.returncode != 0 and "smoots" in done.stdout and "sped" in done.stdout, done.stdout


for output, files in (("described", 2), ("afterbay", 2)):
    pathlib.Path("files").mkdir(exist_ok=True)
    subprocess.run(["timeout", "-k", "5", "100", "mpirun", "--oversubscribe", "-np", "3", BUILD / "examples/shallow_water", "--grid", "168x112",
                    "--steps", "450", "--output", output, "--directory", "files", f"--afterbay.output={EXAMPLE}", "--afterbay.servers=1",
                    "--afterbay.report.table=off"], check=True)
    made = sorted(pathlib.Path("files").glob("*.nc"))
    assert len(made) == files, made
    for path in made:
        check(path, "1.11" if output == "described" else "1.10")
    if output == "described":
        checkers_find_mistakes()
    shutil.rmtree("files")

run("""
defaults: {attributes: {title: for checkers}}
fields:
  wind: {expression: sqrt(uas^2 + vas^2), units: m s-1, attributes: {standard_name: wind_speed}}
  toce: {attributes: {units_metadata: "temperature: on_scale"}}
grids:
  part: {box: {lon: [20, 120], lat: [-40, 40]}, reverse: [lat]}
files:
  packed: {every: 1d, mean: [tas: {pack: int16, pack_range: [-1, 400]}, vas: {pack: int8, pack_range: [0, 300]}], max: [tas]}
  units: {every: 1d, mean: [tas: {units: degC}, wind], instant: [uas], rate: [uas: acceleration]}
  part: {every: 6h, grid: part, instant: [tas, toce]}
  months: {every: 1mo, cycle: 1d, cycle_step: 6h, mean: [tas]}
""", last=12, limits=1)
made = sorted(pathlib.Path(".").glob("[a-z]*.nc"))
made = [path for path in made if path.name not in ("checked.nc", "wrong.nc")]
assert len(made) == 4, made
for path in made:
    check(path)
    print(f"{path}: nothing found")
