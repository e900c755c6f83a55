#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""daymean.py RANKS PROGRAM --dir DIRECTORY ...: runs the program under mpirun, which writes
instants.nc, and then `cdo daymean`, which makes means.nc of it. Prints the program's line `BENCH
{json}` with both times together as the end-to-end time."""

import json
import os
import subprocess
import sys
import time


def model(ranks: str, command: list[str]) -> dict:
    done = subprocess.run(["mpirun", "--oversubscribe", "--bind-to", "none", "-np", ranks, *command], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.returncode)
    line = next(line for line in done.stdout.splitlines() if line.startswith("BENCH "))
    return json.loads(line[len("BENCH "):])


def daily_means(directory: str) -> None:
    """The value at the end of a day belongs to it: a minute earlier, cdo takes it so."""
    means = os.path.join(directory, "means.nc")
    subprocess.run(["cdo", "-s", "-O", "daymean", "-shifttime,-1minute", os.path.join(directory, "instants.nc"), means], check=True)
    for path, flags in ((means, os.O_RDWR), (directory, os.O_RDONLY | os.O_DIRECTORY)):
        descriptor = os.open(path, flags)
        os.fsync(descriptor)
        os.close(descriptor)


def main() -> None:
    ranks, *command = sys.argv[1:]
    directory = command[command.index("--dir") + 1]
    metrics = model(ranks, command)
    start = time.monotonic()
    daily_means(directory)
    metrics["cdo_s"] = time.monotonic() - start
    metrics["model_s"] = metrics["end_s"]
    metrics["end_s"] += metrics["cdo_s"]
    metrics["disk_bytes"] = sum(entry.stat().st_size for entry in os.scandir(directory) if entry.name.endswith(".nc"))
    print("BENCH " + json.dumps(metrics))


if __name__ == "__main__":
    main()
