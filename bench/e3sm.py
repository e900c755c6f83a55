# SPDX-License-Identifier: Apache-2.0
"""The E3SM benchmark: the output of E3SM's atmosphere (F case) and ocean (G case), with the
decompositions of real runs, written by Afterbay and by the libraries in use today.

Schemas and maps are read from captured files (see e3sm_case.py); without these files a small
synthetic case is run. The 16 captured ranks are spread over the running model ranks in contiguous
groups.
"""

import argparse
import importlib.util
import pathlib
import statistics
from statistics import median
from dataclasses import dataclass

import e3sm_case
import e3sm_synthetic
import e3sm_verify
import tables
from harness import Check, Panel, Plan, Results, Row, Skipped

NAME = "e3sm"
DESCRIPTION = "E3SM's F and G cases (unstructured maps): Afterbay, PnetCDF, parallel netCDF-4, HDF5 blob, raw write, memcpy"

TITLES = {"f_h0": "F h0", "f_h1": "F h1", "g": "G", "synthetic": "synthetic"}
CAPTURED = ("f_h0", "f_h1", "g")
RANKS = 8  #: of the baselines, and of the Afterbay row that the bounds apply to; see --ranks
MPI_IO = ("ompio", "romio321")
FORMATS = {"cdf5": "CDF-5", "netcdf4": "netCDF-4"}
DEDICATED = ((4, 1), (4, 2), (8, 1))
FACTORS = (1, 8, 64)  #: times the 866 columns of the F case
CASES = pathlib.Path(__file__).resolve().parent.parent / "build" / "bench" / "cases"
REPORT = "--afterbay.report.json={dir}/report.json"


@dataclass(frozen=True)
class Scenario:
    case: str
    xtype: str = "double"
    records: int = 1
    variant: str = ""  #: "x8": 8 times the columns; "gaps": every 7th point is held by no rank
    short: bool = False  #: only the rows that the bounds apply to
    ranks: int = RANKS
    maps: pathlib.Path | None = None  #: instead of the captured ones

    @property
    def name(self) -> str:
        records = f"{self.records} record{'' if self.records == 1 else 's'}"
        ranks = "" if self.ranks == RANKS else f"{self.ranks} rank{'' if self.ranks == 1 else 's'}"
        maps = f"maps of {self.maps.name}" if self.maps else ""
        return ", ".join(part for part in (TITLES[self.case], self.variant, self.xtype, records, ranks, maps) if part)

    @property
    def layouts(self) -> tuple[tuple[int, int], ...]:
        """Model ranks and servers of the rows with dedicated servers."""
        return DEDICATED if self.ranks == RANKS else ((self.ranks, 1), (self.ranks, 2))

    def made(self, data: pathlib.Path | None) -> e3sm_case.Case:
        read = e3sm_synthetic.case() if self.case == "synthetic" else e3sm_case.load(self.case, data, self.maps)
        case = e3sm_case.with_type(read, self.xtype)
        if self.variant == "gaps":
            return e3sm_case.with_gaps(case, 7)
        return e3sm_case.scaled(case, int(self.variant[1:])) if self.variant else case


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", help="directory of the captured files ($AFTERBAY_BENCH_DATA, shared/data beside the tree)")
    parser.add_argument("--case", action="append", choices=list(TITLES), help="only this case (may be repeated)")
    parser.add_argument("--xtype", action="append", choices=("double", "float"), help="only with fields of this type on file")
    parser.add_argument("--records", action="append", type=int, metavar="N", help="only with this many records")
    parser.add_argument("--ranks", action="append", type=int, metavar="N",
                        help=f"only with this many model ranks, to which the maps' ranks are dealt (may be repeated; {RANKS})")
    parser.add_argument("--maps", type=pathlib.Path, metavar="FILE",
                        help="for one --case: maps of an E3SM-IO file instead of the captured ones (afterbay decomp make ... --to e3sm)")
    parser.add_argument("--no-growth", action="store_true", help="without the rows of more columns")


def scenarios_of(options: argparse.Namespace, captured: bool) -> list[Scenario]:
    if options.maps and (len(options.case or []) != 1 or options.case == ["synthetic"]):
        raise SystemExit("bench: --maps is for one --case: the F case has 3 maps, the G case 6")
    cases = options.case or (CAPTURED if captured else ("synthetic",))
    if min(options.ranks or [1]) < 1:
        raise SystemExit(f"bench: --ranks is {min(options.ranks)}, it must be 1 or more")
    if options.xtype or options.records or options.ranks or options.maps:
        chosen = [Scenario(case, xtype, records, ranks=ranks, maps=options.maps) for case in cases
                  for xtype in options.xtype or ["double"] for records in options.records or [1] for ranks in options.ranks or [RANKS]]
    else:
        chosen = [Scenario(case) for case in cases]
        if not options.quick:
            chosen += [Scenario(case, "float", short=True) for case in cases]
            chosen += [Scenario(case, records=5, short=True) for case in cases]
    if options.verify and captured:
        chosen.append(Scenario("f_h1", records=2, variant="gaps", short=True))
    return chosen


