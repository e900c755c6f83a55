# SPDX-License-Identifier: Apache-2.0
"""The scale benchmark: what a rank, a frontend and a server cost as the number of ranks and servers
grows.

Two kinds of rows. Emulated ones (program afterbay_scale) hold the library's own objects of one
model rank, frontend or server of a session with up to 100 000 ranks and 1000 servers, in one
process, and measure memory, processor time and messages. Real ones (afterbay_scale_ranks) are whole
sessions of 4 to 128 ranks in every topology, also on several nodes, whose files are verified."""

import argparse
import math
import os
import pathlib
import re
import subprocess

import tables
import verify as reader
from harness import Check, Panel, Plan, Results, Row

NAME = "scale"
DESCRIPTION = "memory, processor time and messages with 100 to 100 000 ranks; sessions of 4 to 128 real ranks"

MIB = 1 << 20
KIB = 1 << 10
ROWS_PER_RANK, COLUMNS, RECORDS = 16, 1024, 4  #: of the file that real ranks write
NODES = pathlib.Path(__file__).resolve().parent.parent / "tests" / "ranks" / "nodes"
CANNOT = 77  #: exit code of a launcher that cannot make nodes here

SERVER, IDLE = "server, memory beyond memory.server", "idle server"
COMPUTING = "server of ranks that compute"  #: they have not received its answer
SERVER_MEASURES = [("memory", "memory", "MiB", MIB), ("tables", "ends and tables", "KiB", KIB), ("defined", "200 fields, defined and put", "KiB", KIB)]
START_MEASURES = [("exchange_messages", "messages of an exchange, busiest rank", "messages", 1), ("views_s", "rank 0: what it tells all", "s", 1),
                  ("memory", "rank 0: memory meanwhile", "MiB", MIB), ("views_bytes", "sent by rank 0", "MiB", MIB)]

#: By scenario: the figures (path in the JSON, name, unit, bytes or seconds per unit).
MEASURES = {
    "model rank": [("memory", "memory", "MiB", MIB), ("tables", "links and tables", "KiB", KIB)],
    "frontend of 128 ranks": [("memory", "memory", "MiB", MIB), ("tables", "lanes and tables", "KiB", KIB), ("turn_ns", "turn with one message", "us", 1e3)],
    "model rank after open": [("memory", "memory", "KiB", KIB)],
    "model rank, idle servers": [("step_ns", "end_step", "us", 1e3), ("wait_ns", "flush and wait", "us", 1e3)],
    SERVER: SERVER_MEASURES,
    SERVER + ", slab": SERVER_MEASURES,
    SERVER + ", slab and tiered": SERVER_MEASURES,
    IDLE: [("cpu_share", "processor time", "% of a core", 0.01)],
    IDLE + ", slab and tiered": [("cpu_share", "processor time", "% of a core", 0.01), ("pings_per_s", "signs of life per second", "", 1)],
    COMPUTING: [("cpu_share", "processor time", "% of a core", 0.01), ("pending", "pending answers", "", 1)],
    "ingest": [("message_ns", "message, many ranks active", "us", 1e3), ("pass_ns", "pass for one message", "us", 1e3), ("flush_ns", "flush, per rank", "us", 1e3)],
    "start": [*START_MEASURES, ("server_view", "told to a server", "KiB", KIB), ("model_view", "told to a model rank", "B", 1)],
    "start, tiered": START_MEASURES,
    "definitions": [("cpu_s", "processor time of a server", "s", 1), ("memory", "memory of a server", "MiB", MIB), ("rank_bytes", "sent by a rank", "KiB", KIB)],
    "verdicts of maps": [("cpu_s", "processor time of the first server", "s", 1), ("memory", "memory", "MiB", MIB), ("received", "received from all servers", "KiB", KIB),
                         ("told", "told to all servers", "KiB", KIB)],
}
REAL = "real ranks"
TOPOLOGIES = ("inline", "dedicated", "tiered")
REAL_RANKS = (4, 16, 64, 128)  #: model ranks of real sessions on one node
MOST_KIB_PER_RANK = 16  #: that a model rank takes more after open for each other rank on its node; most of it is MPI's own
MOST_EMULATED_KIB_PER_RANK = 0.01  #: the same without MPI
MOST_START_MIB = 64  #: of the first rank while a session opens, without MPI
MOST_PROCESS_KIB_PER_RANK = 128  #: the same of servers and frontends: the pages in use of a rank's rings
SLAB, SLAB_TIERED = ("placement=slab",), ("topology=tiered", "placement=slab")
#: The rows' name, the quantity of the program, and settings, for each scenario.
QUANTITIES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "model rank": ("model_rank", "model_rank", ()), "model rank after open": ("rank_open", "rank_open", ()), "model rank, idle servers": ("rank_calls", "rank_calls", ()),
    "frontend of 128 ranks": ("frontend", "frontend", ()),
    SERVER: ("server", "server", ()), SERVER + ", slab": ("server_slab", "server", SLAB), SERVER + ", slab and tiered": ("server_tiered", "server", SLAB_TIERED),
    IDLE: ("idle", "idle", ()), IDLE + ", slab and tiered": ("idle_tiered", "idle", SLAB_TIERED),
    COMPUTING: ("computing", "computing", ()), "ingest": ("ingest", "ingest", ()), "start": ("start", "start", ()), "start, tiered": ("start_tiered", "start", ("topology=tiered",)), "definitions": ("definitions", "definitions", ()), "verdicts of maps": ("verdicts", "verdicts", ())}
