# SPDX-License-Identifier: Apache-2.0
"""The fields benchmark: described output of 200 fields (2-D and 3-D), which a model puts in every
step.

Where model ranks compute statistics over time in `put`, the time of their calls is compared with a
plain loop `sum += value` over the same memory, after each step in the same run. Where servers
compute, the calls are compared with memcpy, while the servers keep up, and the servers' statistics
with the plain loop. From end to end, daily means are compared with means that the model computes
itself and writes by netCDF, and with `cdo daymean` of the values of all steps.
"""

import argparse
import pathlib
import shutil
import sys
from statistics import median

import tables
import verify
from harness import Check, Panel, Plan, Results, Row, argument

NAME = "fields"
DESCRIPTION = "described output of 200 fields: means, five files per field, calls for nothing; means by netCDF and cdo"

LAYOUTS = ((1, 1), (4, 1))  #: model ranks, servers
MPI_IO = ("ompio", "romio321")
STEPS_PER_DAY = 48
SIZES = {"full": ("144x96x25", 160, 40), "quick": ("144x96x25", 40, 10), "smallest": ("24x12x3", 4, 2)}  #: grid, 2-D and 3-D fields
DAYMEAN = pathlib.Path(__file__).resolve().parent / "fields" / "daymean.py"
MOST_PUT, MOST_FIVE, MOST_CALL_NS, MOST_BLOCKED, LEAST_RATE = 1.5, 1.6, 100, 1.15, 0.7
PAUSES_MS = {"full": 150, "quick": 40, "smallest": 1}  #: after each step, so that servers that compute keep up
REPORT = "--afterbay.report.json={dir}/report.json"
ONE_WORKER = "--afterbay.writers=1"  #: the time of a worker is compared with a loop that has the memory for itself
PUTS, SERVERS, CALLS, END = "puts, model ranks compute", "puts, servers compute", "calls for which nothing is written", "end to end"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", type=int, help="days that are measured (puts: 1 after a day of warm-up; end to end: 2, quick: 1)")


def plan(options: argparse.Namespace) -> Plan:
    extent = "smallest" if options.smallest else "quick" if options.quick else "full"
    grid, flat, deep = SIZES[extent]
    size = ("--grid", grid, "--flat", str(flat), "--deep", str(deep), "--steps-per-day", str(STEPS_PER_DAY))
    layouts = LAYOUTS[:1] if options.quick else LAYOUTS
    puts = (*size, "--days", str(options.days or 1), "--warm-up-days", "1", "--reference")
    rows = put_rows(PUTS, "put", (*puts, "--statistics", "model"), layouts)
    rows += put_rows(SERVERS, "server", (*puts, "--statistics", "servers", "--pause-ms", str(PAUSES_MS[extent]), REPORT, ONE_WORKER), layouts)
    rows.append(Row("calls", "put and wants", CALLS, "afterbay", "afterbay_fields", 2, (*size, "--output", "calls"), model=1))
    rows += end_rows((*size, "--days", str(options.days or (1 if options.quick else 2))), layouts)
    return Plan(rows, options.runs or (3 if options.quick else 5), lambda results: checks(results, layouts), panels, verify_row, 1,
                lambda results: notes(results, layouts), {"grid": grid, "fields_2d": flat, "fields_3d": deep, "steps_per_day": STEPS_PER_DAY})


def put_rows(scenario: str, name: str, common: tuple[str, ...], layouts) -> list[Row]:
    return [Row(f"{name}/{output}/{model}+{servers}", f"{label}, {model}+{servers}", scenario, "afterbay", "afterbay_fields", model + servers,
                (*common, "--servers", str(servers), "--output", output), verify=True, model=model, group=output)
            for output, label in (("mean", "daily means"), ("five", "five files per field"), ("expressions", "daily means of expressions"))
            for model, servers in layouts]


