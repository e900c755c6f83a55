#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nodes with less memory than servers may use: a run continues with the available memory and
reports it, takes more when it becomes available, and fails with a message if there is none."""
import shutil
import threading
import time

from _faults import check, expect, journal, play, run_scenarios, succeeds

SLOW_DISK = "ops=write path=*.part kib_s=4000"


def warnings_of(work):
    return [event["text"] for event in journal(work) if event["event"] == "warning" and "memory.server" in event["text"]]


def refused(name, after_bytes, **layout):
    """Limits the shared memory of each process; the disk is slow, so that more would be used."""
    rule = f"ops=allocate path=*memfd:afterbay* after_bytes={after_bytes} errno=28"
    work, outcomes, run = succeeds(name, play("rush", rules=[rule, SLOW_DISK], **layout))
    texts = warnings_of(work)
    expect(any("this node has no memory for more than" in text and "No space left" in text for text in texts), name, f"warnings: {texts}", outcomes)
    expect("this node has no memory for more than" in run.stderr, name, f"no warning\n{run.stderr}", outcomes)
    shutil.rmtree(work)
    print(f"{name}: ok", flush=True)


def goes_on():
    """Enough for the messages of all ranks, and for a block or two."""
    refused("goes on", 400_000)
    refused("goes on, 4 + 2", 750_000, servers=2)
    refused("goes on, split", 750_000, servers=2, settings=["placement=slab"])
    # A rank that is ahead takes the first block of each of the four servers.
    refused("goes on, inline", 1_300_000, servers=0, settings=["topology=inline", "inline.mode=thread"])


def comes_back():
    """Memory becomes available again after a while."""
    def free_later(work):
        def free():
            while not any(warnings_of(work)):
                time.sleep(0.05)
            (work / "freed").touch()
        threading.Thread(target=free, daemon=True).start()
    rule = "ops=allocate path=*memfd:afterbay* after_bytes=400000 until={work}/freed errno=28"
    work, outcomes, _ = succeeds("comes back", play("rush", rules=[rule, "ops=write path=*.part kib_s=1500"], prepare=free_later))
    texts = warnings_of(work)
    expect(any("can be used again" in text for text in texts), "comes back", f"warnings: {texts}", outcomes)
    shutil.rmtree(work)
    print("comes back: ok", flush=True)


def none():
    """Enough for messages, not for a single block."""
    check("none", play("rush", rules=["ops=allocate path=*memfd:afterbay* after_bytes=150000 errno=12"], settings=["memory.ring=16KiB"]),
          code="no_space", cause=["has no memory for a single block", "Cannot allocate memory"], file=None, variable=None)


run_scenarios({"goes on": goes_on, "comes back": comes_back, "none": none})
