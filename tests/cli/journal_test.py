#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""afterbay status and verify, on the journals of real runs (replays of a small file)."""
import fcntl
import json
import os
import pathlib
import signal
import socket
import subprocess
import time
import unittest

from _cli import COMMAND, IO, LOST, OK, RUNNING, WRONG, run
from _replays import ReplayTest


def replay(*arguments, ranks=3):
    """The finished run: `ranks` processes, the last of which serves."""
    return run("replay", *arguments, launcher=("mpirun", "--oversubscribe", "-np", str(ranks)))


def lines(run_id, sequence, *events, host=None, directory="/m"):
    """A run with one server, with or without an end."""
    common = {"journal": 1, "at": "2026-11-22T07:15:03.123Z", "run": run_id, "server": 0, "sequence": sequence}
    started = {"event": "run_started", "session": "afterbay", "host": host or socket.gethostname(), "pid": 1, "directory": directory,
               "model_ranks": 1, "servers": 1}
    return "".join(json.dumps(common | event) + "\n" for event in (started, *events))


def opened(path, number=1, inode=7):
    return {"event": "file_opened", "path": path, "number": number, "collection": "history", "format": "netcdf4", "inode": inode}


def epoch(path):
    return {"event": "epoch_completed", "epoch": 3, "name": "day-3", "unpublished": [path]}


