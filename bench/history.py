# SPDX-License-Identifier: Apache-2.0
"""The history benchmark: PFIO's published demo, written by Afterbay and by the libraries in use
today.

A 3-D and a 2-D float variable, 18 steps in 3 files of 6 records, cut over the model ranks in
latitude and longitude. Without compute the end-to-end time counts; with compute the time that the
model is blocked.

blocked: time inside the calls that open, put and close, of the slowest rank. A synchronous writer
must also flush its files itself, so for the comparison of blocked times the flush at the end of a
baseline counts as blocked; the ratio without it is in the check's note.
"""

import argparse
import pathlib
from statistics import median

import verify
from harness import Check, Panel, Plan, Results, Row, argument

NAME = "history"
DESCRIPTION = "model history (PFIO's demo): Afterbay, serial and parallel netCDF-4, PnetCDF, raw disk, memcpy"

STEPS = 18
GRIDS = {"360x181x72": 40.0, "720x361x72": 150.0}  #: milliseconds of compute before each output
SMALLEST = "36x18x4"  #: for --smallest
MPI_IO = ("ompio", "romio321")
FORMATS = {"netcdf4": "netCDF-4", "cdf5": "CDF-5"}
LAYOUTS = ((1, 1), (4, 1), (4, 2))  #: model ranks, servers
RAW = ("raw1", "raw2")
REPORT = "--afterbay.report.json={dir}/report.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--grid", action="append", choices=list(GRIDS), help="only this grid (may be repeated)")
    parser.add_argument("--compute-ms", type=float, help="compute before each output, instead of 40 and 150 ms")


def plan(options: argparse.Namespace) -> Plan:
    grids = options.grid or (["360x181x72"] if options.quick else list(GRIDS))
    if options.smallest:
        grids = [SMALLEST]
    rows = []
    for grid in grids:
        rows += scenario_rows(grid, 0.0)
        rows += scenario_rows(grid, options.compute_ms or compute_of(grid))
    rows.append(Row("idle", "Afterbay 1+1, asleep", "idle", "afterbay", "afterbay_history", 2,
                    ("--mode", "idle", "--servers", "1", "--idle-s", "1" if options.smallest else "5")))
    compute = {grid: options.compute_ms or compute_of(grid) for grid in grids}
    return Plan(rows, options.runs or (3 if options.quick else 5), lambda results: checks(results, grids, compute),
                lambda results: panels(results, grids), verify_row, 1 if options.quick else 2,
                lambda results: notes(results, grids, compute), {"compute_ms": compute, "steps": STEPS})


def compute_of(grid: str) -> float:
    return GRIDS.get(grid, 1.0)


def scenario_rows(grid: str, compute_ms: float) -> list[Row]:
    scenario = scenario_of(grid, compute_ms > 0)
    common = ("--grid", grid, "--compute-ms", str(compute_ms))
    def row(name: str, label: str, kind: str, program: str, ranks: int, *extra: str, **more) -> Row:
        more.setdefault("model", ranks)
        return Row(f"{scenario}/{name}", label, scenario, kind, program, ranks, common + extra, **more)

    rows = []
    if compute_ms == 0:
        for key, outstanding in zip(RAW, ("1", "2")):
            rows.append(row(key, f"raw O_DIRECT, {outstanding} in flight", "yardstick", "raw_write", 1,
                            "--outstanding", outstanding, group="yardstick"))
    for ranks in (1, 4):
        if compute_ms == 0:
            rows.append(row(f"copy/{ranks}", f"memcpy, {ranks} {plural(ranks)}", "yardstick", "plain_copy", ranks,
                            group="yardstick"))
    for ranks in (1, 4):
        group = f"baseline/{ranks}"
        rows.append(row(f"gather/{ranks}", f"gather + serial netCDF-4, {ranks} {plural(ranks)}", "baseline",
                        "gather_netcdf", ranks, verify=True, group=group))
        for name, label, program, extra in (
                ("parallel", "parallel netCDF-4", "parallel_netcdf", ()),
                ("pnetcdf", "PnetCDF", "pnetcdf", ("--mode", "blocking")),
                ("pnetcdf-nb", "PnetCDF non-blocking", "pnetcdf", ("--mode", "nonblocking"))):
            for io in MPI_IO:
                rows.append(row(f"{name}/{ranks}/{io}", f"{label} ({io}), {ranks} {plural(ranks)}", "baseline", program,
                                ranks, *extra, mpirun=("--mca", "io", io), choice=f"{grid}/{name}/{ranks}",
                                alternative=io, verify=True, group=group))
    for model, servers in LAYOUTS:
        for store, format_name in FORMATS.items():
            rows.append(row(f"afterbay/{model}+{servers}/{store}", f"Afterbay {model}+{servers} {format_name}", "afterbay",
                            "afterbay_history", model + servers, REPORT, "--warm-up", "--mode", "dedicated", "--servers", str(servers),
                            "--format", store, verify=True, group=f"afterbay/{model}", model=model))
        if servers == 1:
            for mode in ("synchronous", "thread"):
                rows.append(row(f"inline-{mode}/{model}", f"Afterbay inline {mode}, {model} {plural(model)}", "afterbay",
                                "afterbay_history", model, REPORT, "--warm-up", "--mode", mode, verify=True, group=f"afterbay/{model}"))
    return rows


