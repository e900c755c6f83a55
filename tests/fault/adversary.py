#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random sequences of events in a directory: runs that are killed at any moment or before any
system call, with or without a loss of power; reruns that replace or append; `afterbay recover` to
any epoch, failing or killed in the middle; files that a user removes, renames, shortens or puts
back; two runs at once; a clock that is set back. Layouts: inline, with servers that deal files or
share them, in pools, on several (declared) nodes, behind frontends. After each step the reports
(`status`, `verify`, the journal, the completions reported to the model) are compared with the
truth, which netCDF4 and h5py read from values that identify the run that wrote them.

ADVERSARY_SEQUENCES: their number (a sample by default). ADVERSARY_SEED=N repeats sequence N of a
seed: "SEED" or "SEED:NUMBER". ADVERSARY_JOBS: how many at the same time. The directory of a failed
sequence is kept, below the build directory; those of sequences that are interrupted are removed."""
import collections
import contextlib
import json
import multiprocessing
import os
import pathlib
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

from _adversary import (COMMAND, DEADLINE_S, FAILED, LOST, NO_JOURNAL, NO_LOCKS, OK, SHIM, Broken, FileSpec, Layout, Run, checksum, content_of,
                        journal_events, require)

SEQUENCES = int(os.environ.get("ADVERSARY_SEQUENCES", "60"))
JOBS = int(os.environ.get("ADVERSARY_JOBS", "2"))
IN_BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"], "scratch").resolve()
# ctest starts this script in a directory there.
SCRATCH = pathlib.Path.cwd() if IN_BUILD in pathlib.Path.cwd().resolve().parents else IN_BUILD / "adversary"

LAYOUTS = [
    *[Layout(1, {"topology": "inline"})] * 4,
    *[Layout(1, {"topology": "inline", "inline.mode": "thread"})] * 3,
    *[Layout(3, {"servers": 1})] * 3,
    Layout(3, {"servers": 1, "transport": "mpi"}),
    *[Layout(4, {"servers": 2, "placement": "slab"})] * 2,
    Layout(4, {"servers": 2, "placement": "file"}),
    Layout(4, {"servers": 2, "placement": "variable"}),
    Layout(4, {"servers": 2, "placement": "least"}),
    Layout(4, {"pools.a.servers": 1, "pools.b.servers": 1, "collections.*.pool": "a,b"}),
    Layout(5, {"pools.a.servers": 1, "pools.b.servers": 2, "pools.b.placement": "slab", "collections.*.pool": "a,b", "pool_choice": "least"}),
    Layout(5, {"servers": 2, "servers_per_node": 1, "nodes": "0,0,0,1,1", "placement": "file"}),
    Layout(4, {"servers": 2, "server_nodes": 1, "nodes": "0,0,1,1", "placement": "slab"}),
    Layout(3, {"topology": "inline", "nodes": "0,0,1", "placement": "least"}),
    Layout(2, {"topology": "inline"}),
    Layout(5, {"servers": 2, "topology": "tiered"}),
    Layout(3, {"servers": 1, "direct_io": "off"}),
    Layout(3, {"servers": 1, "when_full": "spill", "spill.quota": "256MiB", "spill.directory": ".", "memory.server": "4MiB", "memory.block": "256KiB", "memory.small_block": "64KiB"}),
]
FORMATS = [("netcdf4", "block"), ("netcdf4", "chunks"), ("netcdf4", "map"), ("netcdf4", "strings"), ("cdf5", "block"), ("cdf5", "map"), ("cdf2", "block")]
KILLED_CALLS = ["write", "sync", "rename", "truncate", "unlink", "open", "write,sync,rename,truncate,unlink,open,hard"]
KILLED_PATHS = ["*.part", "*.epochs*", "*.jsonl", "*.owner*", "*/out*", "*"]


class Sequence:
    """One directory and its events."""

    def __init__(self, seed, number):
        self.dice = random.Random(f"{seed}:{number}")
        self.lock_free = self.dice.random() < 0.2  # a file system without locks
        self.work = pathlib.Path(tempfile.mkdtemp(prefix=f"{os.getppid()}_sequence{number}_", dir=SCRATCH)).resolve()
        self.disk = self.work / "disk"
        (self.disk / "out").mkdir(parents=True)
        self.journal = self.disk / "afterbay-journal"
        self.runs = []
        self.run_of_id = {}
        self.saved = {}  # name of a part file or log -> a copy that an earlier run left
        self.steps = []
        self.counts = collections.Counter()

    def note(self, text):
        self.steps.append(text)
        self.counts[text.split(":")[0]] += 1

    # ---- commands

    def command(self, *words, codes=None, rules=()):
        environment = dict(os.environ)
        if self.lock_free:
            rules = [*rules, NO_LOCKS]
        if rules:
            (self.work / "rules").write_text("".join(rule + "\n" for rule in rules))
            environment |= {"LD_PRELOAD": str(SHIM), "FAULT_RULES": str(self.work / "rules")}
        try:
            done = subprocess.run([str(COMMAND), *map(str, words)], cwd=self.disk, capture_output=True, text=True, errors="replace", timeout=DEADLINE_S, check=False, env=environment)
        except subprocess.TimeoutExpired as hung:
            raise Broken(f"afterbay {words} hangs") from hung
        require(codes is None or done.returncode in codes,
                f"afterbay {' '.join(map(str, words))}: exit code {done.returncode}, expected {codes}\n{'' if '--json' in words else done.stdout[-1500:]}{done.stderr[-1500:]}")
        return done

    def status(self, codes):
        done = self.command("status", "--over", "--json", codes=codes)
        return json.loads(done.stdout) if done.stdout else {"runs": []}

    # ---- runs

    def new_run(self):
        dice = self.dice
        last = self.runs[-1] if self.runs else None
        if last and dice.random() < 0.8:
            specs = [spec._replace(existing=dice.choice(["replace", "replace", "append"]) if not spec.close_after else "replace") for spec in last.specs]
        else:
            specs = [FileSpec(name, *dice.choice(FORMATS), "replace", 0) for name in ("a", "b")[:dice.choice([1, 2])]]
            if dice.random() < 0.6:
                specs.append(FileSpec("h", *dice.choice(FORMATS), "replace", dice.choice([2, 3, 4])))
        layout = dice.choice(LAYOUTS)
        run = Run(len(self.runs) + 1, self.work, specs, layout, 12, dice.choice([0, 1, 1, 2, 2, 3, 4]), dice.choice([0, 1, 4, 8]))
        for path in run.paths():
            run.before[path] = content_of(path)
        run.specs = [self.appendable(run, spec) for spec in specs]
        self.runs.append(run)
        return run

    def appendable(self, run, spec):
        """A file with another format or other variables can only be replaced."""
        if spec.existing != "append":
            return spec
        path = self.disk / "out" / f"{spec.name}.nc"
        writers = {self.runs[number - 1] for number in run.before.get(path) or ()}
        same = all(writer.spec_of(path)[:3] == spec[:3] for writer in writers)
        return spec if same else spec._replace(existing="replace")

    def play(self, run, kind):
        """Starts a run, and possibly kills it; returns whether it ended successfully."""
        dice, rules = self.dice, []
        clock_s = dice.choice([0, 0, 0, -7200, 3600])
        power = kind == "power"
        if kind == "call":
            rules = [f"ops={dice.choice(KILLED_CALLS)} path={dice.choice(KILLED_PATHS)} from={dice.choice([1, 2, 3, 5, 8, dice.randint(1, 60)])} kill"]
        run.start(rules, power, clock_s, self.lock_free)
        if kind in ("time", "power"):
            run.wait_started()
            time.sleep(dice.choice([0, dice.uniform(0, 0.05), dice.uniform(0, 0.2)]))
            who = "*" if power else dice.choice(["*", "*", "server", "model"])
            run.kill(who)
        ended = run.wait()
        lost = run.lose_power(dice) if power else 0
        self.note(f"{kind}: run {run.number} {run.layout}, {[','.join(map(str, spec)) for spec in run.specs]}, epoch every {run.epoch_every}"
                  f"{f', clock {clock_s} s' if clock_s else ''}{', no locks' if self.lock_free else ''}{f', rules {rules}' if rules else ''}{f', {lost} changes lost' if power else ''}"
                  f" -> {'ended' if ended else 'died'}")
        return ended

    def learn_ids(self, *runs):
        """The ids of the latest runs in the journal."""
        new = [name for name in journal_events(self.journal) if name not in self.run_of_id] if self.journal.exists() else []
        require(len(new) <= len(runs), f"the journal has {len(new)} new runs, {len(runs)} were started")
        if len(runs) == 1:
            self.run_of_id |= {name: runs[0] for name in new}
        else:  # they are distinguished by their working directories
            events = journal_events(self.journal)
            for name in new:
                where = next(event["directory"] for event in events[name] if event["event"] == "run_started")
                self.run_of_id[name] = next(run for run in runs if str(run.work) == where)

    def published(self, run):
        """Paths that the journal calls published by this run."""
        events = journal_events(self.journal) if self.journal.exists() else {}
        return {pathlib.Path(event["path"]) for name, it in self.run_of_id.items() if it is run for event in events[name]
                if event["event"] == "file_published"}

    def said_its_end(self, run):
        """Whether the journal has the end of all its servers: a run killed later has lost
        nothing."""
        events = [event for name, it in self.run_of_id.items() if it is run for event in journal_events(self.journal)[name]]
        servers = max((event["servers"] for event in events if event["event"] == "run_started"), default=None)
        return servers is not None and sum(event["event"] == "run_ended" and event["ok"] for event in events) == servers

    # ---- judging

    def check_contents(self, *runs, killed=False):
        """Each file has its previous contents, or all that a run wrote; the latter if this was
        reported. `killed`: each of the runs may have published a file without reporting it."""
        for path in sorted(set().union(*(run.paths() for run in runs))):
            found = content_of(path, by_h5py=self.dice.random() < 0.3 and runs[0].spec_of(path).store == "netcdf4" and self.is_hdf5(path))
            sure = {run.whole(path) for run in runs if path in run.paths() and (path in run.told()[0] or path in self.published(run))}
            whole = {run.whole(path) for run in runs if path in run.paths()}
            allowed = sure | whole if sure and killed else sure or {runs[0].before.get(path)} | whole
            require(found in allowed, f"{path} contains records of runs {found}, expected one of {allowed}"
                                      f"{' (called complete)' if sure else ''}")
        self.check_journal()

    @staticmethod
    def is_hdf5(path):
        return path.exists() and path.read_bytes()[:4] == b"\x89HDF"

    def check_journal(self):
        """Each published path exists, with a checksum that the journal has for it: that of the run
        whose records come last in the file, in whichever order runs that overlapped published. A
        run that was killed between the name and the journal's line has announced it."""
        if not self.journal.exists():
            return
        checksums = collections.defaultdict(set)  # path, run's number -> of all files that the run has announced
        published = set()
        for name, events in journal_events(self.journal).items():
            run = self.run_of_id.get(name)
            for event in events if run is not None else ():
                if event["event"] in ("file_ready", "file_published", "file_recovered"):
                    checksums[event["path"], run.number].add(event["checksum"])
                if event["event"] in ("file_published", "file_recovered"):
                    published.add(event["path"])
        for path in published:
            require(os.path.exists(path), f"{path} was published and is gone")
            found = content_of(pathlib.Path(path))
            if found:
                require(checksum(path) in checksums[path, found[-1]], f"{path} has a checksum that run {found[-1]} did not announce; it contains records of runs {found}")
            else:  # as of an epoch before its first record
                require(any(checksum(path) in its for (name, _), its in checksums.items() if name == path), f"{path} is empty, and has a checksum that nobody announced")

    def check_status(self, run, ended):
        """The output of `status` about the last run; it recommends nothing impossible."""
        known = run in self.run_of_id.values()
        if not self.journal.exists():
            return
        ended = ended or self.said_its_end(run)
        # Killed after all was done, before every server could report it: both answers are correct.
        finished = run.told()[0] == set(run.paths())
        counts = {self.failures_count(run, overlapped) for overlapped in (False, True)}
        ended_codes = [OK] * (False in counts) + [FAILED, LOST] * (True in counts)
        status = self.status(ended_codes if ended else [OK, FAILED, LOST] if finished else [FAILED, LOST] if known else None)
        self.command("verify", codes=[OK] if self.run_of_id else None)
        told_epoch = run.told()[1]
        if told_epoch:
            require(known, f"the model was told that epoch {told_epoch} is complete, and there is no journal of its run")
        for entry in status["runs"]:
            its = self.run_of_id.get(entry["run"])
            for file in entry["unpublished"]:
                if file["complete"] and its is run:
                    path = pathlib.Path(file["path"])
                    require(content_of(path) == its.whole(path), f"{path} is complete, says status; it contains {content_of(path)}")
            last = entry["last_epoch"]
            if its is not run:
                continue
            require(not told_epoch or (last is not None and int(last["name"]) >= told_epoch),
                    f"the model was told of epoch {told_epoch}, status knows {last}")
            if last is not None and not ended:
                for path in run.kept():
                    require(content_of(path) == run.whole(path) or str(path) in last["to_recover"],
                            f"{path} was open at epoch {last['name']}, is not published, and status does not name it: {last['to_recover']}")

    def failures_count(self, last, overlapped):
        """Whether an earlier run that failed still counts: it left a file that no run wrote which
        began after its end. Runs of a duel, if they overlapped, are members of an ensemble; each
        has a working directory that no other run has."""
        events = journal_events(self.journal)
        created = ("file_opened", "file_ready", "file_published")

        def paths_of(kinds):
            return {run.number: {event["path"] for name, it in self.run_of_id.items() if it is run for event in events[name]
                                 if event["event"] in kinds} for run in self.runs}

        paths, written = paths_of((*created, "file_given_up")), paths_of(created)
        for name, run in self.run_of_id.items():
            if run is last or self.said_its_end(run):
                continue
            beside = self.beside(run, events) if overlapped else []
            later = set().union(*(written[it.number] for it in self.runs if it.number > run.number and it not in beside))
            made = {event["path"] for event in events[name] if event["event"] in ("file_opened", "file_ready")}
            complete = {event["path"] for event in events[name] if event["event"] in ("file_published", "file_recovered")}
            complete |= {path for path in made if self.whole_by(pathlib.Path(path), run)}
            # `recover` was killed between the rename and the journal line: the file is the
            # announced one.
            complete |= {event["path"] for event in events[name] if event["event"] == "file_ready" and os.path.exists(event["path"])
                         and checksum(event["path"]) == event["checksum"]}
            if (paths[run.number] if beside else made) - complete - later:
                return True
            if beside and not paths[run.number] & later:
                return True
        return False

    def beside(self, run, events):
        """Runs that overlapped with it, or seem to: a run whose first server died before its first
        line did not record that the previous one had ended."""
        def silent(it):
            its = [event for name, known in self.run_of_id.items() if known is it for event in events[name]]
            return its and not any(event["event"] == "run_started" and event["server"] == 0 for event in its)
        near = [it for it in self.runs if abs(it.number - run.number) == 1 and silent(max(it, run, key=lambda one: one.number))]
        return near + ([run.beside] if run.beside else [])

    def recoverable(self):
        """The recoveries that `status` offers: (run, path, epoch's number, the run's records by
        then)."""
        if not self.journal.exists():
            return []
        offers = []
        for entry in self.status(None)["runs"]:
            run, last = self.run_of_id.get(entry["run"]), entry["last_epoch"]
            if last is not None:
                offers += [(run, pathlib.Path(path), last["epoch"], int(last["name"])) for path in last["to_recover"]]
        return offers

    def recover(self, offer, epoch, rules=(), must=True):
        """Recovers the file of an offer to one of its epochs, (number, records); returns whether
        that was done. The output of the command must be true, and a failed recovery must have
        changed nothing."""
        run, path = offer[:2]
        before, expected = content_of(path), run.content(path, run.records_by(path, epoch[1]))
        done = self.command("recover", "--number", epoch[0], *(["--replace"] if os.path.lexists(path) else []), path,
                            codes=[OK] if must and not rules else None, rules=rules)
        found = content_of(path)
        self.note(f"recover{' with trouble' if rules else ''}: {path.name} to epoch {epoch} of run {run.number}{f', {rules}' if rules else ''} -> {done.returncode}")
        if done.returncode == 0:
            require(found == expected, f"{path} was recovered to epoch {epoch} of run {run.number}, and contains {found}, not {expected}")
        else:
            allowed = (before, expected) if rules else (before,)
            require(found in allowed, f"recover of {path} failed, and it contains {found}, not {' or '.join(map(str, allowed))}: {done.stderr}")
        return found == expected and found != before

    # ---- possible actions on the remaining files

    def recover_some(self):
        """Follows some of the advice of `status`, to the last or to an older epoch, possibly with
        failures in between."""
        offers = self.recoverable()
        for offer in offers:
            path, number = offer[1:3]
            trouble = self.dice.choice(["", "", "kill", "journal", "later"])
            if trouble == "later":
                continue
            listed = json.loads(self.command("recover", "--list", "--json", path, codes=[OK]).stdout)[0]["epochs"]
            epochs = [(epoch["epoch"], int(epoch["name"])) for epoch in listed if epoch["epoch"] <= number]
            require(epochs and epochs[-1] == offer[2:], f"{path} has the epochs {epochs}, and status offers {offer[2:]}")
            if trouble:
                rule = (f"ops={self.dice.choice(KILLED_CALLS)} path=* from={self.dice.randint(1, 25)} kill" if trouble == "kill"
                        else f"ops={self.dice.choice(['write', 'open', 'sync'])} path=*.jsonl errno=5")
                if self.recover(offer, self.dice.choice(epochs), [rule]):
                    continue
                require(offer in self.recoverable(), f"after a failed recover, status no longer offers epoch {number} of {path}")
            self.recover(offer, self.dice.choice([epochs[-1], epochs[-1], *epochs]))
        if offers:
            self.command("verify", codes=[OK])
            self.check_journal()

    def damage(self):
        """A mistake of the user or the file system: no false report may follow."""
        # Not a second name of a complete file, left by a kill between two calls: writing to that
        # name writes to the file.
        parts = [part for part in sorted((self.disk / "out").glob("*.part")) if part.stat().st_nlink == 1]
        logs = sorted((self.disk / "out").glob("*.epochs*"))
        finals = sorted((self.disk / "out").glob("*.nc"))
        what = self.dice.choice(["remove part", "remove log", "rename part", "shorten part", "put back", "flip published", "remove published", "nothing"])
        if what == "remove part" and parts:
            self.dice.choice(parts).unlink()
        elif what == "remove log" and logs:
            self.dice.choice(logs).unlink()
        elif what == "rename part" and parts:
            self.renamed_by_hand(self.dice.choice(parts))
        elif what == "shorten part" and parts:
            part = self.dice.choice(parts)
            os.truncate(part, self.dice.randint(0, part.stat().st_size))
        elif what == "put back" and self.saved:
            name = self.dice.choice(sorted(self.saved))
            shutil.copy2(self.saved[name], self.disk / "out" / name)
        elif what in ("flip published", "remove published") and finals and self.run_of_id:
            self.spoil_published(self.dice.choice(finals), what)
        else:
            return
        self.note(what)
        for offer in self.recoverable():
            if self.dice.random() < 0.5:
                self.recover(offer, offer[2:], must=what in ("flip published", "remove published"))
        for log in sorted((self.disk / "out").glob("*.part.epochs")):  # without advice
            if self.dice.random() < 0.5:
                self.recover_unadvised(log)

    def recover_unadvised(self, log):
        """The last epoch of any existing log: refused, or correct."""
        path = log.with_name(log.name.removesuffix(".part.epochs"))
        before = content_of(path)
        done = self.command("recover", "--replace", path)
        found = content_of(path)
        if done.returncode != 0:
            require(found == before, f"recover of {path} failed, and changed it from {before} to {found}")
            return
        if not found:  # one of a series, as of an epoch before its first record
            require("_" in path.name and any(run.epoch_every for run in self.runs), f"{path} was recovered, and contains nothing")
            return
        run = self.runs[found[-1] - 1]
        require(run is not None and run.epoch_every, f"{path} was recovered, and contains {found}")
        allowed = [run.content(path, run.records_by(path, step)) for step in range(run.epoch_every, run.records + 1, run.epoch_every)]
        require(found in allowed, f"{path} was recovered, and contains {found}")
        self.note(f"recover unadvised: {path.name} to {found}")

    def renamed_by_hand(self, part):
        """An incomplete file does not become complete by its name."""
        path = part.with_name(part.name.removesuffix(".part"))
        aside = None
        if path.exists():
            aside = path.with_name(path.name + ".aside")
            path.rename(aside)
        part.rename(path)
        if self.journal.exists():
            for entry in self.status(None)["runs"]:
                for file in entry["unpublished"]:
                    run = self.run_of_id.get(entry["run"])
                    if pathlib.Path(file["path"]) == path and file["complete"]:
                        require(self.whole_by(path, run), f"{path} was renamed by hand, and is complete, says status")
        path.rename(part)
        if aside:
            aside.rename(path)

    @staticmethod
    def whole_by(path, run):
        try:
            return run is not None and content_of(path) == run.whole(path)
        except Broken:
            return False

    def spoil_published(self, path, what):
        """`verify` detects the change, which is then undone."""
        published = set().union(*(self.published(run) for run in self.runs))
        if path not in published:
            return
        aside = self.work / "aside"
        shutil.copy2(path, aside)
        if what == "remove published":
            path.rename(self.work / "away")
            self.status([FAILED, LOST])
        else:
            with open(path, "r+b") as file:
                file.seek(self.dice.randrange(path.stat().st_size))
                byte = file.read(1)
                file.seek(-1, os.SEEK_CUR)
                file.write(bytes([byte[0] ^ 0x10]))
        self.command("verify", codes=[FAILED])
        if what == "remove published":
            (self.work / "away").rename(path)
        else:
            times = aside.stat()
            with open(path, "r+b") as file:
                file.write(aside.read_bytes())
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def save_copies(self):
        """Saves the remains of an earlier run for later."""
        for path in [*(self.disk / "out").glob("*.part"), *(self.disk / "out").glob("*.epochs*")]:
            if self.dice.random() < 0.5:
                self.saved[path.name] = self.work / f"saved_{len(self.runs)}_{path.name}"
                shutil.copy2(path, self.saved[path.name])

    def duel(self):
        """Two runs that write the same files at once; possibly the first one's part files are
        removed, and possibly both are killed: everything reported to the second one as durable is
        durable, whatever the first one did."""
        first = self.new_run()
        first.pause_ms = 15
        second = self.new_run()
        killed = self.dice.random() < 0.4
        if killed:  # the file that is appended to would depend on which of them comes first
            first.specs = [spec._replace(existing="replace") for spec in first.specs]
        second.specs, second.before = first.specs, first.before
        first.beside, second.beside = second, first
        first.start(lock_free=self.lock_free)
        first.wait_started()
        time.sleep(self.dice.uniform(0, 0.1))
        removed = []
        if self.dice.random() < 0.6:
            removed = list((self.disk / "out").glob("*.part"))
            for part in removed:
                part.unlink(missing_ok=True)
        second.start(lock_free=self.lock_free)
        if killed:
            second.wait_started()
            time.sleep(self.dice.uniform(0, 0.3))
            for run in (second, first):
                run.kill()
        ends = first.wait(), second.wait()
        self.note(f"duel: runs {first.number} {first.layout} and {second.number} {second.layout}, {len(removed)} parts removed{', both killed' if killed else ''} -> {ends}")
        self.learn_ids(first, second)
        if any(spec.existing == "append" for spec in first.specs):
            for run in (first, second):  # each may have found the other's complete file
                for path in run.kept():
                    found = content_of(path)
                    if found and run.whole(path) != found and found[-1] in (first.number, second.number):
                        other = second if run is first else first
                        if found == other.whole(path) + (run.number,) * run.records:
                            run.before[path] = other.whole(path)
        self.check_contents(first, second, killed=killed)
        if killed:
            self.check_status(second, ends[1])
            self.recover_some()

    # ---- the sequence

    def one_run(self, kind):
        run = self.new_run()
        ended = self.play(run, kind)
        self.learn_ids(run)
        self.check_contents(run)
        require(not ended or run.told()[0] == set(run.paths()), f"run {run.number} ended well, and the model was not told so")
        self.check_status(run, ended)
        require(kind != "end" or ended, f"a run that nobody killed failed: {run.log()}")

    def all(self):
        for _ in range(self.dice.choice([1, 2, 2, 3])):
            if self.dice.random() < 0.08:
                self.duel()
                continue
            self.one_run(self.dice.choice(["call", "call", "call", "time", "time", "power", "end"]))
            self.save_copies()
            for _ in range(self.dice.choice([0, 1, 2])):
                self.dice.choice([self.recover_some, self.damage])()
        self.one_run("end")  # whatever remains, a run in the directory continues
        shutil.rmtree(self.work)


