# SPDX-License-Identifier: Apache-2.0
"""The overload benchmark: servers that are too slow on purpose (one worker that compresses at level
9).

A model that computes little puts more than the server can write. It must be slowed to the server's
rate and no more, the memory must stay within its budget, and no data may be lost.
"""

import argparse
import pathlib

import verify
from harness import Check, Panel, Plan, Results, Row, argument

NAME = "overload"
DESCRIPTION = "servers too slow on purpose: the model is slowed to their rate, memory stays bounded, nothing is lost"

GRID = "360x181x72"
FILES, RECORDS = 2, 3
BUDGETS_MIB = (32, 128)
COMPUTE_MS = 20.0
SLOW = ("--afterbay.collections.history.deflate=9", "--afterbay.writers=1", "--afterbay.report.json={dir}/report.json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    del parser


def plan(options: argparse.Namespace) -> Plan:
    common = ("--grid", "36x18x4" if options.smallest else GRID, "--files", str(FILES), "--records", str(RECORDS), "--mode", "dedicated", "--servers", "1", *SLOW)
    rows = [Row("drain", "server's own rate: all fits into its memory", "overload", "yardstick", "afterbay_history", 2,
                (*common, "--afterbay.memory.server=512MiB"), model=1, verify=True)]
    for budget in BUDGETS_MIB:
        for ranks in (1, 2):
            rows.append(Row(f"{budget}/{ranks}", f"budget {budget} MiB, {ranks} model rank{'s' if ranks > 1 else ''}", "overload",
                            "afterbay", "afterbay_history", ranks + 1,
                            (*common, f"--afterbay.memory.server={budget}MiB", "--compute-ms", str(COMPUTE_MS), "--fixed-work"),
                            model=ranks, verify=True))
    return Plan(rows, options.runs or (2 if options.quick else 5), checks, panels, verify_row, verify_always=True, probe_runs=1,
                notes=lambda results: results.failures_by_reason(), context={"budgets_mib": list(BUDGETS_MIB), "compute_ms": COMPUTE_MS})


def backlog_bytes(metrics: dict) -> float | None:
    counter = metrics.get("report", {}).get("server", {}).get("counters", {}).get("peak backlog")
    return counter["largest"] if counter else None


def memory_bytes(metrics: dict) -> float | None:
    return metrics.get("report", {}).get("server", {}).get("memory_high_water_bytes")


def checks(results: Results) -> list[Check]:
    found = []
    small, large = BUDGETS_MIB
    for ranks in (1, 2):
        growth = [(b - a) / ((large - small) << 20) for one, other in zip(results.runs_of(f"{small}/{ranks}"), results.runs_of(f"{large}/{ranks}"))
                  if one and other and (a := memory_bytes(one)) and (b := memory_bytes(other))]
        found.append(results.median_check(f"{ranks} + 1: how much more memory the server's process takes / how much larger its budget is",
                                          growth, "<=", 1.1))
    for budget in BUDGETS_MIB:
        for ranks in (1, 2):
            key = f"{budget}/{ranks}"
            rate = results.ratios("drain", "end_s", key, "end_s")
            found.append(results.median_check(f"budget {budget} MiB, {ranks} + 1: rate / the server's own", rate, ">=", 0.9,
                                              f"the model waited {results.median(key, 'waited_s') or 0:.2f} s for room"))
            backlogs = [backlog / (budget << 20) for run in results.runs_of(key) if run and (backlog := backlog_bytes(run)) is not None]
            found.append(results.median_check(f"budget {budget} MiB, {ranks} + 1: most backlog / budget", backlogs, "<=", 1.0))
    return found


def disk_for_table(results: Results, scenario: str) -> str | None:
    del results, scenario
    return None


def panels(results: Results) -> list[Panel]:
    return [Panel("servers too slow on purpose", results.in_scenario("overload"),
                  [("end_s", "end to end"), ("blocked_s.max", "blocked"), ("waited_s", "waited for room")])]


def verify_row(row: Row, directory: pathlib.Path) -> str:
    return verify.history(directory, argument(row, "--grid"), FILES, RECORDS)
