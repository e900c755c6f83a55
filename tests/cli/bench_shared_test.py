# SPDX-License-Identifier: Apache-2.0
"""The benchmark `shared` without running anything: rows, choice of the best, table in the study's
layout, checks."""
import argparse
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

SOURCE = pathlib.Path(os.environ.get("AFTERBAY_SOURCE", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(SOURCE / "bench"))

import harness  # noqa: E402
import machine  # noqa: E402
import shared  # noqa: E402
import verify  # noqa: E402


def options(*arguments):
    parser = argparse.ArgumentParser()
    for name in ("--runs", "--dir"):
        parser.add_argument(name, type=int if name == "--runs" else pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    shared.add_arguments(parser)
    return parser.parse_args(arguments)


def results_with(rates):
    """Results of one scenario; `rates` gives GiB/s of each repeat by a part of the row's key."""
    plan = shared.plan(options("--processes=4", "--runs=3"))
    results = harness.Results(plan.rows, 3)
    for key in results.rows:
        of_row = next((found for part, found in rates.items() if part in key), None)
        if of_row:
            results.metrics[key] = [{shared.RATE: rate, "end_s": 1 / rate} for rate in of_row]
    return plan, results


class Machine(unittest.TestCase):
    def test_where_the_file_system_cannot_be_found_it_is_unknown(self):
        for mounts in ({"side_effect": FileNotFoundError}, {"return_value": ""}):
            with unittest.mock.patch("pathlib.Path.read_text", **mounts):
                self.assertEqual(machine.file_system(pathlib.Path.cwd()), "unknown file system")
                self.assertIn("unknown file system", machine.summary(machine.describe(pathlib.Path.cwd())))
                with self.assertRaisesRegex(SystemExit, "is on unknown"):
                    shared.plan(options("--stripes=-1:8", f"--dir={pathlib.Path.cwd()}"))


class Plan(unittest.TestCase):
    def test_every_way_of_writing_is_a_row_of_every_number_of_processes(self):
        rows = shared.plan(options()).rows
        self.assertEqual(len({row.key for row in rows}), len(rows))
        for count in shared.PROCESSES:
            programs = {row.program for row in rows if row.model == count}
            self.assertEqual(programs, {f"shared/{name}" for name in (
                "file_per_process", "mpi_io", "pnetcdf_shared", "hdf5_shared", "netcdf4_shared", "afterbay_shared")})
            for program in programs - {"shared/file_per_process", "shared/afterbay_shared"}:
                used = {row.mpirun[-1] for row in rows if row.model == count and row.program == program}
                self.assertEqual(used, {"ompio", "romio321"})
        dedicated = [row for row in rows if "afterbay-dedicated" in row.key and row.model == 8]
        self.assertEqual([row.ranks for row in dedicated], [9] * len(shared.WRITERS))

    def test_rows_whose_ratio_counts_run_one_after_the_other(self):
        groups = [row.group for row in shared.scenario_rows(4, 64, None, None)]
        self.assertEqual(groups[groups.index("fpp") - 2:], ["afterbay"] * 2 + ["fpp"] * 2 + ["afterbay"] * len(shared.WRITERS))

    def test_stripes_are_refused_where_there_are_none(self):
        if machine.file_system(pathlib.Path.cwd()).startswith("lustre"):
            self.skipTest("this is Lustre")
        with self.assertRaisesRegex(SystemExit, "--stripes is for Lustre, but "):
            shared.plan(options("--stripes=-1:8", f"--dir={pathlib.Path.cwd()}"))
        self.assertEqual(options("--stripes=-1:8").stripes, [(-1, 8)])

    def test_on_lustre_files_per_process_get_one_stripe_and_shared_ones_what_is_asked_for(self):
        rows = shared.scenario_rows(4, 64, (1, 1), (-1, 8))
        for row in rows:
            self.assertEqual(shared.stripe_columns(row), ["1", "1"] if row.group == "fpp" else ["-1", "8"])


class Figures(unittest.TestCase):
    RATES = {"fpp/direct": (1.0, 2.0, 3.0), "pnetcdf/romio": (0.5, 0.5, 0.5), "afterbay-thread": (1.1, 1.9, 2.9)}

    def test_table_has_the_columns_of_the_study(self):
        _, results = results_with(self.RATES)
        lines = shared.scenario_table(results, "4 processes").splitlines()
        self.assertRegex(lines[0], r"^Scheme +Number of Processes  Stripe Count  Stripe Size \(MiB\)  Max. Write Bandwidth")
        self.assertRegex(lines[4], r"^FPP POSIX, O_DIRECT +4 +- +- +3\.000 +1\.000 +2\.000 +2\.000 +3$")
        self.assertEqual(len(lines), 5)

    def test_checks_compare_repeats_with_the_best_rivals(self):
        plan, results = results_with(self.RATES)
        against_fpp, against_ssf = plan.checks(results)
        self.assertAlmostEqual(against_fpp.value, 2.9 / 3.0)
        self.assertTrue(against_fpp.holds)
        self.assertAlmostEqual(against_ssf.value, 1.9 / 0.5)
        self.assertIn("SSF PnetCDF (romio321)", against_ssf.note)

    def test_a_slower_file_is_reported_as_missed(self):
        plan, results = results_with({**self.RATES, "afterbay-thread": (0.4, 0.4, 0.4)})
        self.assertEqual([check.holds for check in plan.checks(results)], [False, False])

    def test_without_figures_nothing_holds(self):
        plan, results = results_with({"fpp/direct": (1.0,) * 3})
        self.assertEqual([(check.value, check.holds) for check in plan.checks(results)], [(None, False)] * 2)

    def test_chart(self):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            self.skipTest("no matplotlib")
        _, results = results_with(self.RATES)
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "shared.png"
            self.assertTrue(shared.draw(results, path, "title"))
            self.assertEqual(path.read_bytes()[:4], b"\x89PNG")


class Verification(unittest.TestCase):
    def test_files_with_a_wrong_value_are_found(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no numpy")
        levels, records = 1, 4
        k, j, i = numpy.ogrid[0:levels, 0:256, 0:256]
        base = (((k * 73 + j * 37 + i * 11) & 4095) * 0.0625).astype("<f4")
        stamped = numpy.zeros((256, 256), "<f4")
        stamped[::32, ::32] = 256
        whole = numpy.stack([base + (record + 1) * stamped for record in range(records)])
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            whole.tofile(directory / "rank.0.bin")
            self.assertEqual(verify.shared(directory, "file_per_process", 1, 1, records), "")
            whole[2, 0, 5, 5] += 1
            whole.tofile(directory / "shared.nc")
            self.assertEqual(verify.shared(directory, "mpi_io", 1, 1, records), "record 2 differs")


if __name__ == "__main__":
    unittest.main()
