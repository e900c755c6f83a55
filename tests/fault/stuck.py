#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stopped processes (SIGSTOP), and disks that are slow or hang: detected by the deadline by all
waiting ranks, and by no others. docs/reference/faults.md documents them."""
import os
import shutil
import sys
import time

from _faults import DEADLINE_S, check, expect, play, run_scenarios, succeeds


def stuck_server():
    check("stuck_server", play("stop_server"), code="timed_out", cause=["I/O server", "progress"])
    check("stuck_server, over mpi", play("stop_server", settings=["transport=mpi"]), code="timed_out",
          cause=["I/O server", "progress"])


def stuck_frontend():
    """Ranks behind it name it, not only the server, which works."""
    os.environ["AFTERBAY_TEST_FAULT_RANK"] = "4"
    check("stuck_frontend", play("stop_server", frontends=1, settings=["topology=tiered", "nodes=0,0,0,0,0,1", "isolate_nodes=off"]),
          code="timed_out", cause=["the frontend at rank 4, which forwards data, makes no progress"])
    del os.environ["AFTERBAY_TEST_FAULT_RANK"]


def stuck_beside():
    """Ranks that wait for a stuck server detect it by the deadline, whatever other servers do;
    other ranks are not delayed."""
    for layout in ({}, {"settings": ["transport=mpi"]}):
        work, outcomes, run = play("stop_beside", servers=2, **layout)
        expect(3 in outcomes and outcomes[3].code == "timed_out" and outcomes[3].seconds < 2 * DEADLINE_S + 2, "stuck_beside", run.stderr[-2000:], outcomes)
        expect(all(outcomes[rank].code in ("peer_lost", "timed_out") for rank in (0, 1, 2)), "stuck_beside", "the others", outcomes)
        shutil.rmtree(work)
        print(f"stuck_beside {layout}: timed_out on rank 3 within {outcomes[3].seconds:.2f} s, the others told within "
              f"{max(outcomes[rank].seconds for rank in (0, 1, 2)):.2f} s", flush=True)


def stuck_model():
    for layout in ({}, {"settings": ["transport=mpi"]}, {"servers": 0, "settings": ["topology=inline", "inline.mode=thread"]}):
        check(f"stuck_model {layout}", play("stop_model", **layout), code="timed_out", ranks=[0, 2, 3], cause="model rank 1")


def slow_disk():
    """1 MiB/s: the run takes three deadlines, and no rank gives up."""
    shutil.rmtree(succeeds("slow_disk", play("plain", rules=["ops=write path=*.part kib_s=1024"]))[0])
    print("slow_disk: ok", flush=True)


def hung_disk():
    """Each write takes fifteen seconds; the servers too end soon, once the run has failed."""
    started = time.monotonic()
    check("hung_disk", play("plain", rules=["ops=write path=*.part from=8 ms=15000"]), code="timed_out",
          cause=["I/O server 0", "progress"])
    if time.monotonic() - started > 60:
        sys.exit(f"hung_disk: the run ended after {time.monotonic() - started:.0f} s")


def hung_journal():
    """Each fsync takes five seconds, while the ranks wait for the answer to their definitions."""
    check("hung_journal", play("plain", rules=["ops=sync path=*afterbay-journal* ms=5000"]), code="timed_out",
          file=None, variable=None, rank=None, cause=["I/O server 0", "the journal in .*afterbay-journal", "a disk hangs"])


run_scenarios({"stuck_server": stuck_server, "stuck_frontend": stuck_frontend, "stuck_beside": stuck_beside, "stuck_model": stuck_model, "slow_disk": slow_disk,
               "hung_disk": hung_disk, "hung_journal": hung_journal})
