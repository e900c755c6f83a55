# SPDX-License-Identifier: Apache-2.0
"""Kills all processes (kill -9) of runs that write files of messages, at random moments, and
recovers the file to the last epoch with the command that `afterbay status` prints: its bytes are
those of a run that ended after the records of that epoch. CRASH_KILLS: how many runs."""
import json
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import time

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
MODEL = BUILD / "tests/fault/message_model"
COMMAND = BUILD / "apps/afterbay/afterbay"
KILLS = int(os.environ.get("CRASH_KILLS", "4"))
SEED = int(os.environ.get("CRASH_SEED", str(time.time_ns() % 1_000_000)))
RECORDS = 100_000


def start(work, store, records, processes, servers):
    work.mkdir()
    with open(work / "log", "w", encoding="utf-8") as log:
        return subprocess.Popen(["mpirun", "--oversubscribe", "-np", str(processes), str(MODEL), store, "out", str(records), "--afterbay.deadline=20s",
                                 f"--afterbay.servers={servers}", "--afterbay.memory.server=16MiB", "--afterbay.memory.chunks=64KiB"],
                                cwd=work, stdout=log, stderr=log)


def command(work, *words, codes=(0,)):
    done = subprocess.run([str(COMMAND), *words], cwd=work, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in codes, f"afterbay {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def killed_run(work, store, dice):
    run = start(work, store, RECORDS, 3, 1)
    deadline = time.monotonic() + 60
    while len(list(work.glob("pid.*.[0-9]"))) < 3:
        text = (work / "log").read_text()
        if "has no ecCodes" in text:
            print("skipped: this build has no ecCodes")
            sys.exit(77)
        assert time.monotonic() < deadline and run.poll() is None, text
        time.sleep(0.005)
    time.sleep(dice.uniform(0.5, 2))
    for mark in work.glob("pid.*.[0-9]"):
        os.kill(int(mark.read_text()), signal.SIGKILL)
    run.wait(timeout=60)


def main(store):
    print(f"seed {SEED}")
    dice = random.Random(SEED)
    most = 0
    for number in range(KILLS):
        work = pathlib.Path(f"killed{number}")
        killed_run(work, store, dice)
        text = (work / "log").read_text()
        if "has no ecCodes" in text:
            print("skipped: this build has no ecCodes")
            sys.exit(77)
        last = json.loads(command(work, "status", "--over", "--json", codes=(0, 1, 4)))["runs"][-1]["last_epoch"]
        if not last:
            print(f"{number}: no epoch yet")
            continue
        lines = re.findall("to be restored: afterbay (.*)", command(work, "status", "--over", codes=(0, 1, 4)))
        assert len(lines) == 1, lines
        command(work, *shlex.split(lines[0]))
        command(work, "verify")
        records = int(last["name"])
        reference = pathlib.Path(f"reference{number}")
        run = start(reference, store, records, 4, 2)
        assert run.wait(timeout=100) == 0, (reference / "log").read_text()
        same = (work / f"out/out.{store}").read_bytes() == (reference / f"out/out.{store}").read_bytes()
        assert same, f"{work}: epoch of {records} records: other bytes than a run of {records} records"
        print(f"{number}: {records} records came back", flush=True)
        most = max(most, records)
    assert most > 0, "no run was killed after an epoch"