def plural(ranks: int) -> str:
    return "rank" if ranks == 1 else "ranks"


def scenario_of(grid: str, compute: bool) -> str:
    return f"{grid} with compute" if compute else grid


def disk_of(results: Results, grid: str) -> str | None:
    """The row of the fastest raw write."""
    timed = [(results.median(f"{grid}/{key}", "end_s"), f"{grid}/{key}") for key in RAW]
    timed = [entry for entry in timed if entry[0] is not None]
    return min(timed)[1] if timed else None


def disk_for_table(results: Results, scenario: str) -> str | None:
    return disk_of(results, scenario) if not scenario.endswith("with compute") else None


def baselines(results: Results, scenario: str, ranks: int) -> list[Row]:
    return [row for row in results.in_scenario(scenario) if row.kind == "baseline" and row.model == ranks]


def checks(results: Results, grids: list[str], compute: dict[str, float]) -> list[Check]:
    found = []
    for grid in grids:
        found += blocked_against_copy(results, grid, compute[grid])
    if "720x361x72" in grids:
        found += end_against_disk(results, "720x361x72")
    for grid in grids:
        found += end_against_baselines(results, grid)
        found += blocked_against_baselines(results, grid)
    return found + idle_checks(results)


def blocked_against_copy(results: Results, grid: str, compute_ms: float) -> list[Check]:
    scenario = scenario_of(grid, True)
    found = []
    for model, servers in ((1, 1), (4, 2)):
        for store, format_name in FORMATS.items():
            key = f"{scenario}/afterbay/{model}+{servers}/{store}"
            ratios = results.ratios(key, "blocked_s.max", key, "copy_s.max")
            note = room_note(results, grid, compute_ms)
            if (waited := results.median(key, "waited_s") or 0) > 0.001:
                note += f"; the model waited {waited:.3f} s for room"
            found.append(results.median_check(f"{scenario}, {model}+{servers} {format_name}: blocked / memcpy", ratios, "<=", 1.15,
                                             note))
    return found


def room_note(results: Results, grid: str, compute_ms: float) -> str:
    """Whether the disk needs longer for a step than the model computes."""
    disk = disk_of(results, grid)
    if disk is None:
        return "room to drain unknown: no raw write in this run"
    drain_ms = results.median(disk, "end_s") / STEPS * 1e3
    if drain_ms > compute_ms:
        return f"NO ROOM TO DRAIN: the disk needs {drain_ms:.0f} ms for a step, compute is {compute_ms:.0f} ms"
    return f"room to drain: a step takes the disk {drain_ms:.0f} of {compute_ms:.0f} ms"