def end_rows(common: tuple[str, ...], layouts) -> list[Row]:
    rows = []
    for model, servers in layouts:
        layout, ranks, group = f"{model}+{servers}", f"{model} rank{'s' * (model > 1)}", str(model)
        ours = (*common, "--servers", str(servers), "--output")
        rows.append(Row(f"end/mean/{layout}", f"Afterbay, {layout}, servers compute", END, "afterbay", "afterbay_fields", model + servers,
                        (*ours, "mean", "--statistics", "servers"), verify=True, model=model, group=group))
        rows.append(Row(f"end/model/{layout}", f"Afterbay, {layout}, the model computes", END, "afterbay", "afterbay_fields", model + servers,
                        (*ours, "mean", "--statistics", "model"), verify=True, model=model, group=group))
        rows.append(Row(f"end/gather/{model}", f"means of the model, gather + serial netCDF-4, {ranks}", END, "baseline", "gather_fields", model,
                        common, verify=True, model=model, group=group))
        for io in MPI_IO:
            rows.append(Row(f"end/parallel/{model}/{io}", f"means of the model, parallel netCDF-4 ({io}), {ranks}", END, "baseline",
                            "parallel_netcdf_fields", model, common, ("--mca", "io", io), choice=f"parallel/{model}", alternative=io,
                            verify=True, model=model, group=group))
        if shutil.which("cdo"):
            rows.append(Row(f"end/daymean/{model}", f"all steps by Afterbay, cdo daymean, {layout}", END, "baseline", "afterbay_fields",
                            model + servers, (*ours, "instant"), verify=True, model=model, group=group, repeats=3,
                            launcher=(sys.executable, str(DAYMEAN), str(model + servers))))
    return rows


def checks(results: Results, layouts) -> list[Check]:
    found = []
    for model, servers in layouts:
        mean, five = f"put/mean/{model}+{servers}", f"put/five/{model}+{servers}"
        found.append(results.median_check(f"{model}+{servers}, daily means: calls / plain loop of additions",
                                          results.ratios(mean, "blocked_s.max", mean, "sum_s.max"), "<=", MOST_PUT))
        found.append(results.median_check(f"{model}+{servers}: calls for five files per field / for daily means",
                                          results.ratios(five, "blocked_s.max", mean, "blocked_s.max"), "<=", MOST_FIVE))
        mean, five = f"server/mean/{model}+{servers}", f"server/five/{model}+{servers}"
        found.append(results.median_check(f"{model}+{servers}, servers compute daily means: calls / memcpy",
                                          results.ratios(mean, "blocked_s.max", mean, "copy_s.max"), "<=", MOST_BLOCKED))
        derived = f"server/expressions/{model}+{servers}"
        found.append(results.median_check(f"{model}+{servers}, servers compute means of expressions: calls / memcpy",
                                          results.ratios(derived, "blocked_s.max", derived, "copy_s.max"), "<=", MOST_BLOCKED))
        found.append(results.median_check(f"{model}+{servers}: calls for means of expressions, servers / model ranks compute",
                                          results.ratios(derived, "blocked_s.max", f"put/expressions/{model}+{servers}", "blocked_s.max"), "<=", 1))
        found.append(results.median_check(f"{model}+{servers}: rate of the servers' daily means / plain loop of additions",
                                          server_rates(results, mean), ">=", LEAST_RATE))
        found.append(results.median_check(f"{model}+{servers}: servers' time for five files per field / for daily means",
                                          results.ratios(five, "servers.write_s", mean, "servers.write_s"), "<=", MOST_FIVE))
    for call, what in (("put", "put"), ("wants", "wants")):
        for when, kind in (("unused", "in no file"), ("later", "written in a later step")):
            found.append(results.median_check(f"{what} of a field {kind}, in ns", results.values("calls", f"{call}_{when}_ns"), "<=", MOST_CALL_NS))
    return found


def server_rates(results: Results, key: str) -> list[float]:
    """The servers' statistics of all steps against the plain loop of the measured ones, one rank at
    a time."""
    row = results.rows.get(key)
    if row is None:  # --rows
        return []
    measured, warm_up = (int(argument(row, name)) for name in ("--days", "--warm-up-days"))
    return [(measured + warm_up) / measured * ratio for ratio in results.ratios(key, "sum_s.in_turn", key, "servers.statistics_s")]


def notes(results: Results, layouts) -> list[str]:
    lines = ["calls / memcpy has no bound where the ranks compute: they do that in put",
             "servers compute: means and maxima over a day; with five files, the model computes the monthly means, and the daily ones that they are made of"]
    for model, servers in layouts:
        ours = f"end/mean/{model}+{servers}"
        for row in results.in_scenario(END):
            ratios = results.ratios(row.key, "end_s", ours, "end_s")
            if row.kind == "baseline" and row.model == model and ratios:
                lines.append(f"end-to-end time, {row.label} / Afterbay {model}+{servers}: {median(ratios):.2f} ({min(ratios):.2f} .. {max(ratios):.2f})")
    if not shutil.which("cdo"):
        lines.append("cdo is not installed: no rows of cdo daymean")
    return lines + results.failures_by_reason()


