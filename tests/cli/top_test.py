#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""afterbay top and the Prometheus file, on real runs: one that is running, one that has ended, one
that was killed."""
import ctypes
import ctypes.util
import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import time
import unittest

from prometheus_client.parser import text_string_to_metric_families

from _cli import COMMAND, IO, OK, run
from _replays import ReplayTest

LZMA = ctypes.CDLL(ctypes.util.find_library("lzma") or "liblzma.so.5")
LZMA.lzma_crc64.restype = ctypes.c_uint64
LZMA.lzma_crc64.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]


def crc64(data):
    return LZMA.lzma_crc64(data, len(data), 0)


def mpirun(ranks):
    return ["mpirun", "--oversubscribe", "-np", str(ranks)]


class TopTest(ReplayTest):
    POINTS = 50000

    def lasting(self, servers, *arguments, ranks=0):
        """A run that does not end by itself, on one model rank."""
        job = subprocess.Popen([*mpirun(ranks or 1 + servers), COMMAND, "replay", "../in.nc", "copy.nc", "--servers", str(servers),
                                "--repeat", "1000000", "--afterbay.statistics.interval=200ms", *arguments],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        return job

    def seen(self, condition, *arguments):
        """The JSON output of top for the only session, as soon as `condition` holds."""
        until = time.monotonic() + 90
        while True:
            done = run("top", "--json", *arguments)
            if done.returncode == OK:
                session = json.loads(done.stdout)["sessions"][0]
                if condition(session):
                    return session
            self.assertLess(time.monotonic(), until, done.stdout + done.stderr)
            time.sleep(0.1)

    def test_a_run_that_lasts_and_is_killed(self):
        job = self.lasting(2, "--afterbay.placement=file")
        both = self.seen(lambda s: len(s["servers"]) == 2 and all(server["files_published"] > 3 for server in s["servers"]))
        self.assertEqual([server["state"] for server in both["servers"]], ["running", "running"])
        for server in both["servers"]:
            self.assertGreater(server["bytes_in"], 3 * self.RECORDS * self.POINTS * 4)
            self.assertGreaterEqual(server["bytes_in"], server["bytes_out"])
            self.assertGreater(server["backlog_limit_bytes"], 0)
            self.assertEqual(server["collections"][0]["name"], "replay")
            self.assertGreaterEqual(server["collections"][0]["records_taken"], server["collections"][0]["records_written"])
        later = self.seen(lambda s: s["servers"][0]["bytes_in"] > both["servers"][0]["bytes_in"])
        self.assertGreater(later["servers"][0]["in_bytes_per_s"], 0)
        said = self.expect(OK, "top", "--once", "afterbay-journal", settings={"COLUMNS": "200"}).stdout
        for word in ("1 model rank, 2 I/O servers", "running", "replay", "records taken", "MiB"):
            self.assertIn(word, said)
        self.assertNotIn("\x1b", said)
        os.kill(both["servers"][1]["pid"], signal.SIGKILL)
        job.wait(timeout=90)
        dead = self.seen(lambda s: s["servers"][1]["state"] == "dead")
        # mpirun may have killed the other one before it has noted its end.
        first = min(number for number in (0, 1) if dead["servers"][number]["state"] == "dead")
        self.assertIn(f"dead: I/O server {first} did not end", dead["verdict"])

    def test_frontends(self):
        job = self.lasting(1, "--afterbay.topology=tiered", "--afterbay.nodes=0,0,1", "--afterbay.memory.frontend=32MiB",
                           "--afterbay.memory.link=8MiB", "--afterbay.report.prometheus=run.prom", ranks=3)
        seen = self.seen(lambda s: s["frontends"] and s["frontends"][0]["bytes_out"] > 3 * self.RECORDS * self.POINTS * 4)
        frontend, server = seen["frontends"][0], seen["servers"][0]
        self.assertEqual((frontend["role"], frontend["state"], frontend["model_ranks"], server["role"]),
                         ("frontend", "running", 1, "server"))
        self.assertGreaterEqual(frontend["bytes_in"], frontend["bytes_out"])
        self.assertIn(frontend["backlog_limit_bytes"], range(28 << 20, (32 << 20) + 1), "whole segments")
        later = self.seen(lambda s: s["frontends"][0]["bytes_in"] > frontend["bytes_in"])
        self.assertGreater(later["frontends"][0]["out_bytes_per_s"], 0)
        said = self.expect(OK, "top", "--once", settings={"COLUMNS": "200"}).stdout
        for word in ("1 I/O server (tiered)", "frontend", "holds", "passed on"):
            self.assertIn(word, said)
        metrics = [sample for family in text_string_to_metric_families(pathlib.Path("run.frontend-0.prom").read_text())
                   for sample in family.samples]
        self.assertIn("afterbay_frontend_received_bytes_total", [sample.name for sample in metrics])
        self.assertEqual({sample.labels["frontend"] for sample in metrics}, {"0"})
        os.kill(frontend["pid"], signal.SIGKILL)
        job.wait(timeout=90)
        dead = self.seen(lambda s: s["frontends"][0]["state"] == "dead")
        self.assertIn("dead", dead["verdict"])

    def test_a_run_that_has_ended(self):
        done = run("replay", "../in.nc", "copy.nc", "--servers", "1", "--repeat", "3", launcher=mpirun(3))
        self.assertEqual(done.returncode, OK, done.stderr)
        said = self.expect(OK, "top", "--once", settings={"COLUMNS": "160"}).stdout
        self.assertIn("ended after", said)
        server = json.loads(self.expect(OK, "top", "--json").stdout)["sessions"][0]["servers"][0]
        self.assertEqual((server["state"], server["files_published"], server["files_open"], server["backlog_bytes"]),
                         ("ended", 3, 0, 0))
        self.assertEqual(server["bytes_in"], 3 * self.RECORDS * self.POINTS * 4)
        self.assertEqual(server["bytes_out"], server["bytes_in"])
        collection = server["collections"][0]
        self.assertEqual([collection[f"records_{what}"] for what in ("taken", "written", "published")], [12, 12, 12])
        self.assertEqual(collection["bytes_published"], sum(file.stat().st_size for file in pathlib.Path().glob("copy*.nc")))
        for width in ("60", "30"):
            lines = self.expect(OK, "top", "--once", settings={"COLUMNS": width}).stdout.splitlines()
            self.assertLessEqual(max(map(len, lines)), int(width))

    def test_on_a_terminal(self):
        self.lasting(1)
        self.seen(lambda s: s["servers"][0]["files_published"] > 0)
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ["TERM"] = "xterm"
            os.execv(COMMAND, [str(COMMAND), "top", "--interval", "0.1"])
        shown, until = b"", time.monotonic() + 60
        while shown.count(b"running") < 3 and time.monotonic() < until:
            if select.select([terminal], [], [], 1)[0]:
                shown += os.read(terminal, 65536)
        os.write(terminal, b"q")
        try:
            while time.monotonic() < until and select.select([terminal], [], [], 10)[0]:
                shown += os.read(terminal, 65536)
        except OSError:  # it has closed its end
            pass
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        self.assertIn(b"q: quit", shown)
        self.assertTrue(shown.rstrip().endswith(b"\x1b[?1049l"), "the terminal is left as it was")

    def test_nothing_to_show(self):
        said = self.expect(IO, "top", "--once").stderr
        self.assertIn("statistics.directory", said)
        page = pathlib.Path("only-frontends/statistics-frontend-0.json")
        page.parent.mkdir()
        text = json.dumps({"afterbay_statistics": 1, "serial": 1, "updated_at_s": 0, "locked": True, "role": "frontend",
                           "session": "s", "run": "r", "end": 1})[:-1]
        page.write_text(f'{text},"crc64":"{crc64(text.encode()):016x}"}}')
        self.assertIn("only frontends", self.expect(IO, "top", "--once", "only-frontends").stderr)
        done = run("replay", "../in.nc", "copy.nc", "--servers", "1", "--afterbay.statistics.directory=off", launcher=mpirun(2))
        self.assertEqual(done.returncode, OK, done.stderr)
        self.expect(IO, "top", "--once")
        done = run("replay", "../in.nc", "copy2.nc", "--servers", "1", "--afterbay.statistics.directory=elsewhere", launcher=mpirun(2))
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertIn("ended", self.expect(OK, "top", "--once", "elsewhere").stdout)

    def test_a_page_that_is_no_regular_file_is_named_and_not_waited_for(self):
        """Before, top waited for the writer of a pipe for ever."""
        os.mkfifo("statistics-0.json")
        said = self.expect(IO, "top", "--once").stderr
        self.assertIn("statistics-0.json", said)
        self.assertIn("named pipe", said)
        os.unlink("statistics-0.json")
        os.symlink("statistics-0.json", "statistics-0.json")
        self.assertIn("symbolic links", self.expect(IO, "top", "--once").stderr)
        os.unlink("statistics-0.json")
        with open("statistics-0.json", "wb") as page:
            page.truncate(20 << 30)
        self.assertIn("no statistics page", self.expect(IO, "top", "--once").stderr)

    def test_prometheus(self):
        done = run("replay", "../in.nc", "copy.nc", "--servers", "2", "--afterbay.placement=file", "--repeat", "4",
                   "--afterbay.report.prometheus=run.prom", launcher=mpirun(3))
        self.assertEqual(done.returncode, OK, done.stderr)
        published = 0
        for number in (0, 1):
            values = {}
            for family in text_string_to_metric_families(pathlib.Path(f"run.{number}.prom").read_text()):
                self.assertTrue(family.documentation, family.name)
                self.assertIn(family.type, ("gauge", "counter"), family.name)
                for sample in family.samples:
                    self.assertEqual(sample.labels["server"], str(number))
                    values[sample.name, sample.labels.get("collection"), sample.labels.get("reason")] = sample.value
            self.assertEqual(values["afterbay_running", None, None], 0)
            self.assertEqual(values["afterbay_received_bytes_total", None, None], 2 * self.RECORDS * self.POINTS * 4)
            self.assertEqual(values["afterbay_collection_records_written_total", "replay", None], 2 * self.RECORDS)
            self.assertIn(("afterbay_model_wait_seconds_total", None, "room"), values)
            published += values["afterbay_published_files_total", None, None]
        self.assertEqual(published, 4)
        self.assertEqual([str(path) for path in pathlib.Path().glob("*.tmp")], [])


if __name__ == "__main__":
    unittest.main()
