#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""On a file system without locks (fcntl and flock give ENOSYS, as on Lustre without -o flock): of two runs that write the
same files the second is refused, a run that was killed blocks nobody, and commands see which run lives."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from _adversary import COMMAND, FAILED, LOST, NO_LOCKS, OK, SHIM, FileSpec, Layout, Run, content_of, require

DEDICATED = Layout(3, {"servers": 1})
INLINE = Layout(1, {"topology": "inline"})
SLAB = Layout(4, {"servers": 2, "placement": "slab"})


def command(work, *words):
    (work / "rules").write_text(NO_LOCKS + "\n")
    return subprocess.run([str(COMMAND), *map(str, words)], cwd=work / "disk", capture_output=True, text=True, timeout=60, check=False,
                          env=os.environ | {"LD_PRELOAD": str(SHIM), "FAULT_RULES": str(work / "rules")})


def run_of(work, number, layout, pause_ms):
    run = Run(number, work, [FileSpec("a", "netcdf4", "block", "replace", 0)], layout, 12, 1, pause_ms)
    run.start(lock_free=True)
    return run


def wait_for(path):
    for _ in range(600):
        if path.exists():
            return
        time.sleep(0.05)
    sys.exit(f"{path} does not appear")


def owned_while_it_lives(layout):
    work = pathlib.Path(tempfile.mkdtemp(prefix="no_locks_", dir=".")).resolve()
    (work / "disk/out").mkdir(parents=True)
    final = work / "disk/out/a.nc"
    owner = pathlib.Path(f"{final}.part.owner")

    first = run_of(work, 1, layout, 250)
    wait_for(owner)
    time.sleep(1)  # some records and epochs
    status = command(work, "status", "--json")
    require([run["state"] for run in json.loads(status.stdout)["runs"]] == ["running"], f"status of a run that lives: {status.stdout}")
    recover = command(work, "recover", final)
    require(recover.returncode != OK and re.search("process [0-9]+ on .* owns it", recover.stderr), f"recover beside a run that lives: {recover.stderr}")
    second = run_of(work, 2, layout, 0)
    require(not second.wait(), "a second run wrote the same file")
    require(re.search(r"process [0-9]+ on \S+ owns it, as \S+/a\.nc\.part\.owner", second.log()), f"the second run says: {second.log()}")
    require(first.wait(), f"the first run failed: {first.log()}")
    require(content_of(final) == first.whole(final), f"{final} contains {content_of(final)}")
    left = sorted(path.name for path in (work / "disk/out").iterdir())
    require(left == ["a.nc"], f"left behind: {left}")

    third = run_of(work, 3, layout, 250)
    wait_for(owner)
    time.sleep(1)
    third.kill()
    third.wait()
    require(owner.exists(), "a killed run leaves its owner file")
    status = command(work, "status", "--over", "--json")
    require(status.returncode in (FAILED, LOST), f"status after a kill: {status.returncode} {status.stdout}")
    recover = command(work, "recover", "--replace", final)
    require(recover.returncode == OK, f"recover: {recover.stderr}")
    found = content_of(final)
    require(found == (3,) * len(found) and found, f"{final} contains {found}")

    fourth = run_of(work, 4, layout, 250)
    wait_for(owner)
    fourth.kill()
    fourth.wait()
    fifth = run_of(work, 5, layout, 0)
    require(fifth.wait(), f"a killed run blocks the next: {fifth.log()}")
    require(content_of(final) == fifth.whole(final), f"{final} contains {content_of(final)}")
    left = sorted(path.name for path in (work / "disk/out").iterdir())
    require(left == ["a.nc"], f"left behind: {left}")
    left = sorted(path.name for path in (work / "disk/afterbay-journal").glob("*.owner*"))
    require(not left, f"left behind in the journal: {left}")
    print(f"{layout}: refused while it lived, replaced once it was killed", flush=True)


for each in (INLINE, DEDICATED, SLAB):
    owned_while_it_lives(each)
