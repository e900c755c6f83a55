# SPDX-License-Identifier: Apache-2.0
"""The common part of all benchmarks: rows that are run in turn, repeats, medians, checks, JSON.

A benchmark is a module with NAME, DESCRIPTION, `add_arguments(parser)` and `plan(options) -> Plan`;
it may have `scenario_table(results, scenario) -> str` if the common table does not fit, otherwise
`disk_for_table`. A row is one program run under mpirun that prints `BENCH {json}`. Rows of a
scenario are interleaved in each repeat, in alternating order, so that noise affects all alike;
ratios are taken between runs of the same repeat, and their median and extremes are reported.
"""

import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace


class Skipped(Exception):
    """A benchmark cannot run here although nothing is wrong; says what it would need."""


@dataclass(frozen=True)
class Row:
    key: str  #: unique in the benchmark
    label: str
    scenario: str  #: rows of a scenario are compared with each other
    kind: str  #: "afterbay", "baseline", "yardstick" or "other version"
    program: str
    ranks: int  #: processes, I/O servers among them
    arguments: tuple[str, ...] = ()  #: {dir} stands for the run's directory; a report.json there is kept
    mpirun: tuple[str, ...] = ()
    choice: str = ""  #: rows of the same choice are alternatives: the best one stays
    alternative: str = ""  #: what this alternative is called
    verify: bool = False  #: it leaves files that can be verified
    verify_arguments: tuple[str, ...] = ()  #: if any, files are verified in a separate, untimed run with these arguments
    group: str = ""  #: rows of a group stand together in tables
    model: int = 0  #: model ranks
    repeats: int = 0  #: number of repeats, for rows that take long; 0: all
    launcher: tuple[str, ...] = ()  #: starts the program instead of mpirun
    timeout_s: float = 0  #: that a run may take, if it is longer than others; 0: --timeout


@dataclass
class Check:
    name: str
    value: float | None
    bound: float
    relation: str  #: "<=" or ">="
    holds: bool
    note: str = ""
    spread: tuple[float, float] | None = None

    def text(self) -> str:
        verdict = "holds " if self.holds else "MISSED"
        value = "not measured" if self.value is None else f"{self.value:.4g}"
        spread = f" ({self.spread[0]:.4g} .. {self.spread[1]:.4g})" if self.spread else ""
        note = f"  [{self.note}]" if self.note else ""
        return f"{verdict}  {self.name}: {value}{spread}, to be {self.relation} {self.bound:g}{note}"


@dataclass
class Plan:
    rows: list[Row]
    runs: int
    checks: Callable[["Results"], list[Check]]
    panels: Callable[["Results"], list["Panel"]]
    verify: Callable[[Row, pathlib.Path], str] | None = None  #: returns the error, or ""
    probe_runs: int = 2  #: repeats after which the worse alternatives of a choice are dropped
    notes: Callable[["Results"], list[str]] = lambda results: []
    context: dict = field(default_factory=dict)  #: goes into the JSON file
    verify_always: bool = False  #: it is part of what the benchmark measures


@dataclass
class Panel:
    """One chart: bars for rows, one bar a measure."""

    title: str
    rows: list[Row]
    measures: list[tuple[str, str]]  #: (path in the row's JSON, legend)


def one_row_per_program(rows: list[Row]) -> list[Row]:
    """The first row of each scenario that runs a program in a role: the minimum that runs all of a
    benchmark's code."""
    chosen: dict[tuple, Row] = {}
    for row in rows:
        chosen.setdefault((row.scenario, row.program, row.kind), row)
    return list(chosen.values())


AGAINST = "/against"  #: ends the key of a row that another version runs
MOST_SLOWER = 1.03  #: than the other version, in end-to-end or blocked time


def with_other_build(rows: list[Row], programs: pathlib.Path) -> list[Row]:
    """Each of Afterbay's rows twice: unchanged, and with the same program of another build. Raises
    SystemExit where that build lacks the program."""
    both = []
    for row in rows:
        both.append(row)
        if row.kind == "afterbay":
            if not (programs / row.program).is_file():
                raise SystemExit(f"bench: --against: {programs} has no program {row.program}: build all of that version's benchmarks")
            both.append(replace(row, key=row.key + AGAINST, label=f"{row.label}, other version", kind="other version",
                                program=str(programs / row.program), choice=row.choice and row.choice + AGAINST))
    return both


def checks_against(results: "Results") -> list["Check"]:
    """For each row that both versions ran: end-to-end and blocked time divided by those of the
    other version."""
    found = []
    for key, row in results.rows.items():
        if not results.present(key) or not results.present(key + AGAINST):
            continue
        for path, what in (("end_s", "end-to-end time"), ("blocked_s.max", "blocked time")):
            ratios = results.ratios(key, path, key + AGAINST, path)
            if ratios:
                found.append(results.median_check(f"{row.scenario}, {row.label}: {what} / that of the other version", ratios, "<=", MOST_SLOWER))
    return found


def argument(row: Row, name: str) -> str:
    """The row's argument that follows `name`."""
    return row.arguments[row.arguments.index(name) + 1]