def one(arguments):
    seed, number = arguments
    sequence = Sequence(seed, number)
    try:
        sequence.all()
    except Exception as error:  # pylint: disable=broad-except
        text = str(error) if isinstance(error, Broken) else traceback.format_exc()
        return number, sequence.counts, sequence.work, f"{sequence.work}:\n  " + "\n  ".join([*sequence.steps, text])
    return number, sequence.counts, sequence.work, None


def start_worker():
    """What it starts is in its process group, so that all of it can be ended."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.setpgid(0, 0)


def end(pool):
    groups = [worker.pid for worker in multiprocessing.active_children()]
    pool.terminate()
    for group in groups:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGTERM)
    time.sleep(2)  # until mpirun has ended its ranks, which write into the directory


def main():
    seed, _, only = os.environ.get("ADVERSARY_SEED", str(time.time_ns() % 1_000_000)).partition(":")
    numbers = [int(only)] if only else range(SEQUENCES)
    counts, failed, begin = collections.Counter(), set(), time.monotonic()
    SCRATCH.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    try:
        with multiprocessing.Pool(JOBS, start_worker, maxtasksperchild=50) as pool:
            try:
                for number, its_counts, work, wrong in pool.imap_unordered(one, ((seed, number) for number in numbers)):
                    counts += its_counts
                    if wrong:
                        failed.add(work)
                        print(f"ADVERSARY_SEED={seed}:{number} {wrong}", flush=True)
            except BaseException:
                end(pool)
                raise
    finally:
        for work in SCRATCH.glob(f"{os.getpid()}_sequence*"):
            if work.resolve() not in failed:
                shutil.rmtree(work, ignore_errors=True)
    print(f"seed {seed}: {len(numbers)} sequences in {time.monotonic() - begin:.0f} s, {len(failed)} with a promise that was not kept; {dict(sorted(counts.items()))}")
    if failed:
        sys.exit(1)
    if len(numbers) >= 20 and not (counts["recover"] and counts["call"] and counts["time"]):
        sys.exit("too little happened: this shows nothing")


main()