def plan(options: argparse.Namespace) -> Plan:
    data = e3sm_case.data_directory(options.data)
    if data is None and (options.data or set(options.case or []) & set(CAPTURED)):
        raise Skipped("no captured E3SM files: give --data DIRECTORY or set AFTERBAY_BENCH_DATA (see bench/README.md)")
    if e3sm_case.numpy is None or importlib.util.find_spec("netCDF4") is None:
        raise Skipped("this Python has no numpy or no netCDF4: ./dev bench e3sm brings them")
    rows, cases = [], {}
    for scenario in scenarios_of(options, data is not None):
        try:
            cases[scenario.name] = (scenario, scenario.made(data))
        except (e3sm_case.Malformed, OSError) as error:
            raise SystemExit(f"bench: {error}") from None
        path = e3sm_case.write(cases[scenario.name][1], CASES / (scenario.name.replace(", ", "-").replace(" ", "_") + ".json"))
        rows += afterbay_rows(scenario, path) if scenario.variant else scenario_rows(scenario, path, options.quick)
    chosen = options.ranks or options.maps
    if data and not options.no_growth and not chosen and (not options.case or "f_h0" in options.case):
        rows += growth_rows(data, FACTORS[:2] if options.quick else FACTORS, cases)
    return Plan(rows, options.runs or (3 if options.quick else 5), checks, panels,
                lambda row, directory: verify_row(row, directory, cases), 1, notes,
                {"model_ranks": options.ranks or RANKS, "data": sorted(file for files in e3sm_case.SOURCES.values() for file in files) if data else "synthetic"})


# --- rows -----------------------------------------------------------------------------------------


def row_of(scenario: Scenario, path: pathlib.Path, name: str, label: str, kind: str, program: str, ranks: int,
           *extra: str, **more) -> Row:
    more.setdefault("model", ranks)
    if scenario.records > 1:  # so that a misplaced record is seen at every point
        more["verify_arguments"] = ("--every-point",)
    arguments = ("--case", str(path), "--records", str(scenario.records), "--warm-up", *extra)
    return Row(f"{scenario.name}/{name}", label, scenario.name, kind, program, ranks, arguments, **more)


def scenario_rows(scenario: Scenario, path: pathlib.Path, quick: bool) -> list[Row]:
    def row(name: str, label: str, kind: str, program: str, *extra: str, **more) -> Row:
        return row_of(scenario, path, name, label, kind, program, scenario.ranks, *extra, **more)

    def with_both(name: str, label: str, program: str, *extra: str, choice: str = "", **more) -> list[Row]:
        """With either implementation of MPI-IO; the better one stays."""
        return [row(f"{name}/{io}", f"{label} ({io})", "baseline", program, *extra, mpirun=("--mca", "io", io),
                    choice=f"{TITLES[scenario.case]}: {choice or name}", alternative=f"{name} {io}", group="baseline", **more)
                for io in MPI_IO]

    rows = [row(f"raw/{mode}", f"raw write, {mode}", "yardstick", "raw_e3sm", "--mode", mode, group="yardstick")
            for mode in ("buffered", "direct")]
    rows += with_both("iput_varn", "PnetCDF iput_varn + wait_all", "pnetcdf_e3sm", "--mode", "nonblocking", verify=True)
    if not scenario.short:
        rows += with_both("put_varn", "PnetCDF put_varn_all", "pnetcdf_e3sm", "--mode", "blocking", verify=True)
        rows += with_both("put_vard", "PnetCDF put_vard_all", "pnetcdf_e3sm", "--mode", "vard", verify=True)
        if not (quick and scenario.case == "f_h0"):
            rows += with_both("netcdf4", "parallel netCDF-4", "parallel_netcdf_e3sm", verify=True, repeats=3)
    for mode in ("collective", "independent"):
        rows += with_both(f"blob-{mode}", f"HDF5 blob, {mode}", "hdf5_blob_e3sm", "--mode", mode, choice="blob")
    return rows + afterbay_rows(scenario, path)


