#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reductions over axes of fields: against numpy, with missing values, subsets, reductions over
time, other numbers of ranks and decompositions."""
import os
import shutil

import netCDF4
import numpy as np

from lib_described import Expected, Fields, Times, check, reduce, run

OPERATIONS = {"mean": "mean", "sum": "sum", "min": "min", "max": "max", "range": "range", "stddev": "stddev"}


def fresh(name):
    os.chdir(os.environ["SCRATCH_ROOT"])
    shutil.rmtree(name, ignore_errors=True)
    os.makedirs(name)
    os.chdir(name)


def over_levels(operation, values, missing="ignore"):
    return reduce(operation, list(values), None, 1, missing)


def no_nans(path):
    """Missing results are fill values."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        for name, variable in file.variables.items():
            if np.issubdtype(variable.dtype, np.floating):
                assert not np.isnan(variable[...]).any(), f"{path}: {name} has values that are not numbers"


def against_numpy():
    layouts = [{"decomposition": "block"}, {"decomposition": "map"}, {"decomposition": "whole"}, {"decomposition": "block", "halo": 2},
               {"decomposition": "block", "sections": 1}]
    for number, layout in enumerate(layouts):
        fresh(f"numpy{number}")
        options = {"last": 8, "lev": 5, "rich": 1, **layout}
        fields, times = Fields(**options), Times(**options)
        derived = "\n".join(f"  {field}_{name}: {name}({field} over lev)" for field in ("toce", "e3t") for name in OPERATIONS)
        listed = ", ".join(f"{field}_{name}" for field in ("toce", "e3t") for name in OPERATIONS)
        run(f"""
defaults: {{type: float64}}
fields:
{derived}
  heat: sum(toce*e3t over lev) / sum(e3t over lev)
  mean_t: sum(toce*e3t over lev) / sum(e3t + 0*toce over lev)
  anomaly: tas - mean(e3t over lev)
  bands: sum(band_flux over longwave_band)
  warmest: mean(max(toce over lev), 12h)
  column: mean(mean(toce) over lev)
  ratio: mean(toce) / mean(e3t)
  flux: mean(sum(band_flux over longwave_band), 12h)
grids:
  low: {{index: {{lev: [1, 3]}}}}
  corner: {{index: {{lev: [0, 1], lat: [1, 4], lon: [2, 5]}}, reverse: [lat]}}
files:
  steps: {{every: 1ts, instant: [{listed}, heat, mean_t, anomaly, bands]}}
  poison: {{every: 1ts, missing: poison, instant: [toce_mean, toce_min]}}
  half: {{every: 1ts, missing: 0.5, instant: [toce_mean, toce_max]}}
  low: {{every: 1ts, instant: [toce_mean, tas], grid: low}}
  corner: {{every: 1ts, instant: [e3t_sum, toce_max], grid: corner}}
  day: {{every: 1d, mean: [toce_max, heat]}}
  halves: {{every: 12h, write: [warmest, column, ratio, flux]}}
""", ranks=1 + number % 4, servers=1 + number % 2, **options)
        steps = range(1, times.last + 1)
        value = lambda name: np.array([fields.value(name, n) for n in steps])
        toce, e3t = value("toce"), value("e3t")
        for name in OPERATIONS:
            exact = name != "stddev"
            check("steps.nc", f"toce_{name}", np.array([over_levels(name, x) for x in toce]), exact)
            check("steps.nc", f"e3t_{name}", np.array([over_levels(name, x) for x in e3t]), exact)
        heat = np.array([over_levels("sum", a * b) / over_levels("sum", b) for a, b in zip(toce, e3t)])
        check("steps.nc", "heat", heat)
        weights = np.where(np.isnan(toce), np.nan, e3t)
        check("steps.nc", "mean_t", np.array([over_levels("sum", a * w) / over_levels("sum", w) for a, w in zip(toce, weights)]))
        check("steps.nc", "anomaly", value("tas") - np.array([over_levels("mean", x) for x in e3t]))
        check("steps.nc", "bands", value("band_flux").sum(axis=1))
        for policy, file, names in (("poison", "poison", ("mean", "min")), ("0.5", "half", ("mean", "max"))):
            for name in names:
                check(f"{file}.nc", f"toce_{name}", np.array([over_levels(name, x, policy) for x in toce]))
        check("corner.nc", "e3t_sum", e3t[:, 0:2, 4:0:-1, 2:6].sum(axis=1))
        check("corner.nc", "toce_max", np.array([over_levels("max", x) for x in toce[:, 0:2, 4:0:-1, 2:6]]))
        check("low.nc", "toce_mean", np.array([over_levels("mean", x) for x in toce[:, 1:4]]))
        daily = Expected(times, fields, "1d")
        warm = np.array([over_levels("max", x) for x in toce])
        check("day.nc", "toce_max", np.array([reduce("mean", [warm[n - 1] for n in s], None, 1) for _, _, s in daily.records()]))
        check("day.nc", "heat", np.array([reduce("mean", [heat[n - 1] for n in s], None, 1) for _, _, s in daily.records()]))
        halves = Expected(times, fields, "12h").records()
        check("halves.nc", "warmest", np.array([reduce("mean", [warm[n - 1] for n in s], None, 1) for _, _, s in halves]))
        column = [over_levels("mean", reduce("mean", [toce[n - 1] for n in s], None, 1)) for _, _, s in halves]
        check("halves.nc", "column", np.array(column))
        means = [[reduce("mean", [x[n - 1] for n in s], None, 1) for x in (toce, e3t)] for _, _, s in halves]
        check("halves.nc", "ratio", np.array([a / b for a, b in means]))
        for file in ("steps", "poison", "half", "corner", "day", "halves", "low"):
            no_nans(f"{file}.nc")
    with netCDF4.Dataset("steps.nc") as file:
        assert file["toce_mean"].dimensions == ("time", "lat", "lon") and file["bands"].dimensions == ("time",)
        assert file["toce_mean"].cell_methods.endswith(": mean time: point"), file["toce_mean"].cell_methods
        assert "lev" not in file.dimensions and "lev" not in file.variables
        # CF has no name for a dimension without a standard name that the file does not have.
        assert file["bands"].cell_methods == "time: point", file["bands"].cell_methods
    with netCDF4.Dataset("halves.nc") as file:
        assert file["flux"].cell_methods == "time: mean", file["flux"].cell_methods
    with netCDF4.Dataset("day.nc") as file:
        assert file["toce_max"].cell_methods.endswith(": maximum time: mean"), file["toce_max"].cell_methods


def mistakes():
    for expression, text in (("mean(tas over lev)", "reduces over 'lev', but its values have the dimensions (lat, lon)"),
                             ("mean(toce over levs)", "did you mean \"lev\""),
                             ("toce - mean(toce over lev)", "must lie on one grid"),
                             ("rate(toce over lev)", "reduction over time only")):
        fresh("mistakes")
        said = run(f"fields:\n  x: {expression}\nfiles:\n  f: {{every: 1d, instant: [x]}}\n", expect=1)
        assert text in said and "output.yaml:2:" in said, f"{expression}: {said}"


os.environ.setdefault("SCRATCH_ROOT", os.getcwd())
against_numpy()
mistakes()