BY_SERVERS = ("model rank", "model rank, idle servers", "frontend of 128 ranks")  #: scenarios that depend on the number of servers
MOST_RANKS, MOST_SERVERS = 100_000, 1000
SLOW_S = 900  #: for rows that define or send as 100 000 ranks
RANKS_PER_SERVER = 100
MOST_DEFINED_SERVERS = 10  #: each emulated rank encodes its definitions for each server; a server's part of divided maps is larger than with more


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--emulated", action="store_true", help="only the emulated ranks")
    parser.add_argument("--real", action="store_true", help="only sessions with real ranks")
    parser.add_argument("--launcher", default=os.environ.get("AFTERBAY_BENCH_LAUNCHER", str(NODES)), metavar="PROGRAM",
                        help="starts a job on several nodes: PROGRAM 2,2,1 [mpirun's options] COMMAND; exit code 77: it cannot. "
                             "Default: $AFTERBAY_BENCH_LAUNCHER, or nodes that are emulated on this machine")


def plan(options: argparse.Namespace) -> Plan:
    rows: list[Row] = []
    if not options.real:
        rows += emulated(options)
    if not options.emulated:
        rows += real(options)
    return Plan(rows, options.runs or (1 if options.quick else 3), checks, panels, verify, 1, notes, verify_always=True)


# ---- emulated ranks


