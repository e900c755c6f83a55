#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills `afterbay recover` just before each of its calls on files, or lets the calls fail, and
recovers other epochs afterwards. Then a second run uses the same names and dies before its first
epoch. Values are read by netCDF4. RECOVER_KILLS: how many calls, at most."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import netCDF4
import numpy

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
MODEL = BUILD / "tests/fault/epoch_model"
COMMAND = BUILD / "apps/afterbay/afterbay"
SHIM = BUILD / "tests/fault/libfault_shim.so"
KILLS = int(os.environ.get("RECOVER_KILLS", "24"))
MODELS, ROWS, COLUMNS = 2, 60, 80
WORK = pathlib.Path("disk").resolve()
OUT = WORK / "out"
NAMES = ("packed.nc", "classic.nc")
CALLS = "write,sync,rename,open,truncate,unlink"


def fail(text):
    sys.exit(text)


def command(*words, rules=None):
    environment = dict(os.environ)
    if rules:
        pathlib.Path("rules").write_text(rules + "\n")
        environment |= {"LD_PRELOAD": str(SHIM), "FAULT_RULES": str(pathlib.Path("rules").resolve())}
    return subprocess.run([str(COMMAND), *map(str, words)], cwd=WORK, env=environment, capture_output=True, text=True, timeout=120, check=False)


def play(epochs):
    """A run that is killed when its logs have this number of epochs (0: when its files exist)."""
    for mark in WORK.glob("pid.*"):
        mark.unlink()
    run = subprocess.Popen(["mpirun", "--oversubscribe", "-np", str(MODELS + 1), str(MODEL), str(OUT), "3000", "--afterbay.servers=1",
                            "--afterbay.deadline=20s", "--afterbay.memory.server=16MiB",
                            f"--afterbay.journal.directory={WORK}/afterbay-journal"],
                           cwd=WORK, stdout=open("log", "w", encoding="utf-8"), stderr=subprocess.STDOUT)
    deadline = time.monotonic() + 60

    def reached():
        if epochs == 0:
            return all((OUT / f"{name}.part").exists() for name in NAMES)
        found = [command("recover", "--list", "--json", OUT / name) for name in NAMES]
        return all(done.returncode == 0 and done.stdout.count('"epoch":') >= epochs for done in found)

    while not reached():
        if time.monotonic() > deadline or run.poll() is not None:
            fail(f"the run did not come to epoch {epochs}: {pathlib.Path('log').read_text()[-2000:]}")
        time.sleep(0.02)
    for mark in WORK.glob("pid.*.[0-9]"):
        os.kill(int(mark.read_text()), signal.SIGKILL)
    run.wait(timeout=60)


def check(name, records):
    points = numpy.arange(ROWS * COLUMNS, dtype=numpy.uint64).reshape(ROWS, COLUMNS)
    with netCDF4.Dataset(OUT / name) as data:
        data.set_auto_mask(False)
        if len(data.dimensions["time"]) != records:
            fail(f"{name} has {len(data.dimensions['time'])} records, not {records}")
        for record in range(records):
            expected = ((record * 613 + points) % 100003).astype(numpy.float32)
            for variable in ("temperature", "rain"):
                if variable in data.variables and not (data[variable][record] == expected).all():
                    fail(f"{name}: other values of {variable} in record {record} of {records}")


def restore():
    shutil.rmtree(WORK)
    subprocess.run(["cp", "-a", "saved", str(WORK)], check=True)


def expect_all_recovered(name, number, what):
    done = command("recover", "--replace", "--copied", "--number", number, OUT / name)
    if done.returncode != 0:
        fail(f"{what}, then --number {number}: {done.stderr}")
    check(name, number * 3)


def kill_everywhere(name, last):
    """`recover` to an older epoch and to the last one, killed before its N-th call; afterwards
    everything can still be recovered."""
    kills = 0
    for first in (1, last):
        for call in range(1, KILLS + 1):
            restore()
            done = command("recover", "--copied", "--number", first, OUT / name, rules=f"ops={CALLS} path={OUT}/* from={call} to={call} kill")
            if done.returncode == 0:
                break
            kills += 1
            if (OUT / name).exists():  # it already had its name
                check(name, first * 3)
                continue
            expect_all_recovered(name, last if call % 2 else 2, f"{name} to epoch {first}, killed before call {call}")
    return kills


def refuse_without_journal(name, last):
    restore()
    done = command("recover", "--copied", "--number", 1, OUT / name, rules="ops=open path=*/server-*.jsonl errno=13")
    # Reading the journal also fails: it is named, so that no other one is searched for.
    if done.returncode == 0 and "no journal" not in done.stderr:
        fail(f"recovered without its journal: {done.stdout}{done.stderr}")
    restore()
    done = command("recover", "--copied", "--number", 1, OUT / name, rules=f"ops=sync path={WORK}/afterbay-journal/* errno=5")
    if done.returncode == 0 or (OUT / name).exists():
        fail(f"the journal could not be written, and {name} was recovered: {done.stdout}{done.stderr}")
    expect_all_recovered(name, last, "the journal could not be written")


def rerun_dies_early():
    """The log of a removed part file does not apply to the next file of that name."""
    restore()
    before = {name: (OUT / f"{name}.part.epochs").read_bytes() for name in NAMES}
    for name in NAMES:
        (OUT / f"{name}.part").unlink()
    play(0)
    for name in NAMES:
        done = command("recover", OUT / name)
        if done.returncode == 0:  # the run may have reached an epoch of its own
            records = int(done.stdout.split(" records")[0].split()[-1])
            check(name, records)
            continue
        if (OUT / name).exists():
            fail(f"{name} was recovered from a log of another run")
        complete = b"a complete file"
        (OUT / name).write_bytes(complete)
        (OUT / f"{name}.part.epochs").write_bytes(before[name])
        done = command("recover", "--replace", OUT / name)
        if done.returncode == 0 or (OUT / name).read_bytes() != complete:
            fail(f"a complete {name} was replaced from a log of another run: {done.stdout}{done.stderr}")
        if "belongs to another file" not in done.stderr:
            fail(f"{name}: another reason: {done.stderr}")


WORK.mkdir()
play(3)
counts = {}
for file_name in NAMES:
    listed = command("recover", "--list", "--json", OUT / file_name)
    counts[file_name] = listed.stdout.count('"epoch":')
    if counts[file_name] < 3:
        fail(f"{file_name} has {counts[file_name]} epochs: {listed.stderr}")
subprocess.run(["cp", "-a", str(WORK), "saved"], check=True)
total = 0
for file_name in NAMES:
    total += kill_everywhere(file_name, counts[file_name])
    refuse_without_journal(file_name, counts[file_name])
if total < 12:
    fail(f"only {total} calls were reached: this shows nothing")
rerun_dies_early()
print(f"{total} recoveries killed; nothing was lost")
