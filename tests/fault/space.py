#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Disks that are full for a while: the data are kept, the model waits, a server that waits for
space is not reported as lost; and if the condition persists, the run ends."""
import shutil
import threading
import time

from _faults import MODELS, SHORT_S, check, expect, failing_writes, journal, play, run_scenarios, succeeds

SHORTAGE_S = 3 * SHORT_S


def comes_back(name, number, op="write", **layout):
    """Full after the first megabyte, until space is freed."""
    def free_later(work):
        def free():
            while not (work / "out").exists():
                time.sleep(0.05)
            time.sleep(SHORTAGE_S)
            (work / "freed").touch()
        threading.Thread(target=free, daemon=True).start()
    rule = f"ops={op} path=*.part {'after_bytes=1000000 ' if op == 'write' else ''}until={{work}}/freed errno={number}"
    started = time.monotonic()
    settings = ["space.retry=60s", *layout.pop("settings", ())]
    work, outcomes, run = succeeds(name, play("plain", rules=[rule], settings=settings, prepare=free_later, deadline=SHORT_S, **layout))
    warnings = [event["text"] for event in journal(work) if event["event"] == "warning"]
    expect(any("space.retry" in text for text in warnings), name, f"no warning in the journal: {warnings}", outcomes)
    expect(any("there is space again" in text for text in warnings), name, f"the end of it is not in the journal: {warnings}", outcomes)
    expect(1 <= run.stderr.count("space.retry") <= layout.get("servers", 1) + 1, name, f"not warned of once\n{run.stderr}", outcomes)
    expect(time.monotonic() - started > SHORTAGE_S, name, "there was no shortage", outcomes)
    shutil.rmtree(work)
    print(f"{name}: ok after {SHORTAGE_S} s without space", flush=True)


def retried():
    comes_back("retried", 28)
    comes_back("retried, quota, cdf5", 122, store="cdf5")
    comes_back("retried, no room for a name", 28, op="open")
    comes_back("retried, over mpi", 28, settings=["transport=mpi"])
    comes_back("retried, inline", 28, servers=0, settings=["topology=inline"])
    comes_back("retried, split", 28, servers=2, settings=["placement=slab"])
    comes_back("retried, split over mpi", 28, servers=2, settings=["placement=slab", "transport=mpi"])


def lasting():
    check("lasting", failing_writes(28, settings=["space.retry=3s"]), code="no_space", ranks=range(MODELS + 1), cause="No space left")
    check("at once", failing_writes(28, settings=["space.retry=0s"]), code="no_space", ranks=range(MODELS + 1), cause="No space left")


run_scenarios({"retried": retried, "lasting": lasting})