def afterbay_rows(scenario: Scenario, path: pathlib.Path, layouts=None, stores=tuple(FORMATS), *extra: str) -> list[Row]:
    rows, all_ways = [], layouts is None and not scenario.short
    layouts = layouts or scenario.layouts
    for store in stores:
        common = (REPORT, *extra, "--store", store)
        for model, servers in [layout for layout in layouts if layout == (scenario.ranks, 1) or not scenario.short]:
            rows.append(row_of(scenario, path, f"{model}+{servers}/{store}", f"Afterbay {model}+{servers} {FORMATS[store]}",
                               "afterbay", "afterbay_e3sm", model + servers, "--mode", "dedicated", "--servers", str(servers),
                               *common, verify=True, group="afterbay", model=model))
        for mode in ("synchronous", "thread") if all_ways else ():
            rows.append(row_of(scenario, path, f"inline-{mode}/{store}", f"Afterbay inline {mode}, {scenario.ranks} {FORMATS[store]}",
                               "afterbay", "afterbay_e3sm", scenario.ranks, "--mode", mode, *common, verify=True, group="inline"))
    return rows


def growth_rows(data: pathlib.Path, factors: tuple[int, ...], cases: dict) -> list[Row]:
    rows = []
    for factor in factors:
        scenario = Scenario("f_h0", variant=f"x{factor}")
        case = scenario.made(data)
        cases[scenario.name] = (scenario, case)
        path = e3sm_case.write(case, CASES / f"growth-x{factor}.json")
        budget_mib = min(512, 32 * factor)  # of 32 MiB a record at 866 columns; 512 MiB is the default
        made = afterbay_rows(scenario, path, ((RANKS, 1),), ("cdf5",), "--no-copy", f"--afterbay.memory.server={budget_mib}MiB")
        rows += [in_scenario(row, "growth", f"{row.label}, {case.dimensions['ncol']} columns") for row in made]
    return rows


def in_scenario(row: Row, scenario: str, label: str) -> Row:
    return Row(**{**row.__dict__, "scenario": scenario, "label": label})


# --- results --------------------------------------------------------------------------------------


def first(scenario: str, name: str) -> str:
    return f"{scenario}/{name}"


def fastest(results: Results, scenario: str, *names: str) -> Row | None:
    """The fastest of the rows whose keys begin with one of `names`."""
    timed = [(results.median(row.key, "end_s"), row.key) for row in results.in_scenario(scenario)
             if any(row.key.startswith(first(scenario, name)) for name in names)]
    return results.row(min(timed)[1]) if timed else None


def times_faster(results: Results, other: Row | None, ours: str, path: str = "end_s") -> list[float]:
    """other / ours (its time at `path`), repeat by repeat; against its median where the other was
    not run in every repeat."""
    if other is None:
        return []
    if not other.repeats:
        return results.ratios(other.key, "end_s", ours, path)
    theirs = results.median(other.key, "end_s")
    return [theirs / value for value in results.values(ours, path)]


def against_what(results: Results, other: Row | None, ours: str) -> str:
    """The other row of a ratio, and the ratio if making our file's structure is counted."""
    if other is None:
        return ""
    most, least = (times_faster(results, other, ours, f"end_with_prepare_s.{extreme}") for extreme in ("most", "least"))
    if not least:
        return other.label
    return f"{other.label}; with our file's structure counted: {statistics.median(most):.4g} to {statistics.median(least):.4g}"


def checks(results: Results) -> list[Check]:
    found = []
    def against(case: str, store: str, bound: float, what: str, *names: str) -> None:
        scenario = Scenario(case).name
        if any(row.scenario == scenario for row in results.rows.values()):
            other, ours = fastest(results, scenario, *names), first(scenario, f"{RANKS}+1/{store}")
            found.append(results.median_check(
                f"{scenario}, {RANKS}+1 {FORMATS[store]}: {what} / ours, end to end",
                times_faster(results, other, ours), ">=", bound, against_what(results, other, ours)))

    against("f_h0", "cdf5", 15, "the better PnetCDF iput_varn", "iput_varn/")
    against("g", "cdf5", 3, "the better PnetCDF iput_varn", "iput_varn/")
    against("f_h0", "cdf5", 1, "the fastest HDF5 blob, not converted,", "blob-")
    if any(row.key.startswith(first(Scenario("f_h0").name, "netcdf4/")) for row in results.rows.values()):
        against("f_h0", "netcdf4", 50, "parallel netCDF-4", "netcdf4/")
    blocked = first(Scenario("f_h0").name, f"{RANKS}+1/cdf5")
    if blocked in results.rows:
        # Eight ranks take turns on the machine's cores: what counts is when the last has done it.
        # By itself a rank's memcpy fits between two turns, which no call that does more can.
        slowest = results.ratios(blocked, "blocked_s.max", blocked, "copy_s.max")
        processor = results.ratios(blocked, "blocked_use.cpu_s_max", blocked, "copy_s.max")
        note = f"processor time of a rank / its memcpy {median(processor):.2f}; slowest rank by itself {median(slowest):.2f}" if slowest else ""
        found.append(results.median_check(f"{Scenario('f_h0').name}, {RANKS}+1 CDF-5: blocked / memcpy, until all ranks have done it",
                                          results.ratios(blocked, "blocked_s.together", blocked, "copy_s.together"), "<=", 3, note))
    return found + growth_checks(results)


