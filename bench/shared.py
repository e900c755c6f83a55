# SPDX-License-Identifier: Apache-2.0
"""The shared benchmark: one shared file (SSF) or one file per process (FPP), as in the ARCHER
study.

Weak scaling: every process holds a block of a 3-D float array and writes the same number of MiB, in
a few records. All variants end with durable data (including fsync). The tables have the study's
columns, with the minimum and the mean beside the maximum bandwidth. On Lustre the stripes are those
that the study found best for less than 96 processes, or those of --stripes.
"""

import argparse
import pathlib
import statistics

import machine
import verify
from harness import Check, Plan, Results, Row
from tables import table

NAME = "shared"
DESCRIPTION = "one shared file or a file per process (ARCHER's study): POSIX, MPI-IO, PnetCDF, HDF5, netCDF-4, Afterbay"

PROCESSES = (1, 2, 4, 8)
MIB = 512  # the study wrote 16 to a shared file and 1024 to files of their own
RECORDS = 4
#: what a server's memory holds, as docs/reference/configuration.md advises, and what it is at least
#: (its default)
STEPS_HELD = 2
LEAST_MEMORY_MIB = 512
#: worker threads of a server; `afterbay plan storage` determines them for a file system
WRITERS = (2, 4)
MPI_IO = ("ompio", "romio321")
#: (what it is called, arguments): of each library the ways of writing that may be its fastest
LAYOUTS = (("chunks, collective", ("--chunked", "--mode", "collective")),
           ("chunks, independent", ("--chunked", "--mode", "independent")),
           ("contiguous, collective", ("--mode", "collective")))
#: stripe count and size in MiB that the study found best for less than 96 processes: (of files per
#: process, of a shared file)
LUSTRE = ((1, 1), (4, 1))
RATE = "gib_per_s"
REPORT = "--afterbay.report.json={dir}/report.json"
COLOURS = {"fpp": ("#222222", "#999999"), "ssf": ("#7a2f06", "#d8711f", "#b03060", "#c9a227", "#8f7a5a"),
           "afterbay": ("#0b6e99", "#3fb0d8", "#1f3f9a")}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--processes", action="append", type=int, metavar="N", help="processes that hold data (may be repeated; 1 2 4 8)")
    parser.add_argument("--mib", type=int, help=f"MiB that each process writes ({MIB}; quick: 32)")
    parser.add_argument("--stripes", action="append", metavar="COUNT:MIB", type=stripes,
                        help="on Lustre: stripe count (-1: all) and size of the shared file (may be repeated; --stripes=-1:8)")


def stripes(text: str) -> tuple[int, int]:
    count, colon, size = text.partition(":")
    try:
        if colon and (int(count) == -1 or int(count) > 0) and int(size) > 0:
            return int(count), int(size)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"'{text}' is not COUNT:MIB, for example -1:8")


def plan(options: argparse.Namespace) -> Plan:
    smallest = getattr(options, "smallest", False)
    processes = options.processes or ([2] if smallest else [2, 4] if options.quick else list(PROCESSES))
    mib = options.mib or (4 if smallest else 32 if options.quick else MIB)
    if min(processes) < 1 or mib < 1:
        raise SystemExit("bench: --processes and --mib must be 1 or more")
    rows = []
    for own, shared in stripe_cases(options):
        for count in processes:
            rows += scenario_rows(count, mib, own, shared)
    context = {"mib": mib, "records": RECORDS, "processes": processes}
    return Plan(rows, options.runs or (3 if options.quick else 5), checks, lambda results: [], verify_row,
                1 if options.quick else 2, notes, context)


def stripe_cases(options: argparse.Namespace) -> list[tuple]:
    """(of files per process, of the shared file): stripe count and size; None without stripes."""
    place = options.dir or pathlib.Path(__file__).resolve().parent.parent / "build"
    on_lustre = machine.file_system(place).startswith("lustre")
    if options.stripes and not on_lustre:
        raise SystemExit(f"bench: --stripes is for Lustre, but {place} is on {machine.file_system(place).split()[0]}")
    if not on_lustre:
        return [(None, None)]
    return [(LUSTRE[0], shared) for shared in options.stripes or [LUSTRE[1]]]


