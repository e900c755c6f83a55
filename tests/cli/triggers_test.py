#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Triggers of real runs: started when a file is complete, recorded, and harmless whatever they
do."""
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from _cli import COMMAND, LOST, OK, run
from _replays import ReplayTest


class TriggersTest(ReplayTest):
    def played(self, triggers, *arguments, servers=1):
        done = run("replay", "../in.nc", "copy.nc", "--servers", str(servers), "--repeat", "3", *arguments,
                   launcher=("mpirun", "--oversubscribe", "-np", str(2 + servers)),
                   settings={"AFTERBAY_TRIGGERS": json.dumps(triggers)})
        self.assertEqual(done.returncode, OK, done.stderr)
        return done

    def ran(self):
        lines = []
        for path in pathlib.Path("afterbay-journal").glob("server-*.jsonl"):
            lines += [json.loads(line) for line in path.read_text().splitlines()]
        return [line for line in lines if line["event"] == "trigger_ran"], lines

    def test_a_command_sees_the_complete_file(self):
        # It reads the file with the ordinary netCDF tools, and the journal already contains it.
        command = ('ncdump -v T "$AFTERBAY_TRIGGER_FILE" | tail -2 > "$AFTERBAY_TRIGGER_FILE.seen" && '
                   'stat -c %s "$AFTERBAY_TRIGGER_FILE" >> "$AFTERBAY_TRIGGER_FILE.seen" && '
                   'echo $AFTERBAY_TRIGGER_SIZE >> "$AFTERBAY_TRIGGER_FILE.seen" && '
                   'grep -c "file_published.*$(basename "$AFTERBAY_TRIGGER_FILE")" afterbay-journal/server-0.jsonl')
        self.played({"look": {"command": command}, "ready": {"touch": "done/{name}.done"}})
        for name in ("copy.nc", "copy.2.nc", "copy.3.nc"):
            seen = pathlib.Path(f"{name}.seen").read_text().splitlines()
            self.assertIn("19999 ;", seen[0])
            self.assertEqual(seen[2], seen[3])
            entry = json.loads(pathlib.Path(f"done/{name}.done").read_text())
            self.assertEqual(entry["path"], str(pathlib.Path(name).resolve()))
            self.assertEqual(entry["bytes"], pathlib.Path(name).stat().st_size)
        ran, lines = self.ran()
        self.assertEqual([line["ok"] for line in ran], [True] * 6)
        self.assertEqual(lines[-1]["event"], "run_ended", "the journal's last line stays the last")

    def test_failures_are_recorded_and_harm_nothing(self):
        done = self.played({"tape": {"command": "echo tape is full; exit 4"}})
        self.assertEqual(done.stderr.count('trigger "tape" for'), 1, "one warning")
        self.assertIn("tape is full", done.stderr)
        ran, _ = self.ran()
        self.assertEqual([(line["ok"], line["trigger"]) for line in ran], [(False, "tape")] * 3)
        said = self.expect(OK, "status").stdout
        self.assertIn("complete", said)
        self.assertNotIn("has not run", said)
        self.assertIn('trigger "tape" failed', said)
        self.expect(OK, "verify")

    def test_one_that_hangs_does_not_hold_up_the_end(self):
        begin = time.monotonic()
        self.played({"hang": {"command": "sleep 1000"}}, "--afterbay.triggers_at_end=1s")
        self.assertLess(time.monotonic() - begin, 50)
        ran, _ = self.ran()
        self.assertEqual([line["ok"] for line in ran], [False] * 3)
        self.expect(OK, "verify")

    def test_what_a_crash_prevented_is_named(self):
        job = subprocess.Popen(["mpirun", "--oversubscribe", "-np", "2", COMMAND, "replay", "../in.nc", "copy.nc", "--servers", "1",
                                "--repeat", "1000000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, "AFTERBAY_TRIGGERS": json.dumps({"tape": {"command": "sleep 600"}})})
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        until = time.monotonic() + 60
        published = []
        while len(published) < 3:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.1)
            if pathlib.Path("afterbay-journal").exists():
                published = [line for line in self.ran()[1] if line["event"] == "file_published"]
        self.assertEqual(published[0]["triggers"], ["tape"])
        os.kill(next(line["pid"] for line in self.ran()[1] if line["event"] == "run_started"), signal.SIGKILL)
        job.wait(timeout=60)
        said = self.expect(LOST, "status").stdout
        self.assertIn(f'trigger "tape" has not run for {published[0]["path"]}', said)
        known = json.loads(self.expect(LOST, "status", "--json").stdout)["runs"][-1]["untriggered"]
        self.assertGreaterEqual(len(known), 3)
        self.assertEqual((known[0]["trigger"], known[0]["for"]), ("tape", published[0]["path"]))

    def test_only_the_collections_named(self):
        self.played({"none": {"collections": "other*", "command": "exit 1"}, "all": {"collections": "other,rep*", "command": "true"}})
        ran, _ = self.ran()
        self.assertEqual([(line["ok"], line["trigger"]) for line in ran], [(True, "all")] * 3)

    def test_what_makes_no_sense_is_refused(self):
        done = run("replay", "../in.nc", "copy.nc", "--servers", "1", "--afterbay.triggers.a.touch={fil}.done",
                   "--afterbay.triggers.b.on=publish", "--afterbay.triggers.c.on=published",
                   launcher=("mpirun", "--oversubscribe", "-np", "2"))
        self.assertNotEqual(done.returncode, OK)
        for text in ("triggers.a.touch", '"file"', "triggers.b.on", "published", "triggers.c"):
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()