def end_against_disk(results: Results, grid: str) -> list[Check]:
    disk = disk_of(results, grid) or ""
    found = []
    for model, servers in ((1, 1), (4, 1)):
        for store, format_name in FORMATS.items():
            ratios = results.ratios(disk, "end_s", f"{grid}/afterbay/{model}+{servers}/{store}", "end_s")
            found.append(results.median_check(f"{grid}, {model}+{servers} {format_name}: end-to-end bandwidth / raw O_DIRECT", ratios,
                                             ">=", 0.8, f"against {results.row(disk).label}" if disk else ""))
    return found


def closest_baseline(results: Results, key: str, ratios_to) -> tuple[list[float], Row | None]:
    """The baseline whose median ratio to row `key` is the smallest, and those ratios."""
    if not results.present(key):
        return [], None
    row = results.row(key)
    best: tuple[list[float], Row | None] = ([], None)
    for baseline in baselines(results, row.scenario, row.model):
        ratios = ratios_to(baseline)
        if ratios and (not best[0] or median(ratios) < median(best[0])):
            best = (ratios, baseline)
    return best


def end_against_baselines(results: Results, grid: str) -> list[Check]:
    found = []
    for model, servers in LAYOUTS:
        for store, format_name in FORMATS.items():
            key = f"{grid}/afterbay/{model}+{servers}/{store}"
            ratios, baseline = closest_baseline(results, key, lambda other: results.ratios(other.key, "end_s", key, "end_s"))
            note = f"fastest: {baseline.label}" if baseline else ""
            found.append(results.median_check(f"{grid}, {model}+{servers} {format_name}: fastest baseline's end-to-end / ours", ratios,
                                             ">=", 1.0, note))
    return found


def blocked_against_baselines(results: Results, grid: str) -> list[Check]:
    scenario = scenario_of(grid, True)
    found = []
    for model, servers in ((1, 1), (4, 2)):
        for store, format_name in FORMATS.items():
            key = f"{scenario}/afterbay/{model}+{servers}/{store}"
            ratios, baseline = closest_baseline(results, key, lambda other: blocked_ratios(results, other.key, key))
            note = ""
            if baseline:
                unflushed = results.ratios(baseline.key, "blocked_s.max", key, "blocked_s.max")
                note = f"least blocked: {baseline.label}; {median(unflushed):.2f} x without its flush"
            found.append(results.median_check(f"{scenario}, {model}+{servers} {format_name}: least blocked baseline's time / ours",
                                             ratios, ">=", 5.0, note))
    return found


def blocked_ratios(results: Results, baseline: str, key: str) -> list[float]:
    """(blocked + flush of the baseline) / blocked of ours, repeat by repeat."""
    blocked = results.ratios(baseline, "blocked_s.max", key, "blocked_s.max")
    flush = results.ratios(baseline, "finish_s", key, "blocked_s.max")
    return [a + b for a, b in zip(blocked, flush)]


def idle_checks(results: Results) -> list[Check]:
    server = results.values("idle", "idle.server")
    model = results.values("idle", "idle.model")
    return [results.median_check("idle server: fraction of a core", server, "<=", 0.01),
            results.median_check("sleeping model rank: fraction of a core", model, "<=", 0.001)]


def notes(results: Results, grids: list[str], compute: dict[str, float]) -> list[str]:
    lines = [f"{grid} with compute: {room_note(results, grid, compute[grid])}" for grid in grids]
    for choice, key in results.chosen.items():
        lines.append(f"MPI-IO for {choice}: {results.row(key).alternative}")
    return lines + results.failures_by_reason()


def panels(results: Results, grids: list[str]) -> list[Panel]:
    found = []
    for grid in grids:
        found.append(Panel(f"{grid}, no compute: end to end (durable), and time the model is blocked", results.in_scenario(grid),
                           [("end_s", "end to end"), ("blocked_s.max", "blocked")]))
        scenario = scenario_of(grid, True)
        found.append(Panel(f"{scenario}: time the model is blocked, and a plain copy in the same run", results.in_scenario(scenario),
                           [("blocked_s.max", "blocked"), ("copy_s.max", "memcpy of the same bytes")]))
    return found


def verify_row(row: Row, directory: pathlib.Path) -> str:
    return verify.history(directory, argument(row, "--grid"), files=3, records=6)
