#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every fault ends within the deadline, on every rank, with a message that names it; no partial file
stands under its final name. Run as a test by ctest; `faults.py SCENARIO...` runs only those."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
MODEL = BUILD / "tests/fault/fault_model"
DEADLINE_S = 2
MODELS, SERVERS = 4, 1
ALL = list(range(MODELS))
SKIPPED = []


class Outcome:
    def __init__(self, text):
        lines = text.split("\n", 2)
        self.code = lines[0].strip()
        self.seconds = float(lines[1]) if self.code != "ok" else 0.0
        self.text = lines[2] if self.code != "ok" else ""


def play(scenario, *, store="netcdf4", directory="out", transport="auto", topology=(), env=None, preload=None):
    """Runs the model in a fresh directory; {rank: Outcome} and the directory."""
    work = pathlib.Path(tempfile.mkdtemp(prefix=scenario + "_", dir="."))
    command = ["mpirun", "--oversubscribe", "--enable-recovery", "-np", str(MODELS + SERVERS)]
    for name, value in (env or {}).items():
        command += ["-x", f"{name}={value}"]
    if preload:
        command += ["-x", f"LD_PRELOAD={preload}"]
    command += [str(MODEL), scenario, directory, store, f"--afterbay.deadline={DEADLINE_S}s", "--afterbay.memory.server=8MiB",
                "--afterbay.memory.block=256KiB", "--afterbay.memory.small_block=64KiB", "--afterbay.chunk=64KiB",
                f"--afterbay.transport={transport}", *topology]
    try:
        run = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=90, check=False)
    except subprocess.TimeoutExpired as hung:
        sys.exit(f"{scenario}: HANGS: {hung}")
    outcomes = {int(file.suffix[1:]): Outcome(file.read_text()) for file in work.glob("outcome.[0-9]*")}
    return work, outcomes, run


def expect(condition, scenario, message, outcomes):
    if condition:
        return
    for rank, outcome in sorted(outcomes.items()):
        print(f"  rank {rank}: {outcome.code} after {outcome.seconds:.1f} s: {outcome.text}")
    sys.exit(f"{scenario}: {message}")


def check(scenario, result, *, code, words, ranks=ALL, published=False, most_seconds=3 * DEADLINE_S + 4):
    """Each of `ranks` failed with one of the codes, soon, naming all of `words`; no final file."""
    work, outcomes, run = result
    codes = [code] if isinstance(code, str) else code
    for rank in ranks:
        expect(rank in outcomes, scenario, f"rank {rank} reported nothing\n{run.stderr[-2000:]}", outcomes)
        outcome = outcomes[rank]
        expect(outcome.code in codes, scenario, f"rank {rank}: expected {codes}, found {outcome.code}", outcomes)
        for word in words:
            expect(re.search(word, outcome.text), scenario, f"rank {rank}: no '{word}' in its message", outcomes)
        expect(outcome.seconds < most_seconds, scenario, f"rank {rank} waited {outcome.seconds} s", outcomes)
    final = [str(path) for path in work.rglob("*.nc")]
    expect(published or not final, scenario, f"partial file under its final name: {final}", outcomes)
    shutil.rmtree(work)
    slowest = max(outcomes[rank].seconds for rank in ranks)
    print(f"{scenario}: {codes[0]} on ranks {ranks} within {slowest:.2f} s")


def small_disk(scenario, **more):
    """The same on a file system of 3 MiB."""
    disk = pathlib.Path(tempfile.mkdtemp(prefix="disk_", dir=".")).resolve()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk], check=False).returncode != 0:
        SKIPPED.append(f"{scenario}: cannot mount a small file system (not root?)")
        return
    try:
        result = play("plain", directory=str(disk), **more)
        expect(not list(disk.glob("*.nc")), scenario, "partial file under its final name", result[1])
        check(scenario, result, code="no_space", words=[r"out\.nc", r"space|full", r"rank"])
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


