# SPDX-License-Identifier: Apache-2.0
"""The packing benchmark: what codecs and rounding cost a core, how small they make real fields, and
what a session adds to them.

One thread packs chunks from memory: Afterbay's codecs as its workers use them, and beside them the
libraries alone, netCDF-4's own filters, numcodecs and ecCodes. Then sessions: the workers' speed
against that of the codec alone, and the time that the model is blocked with packing and without."""

import argparse
import importlib.util
import math
import os
import pathlib
import sys
from statistics import median

import packing_data
import tables
import verify_packed
from harness import Check, Panel, Plan, Results, Row, argument

NAME = "packing"
DESCRIPTION = "codecs, rounding, WGDOS and GRIB packing on real fields, beside the libraries alone; workers against the codec; blocked time"

PASS_BYTES = 64 << 20  #: of one pass, at least: more than caches hold
NUMCODECS = pathlib.Path(__file__).resolve().parent / "packing" / "numcodecs_packing.py"
PIPELINE, BLOCKED = "workers", "blocked"
REPORT = "--afterbay.report.json={dir}/report.json"
COLLECTION = "--afterbay.collections.packed."

LEAST_ONE_WORKER, LEAST_TWO_WORKERS = 0.9, 1.8  #: x the codec alone
LEAST_WGDOS, LEAST_WGDOS_VERIFIED = 1.0, 0.7  #: GB/s
LEAST_ROUNDING, MOST_VERIFICATION = 0.6, 4 / 3  #: x memcpy; x the time without
LEAST_DEFLATE = 1.5  #: x netCDF-4's own
MOST_BLOCKED = 1.15  #: x memcpy

