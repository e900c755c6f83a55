# SPDX-License-Identifier: Apache-2.0
"""The hiding benchmark's plan and figures: every run with output is paired with one of the
arithmetic alone, more repeats where the effect is small, and the servers' processor time. No
program is run."""
import argparse
import os
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(os.environ.get("AFTERBAY_SOURCE", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(SOURCE / "bench"))

import harness  # noqa: E402
import hide  # noqa: E402

hide.ROUNDS_PER_MS[:] = [1.0]


def plan(**options):
    given = {"build": None, "compute_ms": None, "quick": False, "smallest": False, "runs": None}
    return hide.plan(argparse.Namespace(**{**given, **options}))


class Order(harness.Runner):
    """Records the commands instead of running them."""

    def __init__(self):
        super().__init__(pathlib.Path("."), pathlib.Path("."), 1, False)
        self.keys = []

    def missing(self, row):
        return False

    def run(self, row, verify=None):
        self.keys.append(row.key)
        return {"end_s": 1.0}


class Pairs(unittest.TestCase):
    def test_each_run_with_output_is_beside_its_run_of_the_arithmetic_alone(self):
        runner = Order()
        made = plan(compute_ms=[160], runs=3)
        made.verify = None
        runner.run_all(made)
        self.assertEqual(len(runner.keys), 3 * 2 * len(hide.WAYS))
        pairs = list(zip(runner.keys[::2], runner.keys[1::2]))
        for a, b in pairs:
            self.assertEqual(f"{min(a, b)}/alone", max(a, b))
        self.assertEqual({pair[0].endswith("/alone") for pair in pairs}, {True, False})  # either comes first

    def test_a_ratio_is_that_of_a_pair(self):
        results = harness.Results(plan(compute_ms=[160]).rows, 3)
        for key, values in (("160 ms/tiered", (2.0, 3.0, 6.0)), ("160 ms/tiered/alone", (1.0, 2.0, 3.0)), ("160 ms/netcdf/alone", (9.0, 9.0, 9.0))):
            results.metrics[key] = [{"end_s": value} for value in values]
        self.assertEqual(hide.ratios(results, 160, "tiered"), [2.0, 1.5, 2.0])

    def test_rows_of_much_compute_are_repeated_more(self):
        made = plan()
        self.assertEqual(made.runs, hide.LONG_RUNS)
        self.assertGreater(hide.LONG_RUNS, hide.RUNS)
        repeats = {row.scenario: row.repeats for row in made.rows}
        self.assertEqual(repeats, {"10 ms of compute": hide.RUNS, "40 ms of compute": hide.RUNS, "160 ms of compute": 0, "320 ms of compute": 0})
        self.assertEqual({row.repeats for row in plan(runs=2).rows}, {0})

    def test_the_table_says_what_processor_time_servers_and_model_took(self):
        results = harness.Results(plan(compute_ms=[160]).rows, 1)
        steps = hide.FILES * hide.RECORDS
        results.metrics["160 ms/dedicated/cdf5"] = [{"end_s": 5.1, "cpu_s": 5.0 + 0.004 * steps, "servers_cpu_ms_per_step": 7.25, "blocked_s": {"max": 0.1}}]
        results.metrics["160 ms/dedicated/cdf5/alone"] = [{"end_s": 5.0, "cpu_s": 5.0}]
        header, _, line = hide.scenario_table(results, "160 ms of compute").splitlines()
        cells = dict(zip(re.split(r"\s{2,}", header.strip()), re.split(r"\s{2,}", line.strip())[1:]))
        self.assertEqual(cells, {"runs": "1", "run time s": "5.100", "/ alone": "1.020", "least-most": "1.020-1.020", "blocked s": "0.100",
                                 "servers' cpu ms/step": "7.2", "model's cpu ms/step": "4.0"})


if __name__ == "__main__":
    unittest.main()
