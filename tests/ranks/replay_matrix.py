#!/usr/bin/env python3
"""`afterbay replay` gives the same contents whatever the layout: 1-6 model ranks, 1-3 servers,
dedicated and inline (synchronous, with a thread), shared memory and MPI, netCDF-4 and CDF-5,
several block sizes; CDF-5 files bit for bit. Inputs: synthetic files of every type and shape, and
real model output. Checked by `replay --verify`, netCDF4-python, cmp, and once per input by xarray,
ncmpidiff and cdo.

A sample in which every pair of values occurs runs by default; AFTERBAY_TEST_FULL=1 runs all
combinations, AFTERBAY_TEST_INPUTS=name,name only some inputs."""
import collections
import filecmp
import itertools
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

try:
    import netCDF4  # noqa: F401
    import xarray
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import _replay_check as check
import _replay_files as files

AFTERBAY = pathlib.Path(os.environ["AFTERBAY_BUILD"], "apps", "afterbay", "afterbay")
FULL = os.environ.get("AFTERBAY_TEST_FULL", "0") != "0"
DEDICATED, SYNCHRONOUS, THREAD = "dedicated", "inline synchronous", "inline thread"
SIZES = {"default": [], "small": ["--afterbay.memory.block=1MiB", "--afterbay.chunk=64KiB"],
         "buffered": ["--afterbay.direct_io=off", "--afterbay.writers=1"]}
ENVIRONMENT = {"AFTERBAY_MEMORY_SERVER": "48MiB", "AFTERBAY_DEADLINE": "20s", "AFTERBAY_REPORT_TABLE": "off"}

Case = collections.namedtuple("Case", "input store mode transport ranks servers sizes")


def all_cases(inputs):
    for name, mode, transport, ranks, servers, sizes in itertools.product(
            inputs, (DEDICATED, SYNCHRONOUS, THREAD), ("shm", "mpi"), range(1, 7), range(1, 4), SIZES):
        if mode != DEDICATED and servers > ranks:
            continue
        for store in ("netcdf4", "cdf5"):
            if store == "netcdf4" or name not in files.WITH_STRINGS:
                yield Case(name, store, mode, transport, ranks, servers, sizes)


def pairs(case):
    """The pairs that a case covers. Inputs are paired only with the store, topology and transport;
    otherwise there would be hundreds of runs; the other pairs all occur."""
    fields = case._asdict()
    for a, b in itertools.combinations(fields, 2):
        if a == "input" and b in ("ranks", "servers", "sizes"):
            continue
        yield a, fields[a], b, fields[b]


def covering_sample(cases):
    """Greedy: the case with the most pairs that no earlier case has, until there are no more."""
    cases = list(cases)
    random.Random(1).shuffle(cases)
    missing = {pair for case in cases for pair in pairs(case)}
    sample = []
    while missing:
        best = max(cases, key=lambda case: sum(pair in missing for pair in pairs(case)))
        missing.difference_update(pairs(best))
        sample.append(best)
    return sample


def command(case, source, output):
    processes = case.ranks + (case.servers if case.mode == DEDICATED else 0)
    words = ["mpirun", "--oversubscribe", "-np", str(processes), str(AFTERBAY), "replay", str(source), str(output),
             "--store", case.store, "--verify", *SIZES[case.sizes]]
    if case.transport == "mpi":
        words.append("--afterbay.transport=mpi")
    if case.servers > 1:  # one collection is on one server: only files in turn use all of them
        words += ["--afterbay.placement=file", "--repeat", str(case.servers)]
    if case.mode == DEDICATED:
        return [*words, "--servers", str(case.servers)]
    words += ["--afterbay.topology=inline", f"--afterbay.inline.mode={case.mode.split()[1]}"]
    if case.servers > 1:  # one server per node: declare as many nodes
        words.append("--afterbay.nodes=" + ",".join(str(rank % case.servers) for rank in range(case.ranks)))
    return words


def other_software(case, source, output):
    """Once per input and store. Returns the differences found."""
    if case.store == "cdf5" and case.input not in files.WITH_NANS:  # ncmpidiff treats NaNs as
                                                                    # different
        subprocess.run(["nccopy", "-k", "cdf5", source, "reference.nc"], check=True)
        found = subprocess.run(["ncmpidiff", "reference.nc", output], capture_output=True, text=True, timeout=60)
        if found.returncode != 0 or "DIFF" in found.stdout:
            return f"ncmpidiff: {found.stdout} {found.stderr}"
    if case.input == "many_dimensions":
        return None  # xarray does not support variables that have a dimension twice
    with xarray.open_dataset(source, decode_cf=False) as a, xarray.open_dataset(output, decode_cf=False) as b:
        try:
            xarray.testing.assert_identical(a, b)
        except AssertionError as error:
            return f"xarray: {error}"
    if shutil.which("cdo") and case.input == "A1B_north_america":
        found = subprocess.run(["cdo", "-s", "diffn", source, output], capture_output=True, text=True, timeout=60)
        if found.returncode != 0 or found.stdout.strip():
            return f"cdo diffn: {found.stdout} {found.stderr}"
    return None


class Matrix:
    def __init__(self, inputs):
        self.inputs = inputs
        self.first = {}  # (input, store): the output of the first case, kept

    def run(self, case):
        """Runs one case; returns the error, or nothing."""
        work = pathlib.Path("work")
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        source = self.inputs[case.input]
        words = command(case, source, work / "out.nc")
        result = subprocess.run(["timeout", "-k", "5", "60", *words], capture_output=True, text=True,
                                env={**os.environ, **ENVIRONMENT})
        if result.returncode != 0:
            return f"exit code {result.returncode}: {' '.join(words)}\n{result.stdout}{result.stderr}"
        expected = ["out.nc"] + [f"out.{turn}.nc" for turn in range(2, case.servers + 1)]
        found = sorted(path.name for path in work.iterdir())
        if found != sorted(expected):
            return f"files {found}, expected {expected}"
        for name in expected:
            wrong = self.check(case, source, work / name)
            if wrong:
                return f"{wrong}\n{' '.join(words)}"
        return None

    def check(self, case, source, output):
        key = (case.input, case.store)
        wrong = None
        if key not in self.first:
            wrong = check.difference(source, output) or other_software(case, source, output)
            self.first[key] = pathlib.Path(f"first_{case.input}_{case.store}.nc")
            shutil.copy(output, self.first[key])
        elif case.store == "cdf5":  # law 6: equal bits
            wrong = None if filecmp.cmp(self.first[key], output, shallow=False) else f"{output} is not {self.first[key]} bit for bit"
        else:
            wrong = check.difference(source, output)
        return wrong


def main():
    inputs = {**files.synthetic("inputs"), **files.real()}
    chosen = os.environ.get("AFTERBAY_TEST_INPUTS")
    if chosen:
        inputs = {name: inputs[name] for name in chosen.split(",")}
    matrix = Matrix(inputs)
    cases = list(all_cases(inputs)) if FULL else covering_sample(all_cases(inputs))
    failed = 0
    started = time.monotonic()
    for case in cases:
        wrong = matrix.run(case)
        if wrong:
            failed += 1
            print(f"{case}:\n{wrong}", file=sys.stderr, flush=True)
        if failed == 10:
            print("ten cases failed; the rest is not run", file=sys.stderr)
            break
    print(f"{len(cases)} cases of {len(inputs)} inputs, {failed} failed, {time.monotonic() - started:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
