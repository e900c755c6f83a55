# SPDX-License-Identifier: Apache-2.0
"""The output of results: aligned tables and a PNG bar chart."""

import pathlib
import statistics

from harness import Panel, Results, Row, lookup

COLOURS = {"afterbay": ("#0b6e99", "#7fc4e0", "#cfe8f3"), "baseline": ("#b5541c", "#eab38f", "#f6dcca"),
           "other version": ("#5b3f8c", "#b9a6d9", "#e2d9f0"), "yardstick": ("#555555", "#bbbbbb", "#dddddd")}
#: of the legend: the measures of a panel, in the order of the colours above
GREYS = ("#4d4d4d", "#b8b8b8", "#e0e0e0")


def table(header: list[str], lines: list[list[str]]) -> str:
    """Columns as wide as needed; the first one left-aligned, the others right-aligned."""
    rows = [header, *lines]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    def line(cells: list[str]) -> str:
        first = cells[0].ljust(widths[0])
        return "  ".join([first, *(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:]))]).rstrip()
    rule = "-" * len(line([" " * width for width in widths]).ljust(sum(widths) + 2 * (len(widths) - 1)))
    return "\n".join([line(header), rule, *(line(row) for row in lines)])


def seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def spread(values: list[float]) -> str:
    return f"{min(values):.3f}-{max(values):.3f}" if values else "-"


def median_text(values: list[float], form: str = "{:.2f}") -> str:
    return form.format(statistics.median(values)) if values else "-"


def scenario_table(results: Results, scenario: str, disk: str | None) -> str:
    """`disk`: the row that end-to-end times are compared with; a copy in the same run has its own
    column."""
    header = ["", "end s", "min-max", "GB/s", "vs disk", "blocked s", "min-max", "mean rank", "copy s", "blocked/copy", "waited s", "backlog MB", "cpu s"]
    lines = []
    group = None
    for row in results.in_scenario(scenario):
        if group not in (None, row.group):
            lines.append([""] * len(header))
        group = row.group
        lines.append(_line(results, row, disk))
    return table(header, lines)


def _line(results: Results, row: Row, disk: str | None) -> list[str]:
    ends = results.values(row.key, "end_s")
    blocked = results.values(row.key, "blocked_s.max")
    rates = [lookup(run, "bytes") / run["end_s"] / 1e9 for run in results.metrics[row.key] if run]
    against_disk = results.ratios(disk, "end_s", row.key, "end_s") if disk else []
    against_copy = results.ratios(row.key, "blocked_s.max", row.key, "copy_s.max")
    return [row.label, median_text(ends, "{:.3f}"), spread(ends), median_text(rates), median_text(against_disk),
            median_text(blocked, "{:.3f}"), spread(blocked), seconds(results.median(row.key, "blocked_s.mean")),
            seconds(results.median(row.key, "copy_s.max")), median_text(against_copy),
            seconds(results.median(row.key, "waited_s")),
            median_text([value / 1e6 for value in results.values(row.key, "report.server.counters.peak backlog.largest")], "{:.0f}"),
            median_text(results.values(row.key, "cpu_s"))]


def chart(results: Results, panels: list[Panel], path: pathlib.Path, title: str) -> bool:
    """Writes the PNG; False without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = [panel for panel in panels if panel.rows]
    for panel in panels:
        assert len(panel.measures) <= len(GREYS), f"'{panel.title}' has more measures than there are colours"
    if not panels:
        return False
    columns = min(2, len(panels))
    depth = (len(panels) + columns - 1) // columns
    tallest = max(len(panel.rows) for panel in panels)
    figure, axes = pyplot.subplots(depth, columns, figsize=(9.5 * columns, depth * (1.6 + 0.42 * tallest)), squeeze=False)
    for axis in axes.flat[len(panels):]:
        axis.set_visible(False)
    for axis, panel in zip(axes.flat, panels):
        _draw(axis, results, panel)
    figure.suptitle(title, fontsize=13)
    figure.tight_layout(rect=(0, 0, 1, 0.97))
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return True


def _draw(axis, results: Results, panel: Panel) -> None:
    from matplotlib.patches import Patch

    height = 0.8 / len(panel.measures)
    largest = max((max(results.values(row.key, path), default=0) for row in panel.rows for path, _ in panel.measures), default=1)
    for position, row in enumerate(panel.rows):
        for index, (path, _) in enumerate(panel.measures):
            values = results.values(row.key, path)
            if not values:
                continue
            middle = statistics.median(values)
            where = position + (index - (len(panel.measures) - 1) / 2) * height
            error = [[middle - min(values)], [max(values) - middle]]
            axis.barh(where, middle, height=height * 0.92, color=COLOURS[row.kind][index], xerr=error,
                      error_kw={"elinewidth": 0.9, "capsize": 2, "ecolor": "#222222"})
            axis.text(max(values) + largest * 0.012, where, f"{middle:.3f}", va="center", fontsize=7)
    axis.set_yticks(range(len(panel.rows)), [row.label for row in panel.rows], fontsize=8)
    axis.invert_yaxis()
    axis.set_xlim(0, largest * 1.12)
    axis.set_xlabel("seconds: median, min and max of the repeats")
    axis.set_title(panel.title, fontsize=10)
    axis.grid(axis="x", linewidth=0.4)
    axis.set_axisbelow(True)
    axis.legend(handles=[Patch(color=grey, label=text) for grey, (_, text) in zip(GREYS, panel.measures, strict=False)],
                fontsize=8, loc="lower right")
