#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Omitted calls in other layouts: over MPI, with several servers and none; see _forgotten.py."""
import sys

from _forgotten import AT_FINALIZE, CAME_BACK, DESTROYED, NEVER, OVER_MPI, check, told


def late_close():
    """Rank 1 omits the close and continues to compute; rank 0 waits for the file."""
    check("cpp", "late", 1, says=["model rank 1 did not close the file"], outcomes=[(0, ["timed_out", "model rank 1", "out.nc"])], held_up=True)


def over_mpi():
    check("cpp", "finalize", says=["model ranks 0 and 1", DESTROYED["finalize"]], published=["out.nc"], settings=OVER_MPI)
    check("c", "unused:kept", says=["model ranks 0 and 1", AT_FINALIZE["finalize"]], settings=OVER_MPI)
    check("cpp", "serve", says=["rank 2", DESTROYED["serve"]], outcomes=told("bad_state", "rank 2", DESTROYED["serve"]), settings=OVER_MPI)
    check("fortran", "serve", says=["rank 2", AT_FINALIZE["serve"]], outcomes=told("bad_state", "rank 2", AT_FINALIZE["serve"]), settings=OVER_MPI)
    check("c", "blocked", 2, says=[CAME_BACK], outcomes=told("timed_out", r"I/O server 0 \(rank 2\) " + NEVER), held_up=True,
          settings=OVER_MPI)


def several_servers():
    """Ranks 2 and 3, with or without links to each other."""
    for settings in ((), OVER_MPI, ("placement=slab",)):
        layout = {"servers": 2, "settings": settings, "published": None}
        for rank in (2, 3):
            check("cpp", "serve", rank, says=[f"rank {rank}", DESTROYED["serve"]], outcomes=told("bad_state", f"rank {rank}", DESTROYED["serve"]), **layout)
        check("c", "serve:kept", says=["ranks 2 and 3", AT_FINALIZE["serve"]], outcomes=told("bad_state", "ranks 2 and 3", AT_FINALIZE["serve"]), **layout)
        check("fortran", "serve", 3, says=["rank 3", AT_FINALIZE["serve"]], outcomes=told("bad_state", "rank 3", AT_FINALIZE["serve"]), **layout)
        for rank in (2, 3):
            check("cpp", "blocked", rank, outcomes=told("timed_out", rf"I/O server {rank - 2} \(rank {rank}\) " + NEVER),
                  says=[CAME_BACK], held_up=True, **layout)
    check("fortran", "close", says=["model ranks 0-3", "not complete: out.nc"], models=4, servers=2)


def inline():
    for settings in (("inline.mode=synchronous",), ("inline.mode=thread",)):
        layout = {"servers": 0, "settings": settings}
        # The rank that hosts the server may leave before the other one has closed the file.
        check("cpp", "finalize", says=[DESTROYED["finalize"]], published=None, **layout)
        check("cpp", "finalize:kept", says=[AT_FINALIZE["finalize"]], published=None, **layout)
        check("c", "close:kept", 0, says=["rank 0", AT_FINALIZE["finalize"]], outcomes=[(1, ["peer_lost", "model rank 0"])], **layout)
        check("c", "close", 1, says=["rank 1", DESTROYED["finalize"]], outcomes=[(0, ["peer_lost", "model rank 1"])], **layout)
        check("fortran", "close", says=[AT_FINALIZE["finalize"], "not complete: out.nc"], **layout)
        check("fortran", "unused", says=[AT_FINALIZE["finalize"]], **layout)
        check("cpp", "unused", 1, says=["rank 1", DESTROYED["finalize"]], outcomes=[(0, ["peer_lost", "model rank 1"])], **layout)


CASES = {case.__name__: case for case in (late_close, over_mpi, several_servers, inline)}
for case in sys.argv[1:] or CASES:
    CASES[case]()
