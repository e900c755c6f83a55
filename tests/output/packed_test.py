#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packed integers in described output, and the attributes that say which values occur, as
netCDF4-python and xarray read them: types, missing values, valid ranges, accuracy."""
import glob
import os
import re

import netCDF4
import numpy as np
import xarray

from lib_described import Fields, run

FIELDS = Fields()
DAYS = [range(1, 5), range(5, 9)]


def values(name):
    return np.array([[FIELDS.value(name, n) for n in day] for day in DAYS])


def clean():
    for path in glob.glob("*.nc*"):
        os.remove(path)


def raw(path, name):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        variable = file[name]
        return variable[...], {key: variable.getncattr(key) for key in variable.ncattrs()}


def check_packed(path, name, expected, dtype, error=None):
    """What readers unpack is within half a step, or `error`, and missing where it must be."""
    integers, attributes = raw(path, name)
    fill = np.iinfo(dtype).min
    assert integers.dtype == dtype, f"{name}: {integers.dtype}"
    scale, offset = attributes["scale_factor"], attributes["add_offset"]
    assert scale.dtype == offset.dtype == np.float64 and attributes["_FillValue"] == fill, attributes
    assert attributes["_FillValue"].dtype == dtype and "missing_value" not in attributes
    assert np.array_equal(integers == fill, np.isnan(expected)), f"{name}: missing values"
    bound = max(scale / 2 * (1 + 1e-9), error or 0)
    if dtype == "i4":  # finer than the float32 that is packed
        bound += 2.0**-24 * np.nanmax(np.abs(expected))
    found = np.where(integers == fill, np.nan, integers * scale + offset)
    assert np.nanmax(np.abs(found - expected)) <= bound, f"{name}: {np.nanmax(np.abs(found - expected))}, {bound}"
    if error:
        assert bound <= error * (1 + 1e-9), f"{name}: steps of {scale} are too large for {error}"
    with xarray.open_dataset(path) as file:
        unpacked = file[name].values
        assert np.array_equal(np.isnan(unpacked), np.isnan(expected)), f"{name}: xarray masks other values"
        # xarray may compute in float32.
        assert np.nanmax(np.abs(unpacked - expected)) <= bound + 1e-6 * np.nanmax(np.abs(expected)), name
    return attributes


def packed():
    for store, ranks, servers in (("netcdf4", 4, 1), ("cdf5", 3, 2), ("cdf2", 2, 1)):
        clean()
        run("""
fields:
  ws: {expression: sqrt(uas^2 + vas^2), units: m s-1}
  toce: {pack: int16, pack_range: [0, 256]}
files:
  p: {every: 1d, STORE mean: [tas: {pack: int16, pack_range: [0, 256]}, ws: {pack: int32, pack_range: [0, 400]}, toce],
      max: [uas: {pack: auto, pack_range: [0, 256], absolute_error: 0.6}], range: [toce: {pack_range: [0, 300]}],
      instant: [vas: {pack: int8, pack_range: [-2, 300]}], once: [orog: {pack: int16, pack_range: [0, 256]}]}
  c: {every: 1d, STORE mean: [tas: {units: degC, pack: int16, pack_range: [-280, 0]}],
      instant: [tas: {name: dekakelvin, multiply: 0.1, pack: int16, pack_range: [0, 26]}]}
""".replace("STORE", f"store: {store},"), ranks=ranks, servers=servers, last=8)
        with np.errstate(invalid="ignore"):
            toce = values("toce")
            n = (~np.isnan(toce)).sum(axis=1)
            mean = np.where(n > 0, np.nansum(toce, axis=1) / np.maximum(n, 1), np.nan)
            high, low = np.where(np.isnan(toce), -np.inf, toce).max(axis=1), np.where(np.isnan(toce), np.inf, toce).min(axis=1)
        tas = check_packed("p.nc", "tas", values("tas").mean(axis=1), "i2")
        assert tas["cell_methods"] == "time: mean" and tas["units"] == "K" and "quantization" not in tas, tas
        check_packed("p.nc", "ws", np.sqrt(values("uas") ** 2 + values("vas") ** 2).mean(axis=1), "i4")
        check_packed("p.nc", "toce", mean, "i2")
        check_packed("p.nc", "uas", values("uas").max(axis=1), "i1", 0.6)
        check_packed("p.nc", "toce_range", np.where(n > 0, high - low, np.nan), "i2")
        check_packed("p.nc", "vas", values("vas")[:, -1], "i1")
        check_packed("p.nc", "orog", FIELDS.value("orog", 0), "i2")
        celsius = check_packed("c.nc", "tas", values("tas").mean(axis=1) - 273.15, "i2")
        assert celsius["units"] == "degC"
        check_packed("c.nc", "dekakelvin", values("tas")[:, -1] / 10, "i2")


def absent():
    """A record without instants has the fill value of the integers."""
    clean()
    run("files: {a: {every: 1d, mean: [tas], instant: [uas: {pack: int16, pack_range: [0, 256]}]}}\n", last=6)
    found = FIELDS.value("uas", 4)
    check_packed("a.nc", "uas", np.array([found, np.full_like(found, np.nan)]), "i2")


def limits():
    """Attributes of the model hold for what the file has; those of the description are taken as
    they are, in the type of the variable."""
    clean()
    run("""
