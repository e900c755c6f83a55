#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What models with endpoints do wrong is reported with rank and endpoint within the deadline, in C,
with shared memory and over MPI."""
import re
import time

from lib_bindings import mpirun, program

DEADLINE_S = 10  # also in endpoint_mistakes.c
STOPPED_S = DEADLINE_S + 8
COMMON = ["--afterbay.servers=1", f"--afterbay.deadline={DEADLINE_S}s", "--afterbay.report.table=off"]
TWO_NODES = ["--afterbay.nodes=0,0,1", "--afterbay.isolate_nodes=off", "--afterbay.memory.endpoints=64KiB"]


def main():
    for how, settings in (("refused", []), ("refused", TWO_NODES), ("at_once", TWO_NODES), ("left_out", []), ("left_out", TWO_NODES),
                          ("silent", []), ("silent", TWO_NODES)):
        mpirun(3, program("endpoint_mistakes"), how, f"{how}{len(settings)}.nc", *COMMON, *settings)
        print(f"{how} {' '.join(settings)}: good", flush=True)
    # The reason reaches the server, which prints it once.
    said = mpirun(3, program("endpoint_mistakes"), "stops", "stops.nc", *COMMON, expect=1)
    assert said.count("was put already by this caller") == 1, said
    assert "by endpoint 2 ('lower')" in said and "has died" not in said, said
    print("stops: good", flush=True)
    begin = time.monotonic()
    said = mpirun(3, program("endpoint_mistakes"), "stops_at_exit", "at_exit.nc", *COMMON, expect=1)
    assert said.count("was put already by this caller") == 1, said
    assert re.search(rf"rank [12]: a thread that stops with an error waited {STOPPED_S} s for another thread", said), said
    assert "let none of them wait for threads that may stop" in said, said
    assert time.monotonic() - begin >= STOPPED_S, time.monotonic() - begin
    print("stops_at_exit: good", flush=True)


main()
