#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stopped processes (SIGSTOP), and disks that are slow or hang: detected by the deadline by all
waiting ranks, and by no others. docs/reference/faults.md documents them."""
import os
import shutil
import sys
import time

from _faults import ALL, SHORT_S, check, expect, most_of, play, run_scenarios, succeeds

BESIDE_S = 10  # in which the ranks beside must get on


def overdue(name, scenario, **expected):
    """Known by the deadline."""
    layout = {word: expected.pop(word) for word in ("servers", "frontends", "settings", "rules") if word in expected}
    check(name, play(scenario, deadline=SHORT_S, **layout), code="timed_out", most_seconds=most_of(SHORT_S), **expected)


def stuck_server():
    overdue("stuck_server", "stop_server", cause=["I/O server", "progress"])
    overdue("stuck_server, over mpi", "stop_server", settings=["transport=mpi"], cause=["I/O server", "progress"])


def stuck_frontend():
    """Ranks behind it name it, not only the server, which works."""
    os.environ["AFTERBAY_TEST_FAULT_RANK"] = "4"
    overdue("stuck_frontend", "stop_server", frontends=1, settings=["topology=tiered", "nodes=0,0,0,0,0,1", "isolate_nodes=off"],
            cause=["the frontend at rank 4, which forwards data, makes no progress"])
    del os.environ["AFTERBAY_TEST_FAULT_RANK"]


def stuck_beside():
    """Ranks that wait for a stuck server detect it by the deadline, whatever other servers do;
    other ranks are not delayed."""
    for layout in ({}, {"settings": ["transport=mpi"]}):
        work, outcomes, run = play("stop_beside", servers=2, deadline=BESIDE_S, **layout)
        expect(3 in outcomes and outcomes[3].code == "timed_out" and outcomes[3].seconds < 2 * BESIDE_S + 2, "stuck_beside", run.stderr[-2000:], outcomes)
        expect(all(outcomes[rank].code in ("peer_lost", "timed_out") for rank in (0, 1, 2)), "stuck_beside", "the others", outcomes)
        shutil.rmtree(work)
        print(f"stuck_beside {layout}: timed_out on rank 3 within {outcomes[3].seconds:.2f} s, the others told within "
              f"{max(outcomes[rank].seconds for rank in (0, 1, 2)):.2f} s", flush=True)


def stuck_model():
    for layout in ({}, {"settings": ["transport=mpi"]}, {"servers": 0, "settings": ["topology=inline", "inline.mode=thread"]}):
        overdue(f"stuck_model {layout}", "stop_model", ranks=[0, 2, 3], cause="model rank 1", **layout)


def slow_disk():
    """0.4 MiB/s: the run takes three deadlines, and no rank gives up."""
    shutil.rmtree(succeeds("slow_disk", play("plain", rules=["ops=write path=*.part kib_s=400"], deadline=SHORT_S))[0])
    print("slow_disk: ok", flush=True)


def hung(call):
    """Rules with which the call returns when all ranks have reported."""
    return [f"{call} wait={{work}}/outcome.{rank}" for rank in ALL]


def hung_disk():
    """A write hangs; the servers too end soon, once the run has failed and the write returns."""
    started = time.monotonic()
    overdue("hung_disk", "plain", rules=hung("ops=write path=*.part from=8"), cause=["I/O server 0", "progress"])
    if time.monotonic() - started > 60:
        sys.exit(f"hung_disk: the run ended after {time.monotonic() - started:.0f} s")


def hung_journal():
    """An fsync hangs, while the ranks wait for the answer to their definitions."""
    overdue("hung_journal", "plain", rules=hung("ops=sync path=*afterbay-journal*"),
            file=None, variable=None, rank=None, cause=["I/O server 0", "the journal in .*afterbay-journal", "a disk hangs"])


run_scenarios({"stuck_server": stuck_server, "stuck_frontend": stuck_frontend, "stuck_beside": stuck_beside, "stuck_model": stuck_model, "slow_disk": slow_disk,
               "hung_disk": hung_disk, "hung_journal": hung_journal})
