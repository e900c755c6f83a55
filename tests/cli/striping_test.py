# SPDX-License-Identifier: Apache-2.0
"""Stripes of a whole run: settings reach `lfs` before the file has data, and the report says which
stripes the file has."""
import json
import os
import pathlib
import sys
import unittest

from _cli import OK, CommandTest, run

try:
    import netCDF4
except ImportError:
    print("netCDF4 for Python is not installed; skipped")
    sys.exit(77)

#: Records its arguments and the size of the file, and creates the file, like the real command. It
#: sets no more stripes than the file system has storage targets: 6.
LFS = """#!/bin/sh
tools=$(dirname "$0")
for path; do :; done
case $1 in
setstripe)
  echo "$* $(stat -c %s "$path" 2>/dev/null || echo new)" >> "$tools/calls"
  : > "$path"
  echo "$3 $5" > "$tools/set" ;;
getstripe)
  read -r count size < "$tools/set"
  [ "$count" -lt 0 ] || [ "$count" -gt 6 ] && count=6
  printf '%s\\nlmm_stripe_count:  %s\\nlmm_stripe_size:   %s\\nlmm_pattern:       raid0\\n' "$path" "$count" "$size" ;;
osts)
  echo OBDS:
  for number in 0 1 2 3 4 5; do echo "$number: scratch-OST000${number}_UUID ACTIVE"; done ;;
esac
"""
FAILING_LFS = "#!/bin/sh\necho 'error on ioctl: Operation not supported' >&2\nexit 95\n"
MPIRUN = ("timeout", "-k", "5", "60", "mpirun", "--oversubscribe", "-np")


class Striping(CommandTest):
    def setUp(self):
        for name in ("out.nc", "tools/calls", "report.json"):
            pathlib.Path(name).unlink(missing_ok=True)
        pathlib.Path("tools").mkdir(exist_ok=True)
        with netCDF4.Dataset("in.nc", "w") as file:
            file.createDimension("time", None)
            file.createDimension("x", 1000)
            file.createVariable("height", "f8", ("time", "x"))[:] = [[r + i for i in range(1000)] for r in range(3)]

    def replay(self, script, *settings, ranks=3):
        if script:
            pathlib.Path("tools/lfs").write_text(script)
            pathlib.Path("tools/lfs").chmod(0o755)
        done = run("replay", "in.nc", "out.nc", "--afterbay.report.table=on", "--afterbay.report.json=report.json",
                   *settings, launcher=(*MPIRUN, str(ranks)),
                   settings={"PATH": f"{pathlib.Path('tools').resolve()}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, OK, done.stderr)
        with netCDF4.Dataset("out.nc") as file:
            self.assertEqual(file["height"][:, 999].tolist(), [999, 1000, 1001])
        counters = json.loads(pathlib.Path("report.json").read_text())["server"]["counters"]
        self.lines = [name for name in counters if name.startswith("replay: files on ")]
        self.assertEqual(len(self.lines), 1, counters.keys())
        self.assertEqual(counters[self.lines[0]]["total"], 1)
        self.assertIn(self.lines[0], done.stdout)
        return done

    def calls(self):
        path = pathlib.Path("tools/calls")
        return path.read_text().splitlines() if path.exists() else []

    def test_settings_of_a_collection_reach_lfs(self):
        self.replay(LFS, "--afterbay.stripe.apply=always", "--afterbay.stripe.count=7",
                    "--afterbay.collections.re*.stripe.count=4", "--afterbay.collections.re*.stripe.size=2MiB")
        self.assertEqual(self.calls(), ["setstripe -c 4 -S 2097152 out.nc.part new"])
        self.assertRegex(self.lines[0], r"stripe count 4, size 2MiB, of 6 OSTs$")

    def test_policy_follows_the_expected_size(self):
        self.replay(LFS, "--afterbay.stripe.apply=always", "--afterbay.collections.replay.expected_size=20GiB")
        self.assertEqual(self.calls(), ["setstripe -c 4 -S 8388608 out.nc.part new"])
        self.assertRegex(self.lines[0], r"stripe count 4, size 8MiB, of 6 OSTs$")

    def test_files_of_single_servers_get_one_stripe(self):
        self.replay(LFS, "--afterbay.stripe.apply=always", "--afterbay.collections.replay.expected_size=20GiB",
                    "--afterbay.placement=file")
        self.assertEqual(self.calls(), ["setstripe -c 1 -S 8388608 out.nc.part new"])

    def test_a_file_of_all_servers_is_made_once(self):
        self.replay(LFS, "--afterbay.stripe.apply=always", "--afterbay.collections.replay.expected_size=20GiB",
                    "--afterbay.placement=slab", "--afterbay.servers=2", ranks=4)
        self.assertEqual(self.calls(), ["setstripe -c 4 -S 8388608 out.nc.part new"])

    def test_inline(self):
        self.replay(LFS, "--afterbay.stripe.apply=always", "--afterbay.topology=inline")
        self.assertEqual(self.calls(), ["setstripe -c 1 -S 1048576 out.nc.part new"])

    def test_failure_is_a_warning(self):
        done = self.replay(FAILING_LFS, "--afterbay.stripe.apply=always")
        self.assertRegex(done.stderr, r'collection "replay": the stripes of a file could not be set.*'
                                      r"ended with status 95: error on ioctl: Operation not supported")
        self.assertRegex(self.lines[0], r"stripes not known, number of OSTs not known$")

    def test_the_report_says_what_the_file_has_not_what_was_asked_for(self):
        self.replay(LFS, "--afterbay.stripe.apply=always", "--afterbay.stripe.count=all", "--afterbay.stripe.size=8MiB")
        self.assertEqual(self.calls(), ["setstripe -c -1 -S 8388608 out.nc.part new"])
        self.assertRegex(self.lines[0], r"stripe count 6, size 8MiB, of 6 OSTs$")

    def test_stripes_that_cannot_be_asked_for_are_not_known(self):
        self.replay(LFS + "[ $1 = setstripe ]\n", "--afterbay.stripe.apply=always", "--afterbay.stripe.count=4")
        self.assertEqual(len(self.calls()), 1)
        self.assertRegex(self.lines[0], r"stripes not known, number of OSTs not known$")

    def test_files_given_to_the_least_loaded_server_get_one_stripe(self):
        self.replay(LFS, "--afterbay.stripe.apply=always", "--afterbay.collections.replay.expected_size=20GiB",
                    "--afterbay.placement=least")
        self.assertEqual(self.calls(), ["setstripe -c 1 -S 8388608 out.nc.part new"])

    def test_local_file_system_is_left_alone(self):
        done = self.replay(LFS)
        self.assertEqual(self.calls(), [])
        self.assertEqual(done.stderr, "")
        kind = os.popen("stat -f -c %T .").read().strip()
        if kind == "ext2/ext3":
            self.assertRegex(self.lines[0], r"^replay: files on ext4 \((direct|buffered)\), no stripes to set$")
        elif kind in ("xfs", "tmpfs"):
            self.assertIn("no stripes to set", self.lines[0])


if __name__ == "__main__":
    unittest.main()
