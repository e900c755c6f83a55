# SPDX-License-Identifier: Apache-2.0
"""The restart benchmark: 4 GiB in 16 variables, written, and read again by other ranks, compared
with the raw disk."""

import argparse

from harness import Check, Panel, Plan, Results, Row

NAME = "restart"
DESCRIPTION = "a restart of 4 GiB written and read again, against the raw disk (O_DIRECT)"

LAYOUTS = ((1, 1), (2, 1), (4, 2))
FAR = {"mpi": ("over MPI", 3, ("--afterbay.transport=mpi",)), "tiered": ("behind a frontend", 4, ("--afterbay.topology=tiered",))}
FORMATS = {"netcdf4": "netCDF-4", "cdf5": "CDF-5"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mib", type=int, help="size of the restart (4096; quick: 512)")


def plan(options: argparse.Namespace) -> Plan:
    mib = options.mib or (16 if options.smallest else 512 if options.quick else 4096)
    rows = [Row("raw", "raw O_DIRECT, 2 threads", "restart", "yardstick", "raw_restart", 1, ("--mib", str(mib)))]
    for model, servers in LAYOUTS[:2] if options.quick else LAYOUTS:
        for store, label in FORMATS.items():
            rows.append(Row(f"{model}+{servers}/{store}", f"Afterbay {model}+{servers} {label}", "restart", "afterbay", "afterbay_restart",
                            model + servers, ("--mib", str(mib), "--servers", str(servers), "--format", store,
                                              *(("--afterbay.placement=slab",) if servers > 1 else ())), model=model))
    for key, (label, processes, settings) in FAR.items():
        rows.append(Row(f"2+1/{key}", f"Afterbay 2+1 {label}, netCDF-4", "restart", "afterbay", "afterbay_restart", processes,
                        ("--mib", str(mib), "--servers", "1", "--format", "netcdf4", *settings), model=2))
    return Plan(rows, options.runs or (3 if options.quick else 5), checks, panels, None, 1,
                lambda results: results.failures_by_reason(), {"mib": mib})


def checks(results: Results) -> list[Check]:
    found = []
    for row in results.in_scenario("restart"):
        if row.kind != "afterbay":
            continue
        for what in ("write", "read"):
            found.append(results.median_check(f"{row.label}: bandwidth of the {what} / raw disk",
                                              results.ratios("raw", f"{what}_s", row.key, f"{what}_s"), ">=", 0.7))
    return found


def scenario_table(results: Results, scenario: str) -> str:
    lines = [f"  {'':<28} {'write':>10} {'/ raw':>7} {'read':>10} {'/ raw':>7}"]
    for row in results.in_scenario(scenario):
        cells = []
        for what in ("write", "read"):
            seconds = results.median(row.key, f"{what}_s")
            ratio = results.ratios("raw", f"{what}_s", row.key, f"{what}_s")
            cells += [f"{seconds:8.3f} s", f"{sorted(ratio)[len(ratio) // 2]:7.2f}" if ratio else "      -"]
        lines.append(f"  {row.label:<28} " + " ".join(cells))
    return "\n".join(lines)


def panels(results: Results) -> list[Panel]:
    return [Panel("a restart, written and read again", results.in_scenario("restart"), [("write_s", "write"), ("read_s", "read")])]
