# SPDX-License-Identifier: Apache-2.0
"""Runs fault_model and checks the errors of all waiting ranks: rank, file, variable and cause."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import netCDF4

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
MODEL = BUILD / "tests/fault/fault_model"
SERVE = BUILD / "apps/afterbay/afterbay"
SHIM = BUILD / "tests/fault/libfault_shim.so"
DEADLINE_S = 20  # more than a busy machine holds a process up
SHORT_S = 5  # if a test waits for the deadline
MODELS = 4
ALL = list(range(MODELS))
NOT_RUN = 77
FILE = r"\bfile \S*out\.nc(?!\.part)"
VARIABLE = r"\bvariable '?(temperature|pressure)"
RANK = r"\brank \d"


class Outcome:
    def __init__(self, text):
        lines = text.split("\n", 2)
        self.code = lines[0].strip()
        self.seconds = float(lines[1]) if self.code != "ok" else 0.0
        self.text = lines[2] if self.code != "ok" else ""


def play(scenario, *, servers=1, frontends=0, serve=False, store="netcdf4", directory="out", settings=(), rules=(), prepare=None, victims=0,
         deadline=DEADLINE_S):
    """Runs the model in a fresh directory; the directory, {rank: Outcome} and the run. With `serve`
    the servers are separate programs, whose code is "exit N". `rules`: for fault_shim.c, in all
    processes; `prepare(work)` creates the initial files;
    `victims`: processes that will not report, besides those of the scenario."""
    work = pathlib.Path(tempfile.mkdtemp(prefix=scenario + "_", dir=".")).resolve()
    if prepare:
        prepare(work)
    exported = ["-x", f"FAULT_VICTIMS={victims}"]
    if rules:
        (work / "rules").write_text("".join(rule.replace("{work}", str(work)) + "\n" for rule in rules))
        exported += ["-x", f"LD_PRELOAD={SHIM}", "-x", f"FAULT_RULES={work / 'rules'}"]
    flags = [f"--afterbay.{setting}" for setting in (
        f"deadline={deadline}s", "space.retry=1s", "memory.server=8MiB", "memory.block=256KiB", "memory.small_block=64KiB", "chunk=64KiB",
        *([f"servers={servers}"] if servers else []), *settings)]
    command = ["mpirun", "--oversubscribe", "--enable-recovery", "-np", str(MODELS if serve else MODELS + servers + frontends), *exported,
               str(MODEL), scenario, directory, store, *flags]
    if serve:
        report = 'printf "exit %d\n0\n" $? > outcome.$OMPI_COMM_WORLD_RANK'
        command += [":", "-np", str(servers), *exported, "sh", "-c", f"{shlex.join([str(SERVE), 'serve', *flags])}; {report}"]
    try:
        run = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=150, check=False)
    except subprocess.TimeoutExpired as hung:
        sys.exit(f"{scenario}: HANGS: {hung}")
    outcomes = {int(file.suffix[1:]): Outcome(file.read_text()) for file in work.glob("outcome.[0-9]*")}
    return work, outcomes, run


def most_of(deadline):
    """Seconds after which the last rank knows of a fault that a deadline of so many seconds
    shows: 1.25 deadlines, over MPI and with inline servers twice that; and the time that a busy
    machine holds processes up."""
    return 3 * deadline + 10


def expect(condition, scenario, message, outcomes):
    if condition:
        return
    for rank, outcome in sorted(outcomes.items()):
        print(f"  rank {rank}: {outcome.code} after {outcome.seconds:.1f} s: {outcome.text}")
    sys.exit(f"{scenario}: {message}")


def check(scenario, result, *, code, cause, file=FILE, variable=VARIABLE, rank=RANK, ranks=ALL, servers=(), server_code=None,
          published=(), most_seconds=DEADLINE_S):
    """Each of `ranks` failed with one of the codes within `most_seconds`, naming rank, file,
    variable and all of `cause` (None: there is none to name); `servers` with the same code or
    `server_code`; no file but `published` has its final name."""
    work, outcomes, run = result
    codes = [code] if isinstance(code, str) else code
    words = [word for word in (rank, file, variable) if word] + ([cause] if isinstance(cause, str) else list(cause))
    for number in ranks:
        expect(number in outcomes, scenario, f"rank {number} reported nothing\n{run.stderr[-2000:]}", outcomes)
        outcome = outcomes[number]
        expect(outcome.code in codes, scenario, f"rank {number}: expected {codes}, found {outcome.code}", outcomes)
        for word in words:
            expect(re.search(word, outcome.text), scenario, f"rank {number}: no '{word}' in its message", outcomes)
        expect(outcome.seconds < most_seconds, scenario, f"rank {number} waited {outcome.seconds} s", outcomes)
    for number in servers:
        expected = [server_code] if server_code else codes
        expect(number in outcomes and outcomes[number].code in expected, scenario, f"server at rank {number}: expected {expected}", outcomes)
    final = sorted(path.name for path in work.rglob("*.nc"))
    expect(final == sorted(published), scenario, f"files under their final names: {final}", outcomes)
    shutil.rmtree(work)
    slowest = max(outcomes[number].seconds for number in ranks)
    print(f"{scenario}: {codes[0]} on ranks {list(ranks)} within {slowest:.2f} s", flush=True)


def whole(path, records=40):
    """Whether a file of fault_model contains all its values."""
    with netCDF4.Dataset(path) as data:
        return all(data[name].shape == (records, *shape) and (data[name][:].filled(0) == 280).all()
                   for name, shape in {"temperature": (8, 64, 64), "pressure": (64, 64)}.items())


def succeeds(scenario, result, published=("out.nc",)):
    """All processes succeeded, and exactly the files `published` exist and are complete. Returns
    the result."""
    work, outcomes, run = result
    expect(len(outcomes) >= MODELS and all(outcome.code == "ok" for outcome in outcomes.values()), scenario, f"not ok\n{run.stderr[-2000:]}", outcomes)
    expect({path.name for path in (work / "out").iterdir()} == set(published), scenario, f"left: {list((work / 'out').iterdir())}", outcomes)
    for path in published:
        expect(whole(work / "out" / path), scenario, f"{path} is not whole", outcomes)
    return result


def journal(work):
    """Its events, in the order of time."""
    events = [json.loads(line) for file in (work / "afterbay-journal").glob("*.jsonl") for line in file.read_text().splitlines()]
    return sorted(events, key=lambda event: event["at"])


def failing_writes(number, **more):
    """The plain run on a disk whose writes fail with errno `number` after the first megabyte."""
    return play("plain", rules=[f"ops=write path=*.part after_bytes=1000000 errno={number}"], **more)


def run_scenarios(scenarios):
    for name in sys.argv[1:] or scenarios:
        scenarios[name]()
