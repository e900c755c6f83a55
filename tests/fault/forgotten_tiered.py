#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Omitted calls with a frontend between ranks and server; see _forgotten.py."""
import sys

from _forgotten import AT_FINALIZE, CAME_BACK, DESTROYED, NEVER, OVER_MPI, TIERED, check, told


def tiered(*settings):
    """The frontend is rank 2, the server rank 3."""
    layout = {"frontends": 1, "settings": (*TIERED, *settings)}
    for scenario in ("close", "close:kept"):  # kept: the frontend has served and reports nothing
                                              # more at MPI_Finalize
        check("cpp", scenario, 1, says=["rank 1", "not complete: out.nc"], outcomes=[(0, ["peer_lost", "model rank 1"])], **layout)
    check("cpp", "finalize:kept", says=["model ranks 0 and 1", AT_FINALIZE["finalize"]], published=["out.nc"], **layout)
    check("cpp", "unused", says=["model ranks 0 and 1", DESTROYED["finalize"]], **layout)
    # Only the frontend omits the call: the ranks and the server are informed by the frontend.
    frontend = [r"frontend, rank 2\] error", "rank 2", r"the frontend \(rank 2\) no longer forwards data"]
    for language, scenario, text in (("cpp", "serve", DESTROYED), ("c", "serve:kept", AT_FINALIZE), ("fortran", "serve", AT_FINALIZE)):
        check(language, scenario, 2, says=[*frontend, text["serve"]],
              outcomes=[*told("bad_state", "rank 2", text["serve"]), (3, ["bad_state", "rank 2", text["serve"]])], **layout)
    # Only the server, and both.
    check("cpp", "serve", 3, says=["rank 3", DESTROYED["serve"]], outcomes=told("bad_state", "rank 3", DESTROYED["serve"]), **layout)
    check("c", "serve", says=["ranks 2 and 3", DESTROYED["serve"]], outcomes=told("bad_state", "ranks 2 and 3", DESTROYED["serve"]), **layout)
    # Either waits elsewhere.
    check("cpp", "blocked", 3, outcomes=told("timed_out", r"I/O server 0 \(rank 3\) on", NEVER), says=[CAME_BACK], held_up=True, **layout)
    # The server cannot reach the frontend, which repeats the message when it returns.
    check("cpp", "blocked", 2, errors=(1, 2), outcomes=[*told("timed_out", "the frontend at rank 2 " + NEVER), (3, ["peer_lost", "the frontend at rank 2 " + NEVER])],
          says=["the frontend at rank 2 " + NEVER], held_up=True, **layout)


def tiered_on_a_node():
    tiered()


def tiered_over_mpi():
    tiered(*OVER_MPI)


CASES = {case.__name__: case for case in (tiered_on_a_node, tiered_over_mpi)}
for case in sys.argv[1:] or CASES:
    CASES[case]()
