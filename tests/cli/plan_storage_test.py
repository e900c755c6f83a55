# SPDX-License-Identifier: Apache-2.0
"""afterbay plan storage: settings that `afterbay check` accepts, nothing left behind, refusals."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from _cli import COMMAND, IO, OK, USAGE, CommandTest, run

LFS = """#!/bin/sh
for path; do :; done
echo "$2 $3 $4 $5" >> "$(dirname "$0")/calls"
: > "$path"
"""


class PlanStorage(CommandTest):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(dir="."))

    def tearDown(self):
        self.assertEqual(list(self.directory.iterdir()), [], "files are left behind")

    def plan(self, *arguments, **options):
        done = self.expect(OK, "plan", "storage", str(self.directory), "--time=2s", "--size=16MiB", *arguments, **options)
        self.assertEqual(self.expect(OK, "check", self.write("plan.yaml", done.stdout)).stdout, "plan.yaml: correct\n")
        return done.stdout

    def test_recommends_settings_with_evidence(self):
        text = self.plan("--ranks=3")
        shown = self.expect(OK, "check", "plan.yaml", "--show").stdout
        for name in ("direct_io", "memory.block", "writers"):
            self.assertRegex(shown, rf"(?m)^{name.replace('.', '[.]')} +\S+ +plan.yaml:")
        self.assertNotIn("stripe:", text)
        for line in (r"^# +1  one +4MiB  direct +- +\d+ +\d+ +\d+ +\d+$", r"^# +1  one +4MiB  buffered",
                     r"^# +2  one ", r"^# +3  one ", r"^# +3  separate "):
            self.assertRegex(text, "(?m)" + line)

    def test_evidence_comes_in_the_parts_that_were_decided_by(self):
        text = self.plan("--ranks=2")
        blocks, writers = text.index("# block sizes, with and without O_DIRECT; trials of 16MiB:"), text.index("# writers, in one file")
        self.assertLess(blocks, writers)
        of = re.compile(r"(?m)^# +1  one +(\S+)  (direct|buffered) ")
        self.assertEqual(len(of.findall(text[blocks:writers])), 8)
        self.assertEqual(len(of.findall(text[writers:])), 1)

    def test_a_directory_with_a_strange_name(self):
        strange = self.directory / "a\nb: [\x1b\udcff"
        strange.mkdir()
        try:
            done = self.expect(OK, "plan", "storage", str(strange), "--time=1s", "--size=16MiB")
            self.assertIn("/a\\nb: [\\x1b\\xff on ", done.stdout.splitlines()[0])
            self.expect(OK, "check", self.write("plan.yaml", done.stdout))
        finally:
            strange.rmdir()

    def test_on_lustre_tries_stripes(self):
        tools = pathlib.Path("tools")
        tools.mkdir(exist_ok=True)
        (tools / "lfs").write_text(LFS)
        (tools / "lfs").chmod(0o755)
        text = self.plan("--lustre", settings={"PATH": f"{tools.resolve()}:{os.environ['PATH']}"})
        self.assertRegex(text, r"(?m)^  stripe: \{count: (1|4|all), size: [148]MiB\}$")
        calls = set((tools / "calls").read_text().splitlines())
        self.assertEqual(calls, {f"-c {count} -S {size << 20}" for count in (1, 4, -1) for size in (1, 4, 8)})

    def test_ends_in_time(self):
        start = time.monotonic()
        self.plan()
        self.assertLess(time.monotonic() - start, 20)

    def test_killed_leaves_nothing(self):
        process = subprocess.Popen([COMMAND, "plan", "storage", self.directory, "--time=30s"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(1)
        process.send_signal(signal.SIGKILL)
        self.assertEqual(process.wait(timeout=60), -signal.SIGKILL)

    def test_refusals(self):
        def refused(code, text, *arguments):
            self.assertIn(text, self.expect(code, "plan", "storage", *arguments).stderr)

        here = str(self.directory)
        refused(USAGE, "DIR is required")
        refused(IO, "nowhere is not there", "nowhere")
        refused(IO, "is not a directory", self.write("a-file", ""))
        refused(IO, "may be used", here, "--size=8000TiB")
        refused(USAGE, "--time: expected a duration from 1s to 1h", here, "--time=0.1s")
        refused(USAGE, '"soon"', here, "--time=soon")
        refused(USAGE, "--size: expected 16MiB or more", here, "--size=1MiB")
        refused(USAGE, "--ranks", here, "--ranks=0")
        refused(USAGE, 'no option "--tiem"; did you mean "--time"?\nTry: afterbay plan storage --help', here, "--tiem=5s")
        self.assertIn("A subcommand is required", self.expect(USAGE, "plan").stderr)

    def test_help(self):
        self.assertIn("Usage: afterbay plan storage [OPTIONS] DIR", self.expect(OK, "plan", "storage", "--help").stdout)

    def test_nearly_full_disk_is_refused(self):
        disk = self.directory / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=100m", "tmpfs", disk], capture_output=True, check=False)
        try:
            if mounted.returncode != 0:
                self.skipTest("cannot mount a small file system")
            done = run("plan", "storage", str(disk), "--time=1s")
            self.assertEqual(done.returncode, IO, done.stderr)
            self.assertIn("100 MiB free", done.stderr)
        finally:
            subprocess.run(["umount", "-l", disk], capture_output=True, check=False)
            disk.rmdir()


if __name__ == "__main__":
    unittest.main()
