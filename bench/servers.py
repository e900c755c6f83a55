# SPDX-License-Identifier: Apache-2.0
"""The servers benchmark: as many servers and workers as packing needs hide it.

The Met Office's experiment with parallel I/O servers in small: a model that writes several files at
once, whose packing takes more time than one worker has between two outputs. The run time is that of
the model's steps and waits until the last file is durable, and is divided by that without output.
The model waits during its steps, as for an accelerator or for cores of its own: servers and model
share the two cores of a small machine, and the question is not what they take from each other."""

import argparse
import json
import pathlib
import subprocess
from statistics import median

import packing
import packing_data
import tables
import verify_packed
from harness import Check, Panel, Plan, Results, Row, argument

NAME = "servers"
DESCRIPTION = "run time with packed output / without, over servers x workers, and packing inside the model"

LAYOUTS = ((1, 1), (2, 1), (1, 2), (2, 2))  #: servers, workers of each
ENOUGH = ((2, 1), (1, 2))  #: with as many workers as packing needs
FILES, VARIABLES = 4, 2
STEPS = 40
NEEDED_WORKERS = 1.3  #: packing of a step / the model's time for it, if packing is the bottleneck
COPIES_PER_STEP = 100  #: the model's time per step / that of copying the output, at least
COPY_BYTES_PER_S = 5e9
MOST_HIDDEN, LEAST_SYNCHRONOUS = 1.03, 1.5
REPORT = "--afterbay.report.json={dir}/report.json"
C = packing.COLLECTION

#: key, label, the codec alone (program first), the session's arguments, whether packing is the
#: bottleneck.
PACKINGS = (
    ("deflate", "netCDF-4, shuffle, deflate 9", ("afterbay_packing", "--filters", "shuffle=1,deflate=9"), (C + "deflate=9", C + "shuffle=on"), True),
    ("zstd", "netCDF-4, shuffle, zstd 12", ("afterbay_packing", "--filters", "shuffle=1,zstd=12"), (C + "zstd=12", C + "shuffle=on"), False),
    ("wgdos", "PP, WGDOS 2^-6", ("afterbay_packing", "--wgdos", "-6", "--verify"),
     ("--store", "pp", "--attribute", "PP_packing=wgdos", "--attribute", "PP_accuracy=-6"), False),
    ("ccsds", "GRIB2, grid_ccsds", ("eccodes_packing", "--packing", "grid_ccsds"), ("--store", "grib2", "--attribute", "GRIB_packingType=grid_ccsds"), False),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--steps", type=int, help=f"outputs of a run ({STEPS}; quick: half as many)")
    parser.add_argument("--packing", action="append", metavar="NAME", help="only this packing: " + ", ".join(key for key, *_ in PACKINGS) + " (may be repeated)")


def plan(options: argparse.Namespace) -> Plan:
    datasets = packing_data.all_of(options.programs, options.smallest)
    dataset = datasets[0]
    steps = options.steps or (2 if options.smallest else STEPS // 2 if options.quick else STEPS)
    step_bytes = FILES * VARIABLES * dataset.bytes
    rows, context = [], {"data": dataset.key, "steps": steps, "step_bytes": step_bytes, "pause_ms": {}}
    for key, label, alone, session, bottleneck in PACKINGS:
        if options.packing and key not in options.packing:
            continue
        pause_ms = 1.0
        if not options.smallest:
            packing_ms = 1e3 * step_bytes / alone_bytes_per_s(options.programs, dataset, alone)
            pause_ms = max(packing_ms / NEEDED_WORKERS, 1e3 * COPIES_PER_STEP * step_bytes / COPY_BYTES_PER_S)
            context["pause_ms"][key] = {"model": pause_ms, "packing": packing_ms}
            if bottleneck and pause_ms > packing_ms:
                print(f"note: {label} packs a step in {packing_ms:.0f} ms: one worker is enough here")
        rows += packing_rows(dataset, key, label, session, steps, pause_ms, options.smallest)
    return Plan(rows, options.runs or (2 if options.quick else 3), lambda results: checks(results), panels, verify_row, 1,
                lambda results: notes(results, context), context)


def alone_bytes_per_s(programs: pathlib.Path, dataset: packing_data.Dataset, alone: tuple[str, ...]) -> float:
    """The codec's speed in one thread; without its program that of a copy (the rows say what is
    missing)."""
    program = programs / alone[0]
    if not program.is_file():
        return COPY_BYTES_PER_S
    done = subprocess.run([program, *dataset.arguments(4), *alone[1:], "--seconds", "1"], capture_output=True, text=True, check=True, timeout=120)
    result = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("BENCH "))[len("BENCH "):])
    return result["bytes"] / result["end_s"]


