#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `afterbay check --run` calls correct starts with default settings and writes the same files,
whatever the number of ranks and servers: 65 ranks of a node behind one frontend, and 16 ranks with
4 servers. What it refuses does not start: every rank says why, and the run with the settings that
it advises is correct."""
import filecmp
import os
import pathlib
import re
import subprocess
import sys

import _nodes

GRID = ("--grid", "61x130", "--steps", "8", "--fields-every", "4", "--surface-every", "4")
FILES = ("fields.nc", "surface.nc")
COMMON = ("--afterbay.report.table=off", "--afterbay.deadline=2min", "--afterbay.collections.*.store=cdf5")
TIERED = "--afterbay.topology=tiered"


def check(ranks, *settings):
    return subprocess.run([_nodes.AFTERBAY, "check", "--run", "--no-environment", "--ranks", str(ranks), *settings], capture_output=True,
                          text=True, timeout=60, check=False)


def job(directory, ranks, *settings):
    pathlib.Path(directory).mkdir(exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AFTERBAY_MEMORY")}
    return subprocess.run(["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(ranks), _nodes.MODEL, *GRID, "--directory", directory, *COMMON, *settings],
                          env=environment, capture_output=True, text=True, timeout=200, check=False)


def starts(directory, ranks, *settings):
    """With no setting of memory."""
    said = check(ranks, *settings)
    if said.returncode != 0:
        sys.exit(f"{directory}: check refuses defaults:\n{said.stderr}")
    done = job(directory, ranks, *settings)
    if done.returncode != 0:
        sys.exit(f"{directory}: check says correct, the run fails:\n{done.stdout}{done.stderr}")
    for name in FILES:
        if not filecmp.cmp(pathlib.Path("few", name), pathlib.Path(directory, name), shallow=False):
            sys.exit(f"{directory}/{name} differs from what 4 ranks write")
    print(f"{directory}: {ranks} ranks start and end", flush=True)


def what_does_not_fit_is_refused():
    """By every rank at once, with the calculation and with settings that fit."""
    large = ("--afterbay.memory.server=8TiB",)
    said = check(4, *large)
    advice = re.search(r"set memory\.server: (\w+)", said.stderr)
    if said.returncode == 0 or not advice or "memory.server" not in said.stderr:
        sys.exit(f"check of 8 TiB says {said.returncode}: {said.stdout}{said.stderr}")
    done = job("refused", 4, *large)
    text = done.stdout + done.stderr
    if done.returncode == 0 or "of memory are free on this node" not in text or "set memory.server: " not in text:
        sys.exit(f"8 TiB start: {done.returncode}\n{text}")
    advised = check(4, f"--afterbay.memory.server={advice[1]}")
    if advised.returncode != 0:
        sys.exit(f"the advice {advice[0]} does not fit:\n{advised.stderr}")
    print(f"refused: 8 TiB; advised: {advice[1]}", flush=True)


def main():
    for program in (_nodes.AFTERBAY, _nodes.MODEL):
        if not program.exists():
            print(f"skipped: {program} was not built")
            sys.exit(_nodes.SKIPPED)
    done = job("few", 4)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    what_does_not_fit_is_refused()
    starts("dedicated_16x4", 16 + 4, "--afterbay.servers=4")
    starts("tiered_16x4", 16 + 1 + 4, TIERED, "--afterbay.servers=4")
    starts("tiered_65", 65 + 1 + 1, TIERED)


if __name__ == "__main__":
    main()
