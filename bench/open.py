# SPDX-License-Identifier: Apache-2.0
"""The start-up benchmark: the time that opening a session with the default settings adds to MPI's
own start."""

import argparse

import tables
from harness import Check, Panel, Plan, Results, Row

NAME = "open"
DESCRIPTION = "opening a session with the default settings, beside the start of MPI alone"

LAYOUTS = ((1, 1), (4, 1))  #: model ranks, servers
BOUND_S = 0.050


def add_arguments(parser: argparse.ArgumentParser) -> None:
    del parser  # no options


def plan(options: argparse.Namespace) -> Plan:
    rows = []
    for model, servers in LAYOUTS:
        def row(mode: str, label: str, kind: str) -> Row:
            return Row(f"{model}+{servers}/{mode}", label, f"{model} + {servers} ranks", kind, "afterbay_open", model + servers, ("--mode", mode), model=model)
        rows += [row("mpi", f"MPI alone, {model + servers} ranks", "yardstick"), row("session", f"MPI and a session, {model}+{servers}", "afterbay")]
    return Plan(rows, options.runs or (5 if options.quick else 15), checks, panels, None, 1, notes)


def added(results: Results, layout: str) -> list[float]:
    """By how much a run with a session started later than the run of MPI alone beside it, by
    repeat."""
    pairs = zip(results.series(f"{layout}/session", "end_s"), results.series(f"{layout}/mpi", "end_s"))
    return [ours - alone for ours, alone in pairs if ours is not None and alone is not None]


def checks(results: Results) -> list[Check]:
    """Within one run: the starts of two runs of MPI differ by more than a session takes."""
    found = []
    for model, servers in LAYOUTS:
        key = f"{model}+{servers}/session"
        if key in results.rows:
            found.append(results.median_check(f"{model} + {servers} ranks: seconds in open_session, slowest rank", results.values(key, "open_s"), "<=", BOUND_S))
    return found


def scenario_table(results: Results, scenario: str) -> str:
    header = ["", "until ready s", "min-max", "MPI s", "open_session ms", "least-most"]
    lines = []
    for row in results.in_scenario(scenario):
        opened = [value * 1e3 for value in results.values(row.key, "open_s")]
        between = f"{min(opened):.1f}-{max(opened):.1f}" if opened else "-"
        ends = results.values(row.key, "end_s")
        lines.append([row.label, tables.median_text(ends, "{:.3f}"), tables.spread(ends), tables.median_text(results.values(row.key, "mpi_s"), "{:.3f}"),
                      tables.median_text(opened, "{:.1f}"), between])
    return tables.table(header, lines)


def notes(results: Results) -> list[str]:
    lines = []
    for model, servers in LAYOUTS:
        differences = [1e3 * value for value in added(results, f"{model}+{servers}")]
        if differences:
            lines.append(f"{model} + {servers} ranks: ready {tables.median_text(differences, '{:.1f}')} ms ({min(differences):.1f} .. {max(differences):.1f}) later than in the "
                         "run of MPI alone beside it")
    return lines + results.failures_by_reason()


def panels(results: Results) -> list[Panel]:
    return [Panel(f"{model} + {servers} ranks: MPI's start, and open_session", results.in_scenario(f"{model} + {servers} ranks"),
                  [("mpi_s", "MPI"), ("open_s", "open_session")]) for model, servers in LAYOUTS]
