#!/usr/bin/env python3
"""Says what the files of the demo's description contain, and draws the vorticity of both: an
instant beside the mean of its day.

demo_described.py DIRECTORY PICTURE.png   (DIRECTORY with hour.nc and day.nc)
"""
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import netCDF4
import numpy as np

from demo_map import DARK, LIGHT

SCALE = 1e5  # vorticity is drawn in 1e-5 s-1


def print_contents(path):
    """File, size, records, and its variables by operation."""
    with netCDF4.Dataset(path) as data:
        operations = {}
        for name, variable in data.variables.items():
            if variable.ndim == 3:
                what = getattr(variable, "cell_methods", "instants").removeprefix("time: ")
                operations.setdefault(what, []).append(name)
        variables = "; ".join(f"{what}: {', '.join(names)}" for what, names in operations.items())
        print(f"  {path.name:<9}{path.stat().st_size / 1e6:4.0f} MB {len(data['time']):4d} records   {variables}")


def read(directory):
    """The last day of which there is a mean, and the last hour up to its middle."""
    with netCDF4.Dataset(directory / "hour.nc") as hour, netCDF4.Dataset(directory / "day.nc") as day:
        hours, middle = np.asarray(hour["time"][:]), float(day["time"][-1])
        record = max(0, np.searchsorted(hours, middle + 1e-6) - 1)
        when = netCDF4.num2date([hours[record], *day["time_bnds"][-1]], day["time"].units, day["time"].calendar)
        x, y = day["x_edge"][:] / 1000, day["y_edge"][:] / 1000
        return (np.asarray(x), np.asarray(y), when, SCALE * np.asarray(hour["vorticity"][record]),
                SCALE * np.asarray(day["vorticity"][-1]))


def draw(x, y, when, instant, mean, picture):
    limit = np.ceil(np.percentile(np.abs(instant), 99.5))
    height = 4.45 * (y[-1] - y[0]) / (x[-1] - x[0])
    figure, panels = plt.subplots(1, 2, figsize=(10.6, height + 1.05), dpi=150, sharey=True, layout="constrained")
    times = [f"{time:%Y-%m-%d %H:%M}" for time in when]
    titles = (f"hour.nc: {times[0]}", f"day.nc: mean from {times[1]} to {times[2]}")
    for axes, values, title in zip(panels, (instant, mean), titles):
        image = axes.imshow(values, origin="lower", extent=(x[0], x[-1], y[0], y[-1]), cmap="RdBu_r", vmin=-limit,
                            vmax=limit, interpolation="bilinear")
        axes.set_title(title, loc="left", fontsize=10, color=DARK)
        axes.set_xlabel("distance to the east (km)", color=DARK)
        axes.tick_params(colors=LIGHT)
        for spine in axes.spines.values():
            spine.set_color("#c8ccd2")
    panels[0].set_ylabel("distance to the north (km)", color=DARK)
    figure.suptitle("Relative vorticity, put once per step: an instant and a daily mean", x=0.005, ha="left",
                    fontsize=13, color=DARK, weight="bold")
    bar = figure.colorbar(image, ax=panels, shrink=0.9, pad=0.02, extend="both")
    bar.set_label(r"vorticity ($10^{-5}$ s$^{-1}$)", color=DARK)
    bar.ax.tick_params(colors=LIGHT)
    bar.outline.set_visible(False)
    figure.savefig(picture)


def main():
    directory = pathlib.Path(sys.argv[1])
    files = [directory / name for name in ("hour.nc", "day.nc")]
    if not all(file.exists() for file in files):
        print("not drawn: the run was shorter than an hour (18 steps), so that no hour has ended")
        return
    for file in files:
        print_contents(file)
    draw(*read(directory), sys.argv[2])
    print(f"drawn: {sys.argv[2]}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main()