class Results:
    """Metrics by row and repeat; None if a run failed or did not take place."""

    def __init__(self, rows: list[Row], runs: int):
        self.rows = {row.key: row for row in rows}
        self.runs = runs
        self.metrics: dict[str, list[dict | None]] = {row.key: [None] * runs for row in rows}
        self.failures: dict[str, str] = {}  #: row -> reason for missing figures
        self.dropped: set[str] = set()  #: alternatives that were not the best
        self.chosen: dict[str, str] = {}  #: choice -> row key

    def row(self, key: str) -> Row:
        return self.rows[key]

    def present(self, key: str) -> bool:
        return key in self.rows and key not in self.dropped and any(self.metrics[key])

    def in_scenario(self, scenario: str) -> list[Row]:
        return [row for row in self.rows.values() if row.scenario == scenario and self.present(row.key)]

    def runs_of(self, key: str) -> list[dict | None]:
        """All repeats of a row; none if it is not among those that are run."""
        return self.metrics.get(key, [])

    def series(self, key: str, path: str) -> list[float | None]:
        """The values at `path` ("blocked_s.max") of all repeats."""
        return [None if run is None else lookup(run, path) for run in self.metrics.get(key, [])]

    def values(self, key: str, path: str) -> list[float]:
        return [value for value in self.series(key, path) if value is not None]

    def median(self, key: str, path: str) -> float | None:
        values = self.values(key, path)
        return statistics.median(values) if values else None

    def failures_by_reason(self) -> list[str]:
        reasons: dict[str, list[str]] = {}
        for key, reason in self.failures.items():
            reasons.setdefault(reason, []).append(key)
        return [f"{', '.join(keys)}: {reason}" for reason, keys in reasons.items()]

    def ratios(self, key: str, path: str, other: str, other_path: str) -> list[float]:
        """value / other for each repeat in which both were measured."""
        pairs = zip(self.series(key, path), self.series(other, other_path))
        return [a / b for a, b in pairs if a is not None and b]

    @staticmethod
    def unmeasured_check(name: str, relation: str, bound: float, why: str) -> Check:
        """A bound that cannot be measured here: it does not hold."""
        return Check(name, None, bound, relation, False, why)

    @staticmethod
    def median_check(name: str, values: list[float], relation: str, bound: float, note: str = "") -> Check:
        """The median of `values` against a bound; without values it does not hold."""
        if not values:
            return Check(name, None, bound, relation, False, note or "a row that it compares has no figures")
        value = statistics.median(values)
        holds = value <= bound if relation == "<=" else value >= bound
        return Check(name, value, bound, relation, holds, note, (min(values), max(values)))


def lookup(run: dict, path: str) -> float | None:
    value = run
    for part in path.split("."):
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    return value if isinstance(value, (int, float)) else None


def servers_s(report: dict, timer: str) -> float:
    """From Afterbay's report: the time in `timer`, summed over all servers."""
    server = report.get("server", {})
    return sum(found["inclusive_s"] * server["ranks"] for found in server.get("timers", []) if found["name"] == timer)


def with_prepare(metrics: dict) -> dict:
    """The end-to-end time with what servers made of a file's structure before it was opened
    (`prepare`). A file that is opened meanwhile waits for the rest in `create`, which the
    end-to-end time has already: hence the least."""
    prepare, create = servers_s(metrics["report"], "prepare"), servers_s(metrics["report"], "create")
    return {"least": metrics["end_s"] + max(0.0, prepare - create), "most": metrics["end_s"] + prepare}


def waited_s(report: dict) -> float:
    """From Afterbay's report: the time that model ranks waited inside put (for each wait, the
    longest)."""
    timers = report.get("model", {}).get("timers", [])
    return sum(timer["max_exclusive_s"] for timer in timers if timer["name"].startswith("wait: "))


