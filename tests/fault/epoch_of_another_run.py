#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two runs that were killed, one after the other, each after an epoch of the same number, and the
second before its journal contained the epoch: `status` must not offer the second run's file for the
first run's epoch. The file does not belong to a later run that was refused it either, and `recover`
records in the journal which run it belonged to."""
import json
import pathlib
import subprocess
import tempfile

from _adversary import COMMAND, FileSpec, Layout, Run, require

work = pathlib.Path(tempfile.mkdtemp(prefix="epoch_of_another_run_", dir=".")).resolve()
(work / "disk/out").mkdir(parents=True)
journal = work / "disk/afterbay-journal/server-0.jsonl"


def killed_after_an_epoch(number):
    run = Run(number, work, [FileSpec("a", "netcdf4", "block", "replace", 0)], Layout(1, {"topology": "inline"}), 12, 3, 0)
    run.start(held=True)
    run.wait_for_epoch()
    run.kill()
    run.wait()


def command(*words):
    return subprocess.run([str(COMMAND), *words], cwd=work / "disk", capture_output=True, text=True, check=False, timeout=60)


def runs():
    return json.loads(command("status", "--over", "--json").stdout)["runs"]


def of_epochs(what):
    return [run["last_epoch"][what] if run["last_epoch"] else None for run in runs()]


def offered():
    return of_epochs("to_recover")


killed_after_an_epoch(1)
file = str(work / "disk/out/a.nc")
require(offered() == [[file]], f"after the first run: {offered()}")
killed_after_an_epoch(2)
require(offered() == [[], [file]], f"after the second: {offered()}")
require(of_epochs("gone") == [[file], []], f"the first run's file is gone: {of_epochs('gone')}")
lines = [json.loads(line) for line in journal.read_text().splitlines()]
second = lines[-1]["run"]
journal.write_text("".join(json.dumps(line) + "\n" for line in lines if line["run"] != second or line["event"] != "epoch_completed"))
require(offered() == [[], None], f"the second run's epoch is not in the journal: {offered()}")
require(of_epochs("gone") == [[file], None], f"the first run's file is gone: {of_epochs('gone')}")
said = command("status", "--over").stdout
require("all output before it was durable" in said and f"no longer there: {file}" in said, f"status says: {said}")
print("the second run's file is not offered for the first run's epoch")

# A third run was refused the file while the second one wrote it, and reached an epoch of that
# number with other files.
started = next(line for line in lines if line["run"] == second and line["event"] == "run_started")
head = {name: started[name] for name in ("journal", "at", "server")} | {"run": "refused", "sequence": started["sequence"] + 1}
refused = [started | head, head | {"event": "file_given_up", "path": file, "number": 1, "collection": "a", "format": "netcdf4", "why": "it is another run's"},
           head | {"event": "epoch_completed", "epoch": 1, "name": "1", "unpublished": [file]}]
journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
(journal.parent / "server-0.2.jsonl").write_text("".join(json.dumps(line) + "\n" for line in refused))
require(offered() == [[], [file], []], f"with a run that was refused the file: {offered()}")
recovered = command("recover", file)
require(recovered.returncode == 0, f"recover: {recovered.stderr}")
found = {run["run"]: [entry["path"] for entry in run["published"]] for run in runs()}
require(found[second] == [file] and found["refused"] == [], f"the recovered file is credited to {found}")
print("a file that is recovered is credited to the run that made it")
