#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No file of a run replaces another one of it, whatever `existing` says: not a later part, not the
file of another entry, not a state; and not in a later job."""
import glob
import hashlib
import os
import pathlib
import shutil
import subprocess

import xarray

from lib_described import BUILD, run

COMMAND = str(BUILD / "apps/afterbay/afterbay")


def fresh(name):
    os.chdir(os.environ["SCRATCH_ROOT"])
    shutil.rmtree(name, ignore_errors=True)
    os.makedirs(name)
    os.chdir(name)


def contents():
    return {path: hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest() for path in glob.glob("**/*.nc", recursive=True)}


def refused(description, parts, continued=(), **options):
    """Returns new files; those that were there before must be unchanged, but for continued ones."""
    before = contents()
    found = run(description, expect=1, seconds=60, **options)
    for part in parts:
        assert part in found, f"expected {part!r} in:\n{found}"
    after = contents()
    for path, digest in before.items():
        assert after.get(path) == digest or path in continued, f"{path} was replaced or removed"
    return after.keys() - before.keys()


def later_jobs():
    """Names that repeat after 31 days."""
    fresh("later_jobs")
    daily = 'files: {a: {every: 1d, split: 1d, KEYS name: "x_{start:%d}", mean: [tas]}}\n'
    parts = ["output.yaml:1:9", "part 32 of the file 'a'", 'x_01.nc"', "which part 1 of the file 'a' has", "{part}"]
    run(daily.replace("KEYS", ""), last=124, finalize_to="state.nc")
    assert not refused(daily.replace("KEYS", ""), parts, first=125, last=140, resume="state.nc")
    with xarray.open_dataset("x_01.nc") as file:
        assert str(file.time.values[0]).startswith("2000-01-01"), file.time
    shutil.rmtree("one", ignore_errors=True)
    os.makedirs("one")
    os.chdir("one")
    refused(daily.replace("KEYS", "existing: replace,"), parts, last=140)
    if os.path.exists("x_01.nc"):  # the run stopped, perhaps before it was published
        with xarray.open_dataset("x_01.nc") as file:
            assert str(file.time.values[0]).startswith("2000-01-01"), file.time
    # When parts begin, the state says.
    fresh("later_records")
    records = 'files: {a: {every: 1d, split: 15 records, name: "x_{start:%d}", mean: [tas]}}\n'
    run(records, last=200, finalize_to="state.nc")
    assert sorted(glob.glob("x_*.nc")) == ["x_01.nc", "x_15.nc", "x_16.nc", "x_31.nc"], os.listdir()
    assert not refused(records, ["part 5 of the file 'a'", '"x_01.nc", which an earlier part has'], first=201, last=260,
                       resume="state.nc", continued=["x_15.nc"])


def what_was_left():
    """Parts that begin after the state are written again, as before."""
    fresh("what_was_left")
    daily = 'files: {a: {every: 1d, split: 1d, name: "x_{start:%m%d}", mean: [tas]}}\n'
    run(daily, last=40, save_at=16, save_to="state.nc")
    before = contents()
    assert "x_0110.nc" in before
    run(daily, first=17, last=40, resume="state.nc")
    with xarray.open_dataset("x_0110.nc") as file:
        assert str(file.time.values[0]).startswith("2000-01-10")
    assert contents().keys() == before.keys()


def states():
    fresh("states")
    both = 'case: c\nstate: "{case}_{date}"\nfiles: {a: {every: 1d, split: 1d, epochs: 1d, name: "{case}_{start}", mean: [tas]}}\n'
    assert not refused(both, ["output.yaml:2:8", "a state would have the name", "part 2 of the file 'a'"], last=12)
    daily = 'files: {a: {every: 1d, split: 1d, name: "s_{start:%d}", mean: [tas]}}\n'
    run(daily, last=16, finalize_to="s_05.nc")
    assert not refused(daily, ["part 5 of the file 'a'", "s_05.nc", "a saved state"], first=17, last=24, resume="s_05.nc")
    # The other way round.
    run("files: {b: {every: 1d, mean: [tas]}}\n", last=6)
    refused("files: {b: {every: 1d, existing: replace, mean: [tas]}}\n", ["the name of the file 'b'", "different names"],
            last=6, finalize_to="b.nc")


def other_files():
    """Found before the first step: nothing is written."""
    fresh("other_files")
    two = "files:\n  a: {every: 1d, existing: replace, %s, mean: [tas]}\n  b: {every: 1d, existing: replace, %s, mean: [uas]}\n"
    at_start = ["output.yaml:3:3", "the file 'b'", "of the file 'a'"]
    in_text = ["output.yaml:3:3", 'the files "a"', "would have the same name"]
    for first, second, parts in (
            ('split: 1d, name: "x_{start:%d}"', 'split: 2d, end_date: exclusive, name: "x_{end:%d}"', at_start),
            ('split: 1d, name: "x_{start:%Y%m%d}"', "name: x_20000103", at_start),
            ('split: 2 records, name: "x_{part}"', "name: x_7", at_start),
            ("name: x", "name: ./x.nc", in_text),
            ('directory: ".", name: x', "name: y/../x.nc", in_text),
            ("directory: d, name: x", "name: d//x", in_text)):
        assert not refused(two % (first, second), parts, last=8), (first, second)


def preview():
    """It knows how long the run is."""
    fresh("preview")
    daily = 'files: {a: {every: 1d, split: 1d, existing: replace, name: "x_{start:%d}", mean: [tas]}}\n'
    run(daily, last=0, settings=["--afterbay.output.definitions=model.yaml"])
    for days, expected in ((31, 0), (32, 1)):
        done = subprocess.run([COMMAND, "describe", "output.yaml", "--definitions", "model.yaml", "--length", f"{days}d"],
                              capture_output=True, text=True)
        said = done.stdout + done.stderr
        assert (done.returncode == 0) == (expected == 0), f"{days} days: exit code {done.returncode}\n{said}"
        assert expected == 0 or ("output.yaml:1:9" in said and "part 32 of the file 'a'" in said), said


os.environ["SCRATCH_ROOT"] = os.getcwd()
for task in (later_jobs, what_was_left, states, other_files, preview):
    task()
    print(f"{task.__name__}: good", flush=True)
