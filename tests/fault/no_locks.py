#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""On a file system without locks (fcntl and flock give ENOSYS, as on Lustre without -o flock): of
two runs that write the same files the second is refused, a run that was killed blocks nobody, and
commands detect which run is alive; also between machines, and on file systems without links.
Remains of killed processes are removed by the next run."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

from _adversary import APART, COMMAND, FAILED, LOST, NO_LOCKS, OK, SHIM, FileSpec, Layout, Run, content_of, require

PATIENT = {"deadline": "60s"}  # longer than a run watches the owners of its files
DEDICATED = Layout(3, PATIENT | {"servers": 1})
INLINE = Layout(1, PATIENT | {"topology": "inline"})
SLAB = Layout(4, PATIENT | {"servers": 2, "placement": "slab"})
FOUR_SERVERS = Layout(6, PATIENT | {"servers": 4, "placement": "slab"})
# Neither links (EPERM) nor renames that replace nothing (EINVAL), and the first reads fail
# (ESTALE).
NO_LINKS = ["ops=hard errno=1", "ops=rename path=*.owner*.new errno=22", "ops=open path=*.owner to=2 errno=116"]
PATIENCE_S = 10  # of OwnerFile
# Less than once for each of four servers. A process that watches owners begins again when it was
# held up for a quarter of that time, and gives up after three times.
MOST_S = 4 * PATIENCE_S


class Site:
    """A directory in which runs write out/a.nc, one after the other or at the same time."""

    def __init__(self, layout, rules=()):
        self.layout, self.rules = layout, list(rules)
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="no_locks_", dir=".")).resolve()
        (self.work / "disk/out").mkdir(parents=True)
        self.final = self.work / "disk/out/a.nc"
        self.owner = pathlib.Path(f"{self.final}.part.owner")
        self.runs = 0

    def run(self, apart=False, held=False):
        self.runs += 1
        run = Run(self.runs, self.work, [FileSpec("a", "netcdf4", "block", "replace", 0)], self.layout, 12, 1, 0)
        run.start(self.rules, lock_free=True, apart=apart, held=held)
        return run

    def living_run(self, apart=False):
        """With some records and an epoch; it stays so until it is released."""
        run = self.run(apart, held=True)
        run.wait_for_epoch()
        require(self.owner.exists(), f"{self.owner} is not there: {run.log()}")
        return run

    def command(self, *words):
        (self.work / "rules").write_text("".join(f"{rule}\n" for rule in [NO_LOCKS, *self.rules]))
        return subprocess.run([str(COMMAND), *map(str, words)], cwd=self.work / "disk", capture_output=True, text=True, timeout=60, check=False,
                              env=os.environ | {"LD_PRELOAD": str(SHIM), "FAULT_RULES": str(self.work / "rules")})

    def require_whole(self, run):
        require(run.wait(), f"run {run.number} failed: {run.log()}")
        require(content_of(self.final) == run.whole(self.final), f"{self.final} contains {content_of(self.final)}")
        left = sorted(path.name for path in (self.work / "disk/out").iterdir())
        require(left == ["a.nc"], f"left behind: {left}")

    def require_refusal(self):
        run = self.run()
        require(not run.wait(), "a second run wrote the same file")
        require(re.search(r"process [0-9]+ on \S+ owns it, as \S+/a\.nc\.part\.owner", run.log()), f"the second run says: {run.log()}")

    def require_running(self):
        status = self.command("status", "--json")
        require([run["state"] for run in json.loads(status.stdout)["runs"]] == ["running"], f"status of a run that lives: {status.stdout}")
        recover = self.command("recover", self.final)
        require(recover.returncode != OK and re.search("process [0-9]+ on .* owns it", recover.stderr), f"recover beside a run that lives: {recover.stderr}")

    def require_killed(self):
        status = self.command("status", "--over", "--json")
        require(status.returncode in (FAILED, LOST), f"status after a kill: {status.returncode} {status.stdout}")

    def require_no_owners(self):
        left = sorted(path.name for path in (self.work / "disk/afterbay-journal").glob("*.owner*"))
        require(not left, f"left behind in the journal: {left}")


def owned_while_it_lives(layout, rules=()):
    site = Site(layout, rules)
    first = site.living_run()
    site.require_running()
    site.require_refusal()
    first.release()
    site.require_whole(first)

    third = site.living_run()
    third.kill()
    third.wait()
    require(site.owner.exists(), "a killed run leaves its owner file")
    site.require_killed()
    recover = site.command("recover", "--replace", site.final)
    require(recover.returncode == OK, f"recover: {recover.stderr}")
    found = content_of(site.final)
    require(found == (third.number,) * len(found) and found, f"{site.final} contains {found}")

    fourth = site.living_run()
    fourth.kill()
    fourth.wait()
    site.require_whole(site.run())
    site.require_no_owners()
    print(f"{layout}{', no links' if rules else ''}: refused while it lived, replaced once it was killed", flush=True)


def owned_on_another_machine(layout):
    """Only signs of life show which owners are alive."""
    site = Site(layout)
    first = site.living_run(apart=True)
    site.require_running()
    site.require_refusal()
    first.release()
    site.require_whole(first)

    third = site.living_run(apart=True)
    third.kill()
    third.wait()
    begun = time.monotonic()
    site.require_killed()
    took_s = time.monotonic() - begun
    require(PATIENCE_S * 0.9 < took_s < MOST_S, f"status took {took_s:.1f} s: it is to wait {PATIENCE_S} s once, for all servers")
    begun = time.monotonic()
    site.require_whole(site.run())
    took_s = time.monotonic() - begun
    require(took_s < MOST_S, f"the next run took {took_s:.1f} s")
    site.require_no_owners()
    print(f"{layout}, another machine: refused while it lived, replaced once it was silent for {PATIENCE_S} s", flush=True)


for each in (INLINE, DEDICATED, SLAB):
    owned_while_it_lives(each)
owned_while_it_lives(INLINE, NO_LINKS)
may = subprocess.run([*APART, "true"], capture_output=True, text=True, check=False)
if may.returncode == 0:
    for each in (INLINE, FOUR_SERVERS):
        owned_on_another_machine(each)
else:
    print(f"not tested between machines: {may.stderr.strip() or 'no namespaces'}")