class Runner:
    """Runs rows: programs from `build`, files under `scratch`."""

    def __init__(self, build: pathlib.Path, scratch: pathlib.Path, timeout_s: float, verbose: bool):
        self.build = build
        self.scratch = scratch
        self.timeout_s = timeout_s
        self.verbose = verbose

    def missing(self, row: Row) -> bool:
        return not (self.build / row.program).is_file()

    def run_all(self, plan: Plan) -> Results:
        results = Results(plan.rows, plan.runs)
        for scenario in dict.fromkeys(row.scenario for row in plan.rows):
            rows = [row for row in plan.rows if row.scenario == scenario]
            self._drop_known_losers(rows, results)
            for repeat in range(plan.runs):
                self._repeat(plan, rows, repeat, results)
                if repeat + 1 == min(plan.probe_runs, plan.runs):
                    self._choose(rows, results)
        return results

    def _repeat(self, plan: Plan, rows: list[Row], repeat: int, results: Results) -> None:
        for row in rows if repeat % 2 == 0 else reversed(rows):
            if row.key in results.dropped or row.key in results.failures:
                continue
            if row.repeats and repeat >= row.repeats:
                continue
            if self.missing(row):
                results.failures[row.key] = f"skipped: {row.program} was not built (library missing)"
                continue
            try:
                verify = plan.verify if repeat == 0 and row.verify else None
                results.metrics[row.key][repeat] = self._run_and_verify(row, verify) if verify else self.run(row)
            except RuntimeError as error:
                results.failures[row.key] = str(error)
                print(f"  {row.key}: {error}", file=sys.stderr)

    def _drop_known_losers(self, rows: list[Row], results: Results) -> None:
        """Choices of earlier scenarios are kept."""
        for row in rows:
            chosen = results.chosen.get(row.choice) if row.choice else None
            if chosen and results.rows[chosen].alternative != row.alternative:
                results.dropped.add(row.key)

    def _choose(self, rows: list[Row], results: Results) -> None:
        for choice in dict.fromkeys(row.choice for row in rows if row.choice):
            if choice in results.chosen:
                continue
            timed = [(results.median(row.key, "end_s"), row.key) for row in rows if row.choice == choice]
            timed = sorted((end, key) for end, key in timed if end is not None)
            if timed:
                results.chosen[choice] = timed[0][1]
                results.dropped.update(key for _, key in timed[1:])

    def _run_and_verify(self, row: Row, verify: Callable[[Row, pathlib.Path], str]) -> dict:
        if not row.verify_arguments:
            return self.run(row, verify)
        self.run(replace(row, arguments=(*row.arguments, *row.verify_arguments)), verify)
        return self.run(row)

    def run(self, row: Row, verify: Callable[[Row, pathlib.Path], str] | None = None) -> dict:
        directory = self.scratch / "files"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        os.sync()  # so that the previous row's deletions do not count for this row
        start = row.launcher or ("mpirun", "--oversubscribe", "--bind-to", "none", *row.mpirun, "-np", str(row.ranks))
        command = [*start, str(self.build / row.program), "--dir", str(directory),
                   *(argument.replace("{dir}", str(directory)) for argument in row.arguments)]
        try:
            output = self._execute(row, command, directory)
            metrics = self._parse(row, output)
            extra = directory / "report.json"
            if extra.is_file():
                metrics["report"] = json.loads(extra.read_text())
                metrics["waited_s"] = waited_s(metrics["report"])
                metrics["end_with_prepare_s"] = with_prepare(metrics)
                metrics["servers"] = {f"{timer}_s": servers_s(metrics["report"], timer) for timer in ("write", "statistics")}
            if verify:
                wrong = verify(row, directory)
                if wrong:
                    raise RuntimeError(f"wrote wrong data: {wrong}")
            if self.verbose:
                blocked = lookup(metrics, "blocked_s.max")
                text = "" if blocked is None else f"  blocked {blocked:8.3f} s"
                print(f"  {row.key:<52} end {metrics['end_s']:8.3f} s{text}", flush=True)
            return metrics
        finally:
            shutil.rmtree(directory, ignore_errors=True)

    def _execute(self, row: Row, command: list[str], directory: pathlib.Path) -> str:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True, cwd=directory)  # Afterbay's journal is left there
        try:
            output, errors = process.communicate(timeout=max(self.timeout_s, row.timeout_s))
        except BaseException as reason:  # also if interrupted: no run outlives the driver
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if not isinstance(reason, subprocess.TimeoutExpired):
                raise
            raise RuntimeError(f"did not end within {max(self.timeout_s, row.timeout_s):g} s: {' '.join(command)}") from None
        if process.returncode != 0:
            tail = "\n    ".join((output + errors).strip().splitlines()[-12:])
            raise RuntimeError(f"status {process.returncode}: {' '.join(command)}\n    {tail}")
        return output

    def _parse(self, row: Row, output: str) -> dict:
        for line in output.splitlines():
            if line.startswith("BENCH "):
                return json.loads(line[len("BENCH "):])
        raise RuntimeError(f"{row.program} printed no line BENCH {{...}}")


def as_json(plan: Plan, results: Results, checks: list[Check], environment: dict, name: str, started: float) -> dict:
    rows = []
    for row in results.rows.values():
        if row.key in results.dropped and not any(results.metrics[row.key]):
            continue
        runs = results.metrics[row.key]
        rows.append({
            "key": row.key, "label": row.label, "scenario": row.scenario, "kind": row.kind, "ranks": row.ranks,
            "program": row.program, "arguments": list(row.arguments), "mpirun": list(row.mpirun),
            "alternative": row.alternative, "not_the_best": row.key in results.dropped,
            "failure": results.failures.get(row.key, ""),
            "median": {path: results.median(row.key, path) for path in ("end_s", "end_with_prepare_s.least", "end_with_prepare_s.most", "blocked_s.max", "copy_s.max")},
            "repeats": runs,
        })
    return {
        "benchmark": name, "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started)),
        "wall_s": time.time() - started, "runs": plan.runs, "environment": environment, "context": plan.context,
        "rows": rows,
        "checks": [{"name": c.name, "value": c.value, "bound": c.bound, "relation": c.relation, "holds": c.holds,
                    "spread": c.spread, "note": c.note} for c in checks],
        "notes": plan.notes(results),
    }
