#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ranks put variables in a random order, some of them after the epoch that their record belongs to,
and are killed. Every epoch that `recover` offers contains what was put before it, and nothing else;
values are read by netCDF4.

EPOCH_ORDER_RUNS: how many runs (12), EPOCH_ORDER_SEED: which ones (1)."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

import netCDF4
import numpy

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
MODEL = BUILD / "tests/fault/epoch_order_model"
COMMAND = BUILD / "apps/afterbay/afterbay"
RUNS = int(os.environ.get("EPOCH_ORDER_RUNS", "12"))
SEED = int(os.environ.get("EPOCH_ORDER_SEED", "1"))
POINTS = 12 * 40
ALONE = ((1, ("topology=inline",)), (2, ("topology=inline", "inline.mode=thread")), (3, ("servers=1",)))
LAYOUTS = ALONE + ((4, ("servers=2", "placement=slab")), (4, ("servers=2", "placement=variable")),
                   (3, ("servers=1", "transport=mpi")))
WORK = pathlib.Path("work").resolve()
COPY = pathlib.Path("copy").resolve()


def fail(text):
    sys.exit(text)


def play(seed, schema, existing, store, run, end, layout):
    ranks, settings = layout
    words = ["mpirun", "--oversubscribe", "-np", ranks, MODEL, seed, schema, 3 * (1 + seed % 3), existing, store, run, end,
             "--afterbay.deadline=20s", *(f"--afterbay.{setting}" for setting in settings)]
    done = subprocess.run([str(word) for word in words], cwd=WORK, capture_output=True, text=True, timeout=120, check=False)
    if (done.returncode == 0) != (end == "finalize") or not (WORK / f"calls.{run}").exists():
        fail(f"{words}: ended with {done.returncode}: {done.stderr[-2000:]}")


def calls(run):
    """({(variable, record): run} by epoch, what was put in all, epochs that were complete)"""
    put, epochs, complete = {}, {}, set()
    for line in (WORK / f"calls.{run}").read_text().splitlines():
        what, *numbers = line.split()
        numbers = [int(number) for number in numbers]
        if what == "put":
            put[tuple(numbers)] = run
        elif what == "epoch":
            epochs[numbers[0]] = dict(put)
        elif what == "complete":
            complete.add(numbers[0])
    return epochs, put, complete


def check(path, expected, what):
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        for name, variable in file.variables.items():
            number = int(name[1:])
            fill = getattr(variable, "_FillValue", netCDF4.default_fillvals[variable.dtype.str[1:]])
            has_records = "time" in variable.dimensions
            values = variable[:].astype("f8").reshape(-1, POINTS)
            records = [record for of, record in expected if of == number]
            if has_records and len(values) <= max(records, default=-1):
                fail(f"{what}: {name} has {len(values)} records, not {max(records) + 1}")
            for record, found in enumerate(values):
                run = expected.get((number, record if has_records else -1))
                first = 0 if run is None else run * 100000 + number * 20000 + (record + 1 if has_records else 0) * POINTS
                wanted = numpy.full(POINTS, fill, "f8") if run is None else first + numpy.arange(POINTS)
                if not numpy.array_equal(found, wanted):
                    wrong = numpy.flatnonzero(found != wanted)
                    fail(f"{what}: {name}, record {record}: {len(wrong)} of {POINTS} values are wrong, the first is {found[wrong[0]]}, "
                         f"not {wanted[wrong[0]]}; seed {SEED}, files are in {WORK}")


def command(*words, where=WORK):
    return subprocess.run([str(word) for word in (COMMAND, *words)], cwd=where, capture_output=True, text=True, timeout=60, check=False)


def one(number):
    chance = random.Random(SEED * 100003 + number)
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir()
    store = chance.choice(("netcdf4", "netcdf4", "netcdf4", "cdf5", "cdf2"))
    appends, schema = chance.random() < 0.4, chance.randrange(10 ** 6)
    before = {}
    if appends:
        play(chance.randrange(10 ** 6), schema, "replace", store, 1, "finalize", chance.choice(ALONE))
        before = calls(1)[1]
        check(WORK / "out.nc", before, f"run {number}, before it is appended to")
    layout = chance.choice(ALONE if appends else LAYOUTS)
    play(chance.randrange(10 ** 6), schema, "append" if appends else "replace", store, 2, "kill", layout)
    epochs, _, complete = calls(2)
    listed = command("recover", "--list", "--json", "out.nc")
    offered = [epoch["epoch"] for epoch in json.loads(listed.stdout)[0]["epochs"]] if listed.returncode == 0 else []
    if not complete <= set(offered):
        fail(f"run {number}: epochs {complete} were complete, recover offers {offered}: {listed.stderr}")
    for epoch in offered:
        shutil.rmtree(COPY, ignore_errors=True)
        subprocess.run(["cp", "-a", WORK, COPY], check=True)
        done = command("recover", "--number", epoch, *(["--replace"] if appends else []), "out.nc", where=COPY)
        if done.returncode != 0:
            fail(f"run {number}: recover --number {epoch}: {done.stderr}")
        check(COPY / "out.nc", before | epochs[epoch], f"run {number} ({store}, {layout}, appends: {appends}), epoch {epoch}")
    return len(offered)


def main():
    recovered = sum(one(number) for number in range(RUNS))
    print(f"{recovered} epochs of {RUNS} runs came back as they were")
    if recovered < RUNS / 2:
        fail("the runs were killed before they had epochs")


if __name__ == "__main__":
    main()
