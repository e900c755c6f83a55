#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Signals that ask a run to stop (walltime): complete files are published, by priority, incomplete
ones are recorded, the servers end with their own exit code, and the model is informed of the
reason."""
import os
import shutil
import signal
import subprocess
import sys
import time

import netCDF4

import _journal
from _crash import Trial
from _faults import BUILD, MODELS, SERVE, expect, journal, play, run_scenarios

SLOW = "ops=write path=*.part ms=100"  # a file takes seconds
# Slower still until the signal is sent, which therefore comes while the first file is written. Not
# for a rank that writes by itself, and would be late at the barrier before the signal.
SLOWER_BEFORE = "ops=write path=*.part ms=500 until={work}/strike"
STOPPED = 7


def names(events, kind):
    return [event["path"].split("/")[-1] for event in events if event["event"] == kind]


def drained(name, scenario="signal_server", in_order=True, **layout):
    """Two files are closed and a third is open when the server gets SIGTERM."""
    settings = ["collections.restart.priority=50", "stop.grace=30s", "writers=1", *layout.pop("settings", ())]
    work, outcomes, run = play(scenario, rules=[SLOW, SLOWER_BEFORE] if in_order else [SLOW], settings=settings, **layout)
    events = journal(work)
    for rank in range(MODELS):
        expect(rank in outcomes and outcomes[rank].code == "stopped", name, f"rank {rank} is not told\n{run.stderr[-2000:]}", outcomes)
        expect("SIGTERM" in outcomes[rank].text and "open.nc" in outcomes[rank].text, name, "not said why", outcomes)
    published = names(events, "file_published")
    expect((published if in_order else sorted(published, reverse=True)) == ["restart.nc", "history.nc"], name, f"published: {published}", outcomes)
    given_up = names(events, "file_given_up")
    expect(given_up == ["open.nc"], name, f"given up: {given_up}", outcomes)
    expect(events[-1]["event"] == "run_ended" and not events[-1]["ok"], name, f"the end: {events[-1]}", outcomes)
    for file in "restart.nc", "history.nc":
        with netCDF4.Dataset(work / "out" / file) as data:
            expect((data["temperature"][:].filled(0) == 280).all() and len(data.dimensions["time"]) == 10, name, f"{file} is not whole", outcomes)
    expect(not (work / "out/open.nc").exists(), name, "what is not complete has its final name", outcomes)
    return work, outcomes


def server_stops():
    work, outcomes = drained("server_stops")
    expect(outcomes[MODELS].code == "stopped", "server_stops", "the server ends otherwise", outcomes)
    shutil.rmtree(work)
    work, outcomes = drained("server_stops over mpi", settings=["transport=mpi"])
    shutil.rmtree(work)
    work, outcomes = drained("server_stops, tiered", frontends=1, settings=["topology=tiered"])
    shutil.rmtree(work)
    print("server_stops: ok")


def inline():
    """The rank that hosts the server catches the signal, since it was asked to."""
    for mode in "thread", "synchronous":
        work, _ = drained(f"inline {mode}", "signal_inline", in_order=mode == "thread", servers=0,
                          settings=["topology=inline", f"inline.mode={mode}", "stop.inline=on"])
        shutil.rmtree(work)
    print("inline: ok")


def in_time():
    """When the grace period ends, unpublished files stay unpublished, which is reported."""
    started = time.monotonic()
    work, outcomes, run = play("signal_server", rules=["ops=write path=*.part ms=700"], settings=["stop.grace=5s", "writers=1"])
    events = journal(work)
    expect(all(outcomes[rank].code == "stopped" for rank in range(MODELS + 1)), "in_time", f"not stopped\n{run.stderr[-2000:]}", outcomes)
    lost = names(events, "file_given_up")
    expect("history.nc" in lost or "restart.nc" in lost, "in_time", f"given up: {lost}", outcomes)
    expect(events[-1]["event"] == "run_ended", "in_time", f"the end: {events[-1]}", outcomes)
    expect(time.monotonic() - started < 40, "in_time", "it took too long", outcomes)
    shutil.rmtree(work)
    print("in_time: ok")


def from_outside():
    """SIGUSR1 to mpirun, which forwards it to all; the model ranks ignore it, the servers end with
    7."""
    trial = Trial("outside", {"servers": 2, "placement": "file"})
    flags = [f"--afterbay.{name}={value}" for name, value in {"placement": "file", "journal.directory": trial.disk / "afterbay-journal"}.items()]
    server = f'{SERVE} serve {" ".join(flags)}; echo $? > code.$OMPI_COMM_WORLD_RANK; exit 0'
    model = [str(BUILD / "tests/fault/crash_model"), str(trial.disk / "out"), "2000", *flags]
    with open(trial.work / "log", "w", encoding="utf-8") as log:
        run = subprocess.Popen(["mpirun", "--oversubscribe", "--enable-recovery", "-x", "CRASH_IGNORES_SIGUSR1=1", "-np", "3", *model,
                                ":", "-np", "2", "sh", "-c", f"trap : USR1; {server}"], cwd=trial.work, stdout=log, stderr=log)
    deadline = time.monotonic() + 60
    while not (trial.work / "acks").exists():
        if time.monotonic() > deadline or run.poll() is not None:
            sys.exit(f"from_outside: the run did not start: {trial.log()}")
        time.sleep(0.05)
    os.kill(run.pid, signal.SIGUSR1)
    run.wait(timeout=60)
    codes = [(trial.work / f"code.{rank}").read_text().strip() for rank in (3, 4)]
    if codes != [str(STOPPED)] * 2 or trial.log().count("asked to stop (SIGUSR1)") == 0:
        sys.exit(f"from_outside: exit codes {codes}\n{trial.log()}")
    published, unsaid, ended = trial.check()
    events = _journal.read(trial.disk / "afterbay-journal").runs
    if not ended or unsaid or published == 0 or not any(event["event"] == "run_ended" for run_events in events.values() for event in run_events):
        sys.exit(f"from_outside: {published} published, {unsaid} unsaid, ended: {ended}\n{trial.log()}")
    trial.rerun(8)
    trial.check()
    trial.remove()
    print(f"from_outside: {published} files published, both servers ended with {STOPPED}")


def left_alone():
    """With stop.signals=off the signal ends the process, as before; the ranks are informed that the
    server is gone."""
    work, outcomes, _ = play("signal_server", settings=["stop.signals=off"], victims=1)
    expect(all(outcomes[rank].code in ("peer_lost", "timed_out") for rank in range(MODELS)) and MODELS not in outcomes, "left_alone", "", outcomes)
    shutil.rmtree(work)
    print("left_alone: ok")


run_scenarios({"server_stops": server_stops, "inline": inline, "in_time": in_time, "from_outside": from_outside, "left_alone": left_alone})