fields: {vas: {multiply: -2, add: 10}}
files:
  own: {every: 1d, mean: [tas], instant: [uas], once: [orog]}
  others: {every: 1d, sum: [tas], range: [tas], stddev: [tas], rate: [tas], difference: [tas]}
  units: {every: 1d, mean: [tas: {units: degC}], instant: [vas, uas: {units: cm s-1, type: float64}]}
  packed: {every: 1d, mean: [tas: {pack: int16, pack_range: [0, 256]}]}
  given: {every: 1d, mean: [tas: {attributes: {valid_range: [0, 300], valid_min: ~}}, e3t: {attributes: {valid_max: 1000, flag_values: [1, 2]}}],
          instant: [count: {type: int32, attributes: {valid_max: 100000.0}}]}
""", last=8, limits=1)
    _, tas = raw("own.nc", "tas")
    assert tas["valid_range"].dtype == np.float32 and tas["valid_range"].tolist() == [-1, 400], tas
    for name in ("tas", "tas_range", "tas_stddev", "tas_rate", "tas_difference"):
        stored, attributes = raw("others.nc", name)
        assert not any(key.startswith("valid") for key in attributes), f"{name}: {attributes}"
        with xarray.open_dataset("others.nc") as file:
            assert not np.isnan(file[name].values).any(), f"{name} has values that readers take for missing ones"
        with netCDF4.Dataset("others.nc") as file:
            assert not np.ma.getmaskarray(file[name][...]).any(), name
        scale = "difference" if name in ("tas_range", "tas_stddev", "tas_difference") else "on_scale"
        assert attributes["units_metadata"] == f"temperature: {scale}", f"{name}: {attributes}"
    _, celsius = raw("units.nc", "tas")
    np.testing.assert_allclose(celsius["valid_range"], [-274.15, 126.85], rtol=1e-6)
    assert celsius["valid_range"].dtype == np.float32
    stored, vas = raw("units.nc", "vas")  # the model says 0 to 300
    assert vas["valid_min"] == -590 and vas["valid_max"] == 10 and stored.min() >= -590, vas
    np.testing.assert_allclose(stored, 10 - 2 * values("vas")[:, -1], rtol=1e-5)
    stored, packing = raw("packed.nc", "tas")
    assert packing["valid_range"].dtype == np.int16, packing
    assert ((stored >= packing["valid_range"][0]) & (stored <= packing["valid_range"][1])).all()
    for path, name in (("own.nc", "tas"), ("units.nc", "tas"), ("units.nc", "vas"), ("units.nc", "uas"), ("packed.nc", "tas"), ("given.nc", "tas")):
        with netCDF4.Dataset(path) as file:
            assert not np.ma.getmaskarray(file[name][...]).any(), f"{path}: {name}: values are taken for missing ones"
    _, given = raw("given.nc", "tas")
    assert given["valid_range"].dtype == np.float32 and given["valid_range"].tolist() == [0, 300]
    _, e3t = raw("given.nc", "e3t")
    assert e3t["valid_max"].dtype == np.float64 and e3t["flag_values"].dtype == np.float64
    _, count = raw("given.nc", "count")
    assert count["valid_max"].dtype == np.int32 and count["valid_max"] == 100000


def refusals():
    """With the place of the variable, before the first step; what is suggested works."""
    def refused(entry, parts, file="", fields=""):
        clean()
        said = run(f"{fields}files:\n  f: {{every: 1d, {file}mean: [{entry}]}}\n", expect=1, last=0)
        for part in parts:
            assert part in said, f"{entry}: expected {part!r} in:\n{said}"
        assert re.search(r"output\.yaml:\d:\d+: ", said) and not glob.glob("*.nc*"), said
        return said

    refused("tas: {pack: int16}", ["output.yaml:2:25", "set pack_range"])
    refused("tas: {pack_range: [0, 1]}", ["pack_range is set", "int16"])
    refused("tas: {pack: int8, pack_range: [0, 256], absolute_error: 0.001}", ["pack it as int32", "absolute_error of 0.507"])
    refused("tas: {pack: int16, pack_range: [0, 256], type: int16}", ["only float32 and float64 can"])
    refused("count: {pack: int16, pack_range: [0, 256], type: own}", ["of type int32 cannot be packed"])
    refused("tas: {pack: int16, pack_range: [256, 0]}", ["two numbers, the smaller one first"])
    refused("tas: {pack: int16, pack_range: [0, 256], bitround: 8}", ["bitround is set", "absolute_error"])
    refused("tas: {pack: int16, pack_range: [0, 256], attributes: {scale_factor: 2.0}}", ["scale_factor", "is packed, which sets it"])
    refused("tas: {attributes: {scale_factor: 0.01}}", ["pack: int16, pack_range: [LOW, HIGH]", "multiply"])
    refused("tas: {pack: 'off', attributes: {scale_factor: 0.01}}", ["pack: int16, pack_range: [LOW, HIGH]", "multiply"])
    refused("tas: {attributes: {add_offset: 273.15}}", ["attribute add_offset"])
    refused("tas", ["attribute scale_factor"], fields="fields: {tas: {attributes: {scale_factor: 0.01}}}\n")
    said = refused("tas: {type: int16, attributes: {scale_factor: 0.01, add_offset: 128}}", ["pack: int16"])
    advice = re.search(r'write "(type: .*?\])"', said).group(1)
    run(f"files:\n  f: {{every: 1d, mean: [tas: {{{advice}}}]}}\n", last=8)
    attributes = check_packed("f.nc", "tas", values("tas").mean(axis=1), "i2")
    assert abs(attributes["scale_factor"] - 0.01) < 1e-6 and abs(attributes["add_offset"] - 128) < 0.01, attributes
    # Values that the integers cannot hold are refused, not clipped.
    clean()
    said = run("files: {f: {every: 1d, mean: [tas: {pack: int16, pack_range: [0, 1]}]}}\n", expect=1, last=8)
    assert "tas" in said and "range" in said and not glob.glob("f.nc"), said


def packed_by_model():
    """Readers unpack every statistic of values that the model packs itself; what they could not
    unpack is refused."""
    clean()
    run("""