def growth_checks(results: Results) -> list[Check]:
    rows = [row for row in results.rows.values() if row.scenario == "growth"]
    times = [results.median_check(f"growth: time of {large.label} / of an 8th of the columns",
                                  results.ratios(large.key, "end_s", small.key, "end_s"), "<=", 9)
             for small, large in zip(rows, rows[1:])]
    return times + [results.median_check(f"growth: memory of a rank / its payload, {row.label}",
                                         results.ratios(row.key, "memory_mib.max", row.key, "payload_mib.max"), "<=", 3)
                    for row in rows]


TABLE = (  #: heading, path in the row's JSON, format
    ("open+define", "phases.open_s", "{:.4f}"), ("post", "phases.post_s", "{:.4f}"), ("flush", "phases.flush_s", "{:.4f}"),
    ("close", "phases.close_s", "{:.4f}"), ("durable", "phases.finish_s", "{:.4f}"), ("total", "end_s", "{:.4f}"))


def scenario_table(results: Results, scenario: str) -> str:
    """As E3SM-IO's own report has it: seconds of the slowest rank, requests of all ranks, amount,
    bandwidth, memory."""
    header = ["", *(heading for heading, _, _ in TABLE), "min-max", "with structure", "requests", "most", "MiB", "MiB/s", "memory MiB", "heap MiB", "servers MiB",
              "blocked", "memcpy", "ratio", "set-up"]
    lines, group = [], None
    for row in results.in_scenario(scenario):
        if group not in (None, row.group):
            lines.append([""] * len(header))
        group = row.group
        lines.append(table_line(results, row))
    return tables.table(header, lines)


def table_line(results: Results, row: Row) -> list[str]:
    def median(path: str, form: str, scale: float = 1) -> str:
        value = results.median(row.key, path)
        return "-" if value is None else form.format(value * scale)

    def between(path: str) -> str:
        least, most = median(f"{path}.least", "{:.3f}"), median(f"{path}.most", "{:.3f}")
        return least if least == most else f"{least}-{most}"

    ends = results.values(row.key, "end_s")
    mib = [run["bytes"] / 2**20 for run in results.metrics[row.key] if run]
    ratios = results.ratios(row.key, "blocked_s.max", row.key, "copy_s.max")
    rates = [amount / end for amount, end in zip(mib, ends)]
    return [row.label, *(median(path, form) for _, path, form in TABLE), tables.spread(ends), between("end_with_prepare_s"), median("pieces.sum", "{:.0f}"), median("pieces.max", "{:.0f}"),
            f"{statistics.median(mib):.2f}", tables.median_text(rates, "{:.0f}"), median("memory_mib.max", "{:.0f}"),
            median("library_mib", "{:.2f}"), median("server_memory_mib", "{:.0f}"), median("blocked_s.max", "{:.4f}"), median("copy_s.max", "{:.4f}"),
            tables.median_text(ratios), median("setup_s", "{:.4f}")]


def notes(results: Results) -> list[str]:
    lines = ["set-up is once a run and in no total: Afterbay's session, decompositions and collection; of the others their "
             "lists of requests, their buffers",
             "the structure of Afterbay's file (its header and datasets) is made ahead, by a worker of the server while the session "
             "starts, and counts in set-up, as the beginning of its journal does; the others make it in open+define. 'with structure' "
             "is total and the server's time for it (prepare in its report), from to. The ranks compute their maps meanwhile, so that "
             "it takes longer than by itself",
             "requests: pieces that lie apart in the file, of all ranks, and the most of one rank; Afterbay is given one array a variable, rank and record",
             "heap: the most that PnetCDF says to have allocated itself on one rank",
             "memory: of the rank that grew most, above the model's own arrays; a segment that all ranks share is dealt out over "
             "them"]
    lines += [f"fastest for {choice}: {results.row(key).alternative}" for choice, key in results.chosen.items()]
    return lines + results.failures_by_reason()


def panels(results: Results) -> list[Panel]:
    found = []
    for scenario in dict.fromkeys(row.scenario for row in results.rows.values()):
        rows = [row for row in results.in_scenario(scenario) if not row.key.startswith(first(scenario, "netcdf4/"))]
        found.append(Panel(f"{scenario}: end to end (durable), and time the model is blocked", rows,
                           [("end_s", "end to end"), ("blocked_s.max", "blocked")]))
    return found


def verify_row(row: Row, directory: pathlib.Path, cases: dict) -> str:
    scenario, case = cases[row.key.rpartition("/")[0].rpartition("/")[0]]
    return e3sm_verify.file(directory / "e3sm.nc", case, scenario.records)
