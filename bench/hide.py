# SPDX-License-Identifier: Apache-2.0
"""The hiding benchmark: how much longer a model runs because of its output.

The same fixed amount of arithmetic in each step (an amount of work, not of time: it takes longer if
a server shares the core), with output after each step and without. The ratio of the two run times,
over compute per step, for Afterbay inline, with a server, with a server behind a frontend, and for
netCDF-4 written by the model itself. Run time: until all files are durable.

Runs are paired: in every repeat each run with output is next to one of the arithmetic alone,
alternately before and after it, and its ratio is taken to that one.
"""

import argparse
import pathlib
from statistics import median

import tables
import verify
from harness import Check, Panel, Plan, Results, Row, argument

NAME = "hide"
DESCRIPTION = "run time with output / without, over compute per step: Afterbay inline, dedicated and tiered, synchronous netCDF-4"

GRID = "360x181x72"
COMPUTE_MS = (10, 40, 160, 320)
FILES, RECORDS = 5, 6
REPORT = "--afterbay.report.json={dir}/report.json"
RUNS, LONG_RUNS, LONG_MS = 5, 9, 160  #: repeats, and those for long compute, where the effect is as small as the spread
HOLDS = 1.02  #: if the drain fits beside the compute, and the copies of the puts do not exceed it by themselves
WAYS = (  #: key, label, kind, program, processes, arguments
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
        repeats = 0 if options.runs or options.quick or ms >= LONG_MS else RUNS
        for key, label, kind, program, processes, extra in WAYS:
            scenario = f"{ms:g} ms of compute"
            rows.append(Row(alone(ms, key), f"the arithmetic alone, beside {label}", scenario, "yardstick", "afterbay_history", 1,
                            common + ("--mode", "none"), model=1, repeats=repeats))
            rows.append(Row(f"{ms:g} ms/{key}", label, scenario, kind, program, processes, common + extra, verify=True, model=1,
                            repeats=repeats))
    return Plan(rows, options.runs or (3 if options.quick else LONG_RUNS), lambda results: checks(results, compute),
                lambda results: panels(results, compute), verify_row, 1, lambda results: notes(results, compute),
                {"compute_ms": list(compute), "steps": FILES * RECORDS})


BUILD: list[str | None] = [None]
ROUNDS_PER_MS: list[float] = []


def rounds_of(ms: float) -> int:
    """Rounds of arithmetic that an idle core does in that time, measured once by the benchmark's
    program."""
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


def alone(ms: float, key: str) -> str:
    """The row of the arithmetic alone that belongs to the variant `key`."""
    return f"{ms:g} ms/{key}/alone"


def ratios(results: Results, ms: float, key: str) -> list[float]:
    return results.ratios(f"{ms:g} ms/{key}", "end_s", alone(ms, key), "end_s")


def model_cpu_ms(results: Results, ms: float, key: str) -> list[float]:
    """Processor time per step of the model's own process beyond that of the arithmetic alone, by
    repeat."""
    pairs = zip(results.series(f"{ms:g} ms/{key}", "cpu_s"), results.series(alone(ms, key), "cpu_s"))
    return [1e3 * (a - b) / (FILES * RECORDS) for a, b in pairs if a is not None and b is not None]


def hidden_from(results: Results, compute, key: str) -> float | None:
    """The smallest compute per step from which the output is hidden."""
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
        drain_s = results.median(f"{min(compute):g} ms/{key}", "end_s") or 0.0  # with hardly any compute: an upper bound
        for ms in compute:
            model_s = results.median(alone(ms, key), "end_s")
            copy_s = results.median(f"{ms:g} ms/{key}", "blocked_s.max") or 0.0
            if ms == min(compute) or not model_s or model_s < drain_s or copy_s > (HOLDS - 1) * model_s:
                continue
            found.append(Results.median_check(f"{ms:g} ms of compute, {label}: run time with output / without", ratios(results, ms, key), "<=",
                                              HOLDS, f"the drain takes {drain_s:.1f} s at most, the compute {model_s:.1f} s, the puts {copy_s:.2f} s"))
    return found


def notes(results: Results, compute) -> list[str]:
    lines = []
    for key, label, *_ in WAYS:
        by_compute = ", ".join(f"{ms:g} ms: {median(values):.3f}" for ms in compute if (values := ratios(results, ms, key)))
        hidden = hidden_from(results, compute, key)
        lines.append(f"{label}: {by_compute}; hidden (<= {HOLDS:g}) {f'from {hidden:g} ms on' if hidden else 'nowhere here'}")
    return lines + results.failures_by_reason()


def scenario_table(results: Results, scenario: str) -> str:
    ms = float(scenario.split()[0])
    header = ["", "runs", "run time s", "/ alone", "least-most", "blocked s", "servers' cpu ms/step", "model's cpu ms/step"]
    lines = []
    for key, label, *_ in WAYS:
        row = f"{ms:g} ms/{key}"
        values = ratios(results, ms, key)
        if not values:
            continue
        lines.append([label, str(len(values)), tables.seconds(results.median(row, "end_s")), f"{median(values):.3f}", tables.spread(values),
                      tables.seconds(results.median(row, "blocked_s.max")), tables.median_text(results.values(row, "servers_cpu_ms_per_step"), "{:.1f}"),
                      tables.median_text(model_cpu_ms(results, ms, key), "{:.1f}")])
    return tables.table(header, lines)


def panels(results: Results, compute) -> list[Panel]:
    found = []
    for ms in compute:
        rows = results.in_scenario(f"{ms:g} ms of compute")
        shown = [row for row in rows if row.kind == "yardstick"][:1] + [row for row in rows if row.kind != "yardstick"]
        found.append(Panel(f"{ms:g} ms of compute a step: run time, and time the model is blocked", shown,
                           [("end_s", "run time"), ("blocked_s.max", "blocked")]))
    return found


def verify_row(row: Row, directory: pathlib.Path) -> str:
    return verify.history(directory, argument(row, "--grid"), FILES, RECORDS)
