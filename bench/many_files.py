# SPDX-License-Identifier: Apache-2.0
"""The benchmark of many small files: 200 files of 8 KiB written at once, until all are durable
under their names."""

import __main__
import argparse
import pathlib
import tempfile

from harness import Check, Panel, Plan, Results, Row

NAME = "many_files"
DESCRIPTION = "200 files of 8 KiB at once, until all are durable, against a program that syncs each"

LAYOUTS = ((1, 1), (3, 1), (2, 2))
FORMATS = {"netcdf4": "netCDF-4", "cdf5": "CDF-5"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--files", type=int, help="how many (200)")
    parser.add_argument("--bytes", type=int, help="size of a file's variable (8192)")
    parser.add_argument("--sync-ms", type=float, help="each fsync takes so much longer: disks of other kinds")


def plan(options: argparse.Namespace) -> Plan:
    size = ("--files", str(options.files or (8 if options.smallest else 200)), "--bytes", str(options.bytes or 8192))
    slow = slow_disk(options.build, options.sync_ms) if options.sync_ms else ()
    rows = [Row("raw", "write, fsync, rename, fsync of the directory", "many_files", "yardstick", "raw_many_files", 1, size,
                mpirun=slow)]
    for model, servers in LAYOUTS[:1] if options.quick else LAYOUTS:
        for store, label in FORMATS.items():
            arguments = (*size, "--servers", str(servers), "--format", store)
            rows.append(Row(f"{model}+{servers}/{store}", f"Afterbay {model}+{servers} {label}", "many_files", "afterbay",
                            "afterbay_many_files", model + servers, arguments, model=model, mpirun=slow))
    return Plan(rows, options.runs or (3 if options.quick else 7), checks, panels, None, 1, lambda results: results.failures_by_reason())


def slow_disk(build: str | None, sync_ms: float) -> tuple[str, ...]:
    """Options of mpirun with which fsync and fdatasync take longer, by the library of the fault
    tests."""
    library = __main__.program_directory(build) / "slow_disk.so"
    rules = pathlib.Path(tempfile.mkdtemp(prefix="afterbay-bench-")) / "rules"
    rules.write_text(f"ops=sync path=* ms={sync_ms:g}\n")
    return "-x", f"LD_PRELOAD={library}", "-x", f"FAULT_RULES={rules}"


def checks(results: Results) -> list[Check]:
    return []


def scenario_table(results: Results, scenario: str) -> str:
    lines = [f"  {'':<46} {'until durable':>14} {'/ raw':>7} {'blocked':>12}"]
    for row in results.in_scenario(scenario):
        ratio = sorted(results.ratios(row.key, "end_s", "raw", "end_s"))
        lines.append(f"  {row.label:<46} {results.median(row.key, 'end_s'):12.3f} s {ratio[len(ratio) // 2]:7.2f} "
                     f"{results.median(row.key, 'blocked_s.max'):10.3f} s")
    return "\n".join(lines)


def panels(results: Results) -> list[Panel]:
    return [Panel("many small files", results.in_scenario("many_files"), [("end_s", "until durable"), ("blocked_s.max", "blocked")])]
