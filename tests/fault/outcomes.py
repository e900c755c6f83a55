#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""More disk faults, in addition to those of faults.py: fsync and rename that fail, read-only file
systems, a directory that vanishes, input that is invalid. docs/reference/faults.md documents
them."""
import pathlib
import shutil
import subprocess
import tempfile

from _faults import MODELS, check, expect, play, run_scenarios, succeeds
from _input import DAMAGES, make_input


def done(name, result):
    shutil.rmtree(succeeds(name, result)[0])
    print(f"{name}: ok", flush=True)


def short_writes():
    done("short_writes", play("plain", rules=["ops=write path=*.part short=5000"]))


def failing_publication():
    """The calls that complete a file; for the last one it is unknown whether it succeeded."""
    check("failing fsync of data", play("plain", rules=["ops=sync path=*.part errno=5"]), code="io", variable=None,
          cause=["fsync", "Input/output error"])
    check("failing rename", play("plain", rules=["ops=rename path=*.part errno=5"]), code="io", variable=None,
          cause=["rename", "Input/output error"])
    check("failing fsync of the directory", play("plain", rules=["ops=sync path=*/out errno=5"]), code="io", variable=None,
          cause=["make durable the directory", "Input/output error"], published=["out.nc"])


def failing_journal():
    rules = ["ops=write path=*.jsonl errno=28"]
    done("failing_journal", play("plain", rules=rules))
    check("failing_journal, required", play("plain", rules=rules, settings=["journal.required=on"]), code="no_space", file=None,
          variable=None, cause=["journal", "No space left"])


def read_only():
    check("read_only", play("plain", rules=["ops=open path=*.part errno=30"]), code="io", variable=None, cause="[Rr]ead-only")
    disk = pathlib.Path(tempfile.mkdtemp(prefix="read_only_", dir=".")).resolve()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,size=3m", "tmpfs", disk], capture_output=True, check=False).returncode != 0:
        print("read_only, mounted so: NOT RUN, cannot mount")
        return
    try:
        check("read_only, mounted so", play("plain", directory=str(disk)), code="io", variable=None, cause="[Rr]ead-only")
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


def vanished():
    for layout in ({"store": "cdf5"}, {"store": "netcdf4"}, {"servers": 2, "settings": ["placement=slab"]}):
        check(f"vanished {layout}", play("vanish", **layout), code="io", variable=None, cause=["No such file"], most_seconds=60)


def wrong_input():
    for name, how in DAMAGES.items():
        result = play("input", prepare=lambda work, how=how: make_input(work, **how))
        found = [outcome.code for outcome in result[1].values()]
        expect("format" in found or "io" in found, f"wrong_input, {name}", "no rank says what is wrong with the file", result[1])
        # A rank that comes late first learns that another one gave up, and why.
        check(f"wrong_input, {name}", result, code=["format", "io", "peer_lost"], file=r"in\.nc", variable=None, cause=[],
              published=["in.nc"])
    work, outcomes, run = play("input", prepare=make_input)
    expect(all(outcomes[rank].code == "ok" for rank in range(MODELS)), "right input", run.stderr[-2000:], outcomes)
    shutil.rmtree(work)


def read_beside_output():
    """A file is read while the disk writes nothing of what is queued for output. With inline
    servers, whose thread reads and writes, the read comes after the current write."""
    for name, layout in {"shm": {}, "mpi": {"settings": ["transport=mpi"]}, "tiered": {"settings": ["topology=tiered"], "frontends": 1},
                         "inline": {"settings": ["topology=inline", "inline.mode=thread"], "servers": 0}}.items():
        settings = [*layout.pop("settings", ()), "memory.server=32MiB"]
        slow = "ms=300 until" if name == "inline" else "wait"
        rules = [f"ops=write path=*.part {slow}={{work}}/read"]
        work, outcomes, run = play("read_beside_output", prepare=make_input, rules=rules, settings=settings, **layout)
        for rank in range(MODELS):
            expect(rank in outcomes and outcomes[rank].code == "ok", f"read_beside_output {name}", run.stderr[-2000:], outcomes)
        shutil.rmtree(work)
        print(f"read_beside_output {name}: read before the output was written", flush=True)


run_scenarios({"short_writes": short_writes, "failing_publication": failing_publication, "failing_journal": failing_journal,
               "read_only": read_only, "vanished": vanished, "wrong_input": wrong_input, "read_beside_output": read_beside_output})
