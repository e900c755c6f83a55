# SPDX-License-Identifier: Apache-2.0
"""afterbay plan storage: settings that `afterbay check` accepts, no remaining files, errors."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from _cli import COMMAND, IO, OK, USAGE, CommandTest, run

#: For a file system with 3 storage targets.
LFS = """#!/bin/sh
tools=$(dirname "$0")
for path; do :; done
case $1 in
setstripe)
  echo "$2 $3 $4 $5" >> "$tools/calls"
  : > "$path"
  echo "$3 $5" > "$tools/set" ;;
getstripe)
  read -r count size < "$tools/set"
  [ "$count" -lt 0 ] || [ "$count" -gt 3 ] && count=3
  printf '%s\\nlmm_stripe_count:  %s\\nlmm_stripe_size:   %s\\n' "$path" "$count" "$size" ;;
osts)
  echo OBDS:
  for number in 0 1 2; do echo "$number: scratch-OST000${number}_UUID ACTIVE"; done ;;
esac
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

    def plan_with(self, lfs):
        tools = pathlib.Path("tools")
        tools.mkdir(exist_ok=True)
        (tools / "calls").unlink(missing_ok=True)
        (tools / "lfs").write_text(lfs)
        (tools / "lfs").chmod(0o755)
        return tools, self.plan("--lustre", settings={"PATH": f"{tools.resolve()}:{os.environ['PATH']}"})

    def test_stripes_are_told_as_the_files_had_them(self):
        _, text = self.plan_with(LFS)
        had = text.split("# Requested stripes, and the stripes of the files:\n")[1].splitlines()
        self.assertIn("# 1 x 4MiB    stripe count 1, size 4MiB, of 3 OSTs", had)
        self.assertIn("# 4 x 1MiB    stripe count 3, size 1MiB, of 3 OSTs", had)
        self.assertIn("# all x 8MiB  stripe count 3, size 8MiB, of 3 OSTs", had)
        self.assertEqual(len(had), 9)

    def test_stripes_that_cannot_be_asked_for_are_not_known(self):
        _, text = self.plan_with(LFS + "[ $1 = setstripe ]\n")
        self.assertIn("# all x 8MiB  stripes not known, number of OSTs not known\n", text)

    def test_on_lustre_tries_stripes(self):
        tools, text = self.plan_with(LFS)
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
