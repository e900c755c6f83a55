#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults between emulated nodes: a server or a model rank on another node is killed, the network of
the server's node goes down. Every surviving process ends within the deadline with a message that
names what it waited for."""
import pathlib
import re
import sys
import time

import _nodes

FAULT_MODEL = _nodes.BUILD / "tests/fault/fault_model"
DEADLINE_S = 2
MOST_S = 3 * DEADLINE_S + 1
MOST_OF_SERVER_S = MOST_S + 3  # it waits until its model ranks have received the error
SETTINGS = (f"--afterbay.deadline={DEADLINE_S}s", "--afterbay.memory.server=8MiB", "--afterbay.memory.block=256KiB",
            "--afterbay.memory.small_block=64KiB", "--afterbay.chunk=64KiB")
LOST = ("peer_lost", "timed_out", "mpi")


def outcomes(directory):
    """{rank: (code, seconds since the fault, message)} of the processes that have reported."""
    found = {}
    for file in directory.glob("outcome.*"):
        if file.suffix[1:].isdigit():
            code, seconds, text = (file.read_text() + "0\n").split("\n", 2)
            found[int(file.suffix[1:])] = (code, float(seconds), text.strip())
    return found


def play(name, scenario, layout, *settings, reports):
    """Plays a scenario of the fault model on nodes until the ranks `reports` have reported their
    results."""
    directory = pathlib.Path(name)
    directory.mkdir()
    job = _nodes.start(layout, "--enable-recovery", FAULT_MODEL, scenario, "out", "netcdf4", *SETTINGS, *settings, directory=directory)
    until = time.monotonic() + MOST_OF_SERVER_S + 15
    while not set(reports) <= outcomes(directory).keys() and time.monotonic() < until:
        time.sleep(0.05)
    return directory, outcomes(directory), _nodes.end(job)


def check(name, result, ranks, words, most_s=MOST_S):
    """Each of `ranks` was informed of the fault in time, with its name; nothing was published."""
    directory, found, output = result
    told = "".join(f"  rank {rank}: {found[rank]}\n" for rank in sorted(found))
    for rank in ranks:
        if rank not in found:
            sys.exit(f"{name}: rank {rank} reported nothing\n{told}{output}")
        code, seconds, text = found[rank]
        if code not in LOST or seconds > most_s:
            sys.exit(f"{name}: rank {rank} ended with {code} after {seconds:.1f} s\n{told}")
        if not re.search(words, text):
            sys.exit(f"{name}: no '{words}' in the message of rank {rank}\n{told}")
    if final := [str(path) for path in directory.rglob("*.nc")]:
        sys.exit(f"{name}: partial file under its final name: {final}")
    print(f"{name}: told on ranks {list(ranks)} within {max(found[rank][1] for rank in ranks):.1f} s", flush=True)


def killed_server():
    """Ranks 0 to 2 on node1, rank 3 beside the server on node2."""
    check("killed_server", play("killed_server", "kill_server", "3,2", reports=range(4)), range(4), r"I/O server 0")


def killed_model_rank():
    """Rank 0 on node1, ranks 1 (the victim) and 2 on node2, rank 3 and the server on node3."""
    check("killed_model_rank", play("killed_model_rank", "kill_model", "1,2,2", reports=(0, 2, 3, 4)), (0, 2, 3), r"model rank 1")


def killed_inline_server():
    """Servers on the first rank of each node (0, 1 and 3); the victim, rank 1, is that of node2."""
    result = play("killed_inline_server", "kill_model", "1,2,1", "--afterbay.topology=inline", reports=(0, 2, 3))
    check("killed_inline_server", result, (0, 2, 3), r"model rank 1|I/O server 1")


def cut_off_server():
    """Three nodes; the server and rank 3 are on node3, whose network goes down in the middle of the
    run."""
    result = play("cut_off_server", "cut_server", "2,1,2", reports=range(5))
    if (result[0] / "cut").read_text().strip() != "0":
        sys.exit(f"the link was not cut: {result[2]}")
    check("cut_off_server: ranks on the other nodes", result, (0, 1, 2), r"I/O server 0")
    check("cut_off_server: the rank beside the server", result, (3,), r"model ranks? (0|1|2)")
    check("cut_off_server: the server", result, (4,), r"model ranks? (0|1|2)", MOST_OF_SERVER_S)


SCENARIOS = (killed_server, killed_model_rank, killed_inline_server, cut_off_server)

if __name__ == "__main__":
    _nodes.need(FAULT_MODEL)
    for scenario in SCENARIOS:
        scenario()