def cases(scenario: str, quick: bool) -> list[tuple[int, int]]:
    """(ranks, servers)"""
    if scenario in BY_SERVERS:
        return [(MOST_RANKS, servers) for servers in (1, 10, 100, MOST_SERVERS)]
    if scenario == "model rank after open":
        return [(ranks, 10) for ranks in (100, 1000, 10_000, MOST_RANKS)]
    numbers = (100, 1000, 10_000) if quick else (100, 1000, 10_000, MOST_RANKS)
    most = MOST_DEFINED_SERVERS if scenario == "definitions" else MOST_SERVERS
    return [(ranks, min(max(ranks // RANKS_PER_SERVER, 1), most)) for ranks in numbers]


def emulated(options: argparse.Namespace) -> list[Row]:
    rows = []
    for scenario, (name, quantity, settings) in QUANTITIES.items():
        for ranks, servers in cases(scenario, options.quick):
            slow = ranks == MOST_RANKS and quantity in ("computing", "ingest", "definitions", "verdicts", "server")
            flags = [flag for setting in settings for flag in ("--set", setting)]
            rows.append(Row(f"{name}/{ranks}x{servers}", f"{ranks} ranks, {servers} servers", scenario, "afterbay", "afterbay_scale", 1,
                            ("--quantity", quantity, "--ranks", str(ranks), "--servers", str(servers), *flags), repeats=1 if slow else 0, model=ranks, timeout_s=SLOW_S if slow else 0))
    return rows


# ---- real ranks


def layouts(quick: bool) -> list[int]:
    return list(REAL_RANKS[:2] if quick else REAL_RANKS)


def settings_for(topology: str, ranks: int) -> list[str]:
    servers = max(1, ranks // 32)
    return {"inline": ["topology=inline"], "dedicated": [f"servers={servers}"], "tiered": ["topology=tiered", f"servers={servers}"]}[topology]


def processes(topology: str, ranks: int) -> int:
    """`ranks` model ranks, their servers and, on one node, a frontend."""
    servers = 0 if topology == "inline" else max(1, ranks // 32)
    return ranks + servers + (1 if topology == "tiered" else 0)


def scaled(command: pathlib.Path, settings: list[str], ranks: int) -> list[str]:
    """The settings with which `afterbay check` says that the ranks fit into this machine; none if
    the defaults do."""
    flags = [f"--afterbay.{setting}" for setting in settings]
    done = subprocess.run([command, "check", "--run", "--no-environment", "--ranks", str(ranks), *flags], capture_output=True, text=True, check=False)
    advice = re.search(r"set (memory\.[^\n]*?), or start fewer", done.stderr)
    if done.returncode == 0 or not advice:
        return []
    return [f"{name}={value}" for name, value in re.findall(r"(memory\.\w+): (\w+)", advice[1])]


def real(options: argparse.Namespace) -> list[Row]:
    command = options.programs.parent / "apps" / "afterbay" / "afterbay"
    rows = []
    for topology in TOPOLOGIES:
        for ranks in layouts(options.quick):
            count = processes(topology, ranks)
            settings = settings_for(topology, ranks)
            smaller = scaled(command, settings, count) if command.is_file() else []
            rows.append(real_row(f"{topology}/{ranks}", f"{topology}, {ranks} model ranks", ranks, count, [*settings, *smaller], smaller))
    return rows + on_nodes(options)


def real_row(key: str, label: str, ranks: int, count: int, settings: list[str], smaller: list[str], launcher: tuple[str, ...] = ()) -> Row:
    flags = [f"--afterbay.{setting}" for setting in ("report.table=off", "journal.directory=off", "deadline=5min", *settings)]
    note = f" ({', '.join(smaller)})" if smaller else ""
    return Row(f"real/{key}", label + note, REAL, "afterbay", "afterbay_scale_ranks", count,
               ("--rows", str(ROWS_PER_RANK), "--columns", str(COLUMNS), "--records", str(RECORDS), *flags),
               verify=True, model=ranks, repeats=1, launcher=launcher)


def on_nodes(options: argparse.Namespace) -> list[Row]:
    """Dedicated and tiered on several nodes, if the launcher can make some."""
    try:
        probe = subprocess.run([options.launcher, "1,1", "hostname"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    if probe.returncode != 0:
        return []
    rows = []
    for nodes, per_node in ((2, 2), (4, 4)) if options.quick else ((2, 2), (4, 4), (4, 16)):
        ranks = nodes * per_node
        for topology in ("dedicated", "tiered"):
            frontends = 1 if topology == "tiered" else 0
            layout = ",".join(str(per_node + frontends) for _ in range(nodes))
            servers = max(1, ranks // 32)
            launcher = (options.launcher, f"{layout},{servers}", "--oversubscribe")
            rows.append(real_row(f"{topology}/{nodes}x{per_node}", f"{topology}, {per_node} model ranks on each of {nodes} nodes", ranks,
                                 nodes * (per_node + frontends) + servers, [*settings_on_nodes(topology, servers)], [], launcher))
    return rows


def settings_on_nodes(topology: str, servers: int) -> list[str]:
    """The servers are the last ranks, which have a node of their own."""
    return [f"topology={topology}", f"servers={servers}"]


def verify(row: Row, directory: pathlib.Path) -> str:
    return reader.scale(directory, row.model, ROWS_PER_RANK, COLUMNS, RECORDS) if row.scenario == REAL else ""


# ---- results


def series(results: Results, scenario: str, path: str) -> list[tuple[int, float]]:
    """(number of ranks or servers, median)"""
    found = []
    for row in results.in_scenario(scenario):
        ranks, servers = (int(part) for part in row.key.split("/")[1].split("x"))
        value = results.median(row.key, path)
        if value is not None:
            found.append((servers if scenario in BY_SERVERS else ranks, value))
    return found


def fit(points: list[tuple[int, float]]) -> tuple[float, float] | None:
    """a and b of a + b n by least squares of the relative errors."""
    weighed = [(n, value, 1 / value**2) for n, value in points if value > 0]
    if len(weighed) < 2:
        return None
    s, sx, sxx = (sum(w * n**power for n, _, w in weighed) for power in (0, 1, 2))
    sy, sxy = (sum(w * value * n**power for n, value, w in weighed) for power in (0, 1))
    determinant = s * sxx - sx * sx
    if determinant == 0:
        return None
    return (sy * sxx - sx * sxy) / determinant, (s * sxy - sx * sy) / determinant


def bound(results: Results, name: str, key: str, path: str, most: float, unit: float) -> Check:
    return results.median_check(name, [value / unit for value in results.values(key, path)], "<=", most)


def exchanges(results: Results) -> float | None:
    """The exchanges over the tree while a session opens: messages of rank 0, which has log2(N)
    children, in real sessions."""
    counted = []
    for row in results.in_scenario(REAL):
        root = results.median(row.key, "root_messages")
        if root is not None and row.ranks > 1:
            counted.append(root / (2 * math.ceil(math.log2(row.ranks))))
    return max(counted) if counted else None


def checks(results: Results) -> list[Check]:
    most = f"{MOST_RANKS}x{MOST_SERVERS}"
    found = []
    if f"model_rank/{most}" in results.rows:
        found.append(bound(results, f"model rank with {MOST_SERVERS} servers: memory, MiB", f"model_rank/{most}", "memory", 64, MIB))
        found.append(bound(results, f"frontend of 128 ranks, {MOST_SERVERS} servers: memory, MiB", f"frontend/{most}", "memory", 1024, MIB))
    for scenario in (SERVER, SERVER + ", slab", SERVER + ", slab and tiered"):
        for row in results.in_scenario(scenario):
            found.append(bound(results, f"server of 100 of {row.model} ranks{scenario[len(SERVER):]}: memory beyond memory.server, MiB", row.key, "memory", 256, MIB))
    for scenario in (IDLE, IDLE + ", slab and tiered", COMPUTING):
        for row in results.in_scenario(scenario):
            found.append(bound(results, f"{scenario}, {row.label}: % of a core", row.key, "cpu_share", 0.5, 0.01))
    for row in results.in_scenario(COMPUTING):
        found.append(results.median_check(f"{COMPUTING}, {row.label}: pending answers", results.values(row.key, "pending"), ">=", row.model))
    for row in results.in_scenario("ingest"):
        for path, what in (("message_ns", "message"), ("pass_ns", "pass for one message"), ("flush_ns", "flush of a rank")):
            found.append(bound(results, f"ingest, {row.model} ranks: us per {what}", row.key, path, 2, 1e3))
    for row in results.in_scenario("definitions"):
        found.append(bound(results, f"200 fields on two maps, {row.label}: processor seconds of a server", row.key, "cpu_s", 30, 1))
    for row in results.in_scenario("verdicts of maps"):
        # The first server does this in addition to what every server does.
        joined = results.values(row.key, "cpu_s")
        defined = next((other for other in results.in_scenario("definitions") if other.model == row.model), None)
        more = results.median(defined.key, "cpu_s") if defined else None
        found.append(results.median_check(f"200 fields on two maps, {row.label}: processor seconds of the first server, which joins what all found",
                                          [value + (more or 0) for value in joined], "<=", 30))
    count = exchanges(results)
    for scenario in ("start", "start, tiered"):
        for row in results.in_scenario(scenario):
            found.append(bound(results, f"{scenario.replace('start', 'open')}, {row.label}: memory of the first rank meanwhile, MiB", row.key, "memory", MOST_START_MIB, MIB))
    for row in results.in_scenario("start"):
        messages = results.values(row.key, "exchange_messages")
        if messages and count:
            found.append(results.median_check(f"open, {row.model} ranks: messages of the busiest rank", [count * value for value in messages], "<=",
                                              40 * math.log2(row.model)))
    for row in results.in_scenario(REAL):
        found.append(results.median_check(f"{row.label}: messages of open, busiest rank", results.values(row.key, "open_messages"), "<=", 40 * math.log2(row.ranks)))
    for row in results.rows.values():
        if row.scenario == REAL and row.model >= 64:
            ended = 1.0 if results.present(row.key) else 0.0
            found.append(Check(f"{row.label}: starts, ends, contents right", ended, 1, ">=", ended == 1.0, results.failures.get(row.key, "").splitlines()[0] if row.key in results.failures else ""))
    return found + memory_checks(results) + node_checks(results)


def memory_checks(results: Results) -> list[Check]:
    """Memory after `open` must not grow with the number of ranks, beyond MPI's own."""
    found = []
    few, many = REAL_RANKS[0], REAL_RANKS[-1]
    for topology in TOPOLOGIES:
        for path, what, most in (("open_model_mib", "a model rank", MOST_KIB_PER_RANK), ("open_mib", "any process", MOST_PROCESS_KIB_PER_RANK)):
            slopes = slope(results, f"real/{topology}/{few}", f"real/{topology}/{many}", path, many - few, KIB)
            if slopes is not None:
                found.append(results.median_check(f"{topology}, {few} to {many} model ranks: memory of {what} after open, KiB per rank", slopes, "<=", most))
    few, many = 100, MOST_RANKS
    slopes = slope(results, f"rank_open/{few}x10", f"rank_open/{many}x10", "memory", many - few, 1 / KIB)
    if slopes is not None:
        found.append(results.median_check(f"model rank, {few} to {many} ranks: memory after open, KiB per rank", slopes, "<=", MOST_EMULATED_KIB_PER_RANK))
    return found


def slope(results: Results, first: str, last: str, path: str, ranks: int, unit: float) -> list[float] | None:
    """How much more `last` has than the median of `first`, per rank, times `unit`; None if a row
    is missing."""
    before = results.median(first, path)
    if before is None or last not in results.rows:
        return None
    return [(value - before) / ranks * unit for value in results.values(last, path)]


def node_checks(results: Results) -> list[Check]:
    """Real sessions were asked for, but none on several nodes: the launcher cannot make any."""
    if not all(f"real/{topology}/{REAL_RANKS[0]}" in results.rows for topology in TOPOLOGIES):
        return []  # a selection of rows
    several = [row for row in results.in_scenario(REAL) if "x" in row.key.split("/")[-1]]
    return [Check("real sessions on several nodes", len(several), 1, ">=", bool(several), "" if several else "the launcher made none")]


def scenario_table(results: Results, scenario: str) -> str:
    rows = results.in_scenario(scenario)
    if scenario == REAL:
        header = ["", "processes", "open s", "until ended s", "MiB after open", "MiB that open added to a model rank", "MiB at the end", "messages of open, most"]
        return tables.table(header, [[row.label, str(row.ranks), *(tables.median_text(results.values(row.key, path), form) for path, form in
                            (("open_s", "{:.2f}"), ("end_s", "{:.2f}"), ("open_mib", "{:.0f}"), ("open_model_mib", "{:.1f}"), ("end_mib", "{:.0f}"), ("open_messages", "{:.0f}")))] for row in rows])
    measures = MEASURES[scenario]
    lines = [[row.label, *(tables.median_text([value / unit for value in results.values(row.key, path)], "{:.3g}") for path, _, _, unit in measures)] for row in rows]
    variable = "S" if scenario in BY_SERVERS else "N"
    line = [f"a + b {variable}"]
    for path, _, _, unit in measures:
        found = fit(series(results, scenario, path))
        line.append(f"{found[0] / unit:.3g} + {found[1] / unit:.2g} {variable}" if found else "-")
    return tables.table(["", *(f"{name}, {unit}" for _, name, unit, _ in measures)], [*lines, line])


def notes(results: Results) -> list[str]:
    lines = ["emulated: one process holds the objects of one model rank, frontend or server; half of the ranks at most, 100 of them, are active",
             "server rows: all ranks define a collection with 200 fields, and the active ones put two records of it, flush and close; slab: with a link to each other server; all receive memory is in use",
             f"idle server, slab and tiered: with signs of life of a frontend per {RANKS_PER_SERVER} ranks and links to all other servers",
             "start: the first rank holds what all ranks said of themselves, and the messages to its children, none of which has been received yet; tiered: with a frontend per 127 ranks",
             "model rank, idle servers: steps in which nothing is put; messages themselves are not sent",
             f"definitions: 100 points per rank on each of two maps, in runs of 10; at most {MOST_DEFINED_SERVERS} servers",
             "verdicts of maps: 200 points per rank on each of two maps, half of which other ranks hold too; a quarter of the ranks loses all"]
    count = exchanges(results)
    if count:
        lines.append(f"a session opens with {count:.1f} exchanges over the tree of ranks (counted in the real sessions)")
    if not any("x" in row.key.split("/")[-1] for row in results.in_scenario(REAL)):
        lines.append("no rows on several nodes: the launcher cannot make nodes here, or they were not asked for")
    return lines + results.failures_by_reason()


def panels(results: Results) -> list[Panel]:
    del results
    return []  # see draw


def draw(results: Results, path: pathlib.Path, title: str) -> bool:
    """One picture per scenario, measured values and their fits over ranks or servers; False without
    matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    shown = [scenario for scenario in MEASURES if results.in_scenario(scenario)]
    if results.in_scenario(REAL):
        shown.append(REAL)
    if not shown:
        return False
    columns = min(3, len(shown))
    depth = -(-len(shown) // columns)
    figure, axes = pyplot.subplots(depth, columns, figsize=(5.4 * columns, 3.9 * depth), squeeze=False)
    for axis in axes.flat[len(shown):]:
        axis.set_visible(False)
    for axis, scenario in zip(axes.flat, shown):
        draw_real(axis, results) if scenario == REAL else draw_growth(axis, results, scenario)
        axis.grid(linewidth=0.3)
        axis.legend(fontsize=7)
    figure.suptitle(title.split(":")[0] + ": medians, and fits a + b n (broken lines)", fontsize=12)
    figure.tight_layout(rect=(0, 0, 1, 0.97))
    figure.savefig(path, dpi=100)
    pyplot.close(figure)
    return True


COLOURS = ("#0b6e99", "#b5541c", "#5b3f8c", "#4d7c2a")


def draw_growth(axis, results: Results, scenario: str) -> None:
    for colour, (path, name, unit_name, unit) in zip(COLOURS, MEASURES[scenario]):
        points = [(n, value / unit) for n, value in series(results, scenario, path) if value > 0]
        if not points:
            continue
        axis.plot(*zip(*points), "o", color=colour, label=f"{name}, {unit_name}")
        found = fit(points)
        if found and len(points) > 1:
            first, last = math.log(points[0][0]), math.log(points[-1][0])
            steps = [math.exp(first + (last - first) * i / 60) for i in range(61)]
            line = [(n, found[0] + found[1] * n) for n in steps if found[0] + found[1] * n > 0]
            if line:
                axis.plot(*zip(*line), "--", color=colour, linewidth=0.9)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("servers" if scenario in BY_SERVERS else "ranks")
    axis.set_title(scenario, fontsize=10)


def draw_real(axis, results: Results) -> None:
    for colour, topology in zip(COLOURS, TOPOLOGIES):
        rows = [row for row in results.in_scenario(REAL) if row.key.startswith(f"real/{topology}/") and "x" not in row.key.split("/")[-1]]
        for path, style, what in (("open_s", "o-", "open"), ("end_s", "s--", "whole session")):
            points = [(row.model, results.median(row.key, path)) for row in rows]
            points = [(n, value) for n, value in points if value is not None]
            if points:
                axis.plot(*zip(*points), style, color=colour, markersize=4, linewidth=0.9, label=f"{topology}: {what}, s")
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("model ranks on one node")
    axis.set_title(REAL, fontsize=10)
