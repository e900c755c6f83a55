# SPDX-License-Identifier: Apache-2.0
"""Programs that omit a call of Afterbay and continue: the session ends soon, one error on stderr
names the call and the rank, the journal says that the run failed, and no incomplete file has its
final name."""
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

import netCDF4

from _faults import BUILD, DEADLINE_S, SHORT_S, journal, most_of

OVER_MPI = ("transport=mpi",)
TIERED = ("topology=tiered", "nodes=0,0,0,1", "isolate_nodes=off", "memory.frontend=64MiB", "memory.link=8MiB")  # frontend: 2, server: 3
LINE = r"^\[.*\] error: \S|^afterbay: "  # as in tests/bindings/lib_messages.py; lines of context are indented
NEVER = rf"on host {re.escape(socket.gethostname())}.* has never answered since the session was opened: .* not called serve\(\)"
# The messages of sessions that end by their handle, and by MPI_Finalize.
DESTROYED = {"finalize": r"session was destroyed without session.finalize\(\)", "serve": r"session was destroyed without serve\(\)"}
AT_FINALIZE = {"finalize": r"MPI_Finalize was called without session.finalize\(\)", "serve": r"MPI_Finalize was called without serve\(\)"}
# A server that waited elsewhere returns before or after it learns of the failure: in both cases the
# call and its rank are named.
CAME_BACK = f"{NEVER}|{DESTROYED['serve']}|{AT_FINALIZE['serve']}"


def told(*words):
    """What both model ranks are told."""
    return [(rank, words) for rank in (0, 1)]


def deadline_of(scenario):
    """Long, if processes know without a deadline."""
    return SHORT_S if scenario == "blocked" else DEADLINE_S


def most_seconds(scenario):
    """From open_session on, for every rank."""
    return most_of(deadline_of(scenario)) if scenario in ("blocked", "late") else DEADLINE_S


def play(language, scenario, *arguments, models=2, servers=1, frontends=0, settings=()):
    program = BUILD / f"tests/fault/forgotten_{language}"
    if not program.exists():
        return None
    work = pathlib.Path(tempfile.mkdtemp(prefix=f"{scenario.replace(':', '_')}_{language}_", dir=".")).resolve()
    layout = [f"servers={servers}"] if servers else ["topology=inline"]
    flags = [f"--afterbay.{setting}" for setting in
             (f"deadline={deadline_of(scenario)}s", "memory.server=16MiB", "report.table=off", *layout, *settings)]
    command = ["mpirun", "--oversubscribe", "-np", str(models + servers + frontends), str(program), scenario, *map(str, arguments), *flags]
    try:
        run = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=150, check=False)
    except subprocess.TimeoutExpired as hung:
        sys.exit(f"{scenario} {arguments} {settings}, {language}: HANGS: {hung}")
    return work, run


def check(language, scenario, *arguments, says=(), outcomes=(), published=(), errors=(1,), held_up=False, **layout):
    """`says`: on stderr; `outcomes`: (rank, words of its error); `published`: None: those that were
    closed in time; `held_up`: by the program itself."""
    played = play(language, scenario, *arguments, **layout)
    if played is None:
        print(f"{scenario}, {language}: not built")
        return
    work, run = played
    most = most_seconds(scenario)
    found = {int(file.suffix[1:]): file.read_text() for file in work.glob("outcome.*")}
    ended = {int(file.suffix[1:]): float(file.read_text()) for file in work.glob("ended.*")}
    name = f"{scenario} {arguments} {layout} in {language}"

    def expect(condition, message):
        if not condition:
            sys.exit(f"{name}: {message}\nexit code {run.returncode}, ended {ended}, outcomes {found}\n{run.stderr}")

    for rank, text in found.items():
        if rank < layout.get("models", 2) or not held_up:
            expect(float(text.split("\n")[1]) < most, f"rank {rank} waited too long")
    for rank, seconds in ended.items():
        expect(held_up or seconds < most, f"rank {rank} ended too late")
    said = [line for line in run.stderr.splitlines() if re.search(LINE, line)]
    expect(len(said) in errors, f"expected {' or '.join(map(str, errors))} errors on stderr, found {len(said)}")
    for word in says:
        expect(re.search(word, run.stderr), f"no '{word}' on stderr")
    for rank, words in outcomes:
        expect(rank in found, f"rank {rank} got no error")
        for word in words:
            expect(re.search(word, found[rank]), f"no '{word}' in the error of rank {rank}")
    expect("its own message says why" not in "".join(text for rank, text in found.items() if rank < layout.get("models", 2)),
           "a model rank is referred to a message that is not there")
    ends = [event for event in journal(work) if event["event"] == "ended"]
    expect(not [event for event in ends if event.get("ok")], f"the journal calls the run complete: {ends}")
    if scenario.partition(":")[0] != "blocked":
        expect(subprocess.run([BUILD / "apps/afterbay/afterbay", "status", work], capture_output=True, check=False).returncode != 0,
               "afterbay status calls the run complete")
    final = sorted(path.name for path in work.glob("*.nc"))
    expect(published is None or final == sorted(published), f"files under their final names: {final}")
    for path in final:
        with netCDF4.Dataset(work / path) as data:
            expect((data["height"][:] == 1).all() and data["height"].shape == (1, 16), f"{path} is not whole")
    print(f"{name}: ok, {max([0.0, *ended.values()]):.1f} s after the start of the session", flush=True)