def scenario_table(results: Results, scenario: str) -> str:
    rows = results.in_scenario(scenario)
    if scenario == CALLS:
        return tables.table(["", "put, in no file", "put, written later", "wants, in no file", "wants, written later"],
                            [[row.label, *(tables.median_text(results.values(row.key, path), "{:.0f} ns")
                                           for path in ("put_unused_ns", "put_later_ns", "wants_unused_ns", "wants_later_ns"))] for row in rows])
    if scenario == SERVERS:
        return server_table(results, rows)
    return put_table(results, rows) if scenario == PUTS else end_table(results, rows)


def put_table(results: Results, rows: list[Row]) -> str:
    header = ["", "calls ms/step", "end of a day ms", "first step ms", "plain loop ms/step", "calls / loop", "min-max", "memcpy ms/step", "calls / memcpy"]
    lines = []
    for row in rows:
        def per_step(path: str, row: Row = row) -> list[float]:
            return [1e3 * a / b for a, b in zip(results.values(row.key, path), results.values(row.key, "steps"))]
        loop = results.ratios(row.key, "blocked_s.max", row.key, "sum_s.max")
        lines.append([row.label, tables.median_text(per_step("blocked_s.max")),
                      *(tables.median_text([1e3 * value for value in results.values(row.key, path)]) for path in ("day_end_s", "first_step_s")),
                      tables.median_text(per_step("sum_s.max")), tables.median_text(loop), tables.spread(loop), tables.median_text(per_step("copy_s.max")),
                      tables.median_text(results.ratios(row.key, "blocked_s.max", row.key, "copy_s.max"))])
    return tables.table(header, lines)


def server_table(results: Results, rows: list[Row]) -> str:
    header = ["", "calls ms/step", "memcpy ms/step", "calls / memcpy", "min-max", "end of a day ms", "plain loop ms/step", "statistics ms/step", "rate / loop",
              "min-max", "all of the servers' writing ms/step"]
    lines = []
    for row in rows:
        def per_step(path: str, days: float = 1, row: Row = row) -> list[float]:
            return [1e3 * a / b / days for a, b in zip(results.values(row.key, path), results.values(row.key, "steps"))]
        all_days = 1 + int(argument(row, "--warm-up-days")) / int(argument(row, "--days"))
        copies, rates = results.ratios(row.key, "blocked_s.max", row.key, "copy_s.max"), server_rates(results, row.key)
        lines.append([row.label, tables.median_text(per_step("blocked_s.max")), tables.median_text(per_step("copy_s.max")), tables.median_text(copies),
                      tables.spread(copies), tables.median_text([1e3 * value for value in results.values(row.key, "day_end_s")]),
                      tables.median_text(per_step("sum_s.in_turn")), tables.median_text(per_step("servers.statistics_s", all_days)),
                      tables.median_text(rates), tables.spread(rates), tables.median_text(per_step("servers.write_s", all_days))])
    return tables.table(header, lines)


def end_table(results: Results, rows: list[Row]) -> str:
    header = ["", "end s", "min-max", "of it cdo s", "calls ms/step", "end of a day ms", "on disk MB"]
    lines = []
    for row in rows:
        ends = results.values(row.key, "end_s")
        calls = [1e3 * a / b for a, b in zip(results.values(row.key, "blocked_s.max"), results.values(row.key, "steps"))]
        lines.append([row.label, tables.median_text(ends, "{:.3f}"), tables.spread(ends), tables.seconds(results.median(row.key, "cdo_s")),
                      tables.median_text(calls), tables.median_text([1e3 * value for value in results.values(row.key, "day_end_s")]),
                      tables.median_text([value / 1e6 for value in results.values(row.key, "disk_bytes")], "{:.0f}")])
    return tables.table(header, lines)


def panels(results: Results) -> list[Panel]:
    return [Panel("servers compute: the model's calls, memcpy", results.in_scenario(SERVERS), [("blocked_s.max", "calls"), ("copy_s.max", "memcpy")]),
            Panel("model ranks compute: the model's calls, a plain loop, memcpy", results.in_scenario(PUTS),
                  [("blocked_s.max", "calls"), ("sum_s.max", "plain loop of additions"), ("copy_s.max", "memcpy")]),
            Panel("daily means from end to end", results.in_scenario(END), [("end_s", "end"), ("blocked_s.max", "calls")])]


def verify_row(row: Row, directory: pathlib.Path) -> str:
    days = sum(int(argument(row, name)) for name in ("--days", "--warm-up-days") if name in row.arguments)
    output = argument(row, "--output") if "--output" in row.arguments else "mean"
    return verify.fields(directory, output, argument(row, "--grid"), (int(argument(row, "--flat")), int(argument(row, "--deep"))), days, STEPS_PER_DAY)
