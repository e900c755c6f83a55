#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Servers and frontends that die or stop while ranks read, and damaged files, over each transport:
all ranks learn of it within the deadline. docs/reference/faults.md documents them."""
import os

from _faults import DEADLINE_S, SHORT_S, check, most_of, play, run_scenarios
from _input import DAMAGES, make_input

LAYOUTS = {"shared memory": {}, "MPI": {"settings": ["transport=mpi"]},
           "a frontend": {"settings": ["topology=tiered"], "frontends": 1},
           "a frontend, over MPI": {"settings": ["topology=tiered", "transport=mpi"], "frontends": 1}}


def struck(name, layout, how, rank, **expected):
    deadline = SHORT_S if how == "stop_reading" else DEADLINE_S
    os.environ["AFTERBAY_TEST_FAULT_RANK"] = str(rank)
    try:
        check(f"{how}, {name}, rank {rank}", play(how, prepare=make_input, deadline=deadline, **layout), file=None, variable=None,
              published=["in.nc"], most_seconds=most_of(SHORT_S) if deadline == SHORT_S else DEADLINE_S, **expected)
    finally:
        del os.environ["AFTERBAY_TEST_FAULT_RANK"]


def server_dies():
    for name, layout in LAYOUTS.items():
        struck(name, layout, "kill_reading", 4 + layout.get("frontends", 0), code="peer_lost", cause=["I/O server 0"])


def frontend_dies():
    for name in ("a frontend", "a frontend, over MPI"):
        struck(name, LAYOUTS[name], "kill_reading", 4, code="peer_lost", cause=["the frontend at rank 4"])


def server_stops():
    for name, layout in LAYOUTS.items():
        struck(name, layout, "stop_reading", 4 + layout.get("frontends", 0), code=["timed_out", "peer_lost"], cause=["I/O server 0"])


def damaged_file():
    for name, layout in LAYOUTS.items():
        for damage, how in DAMAGES.items():
            result = play("input", prepare=lambda work, how=how: make_input(work, **how), **layout)
            check(f"{damage}, {name}", result, code=["format", "io", "peer_lost"], file=r"in\.nc", variable=None, cause=[], published=["in.nc"])


run_scenarios({"server_dies": server_dies, "frontend_dies": frontend_dies, "server_stops": server_stops, "damaged_file": damaged_file})