defaults: {type: float64}
files:
  f: {every: 1d, mean: [count], max: [count], range: [count], stddev: [count], difference: [count], instant: [count: {name: now, type: int32}]}
""", last=8, packed="0.5")
    numbers = 10 + 0.5 * values("count")
    last = numbers[:, -1]
    expected = {"count": numbers.mean(axis=1), "count_max": numbers.max(axis=1), "count_range": np.ptp(numbers, axis=1),
                "count_stddev": numbers.std(axis=1), "count_difference": np.stack([last[0] - numbers[0, 0], last[1] - last[0]]), "now": last}
    for reader in (netCDF4.Dataset, xarray.open_dataset):
        with reader("f.nc") as file:
            for name, wanted in expected.items():
                np.testing.assert_allclose(np.asarray(file[name][...]), wanted, rtol=1e-12, atol=1e-9, err_msg=f"{reader}: {name}")
    for entry, text, packed_ in (("sum: [count]", "a sum would be unpacked", "0.5"), ("rate: [count]", "a sum would be unpacked", "0.5"),
                                 ("mean: [count: {units: '100'}]", "units, multiply and add would change", "0.5"),
                                 ("mean: [count: {multiply: 2}]", "units, multiply and add would change", "0.5"),
                                 ("max: [count]", "a negative factor", "-0.5"), ("stddev: [count]", "a negative factor", "-0.5")):
        clean()
        said = run(f"files:\n  f: {{every: 1d, {entry}}}\n", expect=1, last=1, packed=packed_)
        assert text in said and re.search(r"output\.yaml:2:\d+: 'count' has packed values", said) and not glob.glob("*.nc*"), said


for case in (packed, absent, limits, packed_by_model, refusals):
    case()
    print(f"{case.__name__}: as expected", flush=True)
