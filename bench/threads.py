# SPDX-License-Identifier: Apache-2.0
"""The threads benchmark: threads of one rank hand over light (2-D) and heavy (3-D) output.

Endpoints are compared with gathering into one array before one put, with gathering before parallel
netCDF-4 by the master, and with flat MPI (one rank per thread). With more threads than cores the
rows show what waiting costs, not speed.
"""

import argparse
import os
import pathlib

import verify
from harness import Check, Panel, Plan, Results, Row, argument

NAME = "threads"
DESCRIPTION = "threads of a rank put light and heavy output: endpoints, gather and put, gather and netCDF-4, flat MPI"

THREADS = (1, 2, 4, 8)
CASES = {"light": ("2-D", ("--levels", "1", "--variables", "8"), 10.0), "heavy": ("3-D", ("--levels", "36", "--variables", "4"), 60.0)}
STEPS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--compute-ms", type=float, help="compute of each thread before each output (10 and 60)")


def plan(options: argparse.Namespace) -> Plan:
    rows = []
    for case, (what, size, compute_ms) in CASES.items():
        grid = ("--lon", "36", "--lat", "18") if options.smallest else ("--lon", "360", "--lat", "181")
        compute = options.compute_ms if options.compute_ms is not None else 1.0 if options.smallest else compute_ms
        common = (*size, *grid, "--steps", str(STEPS), "--compute-ms", str(compute),
                  "--warm-ups", "0" if options.smallest else "2")
        rows.append(Row(f"{case}/one", "one caller", case, "yardstick", "afterbay_threads", 2, (*common, "--mode", "one"), model=1, verify=True))
        for threads in THREADS[:2] if options.quick else THREADS:
            plural = "" if threads == 1 else "s"
            for mode, label in (("endpoints", "endpoints"), ("gather", "gather, one put")):
                if mode == "gather" and threads == 1:
                    continue
                rows.append(Row(f"{case}/{mode}/{threads}", f"{label}, {threads} thread{plural}", case, "afterbay", "afterbay_threads", 2,
                                (*common, "--mode", mode, "--threads", str(threads)), model=1, verify=True))
            rows.append(Row(f"{case}/netcdf/{threads}", f"gather, parallel netCDF-4, {threads} thread{plural}", case, "baseline", "netcdf_threads", 1,
                            (*common, "--threads", str(threads)), model=1, verify=True))
            if threads > 1:
                rows.append(Row(f"{case}/flat/{threads}", f"flat MPI, {threads} ranks", case, "afterbay", "afterbay_threads", threads + 1,
                                (*common, "--mode", "one"), model=threads, verify=True))
    for threads in (16, 181):
        rows.append(Row(f"cost/{threads}", f"{threads} endpoints", "cost", "afterbay", "afterbay_threads", 2,
                        ("--levels", "1", "--variables", "4", "--lon", "16", "--lat", "181", "--mode", "cost", "--threads", str(threads)), model=1))
    return Plan(rows, options.runs or (3 if options.quick else 5), checks, panels, verify_row, 1,
                lambda results: results.failures_by_reason(), {"steps": STEPS})


def checks(results: Results) -> list[Check]:
    found = []
    cores = len(os.sched_getaffinity(0))
    for case in CASES:
        for threads in THREADS:
            key = f"{case}/endpoints/{threads}"
            if not results.present(key) or threads > cores:
                continue
            found.append(results.median_check(f"{case}, {threads} threads: end-to-end time of endpoints / of one caller",
                                              results.ratios(key, "end_s", f"{case}/one", "end_s"), "<=", 1.05))
            found.append(results.median_check(f"{case}, {threads} threads: blocked / memcpy by as many threads",
                                              results.ratios(key, "blocked_s.max", key, "copy_s"), "<=", 1.15))
            if results.present(f"{case}/flat/{threads}"):
                found.append(results.median_check(f"{case}, {threads} threads: end-to-end time of flat MPI / of endpoints",
                                                  results.ratios(f"{case}/flat/{threads}", "end_s", key, "end_s"), ">=", 0.95))
    if results.present("heavy/gather/2") and cores >= 2:
        found.append(results.median_check("heavy, 2 threads: blocked time of gathering and one put / of endpoints",
                                          results.ratios("heavy/gather/2", "blocked_s.max", "heavy/endpoints/2", "blocked_s.max"), ">=", 1.3))
    return found


def scenario_table(results: Results, scenario: str) -> str:
    if scenario == "cost":
        lines = [f"  {'set-up and small puts':<38} {'open':>10} {'first put':>11} {'later put':>11} {'memory of each':>15}"]
        for row in results.in_scenario(scenario):
            lines.append(f"  {row.label:<38} {results.median(row.key, 'open_us') or 0:7.2f} us {results.median(row.key, 'first_put_us') or 0:8.2f} us "
                         f"{results.median(row.key, 'put_us') or 0:8.2f} us {(results.median(row.key, 'endpoint_bytes') or 0) / 1024:11.1f} KiB")
        return "\n".join(lines)
    lines = [f"  {CASES[scenario][0] + ' output':<38} {'end':>9} {'blocked':>10} {'/ memcpy':>9} {'at barriers':>12} {'memory':>10}"]
    for row in results.in_scenario(scenario):
        ratio = results.ratios(row.key, "blocked_s.max", row.key, "copy_s")
        lines.append(f"  {row.label:<38} {results.median(row.key, 'end_s') or 0:7.3f} s {1e3 * (results.median(row.key, 'blocked_s.max') or 0):7.2f} ms "
                     f"{sorted(ratio)[len(ratio) // 2] if ratio else 0:9.2f} {1e3 * (results.median(row.key, 'barrier_s') or 0):9.2f} ms "
                     f"{results.median(row.key, 'memory_mib') or 0:6.0f} MiB")
    return "\n".join(lines)


def panels(results: Results) -> list[Panel]:
    return [Panel(f"{what} output", results.in_scenario(case), [("blocked_s.max", "blocked"), ("barrier_s", "at barriers")])
            for case, (what, _, _) in CASES.items()]


def verify_row(row: Row, directory: pathlib.Path) -> str:
    return verify.threads(directory, int(argument(row, "--variables")), STEPS)