def existing_file():
    work = pathlib.Path(tempfile.mkdtemp(prefix="existing_", dir=".")).resolve()
    (work / "out.nc").write_bytes(b"older")
    check("existing_file", play("plain", directory=str(work)), code="exists", words=[r"out\.nc", "replace|append"])
    if (work / "out.nc").read_bytes() != b"older":
        sys.exit("existing_file: the file that was there has been touched")


def unwritable():
    work = pathlib.Path(tempfile.mkdtemp(prefix="unwritable_", dir=".")).resolve()
    (work / "file").write_text("not a directory")
    check("unwritable", play("plain", directory=str(work / "file")), code="io", words=[r"file/out\.nc|directory", r"Not a directory|not a directory"])


def plain():
    work, outcomes, run = play("plain")
    expect([outcomes[r].code for r in range(MODELS + SERVERS)] == ["ok"] * (MODELS + SERVERS), "plain",
           f"not ok without a fault\n{run.stderr[-2000:]}", outcomes)
    expect((work / "out/out.nc").exists(), "plain", "no file", outcomes)
    shutil.rmtree(work)
    print("plain: ok")


SHIM = BUILD / "tests/fault/libfault_writes.so"
SCENARIOS = {
    "plain": plain,
    "wrong_variable": lambda: (check("wrong_variable", play("wrong_variable"), code="unknown_name", ranks=[0],
                                     words=["temperatur", r'did you mean .?temperature', r"out\.nc", "rank 0"]),
                               check("wrong_variable: the others", play("wrong_variable"), code=["peer_lost", "timed_out"], ranks=[1, 2, 3],
                                     words=["model rank 0", "temperatur", "did you mean"])) and None,
    "wrong_type": lambda: check("wrong_type", play("wrong_type"), code="wrong_type", ranks=[0], words=["text", "float32", "temperature"]),
    "outside": lambda: check("outside", play("outside"), code="invalid_argument", ranks=[2], words=["grid", "64", "rank 2"]),
    "overlap": lambda: check("overlap", play("overlap"), code=["conflict", "invalid_argument"], words=["grid", r"ranks? 1", "2", "overlap|both|twice"]),
    "gap": lambda: check("gap", play("gap"), code=["conflict", "invalid_argument"], words=["grid", r"64 points|gap|no rank"]),
    "missing_rank": lambda: check("missing_rank", play("missing_rank"), code="conflict",
                                  words=["model rank 2", "temperature", "record 3", r"out\.nc"]),
    "absent_rank": lambda: check("absent_rank", play("absent_rank"), code="timed_out", ranks=[0, 1, 3],
                                 words=["model rank 2", "temperature", r"out\.nc"]),
    "name_clash": lambda: check("name_clash", play("name_clash"), code=["conflict", "peer_lost"], words=[r"out\.nc", "history", "close"]),
    "existing_file": existing_file,
    "unwritable": unwritable,
    "full_disk": lambda: (small_disk("full_disk netcdf4"), small_disk("full_disk cdf5", store="cdf5")) and None,
    "io_error": lambda: check("io_error", play("plain", preload=SHIM, env={"FAULT_AFTER": "1000000", "FAULT_ERRNO": "5"}), code="io",
                              words=[r"out\.nc", r"Input/output error", "rank"]),
    "quota": lambda: check("quota", play("plain", store="cdf5", preload=SHIM, env={"FAULT_AFTER": "1000000", "FAULT_ERRNO": "122"}),
                           code="no_space", words=[r"out\.nc", r"[Qq]uota", "rank"]),
    "kill_server": lambda: check("kill_server", play("kill_server"), code=["peer_lost", "timed_out"], words=["I/O server 0"]),
    "kill_server_mpi": lambda: check("kill_server_mpi", play("kill_server", transport="mpi"), code=["peer_lost", "timed_out", "mpi"],
                                     words=["I/O server"]),
    "kill_model": lambda: check("kill_model", play("kill_model"), code=["peer_lost", "timed_out"], ranks=[0, 2, 3], words=["model rank 1"]),
}


def main():
    for name in sys.argv[1:] or SCENARIOS:
        SCENARIOS[name]()
    for reason in SKIPPED:
        print("not run:", reason)


main()