class JournalTest(ReplayTest):
    def journal(self, *runs):
        """Written by hand, each run in its own file."""
        pathlib.Path("afterbay-journal").mkdir(exist_ok=True)
        for number, text in enumerate(runs):
            pathlib.Path(f"afterbay-journal/server-0{f'.{number + 1}' if number else ''}.jsonl").write_text(text)

    def last_epoch(self, code):
        return json.loads(self.expect(code, "status", "--json").stdout)["runs"][0]["last_epoch"]

    def played(self, *arguments):
        done = replay("../in.nc", "copy.nc", "--servers", "1", *arguments)
        self.assertEqual(done.returncode, OK, done.stderr)

    def test_a_complete_run(self):
        self.played("--repeat", "3")
        said = self.expect(OK, "status").stdout
        self.assertIn("complete", said)
        self.assertIn("3 files", said)
        self.assertIn(f"replay: {pathlib.Path('copy.3.nc').resolve()}", said)
        status = json.loads(self.expect(OK, "status", "--json", "afterbay-journal").stdout)
        self.assertEqual(status["state"], "complete")
        published = sorted(status["runs"][0]["published"], key=lambda file: file["number"])
        self.assertEqual([pathlib.Path(file["path"]).name for file in published], ["copy.nc", "copy.2.nc", "copy.3.nc"])
        self.assertEqual(status["last_files"]["replay"]["records"], 4)
        self.assertIn("3 of 3 files are what the journal says", self.expect(OK, "verify").stdout)

    def test_checksums_are_those_of_xz(self):
        self.played()
        entry = json.loads(self.expect(OK, "status", "--json").stdout)["runs"][0]["published"][0]
        packed = subprocess.run(["xz", "--check=crc64", "--stdout", "copy.nc"], capture_output=True, check=True)
        pathlib.Path("copy.nc.xz").write_bytes(packed.stdout)
        listed = subprocess.run(["xz", "--robot", "--list", "-vv", "copy.nc.xz"], capture_output=True, text=True, check=True)
        blocks = [line.split("\t") for line in listed.stdout.splitlines() if line.startswith("block")]
        self.assertEqual(len(blocks), 1)
        stored = bytes.fromhex(blocks[0][10])  # the bytes as in the file: little-endian
        self.assertIn(entry["checksum"], (f"crc64-xz:{blocks[0][10]}", f"crc64-xz:{stored[::-1].hex()}"))

    def test_file_names_that_are_not_utf8(self):
        """Before, the journal contained replacement characters, and status and verify did not find
        the files."""
        names = [b"copy\xff.nc", b"copy\\xff.nc"]
        shown = [r"copy\xff.nc", r"copy\\xff.nc"]
        for name in names:
            self.played_as(name)
        self.assertIn("2 of 2 files are what the journal says", self.expect(OK, "verify").stdout)
        status = self.expect(OK, "status").stdout
        self.assertIn("/" + shown[1], status)
        runs = json.loads(self.expect(OK, "status", "--json").stdout)["runs"]
        paths = [file["path"] for run in runs for file in run["published"]]
        self.assertEqual([path.rpartition("/")[2] for path in paths], shown)
        for name in names:
            os.unlink(name)
        found = json.loads(self.expect(WRONG, "verify", "--json").stdout)["wrong"]
        self.assertEqual(sorted(it["path"].rpartition("/")[2] for it in found), sorted(shown))
        text = self.expect(WRONG, "verify").stdout
        for name in shown:
            self.assertIn(f"missing: {pathlib.Path.cwd()}/{name}\n", text)

    def played_as(self, name):
        launcher = ("mpirun", "--oversubscribe", "-np", "3")
        done = run("replay", "../in.nc", os.fsdecode(name), "--servers", "1", launcher=launcher)
        self.assertEqual(done.returncode, OK, done.stderr)

    def test_what_was_done_to_files_is_found(self):
        self.played("--repeat", "4")
        data = bytearray(pathlib.Path("copy.nc").read_bytes())
        data[len(data) // 2] ^= 1
        pathlib.Path("copy.nc").write_bytes(data)
        pathlib.Path("copy.2.nc").unlink()
        os.truncate("copy.3.nc", 100)
        found = json.loads(self.expect(WRONG, "verify", "--json").stdout)
        self.assertEqual([(pathlib.Path(it["path"]).name, it["finding"]) for it in found["wrong"]],
                         [("copy.2.nc", "missing"), ("copy.3.nc", "truncated"), ("copy.nc", "changed")])
        self.assertEqual(found["right"], 1)
        quick = self.expect(WRONG, "verify", "--quick").stdout
        self.assertIn("2 of 4", quick)
        self.assertNotIn("changed", quick)

    def test_a_later_run_counts(self):
        self.assertNotEqual(replay("../in.nc", "/proc/copy.nc", "--servers", "1").returncode, OK)
        self.assertIn("error: ", self.expect(WRONG, "status").stdout)
        self.played()
        self.played("--afterbay.collections.replay.existing=replace")
        said = self.expect(OK, "status").stdout
        self.assertIn("failed", said)
        self.assertIn("1 older ones were replaced", self.expect(OK, "verify").stdout)

    def test_a_run_that_lasts_and_is_killed(self):
        # One model rank stops in the middle: the server waits for it and is then killed.
        job = subprocess.Popen(["mpirun", "--oversubscribe", "-np", "2", COMMAND, "replay", "../in.nc", "copy.nc", "--servers", "1",
                                "--repeat", "100000", "--afterbay.deadline=60s"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 60
            while not pathlib.Path("copy.3.nc").exists():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.05)
            self.assertIn("has not ended: process", self.expect(RUNNING, "status").stdout)
            server = json.loads(self.expect(RUNNING, "status", "--json").stdout)["runs"][0]["servers"][0]
            self.expect(LOST, "status", "--over")
            os.kill(server["pid"], signal.SIGKILL)
            job.wait(timeout=60)
        finally:
            job.kill()
            job.wait()
        said = self.expect(LOST, "status").stdout
        self.assertIn("killed", said)
        self.expect(OK, "verify")

    def test_what_is_no_regular_file_is_named_and_not_waited_for(self):
        """Before, status and verify waited for the writer of a pipe for ever."""
        self.played("--repeat", "2")
        entry = pathlib.Path("afterbay-journal/server-1.jsonl")
        for make, word in ((lambda: os.mkfifo(entry), "named pipe"), (entry.mkdir, "directory"),
                           (lambda: entry.symlink_to(entry.name), "symbolic links"), (lambda: entry.symlink_to("none"), "No such file")):
            make()
            for command in ("status", "verify"):
                said = self.expect(IO, command).stderr
                self.assertIn(word, said)
                self.assertIn("server-1.jsonl", said)
            (entry.rmdir if entry.is_dir() else entry.unlink)()
        if os.geteuid() != 0:
            entry.write_text("")
            entry.chmod(0)
            self.assertIn("Permission denied", self.expect(IO, "status").stderr)
            entry.unlink()
        pathlib.Path("copy.nc").unlink()
        os.mkfifo("copy.nc")
        wrong = json.loads(self.expect(WRONG, "verify", "--json").stdout)["wrong"]
        self.assertEqual([(it["finding"], "named pipe" in it["detail"]) for it in wrong], [("unreadable", True)])
        self.assertIn("copy.nc: it is a named pipe", self.expect(WRONG, "status").stdout)

    def test_a_journal_of_any_size_is_read_in_bounded_memory(self):
        """Before, a hole of 20 GiB after the last line caused bad_alloc, exit code 5."""
        self.played()
        path = pathlib.Path("afterbay-journal/server-0.jsonl")
        lines = path.read_bytes().splitlines(keepends=True)
        with path.open("wb") as journal:
            journal.write(b"".join(lines[:-1]) + b"x" * (20 << 20) + b"\n" + lines[-1])
            journal.truncate(journal.tell() + (20 << 30))
        begin = time.monotonic()
        status = self.expect(OK, "status").stdout
        self.assertLess(time.monotonic() - begin, 20)
        self.assertIn("complete", status)
        self.assertIn("2 lines cannot be read", status)
        said = self.expect(WRONG, "verify").stdout
        self.assertIn("1 of 1 files are what the journal says\n2 lines of the journal cannot be read", said)

    def test_a_failed_member_counts_though_a_later_one_is_complete(self):
        """Both have the default name. Before, the exit code was 0."""
        failed = lines("member-1", 1, opened("/m/1.nc"), {"event": "run_ended", "ok": False, "sequence": 2})
        later = {"event": "run_ended", "ok": True, "sequence": 4}
        self.journal(failed, lines("member-2", 3, opened("/m/2.nc"), later))
        said = self.expect(WRONG, "status").stdout
        self.assertIn("counts, though later runs followed: none of them wrote /m/1.nc", said)
        run_1, run_2 = json.loads(self.expect(WRONG, "status", "--json").stdout)["runs"]
        self.assertEqual((run_1["counts"], run_1["awaited"]), (True, ["/m/1.nc"]))
        self.assertEqual((run_2["counts"], run_2["awaited"]), (True, []))
        self.journal(failed, lines("rerun", 3, opened("/m/1.nc", inode=8), later))
        self.assertNotIn("though later runs", self.expect(OK, "status").stdout)
        self.assertIs(json.loads(self.expect(OK, "status", "--json").stdout)["runs"][0]["counts"], False)

    def test_a_failed_member_without_files_counts_and_status_says_how_to_settle_it(self):
        self.journal(lines("dead", 1, {"event": "run_ended", "ok": False, "sequence": 3}),
                     lines("beside-it", 2, {"event": "run_ended", "ok": True, "sequence": 4}),
                     lines("later", 5, {"event": "run_ended", "ok": True, "sequence": 6}))
        said = self.expect(WRONG, "status").stdout
        self.assertIn("no later run can be identified as its repetition. Give each of them a name (setting session)", said)

    def test_an_epoch_whose_part_is_gone_is_not_called_durable(self):
        """In every state of the run. Before, files of runs that might be running were not
        checked."""
        path = str(pathlib.Path("x.nc").resolve())
        ended = {"event": "run_ended", "ok": False, "sequence": 2}
        for state, code, run_lines in (("failed", WRONG, lines("r", 1, opened(path), epoch(path), ended)),
                                       ("killed", LOST, lines("r", 1, opened(path), epoch(path))),
                                       ("unclear", RUNNING, lines("r", 1, opened(path), epoch(path), host="elsewhere")),
                                       ("running", RUNNING, lines("r", 1, opened(path), epoch(path)))):
            self.journal(run_lines)
            with self.subTest(state), open("afterbay-journal/server-0.jsonl", "r+b") as held:
                if state == "running":
                    fcntl.lockf(held, fcntl.LOCK_EX)
                said = self.expect(code, "status").stdout
                self.assertIn(state, said)
                self.assertIn("all output before it was durable", said)
                self.assertIn(f"no longer there: {path}", said)
                found = self.last_epoch(code)
                self.assertEqual((found["gone"], found["to_recover"]), ([path], []))

    def test_an_epoch_whose_file_was_published_is_durable(self):
        path = str(pathlib.Path("x.nc").resolve())
        published = opened(path) | {"event": "file_published", "bytes": 1, "records": 1}
        pathlib.Path("x.nc").write_text("x")
        self.journal(lines("r", 1, opened(path), epoch(path), published, host="elsewhere"))
        self.assertIn("all output before it is durable", self.expect(RUNNING, "status").stdout)

    def test_an_empty_name_of_an_epoch_is_refused(self):
        """Before, it was treated as no name, and the last epoch was recovered."""
        pathlib.Path("x.nc.part").write_text("x")
        done = self.expect(WRONG, "recover", "--epoch", "", "x.nc")
        self.assertIn("--epoch: the name of an epoch is expected, found an empty one", done.stderr)
        self.assertEqual(pathlib.Path("x.nc.part").read_text(), "x")
        self.assertFalse(pathlib.Path("x.nc").exists())

    def test_no_journal(self):
        self.assertIn("no journal", self.expect(IO, "status").stderr)
        self.assertIn("no journal", self.expect(IO, "verify").stderr)
        self.played("--afterbay.journal.directory=off")
        self.expect(IO, "status")
        self.played("--afterbay.collections.replay.existing=replace", "--afterbay.journal.directory=diary", "--afterbay.checksum=off")
        self.assertIn("they have no checksum", self.expect(OK, "verify", "diary").stdout)


if __name__ == "__main__":
    unittest.main()
