# SPDX-License-Identifier: Apache-2.0
"""The benchmark of statistics over time: a step of each operation, beside a plain loop of additions
over as many values."""

import argparse

import tables
from harness import Check, Panel, Plan, Results, Row

NAME = "statistics_over_time"
DESCRIPTION = "a step of statistics over time, beside a plain loop of additions"

TYPES = ("float32", "float64", "int16", "int64")
OPERATIONS = ("instant", "mean", "sum", "minimum", "maximum", "range", "standard_deviation", "rate", "once", "difference")
POLICIES = ("none", "ignore", "poison", "threshold")
BUNDLES = ("mean+maximum", "mean+maximum+minimum+instant", "mean+maximum+minimum+standard_deviation+instant")
BOUND = 0.7
BOUNDED = ("float32/mean/none", "float32/mean weighted/none", "float32/maximum/none", "float32/maximum/ignore", "float32/mean/poison")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    del parser  # no options


def plan(options: argparse.Namespace) -> Plan:
    points = 4096 if options.smallest else 1 << 22 if options.quick else 1 << 24
    steps = 2 if options.smallest else 5 if options.quick else 9
    rows = []
    for name in TYPES:
        for operations, weighted in [(it, False) for it in OPERATIONS] + [("mean", True), ("standard_deviation", True)] + [(it, False) for it in BUNDLES]:
            for policy in POLICIES:
                label = operations + (" weighted" if weighted else "")
                row_options = ("--type", name, "--operations", operations, "--missing", policy, "--points", str(points), "--steps", str(steps))
                rows.append(Row(f"{name}/{label}/{policy}", f"{label}, {policy}", name, "afterbay", "afterbay_statistics", 1,
                                row_options + (("--weighted",) if weighted else ()), launcher=("env",), group=label))
    return Plan(rows, options.runs or (3 if options.quick else 5), checks, panels, None, 1, notes)


def checks(results: Results) -> list[Check]:
    return [results.median_check(f"{key}: rate / that of the plain loop", results.values(key, "ratio"), ">=", BOUND) for key in BOUNDED if key in results.rows]


def scenario_table(results: Results, scenario: str) -> str:
    header = ["", "ms per step", "plain loop ms", "rate / plain", "min-max", "state B/point"]
    lines = []
    for row in results.in_scenario(scenario):
        def per(path: str, row: Row = row) -> list[float]:
            return [value * 1e3 for value in results.values(row.key, path)]
        sizes = [a / b for a, b in zip(results.values(row.key, "state_bytes"), results.values(row.key, "points"))]
        ratios = results.values(row.key, "ratio")
        lines.append([row.label, tables.median_text(per("end_s")), tables.median_text(per("plain_s")), tables.median_text(ratios), tables.spread(ratios),
                      tables.median_text(sizes, "{:.0f}")])
    return tables.table(header, lines)


def notes(results: Results) -> list[str]:
    return ["rate / plain: time of `sum[i] += value[i]` (value of the type, sum float64) / time of a step, in turn over the same values in one process",
            *results.failures_by_reason()]


def panels(results: Results) -> list[Panel]:
    rows = [row for row in results.rows.values() if row.key.split("/")[0] == "float32" and row.key.split("/")[2] in ("none", "ignore")]
    return [Panel("float32: a step, and the plain loop", rows, [("end_s", "statistics"), ("plain_s", "plain loop")])]
