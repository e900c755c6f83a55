#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real file system that is full: a tmpfs of 3 MiB. Where it cannot be mounted the test counts as
skipped (exit code 77); `faults.py no_space` is the same with writes that fail by a preloaded
library."""
import pathlib
import subprocess
import sys
import tempfile

from _faults import NOT_RUN, check, play


def small_disk(scenario, **more):
    disk = pathlib.Path(tempfile.mkdtemp(prefix="disk_", dir=".")).resolve()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk], capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        print(f"{scenario}: NOT RUN: cannot mount a small file system: {mounted.stderr.strip()}")
        sys.exit(NOT_RUN)
    try:
        result = play("plain", directory=str(disk), **more)
        if list(disk.glob("*.nc")):
            sys.exit(f"{scenario}: partial file under its final name")
        check(scenario, result, code="no_space", cause="No space left")
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


for store in "netcdf4", "cdf5":
    small_disk(f"full_disk {store}", store=store)
small_disk("full_disk 4 + 2", servers=2)
