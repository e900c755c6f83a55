#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every benchmark runs to its end: each program once with minimal data. Does not test speed.

Rows whose libraries are missing (tools/dev/setup.sh: bench_packages) are left out."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("AFTERBAY_SOURCE", pathlib.Path(__file__).parents[2]))
PROGRAMS = pathlib.Path(os.environ.get("AFTERBAY_BENCH_PROGRAMS") or pathlib.Path(os.environ.get("AFTERBAY_BUILD", ".")) / "bench")
ARGUMENTS = {"e3sm": ("--case", "synthetic", "--ranks", "2")}


def run(*arguments):
    return subprocess.run([sys.executable, SOURCE / "bench" / "run", *arguments], capture_output=True, text=True, timeout=120, check=False)


class Benchmarks(unittest.TestCase):
    def runs_through(self, name):
        done = run(name, "--smallest", "--build", str(PROGRAMS), "--dir", ".", "--json", f"{name}.json", "--png", f"{name}.png",
                   *ARGUMENTS.get(name, ()))
        said = f"\n{done.stdout}\n{done.stderr}"
        self.assertEqual(done.returncode, 0, said)
        if "skipped: no" in done.stdout:
            self.skipTest(done.stdout.splitlines()[-1])
        result = json.loads(pathlib.Path(f"{name}.json").read_text())
        self.assertEqual(result["benchmark"], name)
        failures = {row["key"]: row["failure"] for row in result["rows"] if row["failure"] and "was not built" not in row["failure"]}
        self.assertEqual(failures, {}, said)
        measured = [row for row in result["rows"] if row["repeats"][0]]
        self.assertTrue(any("afterbay" in row["program"] for row in measured), said)
        self.look_at(name, result, done.stdout)
        self.assertEqual(pathlib.Path(f"{name}.png").read_bytes()[:4], b"\x89PNG", said)
        missing = sorted({row["program"] for row in result["rows"] if "was not built" in row["failure"]})
        if missing:
            print(f"{name}: without {', '.join(missing)}: their libraries are missing (./dev bench installs them)")

    def look_at(self, name, result, said):
        """The checks for this benchmark only."""
        figures = {row["key"]: row["repeats"][0] for row in result["rows"] if row["repeats"][0]}
        if name == "open":
            self.assertEqual([check["value"] for check in result["checks"]], [figures[f"{layout}/session"]["open_s"] for layout in ("1+1", "4+1")])
            for layout in ("1+1", "4+1"):
                ours, alone = figures[f"{layout}/session"], figures[f"{layout}/mpi"]
                self.assertLess(ours["mpi_s"], ours["end_s"])
                self.assertTrue(0 < ours["open_s"] < ours["end_s"], said)
                self.assertNotIn("open_s", alone)
            self.assertIn("later than in the run of MPI alone", said)
        if name == "hide":
            self.assertGreater(figures["1 ms/dedicated/netcdf4"]["servers_cpu_ms_per_step"], 0)
            self.assertNotIn("servers_cpu_ms_per_step", figures["1 ms/dedicated/netcdf4/alone"])
            self.assertIn("servers' cpu ms/step", said)

        if name == "scale":
            self.assertGreater(figures["model_rank/100000x1"]["memory"], figures["model_rank/100000x1"]["staging"])
            self.assertGreater(figures["frontend/100000x1"]["turn_ns"], 0)
            self.assertGreater(figures["server/100x1"]["memory"], figures["server/100x1"]["receive"])
            self.assertGreater(figures["ingest/100x1"]["message_ns"], 0)
            self.assertGreater(figures["definitions/100x1"]["cpu_s"], 0)
            self.assertEqual(figures["start/100x1"]["exchange_messages"], 14)  # 101 ranks: 7 children of rank 0, each sends and receives
            self.assertGreater(figures["real/inline/4"]["root_messages"], 0)
            self.assertIn("a + b N", said)
            self.assertIn("exchanges over the tree of ranks", said)
        if name == "threads":
            self.assertGreater(figures["cost/16"]["open_us"], 0)
            self.assertGreater(figures["cost/16"]["endpoint_bytes"], 0)

        if name == "packing":
            for key in ("model/deflate-1", "noise/deflate-1", "noise/zlib-1", "workers/deflate-4/alone"):
                self.assertGreater(figures[key]["packed_bytes"], 0)
                self.assertGreater(figures[key]["end_s"], 0)
                self.assertEqual(figures[key]["largest_error"], 0)
            self.assertGreater(figures["workers/deflate-4/1"]["disk_bytes"], 0)
            self.assertGreater(figures["blocked/none"]["copy_s"]["max"], 0)
            self.assertIn("verified / not", said)
        if name == "servers":
            self.assertGreater(figures["deflate/1x1"]["disk_bytes"], 0)
            self.assertEqual(figures["deflate/none"]["disk_bytes"], 0)
            self.assertIn("/ no output", said)

    def another_build(self, *left_out):
        """A directory with the same programs, without some."""
        other = pathlib.Path(tempfile.mkdtemp(prefix="other_", dir=".")).resolve()
        for program in PROGRAMS.iterdir():
            if program.name not in left_out:
                (other / program.name).symlink_to(program.resolve())
        return other

    def test_another_build_is_run_beside_this_one(self):
        other = self.another_build()
        done = run("many_files", "--smallest", "--build", str(PROGRAMS), "--against", str(other), "--dir", ".", "--json", "against.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(pathlib.Path("against.json").read_text())
        rows = {row["key"]: row for row in result["rows"]}
        ours = next(key for key, row in rows.items() if row["kind"] == "afterbay")
        self.assertEqual(rows[f"{ours}/against"]["program"], str(other / rows[ours]["program"]))
        self.assertTrue(rows[f"{ours}/against"]["repeats"][0])
        names = [check["name"] for check in result["checks"]]
        self.assertTrue(any("end-to-end time / that of the other version" in name for name in names), names)
        self.assertTrue(any("blocked time / that of the other version" in name for name in names), names)

    def test_another_build_must_be_another_one_with_its_programs(self):
        """The programs of this build would be compared with themselves."""
        for other, expected in ((PROGRAMS, "these are the programs that are measured"), (pathlib.Path("nowhere"), "no programs in nowhere"),
                                (self.another_build("raw_write"), "no programs in"),
                                (self.another_build("afterbay_many_files"), "has no program afterbay_many_files")):
            done = run("many_files", "--smallest", "--build", str(PROGRAMS), "--against", str(other), "--dir", ".")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(expected, done.stderr)

    def test_every_benchmark_is_tested(self):
        listed = [line.split()[0] for line in run().stdout.splitlines()[1:]]
        tested = [name.removeprefix("test_").removesuffix("_runs_through") for name in dir(self) if name.startswith("test_") and name.endswith("_runs_through")]
        self.assertEqual(sorted(listed), sorted(tested))

    def test_history_runs_through(self):
        self.runs_through("history")

    def test_e3sm_runs_through(self):
        self.runs_through("e3sm")

    def test_threads_runs_through(self):
        self.runs_through("threads")

    def test_statistics_over_time_runs_through(self):
        self.runs_through("statistics_over_time")

    def test_fields_runs_through(self):
        self.runs_through("fields")

    def test_shared_runs_through(self):
        self.runs_through("shared")

    def test_hide_runs_through(self):
        self.runs_through("hide")

    def test_overload_runs_through(self):
        self.runs_through("overload")

    def test_restart_runs_through(self):
        self.runs_through("restart")

    def test_many_files_runs_through(self):
        self.runs_through("many_files")

    def test_open_runs_through(self):
        self.runs_through("open")

    def test_scale_runs_through(self):
        self.runs_through("scale")

    def test_packing_runs_through(self):
        self.runs_through("packing")

    def test_servers_runs_through(self):
        self.runs_through("servers")


if __name__ == "__main__":
    if not (PROGRAMS / "raw_write").is_file():
        print("skipped: the benchmarks are not built (cmake -DAFTERBAY_BUILD_BENCH=ON)")
        sys.exit(77)
    unittest.main()
