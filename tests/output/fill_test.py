#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Results that happen to equal the fill value of their field, such as the difference 0 of a field
whose fill value is 0, are values for readers. Fill values that no result reaches are kept."""
import netCDF4
import numpy as np
import xarray

from lib_described import run
from lib_jobs import inside

DEFAULT = np.float32(9.969209968386869e36)
OPERATIONS = ("mean", "sum", "min", "max", "range", "stddev", "rate", "difference")
COMPUTED = ("sum", "range", "stddev", "rate", "difference", "mean")
LISTS = ", ".join(f"{operation}: [orog: {{name: {operation}}}]" for operation in OPERATIONS)


def fills(path):
    with netCDF4.Dataset(path) as file:
        return {name: variable._FillValue for name, variable in file.variables.items() if "_FillValue" in variable.ncattrs()}


def zero():
    """orog is the same in all steps: range, deviation and difference are 0."""
    for who, servers in (("model", 1), ("servers", 2), ("model", 0)):
        settings = [] if servers else ["--afterbay.topology=inline"]
        run(f"""files:
  day: {{every: 1d, existing: replace, statistics: {who}, {LISTS}}}
  snap: {{every: 1d, existing: replace, instant: [orog, orog: {{name: converted, multiply: 2}}]}}
""", last=8, fill_of="orog:0", servers=servers, settings=settings)
        with xarray.open_dataset("day.nc") as file:
            for name in ("range", "stddev", "difference"):
                assert (file[name].values == 0).all(), f"{who}: {name}: valid zeros are missing: {file[name].values.ravel()[:4]}"
            assert not np.isnan(file["mean"].values).any()
        assert fills("day.nc") == {name: DEFAULT if name in COMPUTED else 0 for name in OPERATIONS}, fills("day.nc")
        assert fills("snap.nc") == {"orog": 0, "converted": DEFAULT}, fills("snap.nc")


def large():
    """What no result reaches marks missing values as in the model."""
    run(f"files: {{day: {{every: 1d, {LISTS}}}}}\n", last=8, fill_of="orog:1e20")
    assert set(fills("day.nc").values()) == {np.float32(1e20)}, fills("day.nc")
    # The values of an expression that are missing where an operand is.
    run("fields: {z: tas - tas}\nfiles: {day: {every: 1d, existing: replace, mean: [z], instant: [z: i]}}\n", last=8, fill_of="tas:0")
    with xarray.open_dataset("day.nc") as file:
        assert (file.z.values == 0).all() and (file.i.values == 0).all(), file


for task in (zero, large):
    inside(task.__name__, task)
    print(f"{task.__name__}: good", flush=True)
