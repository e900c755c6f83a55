#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Statistics of integer fields have types that hold them: the mean of a mask is a fraction, and a
sum of bytes no byte. An explicit type is obeyed, in model ranks, in servers and over saved
states."""
import glob
import os

import netCDF4
import numpy as np
import xarray

from lib_described import Expected, Fields, Times, run
from lib_jobs import inside

FIELDS = ("mask", "level", "small", "count", "large")
OPERATIONS = ("mean", "sum", "min", "max", "range", "stddev", "rate", "difference")
OWN = {"mask": "i1", "level": "u1", "small": "i2", "count": "i4", "large": "i8"}
OPTIONS = {"integers": 1, "last": 8}


def type_of(field, operation, wide="i8"):
    small = field in ("mask", "level", "small")
    if operation in ("mean", "stddev", "rate"):
        return "f4" if small else "f8"
    if operation == "sum" and field != "large":
        return wide
    return "i4" if operation in ("range", "difference") and small else OWN[field]


def same(path, name, expected, dtype):
    """Readers see the values, in this type, and missing ones as NaN."""
    with netCDF4.Dataset(path) as file:
        assert file[name].dtype == dtype, f"{path}: {name}: {file[name].dtype}, expected {dtype}"
        found = np.ma.asarray(file[name][...]).astype("f8").filled(np.nan)
    with xarray.open_dataset(path) as file:
        assert np.array_equal(file[name].values.astype("f8"), found, equal_nan=True), name
    exact = np.dtype(dtype).kind in "iu"
    np.testing.assert_allclose(found, np.rint(expected) if exact else expected, rtol=0 if exact else 1e-6, err_msg=f"{path}: {name}")


def described(keys="", fields=FIELDS, operations=OPERATIONS, entry="{0}: {0}_{1}"):
    lists = [f"{operation}: [{', '.join(entry.format(field, operation) for field in fields)}]" for operation in operations]
    return f"files:\n  day: {{every: 1d, {keys}{', '.join(lists)}}}\n"


def check(path, fields, operations, types):
    expected = Expected(Times(**OPTIONS), Fields(), "1d")
    for field in fields:
        for operation in operations:
            same(path, f"{field}_{operation}", expected.statistic(operation, field), types(field, operation))


def defaults():
    for store, fields, wide, options in (("netcdf4", FIELDS, "i8", {}), ("cdf5", FIELDS, "i8", {"decomposition": "map", "ranks": 3}),
                                         ("cdf2", ("mask", "small", "count"), "f8", {"servers": 2})):
        for setting in (False, True):  # of the description, and of the session
            keys = "" if setting else f"store: {store}, "
            inside(f"{store}{setting}", lambda: (
                run(described(keys, fields), **OPTIONS, **options, settings=[f"--afterbay.collections.*.store={store}"] if setting else []),
                check("day.nc", fields, OPERATIONS, lambda field, operation: type_of(field, operation, wide))))
    with xarray.open_dataset("netcdf4False/day.nc") as file:
        assert ((file["mask_mean"] % 1 != 0) & (file["mask_mean"] > 0)).any(), "means were rounded"


def explicit():
    """`own` and types are obeyed, and instants keep their type."""
    def same_all():
        run(described("type: own, ", ("mask", "count"), ("mean", "stddev", "min")) + '''
  file: {every: 1d, type: float64, mean: [mask, small: {type: own}], sum: [mask: {name: s, type: int16}]}
  snap: {every: 1d, instant: [mask, count], max: [level]}
''', **OPTIONS)
        expected = Expected(Times(**OPTIONS), Fields(), "1d")
        check("day.nc", ("mask", "count"), ("mean", "stddev", "min"), lambda field, _: OWN[field])
        same("file.nc", "mask", expected.statistic("mean", "mask"), "f8")
        same("file.nc", "small", expected.statistic("mean", "small"), "i2")
        same("file.nc", "s", expected.statistic("sum", "mask"), "i2")
        for name in ("mask", "count"):
            same("snap.nc", name, expected.instants(name)[1], OWN[name])
        same("snap.nc", "level", expected.statistic("max", "level"), "u1")
    inside("explicit", same_all)


def converted():
    """Conversions, packing, expressions and folded periods."""
    def same_all():
        run('''
fields: {share: mask/3, twice: count*2}
files:
  day: {every: 1d, max: [level: {name: high, units: km}, mask: {name: quarter, multiply: 0.25, attributes: {units: "4"}}],
        min: [level: low, mask: {name: whole, units: "1"}], mean: [share, twice, mask: {pack: int16, pack_range: [0, 4]}]}
  hour: {every: 1d, cycle: 12h, cycle_step: 6h, mean: [count], sum: [mask]}
''', **OPTIONS)
        expected = Expected(Times(**OPTIONS), Fields(), "1d")
        same("day.nc", "high", expected.statistic("max", "level") / 1000, "f4")
        same("day.nc", "quarter", expected.statistic("max", "mask") / 4, "f4")
        same("day.nc", "low", expected.statistic("min", "level"), "u1")
        same("day.nc", "whole", expected.statistic("min", "mask"), "i1")
        same("day.nc", "share", expected.statistic("mean", "mask") / 3, "f8")
        same("day.nc", "twice", expected.statistic("mean", "count") * 2, "f8")
        with netCDF4.Dataset("day.nc") as file:
            assert file["mask"].dtype == "i2" and file["mask"].scale_factor > 0
            np.testing.assert_allclose(np.ma.asarray(file["mask"][...]).filled(np.nan), expected.statistic("mean", "mask"), atol=1e-4)
        parts = [[[4 * d + 1, 4 * d + 3], [4 * d + 2, 4 * d + 4]] for d in range(2)]
        values = lambda name: np.array([[Fields().value(name, n) for n in part] for day in parts for part in day])
        same("hour.nc", "count", values("count").mean(axis=1), "f8")
        mask = values("mask")
        same("hour.nc", "mask", np.where(np.isnan(mask).all(axis=1), np.nan, np.nansum(mask, axis=1)), "i8")
    inside("converted", same_all)


def packed():
    """Values that the model has packed stay integers, which readers unpack."""
    def same_all():
        run("files: {day: {every: 1d, mean: [count], stddev: [count]}}\n", last=8, packed="0.5")
        numbers = np.array([[10 + 0.5 * Fields().value("count", n) for n in day] for day in (range(1, 5), range(5, 9))])
        with netCDF4.Dataset("day.nc") as file:
            for name, wanted in (("count", numbers.mean(axis=1)), ("count_stddev", numbers.std(axis=1))):
                assert file[name].dtype == "i4" and file[name].scale_factor == 0.5
                np.testing.assert_allclose(file[name][...], wanted, atol=0.2501)
    inside("packed", same_all)


def servers():
    """Servers get samples in the type of the variable; the results have the same bits."""
    fields, operations = ("mask", "level", "small", "count"), ("mean", "sum", "stddev", "rate")
    longs = "count: {name: count_%s, type: %s}"
    more = ", max: [count: count_max], difference: [count: count_difference]"

    def text(who):
        keys = f"statistics: {who}, missing: MISSING, "
        return (described(keys, fields, operations).replace("rate: [", f"rate: [{longs % ('long', 'int64')}, ")
                .replace("mean: [", f"mean: [{longs % ('own', 'own')}, ").rstrip()[:-1] + more + "}\n")

    def contents(folder):
        with netCDF4.Dataset(f"{folder}/day.nc") as file:
            file.set_auto_mask(False)
            return {name: (str(variable.dtype), variable[...].tobytes()) for name, variable in file.variables.items()}

    def jobs(first, second, missing):
        run(text(first).replace("MISSING", missing), integers=1, last=6, finalize_to="state.nc", ranks=3)
        run(text(second).replace("MISSING", missing), integers=1, first=7, last=12, resume="state.nc", ranks=2, servers=2)

    for missing in ("ignore", "poison", "0.5"):
        for who in ("model", "servers"):
            inside(who, lambda: run(text(who).replace("MISSING", missing), integers=1, last=12))
        model = contents("model")
        assert model == contents("servers"), [name for name in model if model[name] != contents("servers")[name]]
        for first, second in (("model", "servers"), ("servers", "model"), ("servers", "servers")):
            inside("jobs", lambda: jobs(first, second, missing))
            assert model == contents("jobs"), (first, second, [name for name in model if model[name] != contents("jobs")[name]])
    for entry in ("min: [mask]", "range: [small]", "max: [level: {type: int32}]"):
        def refused(entry=entry):
            said = run(f"files: {{day: {{every: 1d, statistics: servers, {entry}}}}}\n", expect=1, **OPTIONS)
            assert "servers cannot compute" in said, said
            assert not glob.glob("*.nc"), os.listdir(".")
        inside("refused", refused)


for case in (defaults, explicit, converted, packed, servers):
    case()
    print(f"{case.__name__}: as expected", flush=True)