#: Afterbay: key, label, arguments.
CODECS = (
    ("deflate-1", "shuffle, deflate 1", ("--filters", "shuffle=1,deflate=1")),
    ("deflate-4", "shuffle, deflate 4", ("--filters", "shuffle=1,deflate=4")),
    ("zstd-3", "shuffle, zstd 3", ("--filters", "shuffle=1,zstd=3")),
    ("bits-zstd-3", "bitshuffle, zstd 3", ("--filters", "bitshuffle=1,zstd=3")),
    ("lz4", "shuffle, lz4", ("--filters", "shuffle=1,lz4=1")),
    ("bits-lz4", "bitshuffle, lz4", ("--filters", "bitshuffle=1,lz4=1")),
    ("bitround", "BitRound 9", ("--round", "bitround=9")),
    ("bitround-verified", "BitRound 9, verified", ("--round", "bitround=9,relative_error=0.001", "--beside", "bitround=9")),
    ("granular", "Granular BitRound 3", ("--round", "granular_bitround=3")),
    ("granular-verified", "Granular BitRound 3, verified",
     ("--round", "granular_bitround=3,significant_digits=3", "--beside", "granular_bitround=3")),
    ("bitgroom", "BitGroom 3", ("--round", "bitgroom=3")),
    ("bitgroom-verified", "BitGroom 3, verified", ("--round", "bitgroom=3,relative_error=0.001", "--beside", "bitgroom=3")),
    ("bitround-zstd", "BitRound 9, verified, shuffle, zstd 3", ("--round", "bitround=9,relative_error=0.001", "--filters", "shuffle=1,zstd=3")),
    ("bitround-deflate", "BitRound 9, verified, shuffle, deflate 1", ("--round", "bitround=9,relative_error=0.001", "--filters", "shuffle=1,deflate=1")),
    ("granular-zstd", "Granular BitRound 3, verified, shuffle, zstd 3",
     ("--round", "granular_bitround=3,significant_digits=3", "--filters", "shuffle=1,zstd=3")),
)
#: Others: key, label, program, arguments.
OTHERS = (
    ("zlib-1", "zlib 1 alone", "zlib_packing", ("--level", "1", "--shuffle")),
    ("zlib-4", "zlib 4 alone", "zlib_packing", ("--level", "4", "--shuffle")),
    ("libdeflate-1", "libdeflate 1 alone", "libdeflate_packing", ("--level", "1", "--shuffle")),
    ("libdeflate-4", "libdeflate 4 alone", "libdeflate_packing", ("--level", "4", "--shuffle")),
    ("libzstd-3", "zstd 3 alone", "zstd_packing", ("--level", "3", "--shuffle")),
    ("liblz4", "lz4 alone", "lz4_packing", ("--shuffle",)),
    ("netcdf-deflate-1", "netCDF-4: shuffle, deflate 1", "netcdf_packing", ("--shuffle", "--deflate", "1")),
    ("netcdf-deflate-4", "netCDF-4: shuffle, deflate 4", "netcdf_packing", ("--shuffle", "--deflate", "4")),
    ("netcdf-zstd-3", "netCDF-4: shuffle, zstd 3", "netcdf_packing", ("--shuffle", "--zstd", "3")),
    ("netcdf-bitround", "netCDF-4: BitRound 9", "netcdf_packing", ("--quantize", "bitround", "--number", "9")),
    ("netcdf-granular", "netCDF-4: Granular BitRound 3", "netcdf_packing", ("--quantize", "granular_bitround", "--number", "3")),
    ("netcdf-bitgroom", "netCDF-4: BitGroom 3", "netcdf_packing", ("--quantize", "bitgroom", "--number", "3")),
    ("numcodecs-zlib", "numcodecs: shuffle, zlib 4", str(NUMCODECS), ("--codecs", "shuffle,zlib=4")),
    ("numcodecs-zstd", "numcodecs: shuffle, zstd 3", str(NUMCODECS), ("--codecs", "shuffle,zstd=3")),
    ("numcodecs-blosc", "numcodecs: Blosc, shuffle, zstd 3", str(NUMCODECS), ("--codecs", "blosc-zstd=3")),
    ("numcodecs-bitround", "numcodecs: BitRound 9", str(NUMCODECS), ("--codecs", "bitround=9")),
    ("eccodes-simple", "ecCodes: grid_simple, 16 bits", "eccodes_packing", ("--packing", "grid_simple")),
    ("eccodes-ccsds", "ecCodes: grid_ccsds, 16 bits", "eccodes_packing", ("--packing", "grid_ccsds")),
)
#: Sessions: key, label, steps, arguments of the codec alone (program first), those of the session.
WORKERS = (
    ("deflate-4", "shuffle, deflate 4", 64, ("afterbay_packing", "--filters", "shuffle=1,deflate=4"),
     (COLLECTION + "deflate=4", COLLECTION + "shuffle=on")),
    ("zstd-3", "shuffle, zstd 3", 256, ("afterbay_packing", "--filters", "shuffle=1,zstd=3"), (COLLECTION + "zstd=3", COLLECTION + "shuffle=on")),
    ("ccsds", "GRIB2, grid_ccsds", 64, ("eccodes_packing", "--packing", "grid_ccsds"), ("--store", "grib2", "--attribute", "GRIB_packingType=grid_ccsds")),
    ("wgdos", "PP, WGDOS 2^-6", 256, ("afterbay_packing", "--wgdos", "-6", "--verify"),
     ("--store", "pp", "--attribute", "PP_packing=wgdos", "--attribute", "PP_accuracy=-6")),
)
#: The same for the time that the model is blocked.
PACKINGS = (
    ("none", "not packed", ()),
    ("deflate", "shuffle, deflate 1", (COLLECTION + "deflate=1", COLLECTION + "shuffle=on")),
    ("rounding", "Granular BitRound 3, verified, shuffle, zstd 3",
     (COLLECTION + "zstd=3", COLLECTION + "shuffle=on", *(f"{COLLECTION}variables.{name}.significant_digits=3" for name in ("ta", "ua")))),
    ("wgdos", "PP, WGDOS 2^-6", ("--store", "pp", "--attribute", "PP_packing=wgdos", "--attribute", "PP_accuracy=-6")),
    ("ccsds", "GRIB2, grid_ccsds", ("--store", "grib2", "--attribute", "GRIB_packingType=grid_ccsds")),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", action="append", metavar="NAME", help="only these data: theta, pressure, uk, sst, model, noise (may be repeated)")
    parser.add_argument("--compute-ms", type=float, default=60, help="compute before each output and each copy of the rows of blocked time")


def plan(options: argparse.Namespace) -> Plan:
    allow_plugins()
    datasets = packing_data.all_of(options.programs, options.smallest)
    wanted = [dataset for dataset in datasets if not options.data or dataset.key in options.data]
    pass_bytes = 1 if options.smallest else PASS_BYTES
    seconds = "0" if options.smallest else "0.2" if options.quick else "0.5"
    rows = [row for dataset in wanted for row in codec_rows(dataset, dataset.arguments(-(-pass_bytes // dataset.bytes)) + ("--seconds", seconds))]
    first = datasets[0]
    rows += worker_rows(first, options) + blocked_rows(first, options)
    return Plan(rows, options.runs or (3 if options.quick else 5), lambda results: checks(results, wanted), lambda results: [], verify_row, 1,
                lambda results: notes(results, datasets), {"data": [dataset.key for dataset in wanted]})


def allow_plugins() -> None:
    """So that netCDF-C finds zstd, if it does not bring it along."""
    if "HDF5_PLUGIN_PATH" not in os.environ and importlib.util.find_spec("hdf5plugin"):
        import hdf5plugin
        os.environ["HDF5_PLUGIN_PATH"] = hdf5plugin.PLUGIN_PATH


def codec_rows(dataset: packing_data.Dataset, common: tuple[str, ...]) -> list[Row]:
    scenario = dataset.name
    ours = (*CODECS, ("absolute", f"absolute error {dataset.absolute_error:g}", ("--round", f"absolute_error={dataset.absolute_error:g}")),
            ("absolute-zstd", f"absolute error {dataset.absolute_error:g}, shuffle, zstd 3",
             ("--round", f"absolute_error={dataset.absolute_error:g}", "--filters", "shuffle=1,zstd=3")),
            ("wgdos", f"WGDOS 2^{dataset.wgdos}", ("--wgdos", str(dataset.wgdos))),
            ("wgdos-verified", f"WGDOS 2^{dataset.wgdos}, verified", ("--wgdos", str(dataset.wgdos), "--verify")))
    rows = [Row(f"{dataset.key}/{key}", label, scenario, "afterbay", "afterbay_packing", 1, common + extra, launcher=("env",), group="afterbay")
            for key, label, extra in ours]
    for key, label, program, extra in OTHERS:
        if program == str(NUMCODECS) and not importlib.util.find_spec("numcodecs"):
            continue
        launcher = (sys.executable,) if program == str(NUMCODECS) else ("env",)
        rows.append(Row(f"{dataset.key}/{key}", label, scenario, "baseline", program, 1, common + extra, launcher=launcher, group="others"))
    return rows


def worker_rows(dataset: packing_data.Dataset, options: argparse.Namespace) -> list[Row]:
    rows = []
    for key, label, steps, alone, session in WORKERS:
        steps = 2 if options.smallest else steps // 2 if options.quick else steps
        rows.append(Row(f"workers/{key}/alone", f"{label}: the codec alone", PIPELINE, "yardstick", alone[0], 1,
                        dataset.arguments(2 if options.smallest else 32) + alone[1:] + (("--seconds", "0") if options.smallest else ()),
                        launcher=("env",), group=key))
        for workers in (1, 2):
            rows.append(Row(f"workers/{key}/{workers}", f"{label}: {workers} worker{'s' * (workers > 1)}", PIPELINE, "afterbay", "afterbay_packed", 2,
                            dataset.arguments(1) + ("--steps", str(steps), "--warm-up-steps", "1" if options.smallest else str(steps),
                                                    f"--afterbay.writers={workers}", "--afterbay.memory.server=1GiB", REPORT, *session),
                            model=1, verify=True, group=key))
    return rows


def blocked_rows(dataset: packing_data.Dataset, options: argparse.Namespace) -> list[Row]:
    compute = 1 if options.smallest else options.compute_ms
    return [Row(f"blocked/{key}", label, BLOCKED, "afterbay", "afterbay_packed", 2,
                dataset.arguments(1 if options.smallest else 2) + (
                    "--files", "2", "--variables", "2", "--steps", "2" if options.smallest else "15" if options.quick else "30",
                    "--warm-up-steps", "1" if options.smallest else "4", "--compute-ms", str(compute), "--reference",
                    "--afterbay.writers=1", REPORT, *session),
                model=1, verify=True) for key, label, session in PACKINGS]


def rates(results: Results, key: str, path: str = "end_s") -> list[float]:
    """GB/s of input, by repeat."""
    return [1e-9 * size / seconds for size, seconds in zip(results.series(key, "bytes"), results.series(key, path)) if size and seconds]


def against_codec(results: Results, key: str, workers: str | int) -> list[float]:
    """The rate of a session / that of the codec alone, by repeat. `workers` ends the row's key."""
    session, alone = f"workers/{key}/{workers}", f"workers/{key}/alone"
    both = zip(results.runs_of(session), results.runs_of(alone))
    return [(a["bytes"] / a["end_s"]) / (b["bytes"] / b["end_s"]) for a, b in both if a and b]


def checks(results: Results, datasets) -> list[Check]:
    found = []
    for dataset in datasets:
        def values(key: str, path: str, dataset=dataset) -> list[float]:
            return results.values(f"{dataset.key}/{key}", path)
        for key, what, bound in (("wgdos", "", LEAST_WGDOS), ("wgdos-verified", ", verified", LEAST_WGDOS_VERIFIED)):
            found.append(results.median_check(f"{dataset.key}, WGDOS 2^{dataset.wgdos}{what}: GB/s", rates(results, f"{dataset.key}/{key}"), ">=", bound))
        for key, label in (("bitround", "BitRound"), ("granular", "Granular BitRound")):
            found.append(results.median_check(f"{dataset.key}, {label}: rate / memcpy", values(key, "of_copy"), ">=", LEAST_ROUNDING))
            found.append(results.median_check(f"{dataset.key}, {label}: time with verification / without", values(f"{key}-verified", "of_other"), "<=", MOST_VERIFICATION))
        for level in (1, 4):
            ours, theirs = f"{dataset.key}/deflate-{level}", f"{dataset.key}/netcdf-deflate-{level}"
            found.append(results.median_check(f"{dataset.key}, shuffle, deflate {level}: rate / that of netCDF-4's own filters",
                                              results.ratios(theirs, "end_s", ours, "end_s"), ">=", LEAST_DEFLATE, sizes(results, ours, theirs)))
        found += error_checks(results, dataset)
    for key, label, *_ in WORKERS:
        if f"workers/{key}/1" in results.rows:
            found.append(results.median_check(f"{label}, 1 worker: rate / that of the codec alone", against_codec(results, key, 1), ">=", LEAST_ONE_WORKER))
        if f"workers/{key}/2" in results.rows:
            name = f"{label}, 2 workers: rate / that of the codec alone"
            found.append(results.median_check(name, against_codec(results, key, 2), ">=", LEAST_TWO_WORKERS) if has_two_cores()
                         else results.unmeasured_check(name, ">=", LEAST_TWO_WORKERS, "two workers need two cores"))
    for key, label, _ in PACKINGS:
        row = f"blocked/{key}"
        if row in results.rows:
            found.append(results.median_check(f"blocked / memcpy, {label}", results.ratios(row, "blocked_s.max", row, "copy_s.max"), "<=", MOST_BLOCKED))
    return found


def has_two_cores() -> bool:
    return len(os.sched_getaffinity(0)) >= 2


def error_checks(results: Results, dataset: packing_data.Dataset) -> list[Check]:
    """The largest error of every codec: of Afterbay's rows, and of others that were run."""
    found = []
    for key, row in results.rows.items():
        if not key.startswith(f"{dataset.key}/") or (row.kind != "afterbay" and not results.present(key)):
            continue
        errors = results.values(key, "largest_error")
        found.append(results.median_check(f"{dataset.key}, {row.label}: largest error", [max(errors)] if errors else [], "<=", error_bound(row, dataset)))
    return found


def error_bound(row: Row, dataset: packing_data.Dataset) -> float:
    """The largest error that the arguments of a program of this benchmark allow for the data; 0:
    lossless."""
    magnitude, spread = dataset.magnitude_and_spread()
    last_digit = verify_packed.half_of_last_digit
    rules = {"bitround": lambda n: magnitude * 2.0 ** -(int(n) + 1), "relative_error": lambda e: magnitude * float(e),
             "absolute_error": float, "granular_bitround": lambda n: float(last_digit(magnitude, int(n))),
             "significant_digits": lambda n: float(last_digit(magnitude, int(n))),
             "bitgroom": lambda n: magnitude * 2.0 ** -(math.ceil(int(n) * math.log2(10)) + 1)}
    given = {option: argument(row, option) for option in ("--round", "--codecs", "--quantize", "--wgdos", "--packing") if option in row.arguments}
    if "--wgdos" in given:
        return 2.0 ** (int(given["--wgdos"]) - 1)
    if "--packing" in given:
        return (spread + verify_packed.REFERENCE_ERROR * magnitude) / (2.0**verify_packed.DEFAULT_GRIB_BITS - 1) + 9e-16 * magnitude
    settings = [text.partition("=") for option in ("--round", "--codecs") for text in given.get(option, "").split(",")]
    if "--quantize" in given:
        settings.append((given["--quantize"], "=", argument(row, "--number")))
    return min((rules[name](value) for name, _, value in settings if name in rules), default=0.0)


def sizes(results: Results, ours: str, theirs: str) -> str:
    a, b = (results.median(key, "packed_bytes") for key in (ours, theirs))
    return f"size / theirs: {a / b:.3f}" if a and b else ""


def notes(results: Results, datasets) -> list[str]:
    lines = ["GB/s: of values, not of packed bytes; one thread. The libraries alone get bytes that were shuffled before the clock starts",
             "BitRound 9 bits, Granular BitRound and BitGroom 3 digits; verified: relative_error 0.001, significant_digits 3"]
    if not packing_data.have_samples():
        lines.append("no real fields: iris and iris-sample-data are not installed for this Python")
    for key, label, _ in PACKINGS[1:]:
        ratio = results.ratios(f"blocked/{key}", "blocked_s.max", "blocked/none", "blocked_s.max")
        if ratio:
            lines.append(f"blocked, {label} / not packed: {median(ratio):.2f} ({min(ratio):.2f} .. {max(ratio):.2f})")
    return lines + results.failures_by_reason()


def scenario_table(results: Results, scenario: str) -> str:
    rows = results.in_scenario(scenario)
    if scenario == PIPELINE:
        return worker_table(results, rows)
    return blocked_table(results, rows) if scenario == BLOCKED else codec_table(results, rows)


def codec_table(results: Results, rows: list[Row]) -> str:
    header = ["", "in GB/s", "min-max", "out GB/s", "/ memcpy", "verified / not", "unpack GB/s", "ratio", "largest error"]
    lines, group = [], None
    for row in rows:
        if group not in (None, row.group):
            lines.append([""] * len(header))
        group = row.group
        into = rates(results, row.key)
        out = [1e-9 * size / seconds for size, seconds in zip(results.values(row.key, "packed_bytes"), results.values(row.key, "end_s"))]
        lines.append([row.label, tables.median_text(into), tables.spread(into), tables.median_text(out), tables.median_text(results.values(row.key, "of_copy")),
                      tables.median_text(results.values(row.key, "of_other")), tables.median_text(rates(results, row.key, "unpack_s")),
                      tables.median_text(packed_ratios(results, row.key)), tables.median_text(results.values(row.key, "largest_error"), "{:.2g}")])
    return tables.table(header, lines)


def packed_ratios(results: Results, key: str) -> list[float]:
    return [a / b for a, b in zip(results.values(key, "bytes"), results.values(key, "packed_bytes"))]


def worker_table(results: Results, rows: list[Row]) -> str:
    header = ["", "GB/s", "min-max", "/ codec alone", "min-max", "end s", "put s", "on disk MB"]
    lines = []
    for row in rows:
        _, key, workers = row.key.split("/", 2)  # another version's rows end in "1/against"
        ratio = against_codec(results, key, workers) if not workers.startswith("alone") else []
        lines.append([row.label, tables.median_text(rates(results, row.key), "{:.3f}"), tables.spread(rates(results, row.key)), tables.median_text(ratio),
                      tables.spread(ratio), tables.seconds(results.median(row.key, "end_s")), tables.seconds(results.median(row.key, "blocked_s.max")),
                      tables.median_text([value / 1e6 for value in results.values(row.key, "disk_bytes")], "{:.0f}")])
    return tables.table(header, lines)


def blocked_table(results: Results, rows: list[Row]) -> str:
    header = ["", "blocked ms/step", "memcpy ms/step", "/ memcpy", "min-max", "end s", "backlog MB"]
    lines = []
    for row in rows:
        def per_step(path: str, row: Row = row) -> list[float]:
            return [1e3 * a / b for a, b in zip(results.values(row.key, path), results.values(row.key, "steps"))]
        ratio = results.ratios(row.key, "blocked_s.max", row.key, "copy_s.max")
        lines.append([row.label, tables.median_text(per_step("blocked_s.max")), tables.median_text(per_step("copy_s.max")), tables.median_text(ratio),
                      tables.spread(ratio), tables.seconds(results.median(row.key, "end_s")),
                      tables.median_text([value / 1e6 for value in results.values(row.key, "report.server.counters.peak backlog.largest")], "{:.0f}")])
    return tables.table(header, lines)


def draw(results: Results, path: pathlib.Path, title: str) -> bool:
    """One picture per set of data: ratio against speed; False without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    scenarios = [scenario for scenario in dict.fromkeys(row.scenario for row in results.rows.values())
                 if scenario not in (PIPELINE, BLOCKED) and results.in_scenario(scenario)]
    if not scenarios:
        return tables.chart(results, [Panel("workers and the codec alone", results.in_scenario(PIPELINE), [("end_s", "end")]),
                                      Panel("blocked", results.in_scenario(BLOCKED), [("blocked_s.max", "blocked"), ("copy_s.max", "memcpy")])], path, title)
    columns = min(2, len(scenarios))
    depth = -(-len(scenarios) // columns)
    figure, axes = pyplot.subplots(depth, columns, figsize=(8.5 * columns, 6.2 * depth), squeeze=False)
    for axis in axes.flat[len(scenarios):]:
        axis.set_visible(False)
    for axis, scenario in zip(axes.flat, scenarios):
        draw_codecs(axis, results, scenario)
    figure.suptitle(title.split(":")[0] + ": ratio against speed of one core", fontsize=13)
    figure.tight_layout(rect=(0, 0, 1, 0.97))
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return True


def draw_codecs(axis, results: Results, scenario: str) -> None:
    for row in results.in_scenario(scenario):
        speed, ratio = rates(results, row.key), packed_ratios(results, row.key)
        if not speed or not ratio:
            continue
        ours = row.kind == "afterbay"
        colour = tables.COLOURS[row.kind][0]
        axis.plot(median(speed), median(ratio), "o" if ours else "s", color=colour, markersize=5, fillstyle="full" if ours else "none")
        axis.annotate(row.label, (median(speed), median(ratio)), fontsize=5.5, color=colour, xytext=(4, 2), textcoords="offset points")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("GB/s of values, one core")
    axis.set_ylabel("size before / size after")
    axis.set_title(scenario, fontsize=10)
    axis.grid(linewidth=0.3, which="both")
    axis.plot([], [], "o", color=tables.COLOURS["afterbay"][0], label="Afterbay")
    axis.plot([], [], "s", color=tables.COLOURS["baseline"][0], fillstyle="none", label="others")
    axis.legend(fontsize=7, loc="upper right")


def verify_row(row: Row, directory: pathlib.Path) -> str:
    def number(name: str) -> int:
        return int(argument(row, name)) if name in row.arguments else 1
    return verify_packed.packed(row, directory, number("--files"), number("--variables"), number("--steps"))
