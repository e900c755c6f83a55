#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reductions in expressions, and statistics of their results: against numpy, also of the period
that the run does not finish."""
import os
import shutil

import numpy as np

from lib_described import Fields, Times, read, reduce, run

ROOT = os.getcwd()


def fresh(name):
    os.chdir(ROOT)
    shutil.rmtree(name, ignore_errors=True)
    os.makedirs(name)
    os.chdir(name)


def same(path, name, expected, rtol=1e-12):
    np.testing.assert_allclose(read(path, name)[0], expected, rtol=rtol, atol=0, err_msg=f"{path}: {name}")


def days_of(values, steps_of_day=4):
    """The values of each day, also of the one that the run does not finish."""
    return [values[i:i + steps_of_day] for i in range(0, len(values), steps_of_day)]


def partial_records():
    """Expressions of statistics and coordinates of grids have the record of a period that the run
    does not finish, and those without statistics count no step twice."""
    for number, (ranks, how, last) in enumerate(((1, "block", 6), (3, "map", 6), (2, "block", 8))):
        fresh(f"partial{number}")
        options = {"last": last, "rich": 1, "decomposition": how}
        run("""
defaults: {type: float64}
fields:
  flux: mean(tas)*area
  daily: mean(tas, 1d)*area
  total: sum(mean(tas)*area over lat, lon) / sum(area over lat, lon)
  cells: area*2
  extent: sum(area over lat, lon)
files:
  month: {every: 1mo, write: [flux], sum: [cells], once: [cells: first]}
  days: {every: 1mo, mean: [daily]}
  globe: {every: 1mo, write: [total], sum: [extent]}
""", ranks=ranks, **options)
        times, fields = Times(**options), Fields(**options)
        tas = np.array([fields.value("tas", n) for n in range(1, times.last + 1)])
        area = 1.0 + np.arange(tas[0].size).reshape(tas[0].shape)
        mean = tas.mean(axis=0)
        same("month.nc", "flux", [mean * area])
        same("month.nc", "cells", [2 * area * times.last])
        same("month.nc", "first", 2 * area)
        same("days.nc", "daily", [np.mean([day.mean(axis=0) * area for day in days_of(tas)], axis=0)])
        same("globe.nc", "total", [(mean * area).sum() / area.sum()])
        same("globe.nc", "extent", [area.sum() * times.last])


def values_of_inner_reductions():
    """Results of an inner reduction enter the outer one as they are: not rounded to the type of the
    field, and none is taken for its fill value."""
    fresh("inner")
    options = {"last": 18, "fill_of": "orog:0"}
    run("""
defaults: {type: float64}
fields:
  daily: mean(count, 1d)
  x: mean(mean(count, 1d))
  s: stddev(mean(tas, 1d))
  r: mean(range(orog, 1d))
  t: mean(mean(toce, 1d))
  n: mean(mean(mean(tas, 12h), 1d))
  h: mean(max(toce, 1d))
files:
  month: {every: 1mo, write: [x, s, r, t, n, h], mean: [daily], range: [daily: spread]}
""", ranks=3, **options)
    times, fields = Times(**options), Fields(**options)
    days = {name: days_of([fields.value(name, n) for n in range(1, times.last + 1)]) for name in ("count", "tas", "toce")}
    means = {name: np.array([reduce("mean", day, None, 1) for day in of]) for name, of in days.items()}
    for name in ("x", "daily"):
        same("month.nc", name, [means["count"].mean(axis=0)])
    same("month.nc", "spread", [np.ptp(means["count"], axis=0)])
    same("month.nc", "s", [means["tas"].std(axis=0)])
    same("month.nc", "r", np.zeros((1, *fields.plane)))
    same("month.nc", "t", [np.nanmean(means["toce"], axis=0)])
    halves = [[np.mean(half, axis=0) for half in days_of(day, 2)] for day in days["tas"]]
    same("month.nc", "n", [np.mean([np.mean(day, axis=0) for day in halves], axis=0)])
    same("month.nc", "h", [np.nanmean([reduce("max", day, None, 1) for day in days["toce"]], axis=0)])


partial_records()
values_of_inner_reductions()