def scenario_rows(processes: int, mib: int, own: tuple | None, shared: tuple | None) -> list[Row]:
    scenario = f"{processes} {'process' if processes == 1 else 'processes'}"
    if shared:
        scenario += f", shared file with stripe count {shared[0]}, size {shared[1]} MiB"
    size = ("--mib", str(mib), "--records", str(RECORDS))
    rows = []

    def add(key: str, label: str, scheme: str, program: str, *arguments: str, ranks: int = processes, **more) -> None:
        place = own if scheme == "fpp" else shared
        striping = () if place is None else ("--stripe-count", str(place[0]), "--stripe-mib", str(place[1]))
        kind = {"fpp": "yardstick", "ssf": "baseline", "afterbay": "afterbay"}[scheme]
        rows.append(Row(f"{scenario}/{key}", label, scenario, kind, f"shared/{program}", ranks, (*size, *striping, *arguments),
                        verify=True, group=scheme, model=processes, **more))

    def add_alternatives(key: str, label: str, program: str, layouts) -> None:
        for layout, arguments in layouts:
            for io in MPI_IO:
                name = f"{io}, {layout}" if layout else io
                add(f"{key}/{name}", f"SSF {label} ({name})", "ssf", program, *arguments, mpirun=("--mca", "io", io),
                    choice=f"{scenario}/{key}", alternative=name)

    for mode in ("collective", "independent"):
        add_alternatives(f"mpiio-{mode}", f"MPI-IO {mode}", "mpi_io", [("", ("--mode", mode))])
    add_alternatives("pnetcdf", "PnetCDF", "pnetcdf_shared", [("", ())])
    add_alternatives("hdf5", "parallel HDF5", "hdf5_shared", LAYOUTS)
    add_alternatives("netcdf4", "parallel netCDF-4", "netcdf4_shared", LAYOUTS)
    for mode in ("synchronous", "thread"):
        add(f"afterbay-{mode}", f"SSF Afterbay inline, {mode}", "afterbay", "afterbay_shared", REPORT, "--mode", mode)
    # Rows whose ratio is used are adjacent, because the disk's speed changes within minutes.
    for mode, text in (("buffered", "buffered"), ("direct", "O_DIRECT")):
        add(f"fpp/{mode}", f"FPP POSIX, {text}", "fpp", "file_per_process", "--mode", mode)
    memory = max(LEAST_MEMORY_MIB, STEPS_HELD * processes * mib // RECORDS)
    for writers in WRITERS:
        add(f"afterbay-dedicated-{writers}", f"SSF Afterbay {processes} + 1, {writers} writers", "afterbay", "afterbay_shared", REPORT,
            "--mode", "dedicated", "--servers", "1", f"--afterbay.writers={writers}", f"--afterbay.memory.server={memory}MiB",
            ranks=processes + 1)
    return rows


def scenarios(results: Results) -> list[str]:
    return list(dict.fromkeys(row.scenario for row in results.rows.values()))


def of_group(results: Results, scenario: str, group: str) -> list[Row]:
    return [row for row in results.in_scenario(scenario) if row.group == group]


def best(results: Results, rows: list[Row]) -> Row | None:
    return max(rows, key=lambda row: results.median(row.key, RATE) or 0, default=None)


def checks(results: Results) -> list[Check]:
    """For each scenario: the better of Afterbay's files compared with the best of each rival, in
    the same repeats."""
    found = []
    for scenario in scenarios(results):
        ours = best(results, of_group(results, scenario, "afterbay"))
        for name, group, bound in (("best FPP", "fpp", 0.95), ("best other SSF", "ssf", 1.0)):
            rival = best(results, of_group(results, scenario, group))
            ratios = results.ratios(rival.key, "end_s", ours.key, "end_s") if ours and rival else []
            note = f"{ours.label}; against {rival.label}" if ratios else ""
            found.append(results.median_check(f"{scenario}: bandwidth of Afterbay's shared file / {name}", ratios, ">=", bound, note))
    return found


def stripe_columns(row: Row) -> list[str]:
    if "--stripe-count" not in row.arguments:
        return ["-", "-"]
    at = row.arguments.index("--stripe-count")
    return [row.arguments[at + 1], row.arguments[at + 3]]


def scenario_table(results: Results, scenario: str) -> str:
    """The study's columns; bandwidths in GiB/s."""
    header = ["Scheme", "Number of Processes", "Stripe Count", "Stripe Size (MiB)", "Max. Write Bandwidth (GiB/s)", "Min.", "Mean",
              "Median", "Runs"]
    lines = []
    for row in results.in_scenario(scenario):
        rates = results.values(row.key, RATE)
        figures = [max(rates), min(rates), statistics.mean(rates), statistics.median(rates)]
        lines.append([row.label, str(row.model), *stripe_columns(row), *(f"{figure:.3f}" for figure in figures), str(len(rates))])
    return table(header, lines)


def notes(results: Results) -> list[str]:
    lines = ["FPP: one binary file each; SSF: all in one file; every time ends with durable data",
             f"a server's memory.server is {STEPS_HELD} steps of all processes, at least {LEAST_MEMORY_MIB} MiB"]
    lines += [f"best of {choice.rsplit('/', 1)[1]}, {choice.rsplit('/', 1)[0]}: {results.row(key).alternative}"
              for choice, key in results.chosen.items()]
    return lines + results.failures_by_reason()


def draw(results: Results, path: pathlib.Path, title: str) -> bool:
    """Writes the PNG: bandwidth over processes, as the study plots it; False without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    lines = curves(results)
    if not lines:
        return False
    figure, axis = pyplot.subplots(figsize=(11, 6.5))
    drawn = dict.fromkeys(COLOURS, 0)
    for number, (label, (group, points)) in enumerate(lines.items()):
        colour = COLOURS[group][drawn[group] % len(COLOURS[group])]
        drawn[group] += 1
        points = sorted(points)
        middle = [point[1] for point in points]
        spread = [[m - p[2] for m, p in zip(middle, points)], [p[3] - m for m, p in zip(middle, points)]]
        axis.errorbar([point[0] for point in points], middle, yerr=spread, label=label, capsize=3, color=colour,
                      marker="osv^Dx*P"[number % 8], linestyle={"fpp": "--", "ssf": ":", "afterbay": "-"}[group])
    axis.set_xscale("log", base=2)
    counts = sorted({point[0] for _, points in lines.values() for point in points})
    axis.set_xticks(counts, [str(count) for count in counts])
    axis.set_ylim(bottom=0)
    axis.set_xlabel("processes")
    axis.set_ylabel("write bandwidth, GiB/s (median, min and max)")
    axis.grid(linewidth=0.4)
    axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    axis.set_title(title.split(",")[0], fontsize=11)  # the axis shows the rest
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return True


def curves(results: Results) -> dict[str, tuple[str, list[tuple]]]:
    """Scheme -> group and (processes, median, min, max); the name omits which alternative was
    best."""
    found: dict[str, tuple[str, list[tuple]]] = {}
    for scenario in scenarios(results):
        for row in results.in_scenario(scenario):
            label = row.label.split(" (")[0] if row.choice else row.label
            label = label.replace(f"{row.model} + 1", "dedicated") if "afterbay-dedicated" in row.key else label
            label += f", stripes {':'.join(stripe_columns(row))} MiB" if "--stripe-count" in row.arguments else ""
            rates = results.values(row.key, RATE)
            found.setdefault(label, (row.group, []))[1].append((row.model, statistics.median(rates), min(rates), max(rates)))
    return found


def verify_row(row: Row, directory: pathlib.Path) -> str:
    mib = int(row.arguments[row.arguments.index("--mib") + 1])
    return verify.shared(directory, row.program.rsplit("/", 1)[1], row.model, mib, RECORDS)
