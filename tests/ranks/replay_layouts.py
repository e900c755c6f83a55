#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`afterbay replay` gives the same contents in all layouts: inline, dedicated, tiered with
frontends beside the model ranks and on separate nodes; pools; 1-4 model ranks, 1-3 servers; shared
memory and MPI; every placement of files. CDF-5 bit for bit.

A sample in which every pair of values occurs; AFTERBAY_TEST_FULL=1 runs all combinations."""
import collections
import sys
import time

import replay_matrix as matrix

INLINE, DEDICATED, TIERED, ISOLATED, POOLS = "inline", "dedicated", "tiered", "tiered on own nodes", "pools"
TIERED_FLAGS = ["--afterbay.topology=tiered", "--afterbay.memory.frontend=32MiB", "--afterbay.memory.link=8MiB",
                "--afterbay.memory.block=1MiB", "--afterbay.chunk=64KiB"]

Case = collections.namedtuple("Case", "input store topology transport ranks servers placement")


def all_cases(inputs):
    for case in matrix.itertools.product(inputs, ("netcdf4", "cdf5"), (INLINE, DEDICATED, TIERED, ISOLATED, POOLS), ("shm", "mpi"),
                                         range(1, 5), range(1, 4), ("collection", "file", "least", "slab", "variable")):
        case = Case(*case)
        if case.store == "cdf5" and case.input in matrix.files.WITH_STRINGS:
            continue
        if case.topology == INLINE and (case.servers > case.ranks or case.placement == "least"):
            continue
        if case.topology == ISOLATED and case.transport == "shm":
            continue  # declared nodes share no memory
        yield case


def processes(case):
    """Also returns the flags for the layout."""
    ranks, servers = case.ranks, case.servers
    if case.topology == INLINE:
        nodes = ",".join(str(rank % servers) for rank in range(ranks))
        return ranks, ["--afterbay.topology=inline", f"--afterbay.nodes={nodes}"]
    if case.topology == DEDICATED:
        return ranks + servers, [f"--afterbay.servers={servers}"]
    if case.topology == TIERED:
        return ranks + 1 + servers, [f"--afterbay.servers={servers}", *TIERED_FLAGS]
    if case.topology == ISOLATED:
        nodes = ",".join(["0"] * ranks + ["1"] * (servers + 1))
        return ranks + 1 + servers, [f"--afterbay.servers_per_node={servers}", "--afterbay.server_nodes=1",
                                     "--afterbay.isolate_nodes=on", f"--afterbay.nodes={nodes}", *TIERED_FLAGS]
    return ranks + servers + 2, [f"--afterbay.pools.main.servers={servers}", "--afterbay.pools.main.topology=tiered",
                                 "--afterbay.pools.other.servers=1", "--afterbay.collections.*.pool=main", *TIERED_FLAGS[1:]]


def command(case, source, output):
    number, flags = processes(case)
    words = ["mpirun", "--oversubscribe", "-np", str(number), str(matrix.AFTERBAY), "replay", str(source), str(output), "--store",
             case.store, "--verify", f"--afterbay.placement={case.placement}", *flags]
    if case.transport == "mpi":
        words.append("--afterbay.transport=mpi")
    return words + (["--repeat", str(case.servers)] if case.servers > 1 else [])


def main():
    chosen = {name: path for name, path in matrix.files.synthetic("inputs").items() if name in ("every_type", "every_cdf5", "storage")}
    matrix.command = command
    runs = matrix.Matrix(chosen)
    cases = list(all_cases(chosen)) if matrix.FULL else matrix.covering_sample(all_cases(chosen))
    started = time.monotonic()
    failed = 0
    for case in cases:
        if wrong := runs.run(case):
            failed += 1
            print(f"{case}:\n{wrong}", file=sys.stderr, flush=True)
    print(f"{len(cases)} cases of {len(chosen)} inputs, {failed} failed, {time.monotonic() - started:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
