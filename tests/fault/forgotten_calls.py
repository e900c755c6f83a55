#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs in C++, C and Fortran that forget a call of Afterbay and go on to MPI_Finalize, or leave: the job ends soon, one error on
stderr names the call and the rank, the journal says that the run failed, and no file has its final name that was not complete."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import netCDF4

from _faults import BUILD, DEADLINE_S, journal

LANGUAGES = ("cpp", "c", "fortran")
MOST_SECONDS = 3 * DEADLINE_S + 8


def play(language, scenario, *arguments, models=2, servers=1):
    program = BUILD / f"tests/fault/forgotten_{language}"
    if not program.exists():
        return None
    work = pathlib.Path(tempfile.mkdtemp(prefix=f"{scenario}_{language}_", dir=".")).resolve()
    flags = [f"--afterbay.deadline={DEADLINE_S}s", "--afterbay.memory.server=16MiB", "--afterbay.report.table=off",
             *([f"--afterbay.servers={servers}"] if servers else ["--afterbay.topology=inline"])]
    command = ["mpirun", "--oversubscribe", "-np", str(models + servers), str(program), scenario, *map(str, arguments), *flags]
    begin = time.monotonic()
    try:
        run = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=90, check=False)
    except subprocess.TimeoutExpired as hung:
        sys.exit(f"{scenario}, {language}: HANGS: {hung}")
    seconds = time.monotonic() - begin
    outcomes = {int(file.suffix[1:]): file.read_text() for file in work.glob("outcome.*")}
    return work, run, outcomes, seconds


def errors_of(run):
    """What Afterbay said on stderr, one string per error."""
    lines = [line for line in run.stderr.splitlines() if re.match(r"\S* ?\[\w+ \w+ \d+\] error:|.*\[forgetful .*\] error:", line)]
    return [line for line in lines if not re.search(r"error:  ", line)]  # lines of context are indented


def check(language, scenario, *arguments, says, outcomes=(), published=(), one_error=True, **layout):
    played = play(language, scenario, *arguments, **layout)
    if played is None:
        print(f"{scenario}, {language}: not built")
        return
    work, run, found, seconds = played
    name = f"{scenario} {arguments} {layout} in {language}"

    def expect(condition, message):
        if not condition:
            sys.exit(f"{name}: {message}\nafter {seconds:.1f} s, exit code {run.returncode}, outcomes {found}\n{run.stderr}")

    expect(seconds < MOST_SECONDS, "took too long")
    errors = errors_of(run)
    expect(len(errors) == 1 if one_error else errors, f"expected one error on stderr, found {len(errors)}")
    for word in says:
        expect(re.search(word, run.stderr), f"no '{word}' on stderr")
    for rank, words in outcomes:
        expect(rank in found, f"rank {rank} got no error")
        for word in words:
            expect(re.search(word, found[rank]), f"no '{word}' in the error of rank {rank}")
    ends = [event for event in journal(work) if event["event"] == "ended"]
    expect(not [event for event in ends if event.get("ok")], f"the journal calls the run complete: {ends}")
    expect(subprocess.run([BUILD / "apps/afterbay/afterbay", "status", work], capture_output=True, check=False).returncode != 0,
           "afterbay status calls the run complete")
    final = sorted(path.name for path in work.glob("*.nc"))
    expect(final == sorted(published), f"files under their final names: {final}")
    for path in final:
        with netCDF4.Dataset(work / path) as data:
            expect((data["height"][:] == 1).all() and data["height"].shape == (1, 16), f"{path} is not whole")
    print(f"{name}: ok after {seconds:.1f} s", flush=True)


wanted = sys.argv[1:] or LANGUAGES
for language in wanted:
    # All ranks forget; the file that they closed is published.
    check(language, "finalize", says=["model ranks 0 and 1", "MPI_Finalize was called without session.finalize"], published=["out.nc"])
    # One forgets, the other finalizes and learns of it.
    check(language, "finalize", 1, says=["rank 1", "model rank 1 gave up: MPI_Finalize was called without session.finalize"],
          published=["out.nc"])
    # Neither close nor finalize: the file is not complete.
    check(language, "close", says=["MPI_Finalize was called without session.finalize", "not complete: out.nc"])
    check(language, "close", 1, says=["rank 1", "not complete: out.nc"], outcomes=[(0, ["peer_lost", "model rank 1", "out.nc"])])
    # The I/O server's process goes on to MPI_Finalize.
    check(language, "serve", says=["rank 2", r"MPI_Finalize was called without serve\(\)"],
          outcomes=[(0, ["bad_state", r"serve\(\)"]), (1, ["bad_state", r"serve\(\)"])])
    # The process ends without MPI_Finalize.
    check(language, "exit", 1, says=[r"model rank 1 gave up: .* without (session\.)?finalize"])
# Without servers of their own, and with several.
if not sys.argv[1:]:
    # Rank 1 leaves out the close and computes on; rank 0 waits for the file.
    check("cpp", "late", 1, says=["model rank 1 did not close the file"], outcomes=[(0, ["timed_out", "model rank 1", "out.nc"])])
    check("cpp", "finalize", says=["MPI_Finalize was called without session.finalize"], servers=0, published=["out.nc"], one_error=False)
    check("c", "close", 0, says=["rank 0", "MPI_Finalize was called without session.finalize"], servers=0, one_error=False)
    check("fortran", "close", says=["model ranks 0, 1, 2 and 3", "not complete: out.nc"], models=4, servers=2)
    check("c", "serve", says=[r"without serve\(\)"], servers=2, one_error=False)
