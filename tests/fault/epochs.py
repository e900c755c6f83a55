#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills all processes (kill -9) of runs whose files stay open, at random moments, every second time
with a loss of power, and restores the files to the last epoch that `afterbay status` shows; and one
model rank of further runs, whose servers survive. All values before it, and none after, read by
netCDF. CRASH_KILLS: how many runs."""
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import netCDF4
import numpy

import _power

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
MODEL = BUILD / "tests/fault/epoch_model"
COMMAND = BUILD / "apps/afterbay/afterbay"
SHIM = BUILD / "tests/fault/libfault_shim.so"
KILLS = int(os.environ.get("CRASH_KILLS", "6"))
SEED = int(os.environ.get("CRASH_SEED", str(time.time_ns() % 1_000_000)))
MODELS, ROWS, COLUMNS, RECORDS = 2, 60, 80, 3000
CASES = [(1, {"servers": 1}), (2, {"servers": 2, "placement": "slab"}), (2, {"servers": 2, "placement": "file"}),
         (3, {"servers": 2, "topology": "tiered"}),
         (2, {"pools.a.servers": 1, "pools.b.servers": 1, "collections.packed.pool": "a", "collections.classic.pool": "b"}),
         (1, {"servers": 1, "when_full": "spill", "spill.quota": "256MiB", "spill.directory": ".", "memory.server": "4MiB", "memory.block": "256KiB",
          "memory.small_block": "64KiB"})]


def fail(text):
    sys.exit(f"seed {SEED}: {text}")


def command(work, *words, codes=(0,)):
    done = subprocess.run([str(COMMAND), *words], cwd=work, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode not in codes:
        fail(f"afterbay {' '.join(words)} in {work}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def start(work, case, power=False, options=()):
    """A run whose processes have all started; files that a loss of power affects are in
    `work`/disk."""
    beside, settings = case
    disk = work / "disk"
    disk.mkdir()
    settings = {"deadline": "20s", "memory.server": "16MiB", "journal.directory": disk / "afterbay-journal"} | settings
    flags = [f"--afterbay.{name}={value}" for name, value in settings.items()]
    processes = MODELS + beside
    exported = []
    if power:
        (work / "rules").write_text("")
        for name, value in {**_power.environment(disk, SHIM), "FAULT_RULES": work / "rules"}.items():
            exported += ["-x", f"{name}={value}"]
    with open(work / "log", "w", encoding="utf-8") as log:
        run = subprocess.Popen(["mpirun", "--oversubscribe", *options, "-np", str(processes), *exported, str(MODEL), str(disk / "out"), str(RECORDS),
                                *flags],
                               cwd=work, stdout=log, stderr=log)
    deadline = time.monotonic() + 60
    while len(list(work.glob("pid.*.[0-9]"))) < processes:
        if time.monotonic() > deadline or run.poll() is not None:
            fail(f"the run did not start: {(work / 'log').read_text()[-2000:]}")
        time.sleep(0.005)
    return run


def kill_all(work):
    for mark in work.glob("pid.*.[0-9]"):
        try:
            os.kill(int(mark.read_text()), signal.SIGKILL)
        except ProcessLookupError:
            pass


def check(path, records):
    points = numpy.arange(ROWS * COLUMNS, dtype=numpy.uint64).reshape(ROWS, COLUMNS)
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        if len(data.dimensions["time"]) != records:
            fail(f"{path} has {len(data.dimensions['time'])} records, not {records}")
        for record in range(records):
            expected = ((record * 613 + points) % 100003).astype(numpy.float32)
            for name in ("temperature", "rain"):
                if name in data.variables and not (data[name][record] == expected).all():
                    fail(f"{path}: other values of {name} in record {record} of {records}")
            if "label" in data.variables and data["label"][record] != f"record {record}":
                fail(f"{path}: label of record {record} is {data['label'][record]!r}")


def one(number, dice):
    case = CASES[number % len(CASES)]
    work = pathlib.Path(tempfile.mkdtemp(prefix=f"epoch{number}_", dir=".")).resolve()
    power = (number + number // len(CASES)) % 2 == 1
    seconds = dice.uniform(0.5, 2.5) if power else dice.uniform(0.0, 1.2)
    run = start(work, case, power)
    time.sleep(seconds)
    kill_all(work)
    run.wait(timeout=60)
    lost = _power.lose(work / "disk", random.Random(seconds)) if power else 0
    top, work = work, work / "disk"
    recovered = 0
    if (work / "afterbay-journal").exists():
        run = json.loads(command(work, "status", "--over", "--json", codes=(0, 1, 4)))["runs"][-1]
        if last := run["last_epoch"]:
            records = int(last["name"])
            for name in {"packed.nc", "classic.nc"} - {pathlib.Path(path).name for path in last["to_recover"]}:
                if not (work / "out" / name).exists():
                    fail(f"{work}: {name} is neither published nor to be restored: {last['to_recover']}")
                check(work / "out" / name, RECORDS)  # the model had ended
            said = command(work, "status", "--over", codes=(0, 1, 4))
            for line in re.findall("to be restored: afterbay (.*)", said):
                command(work, *shlex.split(line))  # exactly as printed
            for path in last["to_recover"]:
                check(path, records)
            after = json.loads(command(work, "status", "--over", "--json", codes=(0, 1, 4)))["runs"][-1]
            if after["last_epoch"]["to_recover"] or {file["path"] for file in after["published"]} < set(last["to_recover"]):
                fail(f"{work}: status does not show what was restored: {after}")
            command(work, "verify")
            recovered = records
    power_text = f", {lost} changes lost with the power" if power else ""
    print(f"{number}: {case[1]} killed after {seconds:.2f} s{power_text}: {recovered} records came back", flush=True)
    shutil.rmtree(top)
    return recovered


def said_epochs(work):
    """The number of servers that have completed one."""
    return sum('"event":"epoch_completed"' in file.read_text() for file in (work / "disk/afterbay-journal").glob("server-*.jsonl"))


def rank_died(number, dice):
    """One model rank dies. The servers survive, fail and end their run: `status` shows what is to
    be restored."""
    case = CASES[number]
    work = pathlib.Path(tempfile.mkdtemp(prefix=f"rank_died{number}_", dir=".")).resolve()
    run = start(work, case, options=["--enable-recovery"])
    deadline = time.monotonic() + 60
    while said_epochs(work) < case[1]["servers"]:
        if time.monotonic() > deadline or run.poll() is not None:
            fail(f"no epoch: {(work / 'log').read_text()[-2000:]}")
        time.sleep(0.005)
    victim = dice.choice(sorted(work.glob("pid.model.[0-9]")))
    os.kill(int(victim.read_text()), signal.SIGKILL)
    run.wait(timeout=60)
    disk = work / "disk"
    status = json.loads(command(disk, "status", "--json", codes=(0, 1)))["runs"][-1]
    if status["state"] == "complete":
        shutil.rmtree(work)
        return False  # the run was over before the rank died
    servers = status["servers"]
    if status["state"] != "failed" or len(servers) != case[1]["servers"] or not all(server["ended"] for server in servers):
        fail(f"{work}: a rank died, and status says {status}")
    last = status["last_epoch"]
    files = [str(disk / "out" / name) for name in ("classic.nc", "packed.nc")]
    if sorted(last["to_recover"]) != files or last["gone"]:
        fail(f"{work}: to be restored are {last['to_recover']}, gone {last['gone']}, expected {files}")
    said = command(disk, "status", codes=(1,))
    for path in files:
        advice = f"to be restored: afterbay recover --number {last['epoch']} {path}\n"
        if f"last complete epoch: {last['name']}  (number {last['epoch']}," not in said or advice not in said:
            fail(f"{work}: status does not say: {advice}{said}")
        command(disk, "recover", "--number", str(last["epoch"]), path)
        check(path, int(last["name"]))
    command(disk, "verify")
    print(f"{case[1]} {victim.name} killed: {last['name']} records came back", flush=True)
    shutil.rmtree(work)
    return True


dice = random.Random(SEED)
results = [one(number, dice) for number in range(KILLS)]
for number in range(2):
    if not any(rank_died(number, dice) for _ in range(5)):
        fail("five runs were over before a rank was killed: this shows nothing")
print(f"seed {SEED}: {KILLS} runs killed, {sum(result > 0 for result in results)} with files to bring back")
if KILLS >= 6 and sum(result > 0 for result in results) < KILLS / 3:
    fail("too few runs had an epoch: this shows nothing")
