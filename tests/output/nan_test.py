#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""NaNs in a field without a fill value are values: they make all statistics that they enter NaN,
and are written as NaN, also if units are converted. In derived fields NaN is missing."""
import netCDF4
import numpy as np

from lib_described import Expected, Fields, Times, mixed, NUMBERS, run

DESCRIPTION = """
fields: {twice: {expression: tas * 2, units: K}}
files:
  day: {every: 1d, mean: [tas], sum: [tas: s], min: [tas: low], max: [tas: high], range: [tas: r], stddev: [tas: d], rate: [tas: q],
        difference: [tas: change]}
  celsius: {every: 1d, mean: [tas: {units: degC}], max: [tas: {units: degC, name: high}]}
  snap: {every: 6h, instant: [tas, tas: {name: celsius, units: degC}]}
  derived: {every: 1d, mean: [twice], max: [twice: high]}
"""
STATISTICS = {"tas": "mean", "s": "sum", "low": "min", "high": "max", "r": "range", "d": "stddev", "q": "rate", "change": "difference"}


class WithNaN(Fields):
    def value(self, name, n):
        values = super().value(name, n)
        if name != "tas":
            return values
        return np.where(mixed(NUMBERS[name], n, np.arange(values.size).reshape(values.shape)) % np.uint64(7) == 0, np.nan, values)


def same(path, name, expected, written="nan"):
    """`written`: "nan", or "fill" for missing values."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        found, fill = file[name][...], getattr(file[name], "_FillValue", netCDF4.default_fillvals["f4"])
        where = np.isnan(expected)
        assert where.any() and not where.all(), f"{path}: {name}: NaNs in {where.mean()} of the values: the test needs some"
        marked = np.isnan(found) if written == "nan" else found == fill
        assert np.array_equal(marked, where), f"{path}: {name}: {marked.sum()} values are {written}, expected {where.sum()}"
        np.testing.assert_allclose(found[~where], expected[~where].astype("f4"), rtol=1e-6, err_msg=f"{path}: {name}")


for options in ({"ranks": 3}, {"ranks": 2, "decomposition": "map"}):
    run(DESCRIPTION.replace("files:\n", "defaults: {existing: replace}\nfiles:\n"), nan=1, last=12, **options)
    times, fields = Times(last=12), WithNaN()
    day = Expected(times, fields, "1d", missing="poison")
    for name, operation in STATISTICS.items():
        same("day.nc", name, day.statistic(operation, "tas"))
    same("celsius.nc", "tas", day.statistic("mean", "tas") - 273.15)
    same("celsius.nc", "high", day.statistic("max", "tas") - 273.15)
    steps = np.stack([fields.value("tas", n) for n in range(1, 13)])
    same("snap.nc", "tas", steps)
    same("snap.nc", "celsius", steps - 273.15)
    left = Expected(times, fields, "1d", missing="ignore")
    with netCDF4.Dataset("derived.nc") as file:
        for name, operation in {"twice": "mean", "high": "max"}.items():
            np.testing.assert_allclose(np.ma.filled(file[name][...], np.nan), 2 * left.statistic(operation, "tas"), rtol=1e-6)
print("NaNs of fields without fill values are values, those of derived fields are missing")
