#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two runs that were killed, one after the other, each after an epoch of the same number, and the second before its journal
knew of the epoch: `status` must not offer the second run's file as one of the first run's epoch."""
import json
import pathlib
import subprocess
import tempfile
import time

from _adversary import COMMAND, FileSpec, Layout, Run, require

work = pathlib.Path(tempfile.mkdtemp(prefix="epoch_of_another_run_", dir=".")).resolve()
(work / "disk/out").mkdir(parents=True)
journal = work / "disk/afterbay-journal/server-0.jsonl"


def killed_after_an_epoch(number):
    run = Run(number, work, [FileSpec("a", "netcdf4", "block", "replace", 0)], Layout(1, {"topology": "inline"}), 12, 1, 200)
    run.start()
    for _ in range(600):
        if run.told()[1] >= 1:
            break
        time.sleep(0.05)
    require(run.told()[1] >= 1, f"no epoch: {run.log()}")
    run.kill()
    run.wait()


def offered():
    done = subprocess.run([str(COMMAND), "status", "--over", "--json"], cwd=work / "disk", capture_output=True, text=True, check=False, timeout=60)
    return [run["last_epoch"]["to_recover"] if run["last_epoch"] else None for run in json.loads(done.stdout)["runs"]]


killed_after_an_epoch(1)
file = str(work / "disk/out/a.nc")
require(offered() == [[file]], f"after the first run: {offered()}")
killed_after_an_epoch(2)
require(offered() == [[], [file]], f"after the second: {offered()}")
lines = [json.loads(line) for line in journal.read_text().splitlines()]
second = lines[-1]["run"]
journal.write_text("".join(json.dumps(line) + "\n" for line in lines if line["run"] != second or line["event"] != "epoch_completed"))
require(offered() == [[], None], f"the second run's epoch is not in the journal: {offered()}")
print("the second run's file is not offered for the first run's epoch")
