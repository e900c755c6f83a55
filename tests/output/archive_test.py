#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chunks for archives (cmip: on), as netCDF-C reads them."""
import netCDF4
import numpy as np

from lib_described import Fields, Times, check, run

LEAST = 4 << 20


def chunks(path):
    with netCDF4.Dataset(path) as file:
        return {name: variable.chunking() for name, variable in file.variables.items()}


def size_of(lengths):
    return int(np.prod(lengths)) * 4


# A record of 3.1 MiB, one of 6.2 MiB in two levels, and small ones; months of 28 to 31 days, and
# one file without split.
options = {"step": "1d", "start": "2001-01-20", "last": 50, "lat": 640, "lon": 1280, "lev": 2}
run("""
defaults: {cmip: on, type: float32}
files:
  small: {every: 1d, split: 1mo, mean: [tas], name: "{file}_{start}"}
  large: {every: 20d, mean: [toce], align: start}
  ten: {every: 10d, split: 3 records, mean: [tas, co2], name: "{file}_{part}", align: start}
  own: {every: 10d, mean: [tas: {chunk: [1, 320, 640]}], align: start}
""".replace("20d", "20ts").replace("10d", "10ts"), ranks=2, **options)
fields = Fields(**options)
for month in ("2001-01", "2001-02", "2001-03"):
    found = chunks(f"small_{month}.nc")
    assert found["time"] == [31] and found["time_bnds"] == [31, 2], found
    assert found["tas"] == [2, 640, 1280] and size_of(found["tas"]) >= LEAST, found
large = chunks("large.nc")
assert large["toce"] == [1, 1, 640, 1280], large
assert large["time"] == [512], large
ten = chunks("ten_1.nc")
assert ten["time"] == [3] and ten["tas"][0] == 2 and ten["co2"] == [3], ten
assert chunks("own.nc")["tas"] == [1, 320, 640], chunks("own.nc")
# Contents do not depend on chunks.
check("small_2001-02.nc", "tas", np.array([fields.value("tas", n) for n in range(13, 41)]))
said = run("files:\n  f: {every: 1d, mean: [tas], cmip: on, store: cdf5}\n", expect=1)
assert "output.yaml:2:" in said and "store: netcdf4" in said, said
# Sizes are those of the whole variable where that is smaller.
run("files:\n  tiny: {every: 1d, split: 5 records, cmip: on, mean: [tas], name: \"{file}_{part}\"}\n", last=40)
assert chunks("tiny_1.nc")["tas"] == [5, 6, 8], chunks("tiny_1.nc")
