# SPDX-License-Identifier: Apache-2.0
"""The fields benchmark: described output of 200 fields (2-D and 3-D), which a model puts in every
step.

In this version model ranks compute statistics over time in `put`. The time of their calls is
compared with a plain loop `sum += value` over the same memory and with memcpy, both after each step
in the same run. From end to end, daily means are compared with means that the model computes itself
and writes by netCDF, and with `cdo daymean` of the values of all steps.
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
MOST_PUT, MOST_FIVE, MOST_CALL_NS = 1.5, 1.6, 100
PUTS, CALLS, END = "puts", "calls for which nothing is written", "end to end"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", type=int, help="days that are measured (puts: 1 after a day of warm-up; end to end: 2, quick: 1)")


def plan(options: argparse.Namespace) -> Plan:
    grid, flat, deep = SIZES["smallest" if options.smallest else "quick" if options.quick else "full"]
    size = ("--grid", grid, "--flat", str(flat), "--deep", str(deep), "--steps-per-day", str(STEPS_PER_DAY))
    layouts = LAYOUTS[:1] if options.quick else LAYOUTS
    rows = put_rows((*size, "--days", str(options.days or 1), "--warm-up-days", "1", "--reference"), layouts)
    rows.append(Row("calls", "put and wants", CALLS, "afterbay", "afterbay_fields", 2, (*size, "--output", "calls"), model=1))
    rows += end_rows((*size, "--days", str(options.days or (1 if options.quick else 2))), layouts)
    return Plan(rows, options.runs or (3 if options.quick else 5), lambda results: checks(results, layouts), panels, verify_row, 1,
                lambda results: notes(results, layouts), {"grid": grid, "fields_2d": flat, "fields_3d": deep, "steps_per_day": STEPS_PER_DAY})


def put_rows(common: tuple[str, ...], layouts) -> list[Row]:
    return [Row(f"put/{output}/{model}+{servers}", f"{label}, {model}+{servers}", PUTS, "afterbay", "afterbay_fields", model + servers,
                (*common, "--servers", str(servers), "--output", output), verify=True, model=model, group=output)
            for output, label in (("mean", "daily means"), ("five", "five files per field")) for model, servers in layouts]


def end_rows(common: tuple[str, ...], layouts) -> list[Row]:
    rows = []
    for model, servers in layouts:
        layout, ranks, group = f"{model}+{servers}", f"{model} rank{'s' * (model > 1)}", str(model)
        ours = (*common, "--servers", str(servers), "--output")
        rows.append(Row(f"end/mean/{layout}", f"Afterbay, {layout}", END, "afterbay", "afterbay_fields", model + servers,
                        (*ours, "mean"), verify=True, model=model, group=group))
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
    for call, what in (("put", "put"), ("wants", "wants")):
        for when, kind in (("unused", "in no file"), ("later", "written in a later step")):
            found.append(results.median_check(f"{what} of a field {kind}, in ns", results.values("calls", f"{call}_{when}_ns"), "<=", MOST_CALL_NS))
    return found


def notes(results: Results, layouts) -> list[str]:
    lines = ["calls / memcpy has no bound: the ranks compute the statistics in put; a put that only hands over its values would cost a copy"]
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
    return [Panel("puts: the model's calls, a plain loop, memcpy", results.in_scenario(PUTS),
                  [("blocked_s.max", "calls"), ("sum_s.max", "plain loop of additions"), ("copy_s.max", "memcpy")]),
            Panel("daily means from end to end", results.in_scenario(END), [("end_s", "end"), ("blocked_s.max", "calls")])]


def verify_row(row: Row, directory: pathlib.Path) -> str:
    days = sum(int(argument(row, name)) for name in ("--days", "--warm-up-days") if name in row.arguments)
    output = argument(row, "--output") if "--output" in row.arguments else "mean"
    return verify.fields(directory, output, argument(row, "--grid"), (int(argument(row, "--flat")), int(argument(row, "--deep"))), days, STEPS_PER_DAY)
