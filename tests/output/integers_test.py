#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Converted and derived values in variables of integers: rounded to the nearest, with exact fill
values of 64 bits. Values of the model are converted as puts are."""
import netCDF4
import numpy as np

from lib_described import Expected, Fields, Times, run

DESCRIPTION = """
defaults: {existing: replace}
fields:
  third: tas/3
  deep: toce*2
files:
  snap: {every: 6h, instant: [tas: {name: celsius, units: degC, type: int32}, tas: {name: cut, type: int32}, third: {type: int16},
                              deep: {type: int64}, deep: {name: positive, type: uint64}, toce: {name: kelvin, units: K, type: int64}]}
  day: {every: 1d, mean: [tas: {units: degC, type: int32}, deep: {type: int64}],
                   max: [tas: {name: high, units: degC, type: int16}, deep: {name: deepest, type: int64},
                         tas: {name: highest, type: int16}]}
  fx: {once: [deep: {name: first, type: int64}, tas: {name: celsius, units: degC, type: int32}]}
"""
FILLS = {"i8": -9223372036854775806, "u8": 18446744073709551614}


def same(path, name, expected):
    """`expected`: with NaN for missing values."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        found, missing = file[name][...], np.isnan(expected)
        code = file[name].dtype.str[1:]
        if missing.any():
            assert (found[missing] == FILLS[code]).all(), f"{path}: {name}: {found[missing][:4]}"
            assert file[name]._FillValue == FILLS[code]
        differ = found[~missing] != expected[~missing].astype(code)
        assert not differ.any(), f"{path}: {name}: {found[~missing][differ][:4]}, expected {expected[~missing][differ][:4]}"


for options in ({"ranks": 3}, {"ranks": 2, "decomposition": "map"}):
    run(DESCRIPTION, last=8, **options)
    fields, times = Fields(), Times(last=8)
    tas, toce = (np.array([fields.value(name, n) for n in range(1, 9)]) for name in ("tas", "toce"))
    assert np.isnan(toce).any()
    for name, expected in {"celsius": np.rint(tas - 273.15), "cut": np.trunc(tas), "third": np.rint(tas / 3),
                           "deep": np.rint(2 * toce), "positive": np.rint(2 * toce)}.items():
        same("snap.nc", name, expected)
    same("snap.nc", "kelvin", np.rint(toce + 273.15))
    day = Expected(times, fields, "1d")
    same("day.nc", "tas", np.rint(day.statistic("mean", "tas") - 273.15))
    same("day.nc", "high", np.rint(day.statistic("max", "tas") - 273.15))
    same("day.nc", "deep", np.rint(2 * day.statistic("mean", "toce")))
    same("day.nc", "deepest", np.rint(2 * day.statistic("max", "toce")))
    # The largest value is one of those that the model has put.
    same("day.nc", "highest", np.trunc(day.statistic("max", "tas")))
    same("fx.nc", "first", np.rint(2 * toce[0]))
    same("fx.nc", "celsius", np.rint(tas[0] - 273.15))
said = run("fields: {huge: tas*1e30}\nfiles: {f: {every: 6h, existing: replace, instant: [huge: {type: int64}]}}\n", last=4, expect=1)
assert "'huge' of the file \"f\":" in said and "do not fit into int64" in said, said
print("computed values in integers are rounded")
