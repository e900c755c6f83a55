#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills runs (kill -9 of all processes, or of the servers) at random moments. What the journal calls published must be there,
with its checksum and all its values; what else has a final name must be whole too, and no more than what was being
published at that moment; a rerun in the same directory goes on and completes. CRASH_KILLS: how many kills
(a sample by default); CRASH_SEED repeats a sequence."""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import _journal

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
MODEL = BUILD / "tests/fault/crash_model"
COMMAND = BUILD / "apps/afterbay/afterbay"
KILLS = int(os.environ.get("CRASH_KILLS", "10"))
SEED = int(os.environ.get("CRASH_SEED", str(time.time_ns() % 1_000_000)))
MODELS = 3
WRITERS = 2
FILES = 150  # of history in a run: some seconds
OK, LOST = 0, 4
CASES = [{"servers": 1}, {"servers": 2, "placement": "file"}, {"servers": 2, "placement": "slab"}, {"servers": 2, "direct_io": "off"}]


def fail(text):
    sys.exit(f"seed {SEED}: {text}")


def start(work, case, files):
    for mark in [*work.glob("pid.*"), *work.glob("ok.*")]:
        mark.unlink()
    flags = [f"--afterbay.{name}={value}" for name, value in case.items()]
    command = ["mpirun", "--oversubscribe", "-np", str(MODELS + case["servers"]), str(MODEL), "out", str(files), *flags,
               f"--afterbay.writers={WRITERS}", "--afterbay.deadline=5s", "--afterbay.memory.server=16MiB"]
    log = open(work / "log", "w", encoding="utf-8")
    return subprocess.Popen(command, cwd=work, stdout=log, stderr=log)


def kill_after(run, work, case, seconds, who):
    """Kills the processes of `who` that long after all of them were there; whether they were all there."""
    deadline = time.monotonic() + 60
    while len(list(work.glob("pid.*.[0-9]"))) < MODELS + case["servers"]:
        if time.monotonic() > deadline or run.poll() is not None:
            fail(f"the run did not start: {(work / 'log').read_text()[-2000:]}")
        time.sleep(0.005)
    time.sleep(seconds)
    if run.poll() is not None:
        return
    for mark in work.glob(f"pid.{who}.[0-9]"):
        try:
            os.kill(int(mark.read_text()), signal.SIGKILL)
        except ProcessLookupError:
            pass


def command(work, *words, code):
    done = subprocess.run([str(COMMAND), *words], cwd=work, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != code:
        fail(f"afterbay {' '.join(words)} in {work}: exit code {done.returncode}, expected {code}\n{done.stdout}{done.stderr}")
    return done.stdout


def check(work, case):
    """After a kill or an end; the number of published files, and of those that were published unsaid."""
    if not (work / "afterbay-journal").exists():
        return 0, 0
    journal = _journal.read(work / "afterbay-journal")
    if wrong := _journal.wrong_files(journal):
        fail(f"{work}: " + "; ".join(wrong))
    final = {str(path.resolve()) for path in (work / "out").glob("*.nc")}
    for path in final:
        if wrong := _journal.wrong_contents(pathlib.Path(path)):
            fail(f"{work}: {path}, {'published' if path in journal.published else 'unsaid'}: {wrong}")
    unsaid = final - set(journal.published)
    if len(unsaid) > WRITERS * case["servers"]:
        fail(f"{work}: {len(unsaid)} files have their final names, and the journal does not know: {sorted(unsaid)}")
    if not unsaid <= journal.opened:
        fail(f"{work}: final names that were never opened: {sorted(unsaid - journal.opened)}")
    return len(journal.published), len(unsaid)


def one(number, dice):
    case = CASES[number % len(CASES)]
    who = dice.choice(["*", "*", "server"])
    work = pathlib.Path(tempfile.mkdtemp(prefix=f"kill{number}_", dir=".")).resolve()
    seconds = dice.uniform(0.0, 0.6)
    run = start(work, case, FILES)
    kill_after(run, work, case, seconds, who)
    run.wait(timeout=60)
    published, unsaid = check(work, case)
    ended = len(list(work.glob("ok.server.[0-9]"))) == case["servers"]
    if published > 0:
        command(work, "status", code=OK if ended else LOST)
        command(work, "verify", code=OK)
    again = start(work, case, 8)
    if again.wait(timeout=100) != 0:
        fail(f"{work}: the run after a kill failed: {(work / 'log').read_text()[-2000:]}")
    check(work, case)
    command(work, "status", code=OK)
    command(work, "verify", code=OK)
    print(f"{number}: {case}, {who} killed after {seconds:.2f} s: {published} files published{', and the run ended' if ended else ''}, "
          f"{unsaid} between their names and the journal", flush=True)
    shutil.rmtree(work)
    return published, unsaid, ended


def main():
    dice = random.Random(SEED)
    results = [one(number, dice) for number in range(KILLS)]
    killed = sum(not ended for _, _, ended in results)
    print(f"seed {SEED}: {len(results)} runs, {killed} killed before their end, {sum(r[0] for r in results)} published files all whole")
    if KILLS >= 10 and (killed < KILLS / 3 or sum(r[0] for r in results) == 0):
        fail("too few runs were killed in the middle: this shows nothing")


main()