def packing_rows(dataset: packing_data.Dataset, key: str, label: str, session: tuple[str, ...], steps: int, pause_ms: float, smallest: bool) -> list[Row]:
    common = dataset.arguments(VARIABLES) + ("--files", str(FILES), "--variables", str(VARIABLES), "--steps", str(steps), "--pause-ms", f"{pause_ms:.3f}")
    warm_up = ("--warm-up-steps", "1" if smallest else "4")
    rows = [Row(f"{key}/none", "no output", label, "yardstick", "afterbay_packed", 1, (*common, "--mode", "none"), model=1)]
    for servers, workers in LAYOUTS:
        rows.append(Row(f"{key}/{servers}x{workers}", f"{servers} server{'s' * (servers > 1)} x {workers} worker{'s' * (workers > 1)}", label, "afterbay",
                        "afterbay_packed", 1 + servers,
                        (*common, *warm_up, "--servers", str(servers), f"--afterbay.writers={workers}", "--afterbay.placement=file", REPORT, *session),
                        model=1, verify=True))
    rows.append(Row(f"{key}/synchronous", "the model packs itself", label, "afterbay", "afterbay_packed", 1,
                    (*common, *warm_up, "--mode", "synchronous", *session), model=1, verify=True))
    return rows


def ratios(results: Results, key: str, layout: str) -> list[float]:
    """Run time / that without output, by repeat."""
    return results.ratios(f"{key}/{layout}", "end_s", f"{key}/none", "end_s")


def names_of_layouts() -> list[str]:
    return [f"{servers}x{workers}" for servers, workers in LAYOUTS]


def checks(results: Results) -> list[Check]:
    found = []
    for key, label, _, _, bottleneck in PACKINGS:
        if f"{key}/none" not in results.rows:
            continue
        for servers, workers in ENOUGH:
            name = f"{label}, {servers}x{workers}: run time / without output"
            found.append(results.median_check(name, ratios(results, key, f"{servers}x{workers}"), "<=", MOST_HIDDEN) if packing.has_two_cores()
                         else results.unmeasured_check(name, "<=", MOST_HIDDEN, "two workers need two cores"))
        if bottleneck:
            found.append(results.median_check(f"{label}: run time if the model packs itself / with the best layout of servers", against_best(results, key), ">=", LEAST_SYNCHRONOUS))
    return found


def against_best(results: Results, key: str) -> list[float]:
    medians = {layout: value for layout in names_of_layouts() if (value := results.median(f"{key}/{layout}", "end_s"))}
    if not medians:
        return []
    return results.ratios(f"{key}/synchronous", "end_s", f"{key}/{min(medians, key=medians.get)}", "end_s")


def notes(results: Results, context: dict) -> list[str]:
    lines = ["servers x workers of each; the model is one rank and waits during its steps, as for an accelerator or cores of its own"]
    for key, label, *_ in PACKINGS:
        times = context["pause_ms"].get(key)
        if times and f"{key}/none" in results.rows:
            lines.append(f"{label}: packing a step takes one core {times['packing']:.0f} ms, the model's step {times['model']:.0f} ms")
    return lines + results.failures_by_reason()


def scenario_table(results: Results, scenario: str) -> str:
    header = ["servers x workers", "run time s", "/ no output", "min-max", "blocked s", "longest ms", "after the last step s", "backlog MB"]
    lines = []
    for row in results.in_scenario(scenario):
        key, layout = row.key.split("/")
        ratio = ratios(results, key, layout)
        lines.append([row.label, tables.seconds(results.median(row.key, "end_s")), tables.median_text(ratio, "{:.3f}"), tables.spread(ratio),
                      tables.seconds(results.median(row.key, "blocked_s.max")), tables.median_text([1e3 * it for it in results.values(row.key, "blocked_s.longest")], "{:.1f}"),
                      tables.seconds(results.median(row.key, "finish_s")),
                      tables.median_text([it / 1e6 for it in results.values(row.key, "report.server.counters.peak backlog.largest")], "{:.0f}")])
    return tables.table(header, lines)


def panels(results: Results) -> list[Panel]:
    del results
    return []  # see draw


def draw(results: Results, path: pathlib.Path, title: str) -> bool:
    """Bars as in the Met Office's tables: run time in % of that without output; False without
    matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = [(key, label) for key, label, *_ in PACKINGS if results.present(f"{key}/none")]
    if not shown:
        return False
    figure, axes = pyplot.subplots(1, len(shown), figsize=(5.4 * len(shown), 4.2), squeeze=False)
    for axis, (key, label) in zip(axes.flat, shown):
        layouts = [*names_of_layouts(), "synchronous"]
        for place, layout in enumerate(layouts):
            values = [100 * value for value in ratios(results, key, layout)]
            if not values:
                continue
            middle = median(values)
            colour = tables.COLOURS["baseline" if layout == "synchronous" else "afterbay"][0]
            axis.bar(place, middle, width=0.7, color=colour, yerr=[[middle - min(values)], [max(values) - middle]],
                     error_kw={"elinewidth": 0.9, "capsize": 3, "ecolor": "#222222"})
            axis.text(place, max(values) + 2, f"{middle:.0f} %", ha="center", fontsize=8)
        axis.axhline(100, color="#222222", linewidth=0.9)
        axis.set_xticks(range(len(layouts)), [*names_of_layouts(), "in the\nmodel"], fontsize=8)
        axis.set_xlabel("servers x workers")
        axis.set_ylabel("run time, % of that without output")
        axis.set_title(label, fontsize=10)
    figure.suptitle(title.split(":")[0], fontsize=12)
    figure.tight_layout(rect=(0, 0, 1, 0.97))
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return True


def verify_row(row: Row, directory: pathlib.Path) -> str:
    return verify_packed.packed(row, directory, FILES, VARIABLES, int(argument(row, "--steps")))
