#!/usr/bin/env python3
"""Draws the relative vorticity of the last record of the shallow-water model's fields.nc.

demo_map.py FIELDS.nc MAP.png
"""
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import netCDF4
import numpy as np

DARK, LIGHT = "#22262b", "#7a828c"


def read(path):
    with netCDF4.Dataset(path) as data:
        x, y = data["x_edge"][:] / 1000, data["y_edge"][:] / 1000
        vorticity = data["vorticity"][-1] / data.coriolis
        speed_u, speed_v = data["u"][-1], data["v"][-1]
        days = data["time"][-1] / 86400
        records = len(data["time"])
    return np.asarray(x), np.asarray(y), np.asarray(vorticity), np.hypot(speed_u, speed_v).max(), days, records


def draw(path, picture):
    x, y, vorticity, speed, days, records = read(path)
    limit = np.ceil(10 * np.percentile(np.abs(vorticity), 99.5)) / 10
    height = 8.6 * (y[-1] - y[0]) / (x[-1] - x[0])
    figure, axes = plt.subplots(figsize=(10.6, height + 1.7), dpi=150, layout="constrained")
    image = axes.imshow(vorticity, origin="lower", extent=(x[0], x[-1], y[0], y[-1]), cmap="RdBu_r", vmin=-limit,
                        vmax=limit, interpolation="bilinear")
    axes.set_title("Relative vorticity of two unstable jets", loc="left", fontsize=15, color=DARK, pad=22, weight="bold")
    axes.text(0, 1.02, f"Shallow-water model after {days:.2f} days, {len(x)} x {len(y)} cells; record {records} of "
              f"fields.nc; highest speed {speed:.1f} m/s", transform=axes.transAxes, fontsize=10, color=LIGHT)
    axes.set_xlabel("distance to the east (km)", color=DARK)
    axes.set_ylabel("distance to the north (km)", color=DARK)
    axes.tick_params(colors=LIGHT)
    for spine in axes.spines.values():
        spine.set_color("#c8ccd2")
    bar = figure.colorbar(image, ax=axes, shrink=0.9, pad=0.02, extend="both")
    bar.set_label("vorticity / Coriolis parameter (1)", color=DARK)
    bar.ax.tick_params(colors=LIGHT)
    bar.outline.set_visible(False)
    figure.savefig(picture)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    draw(sys.argv[1], sys.argv[2])
    print(f"drawn: {sys.argv[2]}")
