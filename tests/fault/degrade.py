#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""If a disk stays full, the run gives up optional collections and reports it; the rest
continues."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

from _faults import BUILD, expect, journal, play, run_scenarios, succeeds, whole


def degrade(name, rules, settings=(), **layout):
    settings = ["collections.spare.optional=on", "space.retry=2s", "report.table=on", *settings]
    work, outcomes, run = succeeds(name, play("two_files", rules=rules, settings=settings, **layout))
    events = journal(work)
    given_up = [event for event in events if event["event"] == "file_given_up"]
    expect(len(given_up) == 1 and given_up[0]["collection"] == "spare", name, f"the journal says {given_up}", outcomes)
    expect(any("is optional and is given up" in event.get("text", "") for event in events), name, "no warning in the journal", outcomes)
    expect("is optional and is given up" in run.stderr, name, f"no warning\n{run.stderr}", outcomes)
    expect("spare: files given up" in run.stdout, name, f"not in the report\n{run.stdout}", outcomes)
    status = subprocess.run([str(BUILD / "apps/afterbay/afterbay"), "status", str(work)], capture_output=True, text=True, check=False)
    expect(status.returncode == 0 and "given up: " in status.stdout, name, f"status: {status.returncode}\n{status.stdout}", outcomes)
    shutil.rmtree(work)
    print(f"{name}: spare.nc given up, out.nc whole", flush=True)


def degraded():
    """No space as long as the optional file exists."""
    full = "ops=write path=*.part after_bytes=1000000 errno=28 while={work}/out/spare.nc.part"
    degrade("degraded", [full])
    degrade("degraded, cdf5", [full], store="cdf5")
    degrade("degraded, over mpi", [full], ["transport=mpi"])
    degrade("degraded, inline", [full], ["topology=inline"], servers=0)
    degrade("degraded, 4 + 2", [full], servers=2)
    degrade("degraded, split", [full], ["placement=slab"], servers=2)
    degrade("degraded, no room for its name", ["ops=open path=*spare.nc.part errno=122"])
    degrade("degraded, full at its end", ["ops=rename path=*spare.nc.part errno=28"])


def small_disk():
    """A tmpfs with room for one of the files, but not for both."""
    disk = pathlib.Path(tempfile.mkdtemp(prefix="disk_", dir=".")).resolve()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=9m", "tmpfs", disk], capture_output=True, check=False).returncode != 0:
        print("small_disk: NOT RUN: cannot mount a small file system")
        return
    try:
        work, outcomes, run = play("two_files", directory=str(disk), settings=["collections.spare.optional=on", "space.retry=2s"])
        expect(all(outcome.code == "ok" for outcome in outcomes.values()), "small_disk", f"not ok\n{run.stderr[-2000:]}", outcomes)
        if [path.name for path in disk.iterdir()] != ["out.nc"] or not whole(disk / "out.nc"):
            sys.exit(f"small_disk: {list(disk.iterdir())}")
        shutil.rmtree(work)
        print("small_disk: ok")
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


run_scenarios({"degraded": degraded, "small_disk": small_disk})
