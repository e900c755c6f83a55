#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An ensemble in one job: members divided among the ranks, and members as an axis of a field,
against numpy."""
import os
import shutil

import netCDF4
import numpy as np

from lib_described import Expected, Fields, Times, check, reduce, run

DESCRIPTION = """
defaults: {type: float64}
fields:
  middle: mean(eps_all over member)
  spread: stddev(eps_all over member)
grids:
  second: {index: {member: [1, 1]}}
  corner: {index: {member: [1, 2], lat: [2, 4], lon: [0, 3]}}
files:
  day: {every: 1d, mean: [eps, eps_all], max: [middle]}
  steps: {every: 1ts, instant: [middle, spread]}
  second: {every: 1d, mean: [eps], grid: second}
  corner: {every: 1d, min: [eps, eps_all], grid: corner}
"""

root = os.getcwd()
for ranks, servers, decomposition in ((1, 1, "block"), (2, 1, "map"), (4, 2, "block")):
    os.chdir(root)
    shutil.rmtree("run", ignore_errors=True)
    os.makedirs("run")
    os.chdir("run")
    options = {"members": 3, "last": 8, "decomposition": decomposition}
    run(DESCRIPTION, ranks=ranks, servers=servers, **options)
    fields, times = Fields(**options), Times(**options)
    daily = Expected(times, fields, "1d")
    members = daily.statistic("mean", "eps")
    check("day.nc", "eps", members)
    check("day.nc", "eps_all", members)
    check("second.nc", "eps", members[:, 1:2])
    least = daily.statistic("min", "eps")[:, 1:3, 2:5, 0:4]
    check("corner.nc", "eps", least)
    check("corner.nc", "eps_all", least)
    every = [fields.value("eps", n) for n in range(1, times.last + 1)]
    middle = [reduce("mean", list(values), None, 1) for values in every]
    check("steps.nc", "middle", np.array(middle))
    check("steps.nc", "spread", np.array([values.std(axis=0) for values in every]), exact=False)
    check("day.nc", "middle", np.array([reduce("max", [middle[n - 1] for n in steps], None, 1) for _, _, steps in daily.records()]))
    with netCDF4.Dataset("day.nc") as file:
        assert file["eps"].dimensions == ("time", "member", "lat", "lon") and file["member"].standard_name == "realization"
        assert list(file["member"][:]) == [1, 2, 3]
    with netCDF4.Dataset("steps.nc") as file:
        assert file["middle"].cell_methods == "realization: mean time: point", file["middle"].cell_methods
