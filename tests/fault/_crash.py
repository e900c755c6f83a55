# SPDX-License-Identifier: Apache-2.0
"""Runs crash_model in a layout, kills it, possibly with a loss of power, and finds broken
guarantees."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time

import _journal
import _power

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
MODEL = BUILD / "tests/fault/crash_model"
COMMAND = BUILD / "apps/afterbay/afterbay"
SHIM = BUILD / "tests/fault/libfault_shim.so"
MODELS = 3
WRITERS = 2
OK, LOST = 0, 4


class Broken(Exception):
    """A promise that was not kept."""


class Trial:
    """One directory and one layout ({setting: value}; `servers`: 0 with the inline topology;
    `frontends`: how many there will be). What a loss of power can take is in its directory `disk`;
    `acks` has the completions reported to the model."""

    def __init__(self, name, layout, *, power=False, rules=()):
        self.work = pathlib.Path(tempfile.mkdtemp(prefix=f"{name}_", dir=".")).resolve()
        self.disk = self.work / "disk"
        self.disk.mkdir()
        self.layout, self.power = layout, power
        self.servers = layout["servers"]
        self.processes = MODELS + self.servers + layout.get("frontends", 0)
        (self.work / "rules").write_text("".join(rule + "\n" for rule in rules))

    def start(self, files, preload):
        for mark in [*self.work.glob("pid.*"), *self.work.glob("ok.*")]:
            mark.unlink()
        settings = {name: value for name, value in self.layout.items() if name != "frontends" and (name != "servers" or value)}
        if not self.servers:
            settings["topology"] = "inline"
        settings = {"writers": WRITERS, "deadline": "20s", "memory.server": "16MiB",
                    "journal.directory": self.disk / "afterbay-journal"} | settings
        exported = []
        if preload:
            for name, value in {**_power.environment(self.disk, SHIM), "FAULT_RULES": self.work / "rules"}.items():
                exported += ["-x", f"{name}={value}"]
        command = ["mpirun", "--oversubscribe", "-np", str(self.processes), *exported, str(MODEL), str(self.disk / "out"),
                   str(files), *(f"--afterbay.{name}={value}" for name, value in settings.items())]
        with open(self.work / "log", "w", encoding="utf-8") as log:
            return subprocess.Popen(command, cwd=self.work, stdout=log, stderr=log)

    def log(self):
        return (self.work / "log").read_text()[-2000:]

    def kill(self, files, seconds, who="*"):
        """Kills the processes of `who` so long after all of them were there; then power is lost, if
        requested. Returns the number of lost changes."""
        run = self.start(files, self.power)
        deadline = time.monotonic() + 60
        while len(list(self.work.glob("pid.*.[0-9]"))) < self.processes:
            if time.monotonic() > deadline or run.poll() is not None:
                raise Broken(f"the run did not start: {self.log()}")
            time.sleep(0.005)
        time.sleep(seconds)
        if run.poll() is None:
            for mark in self.work.glob(f"pid.{who}.[0-9]"):
                try:
                    os.kill(int(mark.read_text()), signal.SIGKILL)
                except ProcessLookupError:
                    pass
        run.wait(timeout=100)
        return _power.lose(self.disk, random.Random(seconds)) if self.power else 0

    def rerun(self, files):
        run = self.start(files, False)
        if run.wait(timeout=100) != 0:
            raise Broken(f"the run after a kill failed: {self.log()}")

    def command(self, *words, code):
        done = subprocess.run([str(COMMAND), *words], cwd=self.disk, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != code:
            raise Broken(f"afterbay {' '.join(words)}: exit code {done.returncode}, expected {code}\n{done.stdout}{done.stderr}")
        return done.stdout

    def check(self):
        """Files published according to the journal or reported to the model are correct, and no
        incomplete file has a final name. Returns the number of published files, those that the
        journal does not know, and whether the last run ended."""
        acked = set((self.work / "acks").read_text().splitlines()) if (self.work / "acks").exists() else set()
        if not (self.disk / "afterbay-journal").exists():
            if acked:
                raise Broken(f"complete for the model, and there is no journal: {sorted(acked)}")
            return 0, set(), False
        journal = _journal.read(self.disk / "afterbay-journal")
        if wrong := _journal.wrong_files(journal):
            raise Broken("; ".join(wrong))
        if missing := acked - set(journal.published):
            raise Broken(f"complete for the model, unknown to the journal: {sorted(missing)}")
        final = {str(path.resolve()) for path in (self.disk / "out").glob("*.nc")}
        for path in final:
            if wrong := _journal.wrong_contents(pathlib.Path(path)):
                raise Broken(f"{path}, {'published' if path in journal.published else 'unsaid'}: {wrong}")
        unsaid = final - set(journal.published)
        # Files that are announced together are renamed together.
        ready = {event["path"] for events in journal.runs.values() for event in events if event["event"] == "file_ready"}
        if len(unsaid) > WRITERS * max(self.servers, 1) and not unsaid <= ready:
            raise Broken(f"{len(unsaid)} files have their final names, and the journal does not know: {sorted(unsaid - ready)}")
        if not self.power and not unsaid <= journal.opened:
            raise Broken(f"final names that were never opened: {sorted(unsaid - journal.opened)}")
        last = max(journal.runs.values(), key=lambda events: events[0]["at"], default=[])
        ended = sum(event["event"] == "run_ended" for event in last) == max(self.servers, 1)
        return len(journal.published), unsaid, ended

    def left_incomplete(self):
        """Files that a run opened and that no run published or renamed."""
        journal = _journal.read(self.disk / "afterbay-journal")
        return {path for path in journal.opened - set(journal.published) if not os.path.exists(path)}

    def check_commands(self, unsaid, ended):
        """Files of runs killed between the rename and the journal line are distinguished from older
        and incomplete ones."""
        status = json.loads(self.command("status", "--json", code=OK if ended else LOST))
        complete = {file["path"] for run in status["runs"] for file in run["unpublished"] if file["complete"]}
        if not self.power and not unsaid <= complete:
            raise Broken(f"complete, and status does not say so: {sorted(unsaid - complete)}")
        self.command("verify", code=OK)

    def remove(self):
        shutil.rmtree(self.work)
