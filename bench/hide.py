# SPDX-License-Identifier: Apache-2.0
"""The hiding benchmark: how much longer does a model run because it has output?

The same fixed amount of arithmetic in each step (an amount of work, not of time: it takes longer where a server shares the
core), with output after each step and without. The ratio of the two run times, over compute per step, for Afterbay inline, with a
server, with a server behind a frontend, and for netCDF-4 written by the model itself. Run time: until all files are durable.
"""

import argparse
import pathlib
from statistics import median

import verify
from harness import Check, Panel, Plan, Results, Row, argument

NAME = "hide"
DESCRIPTION = "run time with output / without, over compute per step: Afterbay inline, dedicated and tiered, synchronous netCDF-4"

GRID = "360x181x72"
COMPUTE_MS = (10, 40, 160, 320)
FILES, RECORDS = 5, 6
REPORT = "--afterbay.report.json={dir}/report.json"
HOLDS = 1.02  #: where the drain fits beside the compute, and the copy that every put is does not take more by itself
WAYS = (  #: key, label, kind, program, processes, arguments
    ("none", "no output", "yardstick", "afterbay_history", 1, ("--mode", "none")),
    ("dedicated/netcdf4", "Afterbay 1+1 netCDF-4", "afterbay", "afterbay_history", 2,
     (REPORT, "--warm-up", "--mode", "dedicated", "--servers", "1", "--format", "netcdf4")),
    ("dedicated/cdf5", "Afterbay 1+1 CDF-5", "afterbay", "afterbay_history", 2,
     (REPORT, "--warm-up", "--mode", "dedicated", "--servers", "1", "--format", "cdf5")),
    ("tiered", "Afterbay 1+1 tiered, a frontend", "afterbay", "afterbay_history", 3, (REPORT, "--warm-up", "--mode", "tiered", "--servers", "1")),
    ("inline-thread", "Afterbay inline thread", "afterbay", "afterbay_history", 1, (REPORT, "--warm-up", "--mode", "thread")),
    ("inline-synchronous", "Afterbay inline synchronous", "afterbay", "afterbay_history", 1, (REPORT, "--warm-up", "--mode", "synchronous")),
    ("netcdf", "synchronous netCDF-4", "baseline", "gather_netcdf", 1, ()),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--compute-ms", type=float, action="append", help="compute per step (may be repeated)")


def plan(options: argparse.Namespace) -> Plan:
    BUILD[0] = options.build
    compute = options.compute_ms or ((20, 80) if options.quick else COMPUTE_MS)
    grid = GRID
    if options.smallest:
        compute, grid = (1,), "36x18x4"
    rows = []
    for ms in compute:
        common = ("--grid", grid, "--files", str(FILES), "--records", str(RECORDS), "--compute-ms", str(ms), "--fixed-work",
                  "--work-rounds", str(rounds_of(ms)))
        for key, label, kind, program, processes, extra in WAYS:
            rows.append(Row(f"{ms:g} ms/{key}", label, f"{ms:g} ms of compute", kind, program, processes, common + extra,
                            verify=key != "none", model=1))
    return Plan(rows, options.runs or (3 if options.quick else 5), lambda results: checks(results, compute),
                lambda results: panels(results, compute), verify_row, 1, lambda results: notes(results, compute),
                {"compute_ms": list(compute), "steps": FILES * RECORDS})


BUILD: list[str | None] = [None]
ROUNDS_PER_MS: list[float] = []


def rounds_of(ms: float) -> int:
    """Rounds of arithmetic that an idle core does in that time: measured once, by the benchmark's own program."""
    if not ROUNDS_PER_MS:
        ROUNDS_PER_MS.append(1e3 / calibrate())
    return max(1, round(ms * ROUNDS_PER_MS[0]))


def calibrate() -> float:
    """Microseconds of one round, the fastest of some trials."""
    import json
    import subprocess

    import __main__
    program = __main__.program_directory(BUILD[0]) / "afterbay_history"
    done = subprocess.run(["mpirun", "--oversubscribe", "-np", "1", str(program), "--mode", "none", "--fixed-work", "--compute-ms", "100",
                           "--files", "1", "--records", "3"], capture_output=True, text=True, check=True, timeout=120)
    line = next(line for line in done.stdout.splitlines() if line.startswith("BENCH "))
    return 1e5 / json.loads(line[len("BENCH "):])["work_rounds"]


def ratios(results: Results, ms: float, key: str) -> list[float]:
    return results.ratios(f"{ms:g} ms/{key}", "end_s", f"{ms:g} ms/none", "end_s")


def hidden_from(results: Results, compute, key: str) -> float | None:
    """The least compute per step from which on the output is hidden."""
    found = None
    for ms in sorted(compute, reverse=True):
        values = ratios(results, ms, key)
        if not values or median(values) > HOLDS:
            break
        found = ms
    return found


def checks(results: Results, compute) -> list[Check]:
    found = []
    for key, label, *_ in WAYS:
        if not key.startswith(("dedicated", "tiered")):
            continue
        drain_s = results.median(f"{min(compute):g} ms/{key}", "end_s") or 0.0  # with hardly any compute: at most so long
        for ms in compute:
            model_s = results.median(f"{ms:g} ms/none", "end_s")
            copy_s = results.median(f"{ms:g} ms/{key}", "blocked_s.max") or 0.0
            if ms == min(compute) or not model_s or model_s < drain_s or copy_s > (HOLDS - 1) * model_s:
                continue
            found.append(Results.median_check(f"{ms:g} ms of compute, {label}: run time with output / without", ratios(results, ms, key), "<=",
                                              HOLDS, f"the drain takes {drain_s:.1f} s at most, the compute {model_s:.1f} s, the puts {copy_s:.2f} s"))
    return found


def notes(results: Results, compute) -> list[str]:
    lines = []
    for key, label, *_ in WAYS[1:]:
        by_compute = ", ".join(f"{ms:g} ms: {median(values):.3f}" for ms in compute if (values := ratios(results, ms, key)))
        hidden = hidden_from(results, compute, key)
        lines.append(f"{label}: {by_compute}; hidden (<= {HOLDS:g}) {f'from {hidden:g} ms on' if hidden else 'nowhere here'}")
    return lines + results.failures_by_reason()


def scenario_table(results: Results, scenario: str) -> str:
    ms = float(scenario.split()[0])
    lines = [f"  {'':<30} {'run time':>10} {'/ none':>8} {'spread':>17} {'blocked':>10}"]
    for key, label, *_ in WAYS:
        row = f"{ms:g} ms/{key}"
        end = results.median(row, "end_s")
        values = ratios(results, ms, key)
        if end is None or not values:
            continue
        blocked = results.median(row, "blocked_s.max") or 0.0
        spread = f"({min(values):.3f} .. {max(values):.3f})"
        lines.append(f"  {label:<30} {end:8.3f} s {median(values):8.3f} {spread:>17} {blocked:8.3f} s")
    return "\n".join(lines)


def panels(results: Results, compute) -> list[Panel]:
    return [Panel(f"{ms:g} ms of compute a step: run time, and time the model is blocked", results.in_scenario(f"{ms:g} ms of compute"),
                  [("end_s", "run time"), ("blocked_s.max", "blocked")]) for ms in compute]


def verify_row(row: Row, directory: pathlib.Path) -> str:
    return verify.history(directory, argument(row, "--grid"), FILES, RECORDS)
