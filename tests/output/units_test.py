#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Values of described output are in the units that the file says, or the description is refused:
units of derived fields convert, nothing converts twice, and attributes do not contradict values."""
import glob
import os
import re

import netCDF4
import numpy as np
import xarray

from lib_described import Fields, run

DAYS = [range(1, 5), range(5, 9)]
TAS, UAS = (np.array([[Fields().value(name, n) for n in day] for day in DAYS]) for name in ("tas", "uas"))
DERIVED = """
fields:
  tc: {expression: "tas - 273.15", units: degC}
  tcx: {expression: "mean(max(tc, 12h))", units: K}
  acc: {expression: uas*1800, units: m}
  far: {expression: acc, units: km}
  anomaly: {expression: tas - 100, units: degC, attributes: {units: Celsius}}
  spread: {expression: "range(tas)", units: degF}
"""


def clean():
    for path in glob.glob("*.nc*"):
        os.remove(path)


def same(name, expected, units):
    with netCDF4.Dataset("u.nc") as file, xarray.open_dataset("u.nc", decode_timedelta=False) as decoded:
        assert file[name].units == units, f"{name}: {file[name].units}, expected {units}"
        for found in (file[name][...], decoded[name].values):
            np.testing.assert_allclose(found, expected, rtol=2e-6, err_msg=name)


def derived():
    """They had been labelled, and not converted."""
    for who in ("model", "servers"):
        clean()
        run(DERIVED + f"""
files:
  u: {{every: 1d, expressions: {who}, mean: [tc, anomaly], instant: [tc: {{name: tk, units: K}}, far, acc: {{name: miles, units: mile}}]}}
""", last=8)
        same("tc", TAS.mean(axis=1) - 273.15, "degC")
        same("tk", TAS[:, -1], "K")
        same("far", UAS[:, -1] * 1.8, "km")
        same("miles", UAS[:, -1] * 1800 / 1609.344, "mile")
        same("anomaly", TAS.mean(axis=1) - 100, "Celsius")
    clean()
    run(DERIVED + """
files:
  u: {every: 1d, mean: [tc: {units: K}], write: [tcx, spread], sum: [acc: s], range: [tc: {name: width, units: K}],
      rate: [acc: r, acc: {name: per_day, units: km day-1}], max: [far: {name: farthest, units: m}]}
""", last=8)
    same("tc", TAS.mean(axis=1), "K")
    halves = TAS.reshape((2, 2, 2) + TAS.shape[2:]).max(axis=2).mean(axis=1)
    same("tcx", halves, "K")
    same("spread", np.ptp(TAS, axis=1) * 1.8, "degF")
    same("s", UAS.sum(axis=1) * 1800, "m")
    same("r", UAS.sum(axis=1) * 1800 / 86400, "m s-1")
    same("per_day", UAS.sum(axis=1) * 1.8, "km day-1")
    same("width", np.ptp(TAS, axis=1), "K")
    same("farthest", UAS.max(axis=1) * 1800, "m")


def labels():
    """What `multiply` and `add` change gets its units from attributes."""
    clean()
    run("""
fields: {vas: {attributes: {units: metre / second}}}
files:
  u: {every: 1d, mean: [tas: {add: -273.15, attributes: {units: degC}}, uas: {units: m s-1, multiply: 2}, vas: {units: m s-1}],
      instant: [tas: {name: cm, multiply: 100, attributes: {units: cK}}, e3t: {units: cm, attributes: {units: 0.01 m}}]}
""", last=8)
    same("tas", TAS.mean(axis=1) - 273.15, "degC")
    same("cm", TAS[:, -1] * 100, "cK")
    same("uas", UAS.mean(axis=1) * 2, "m s-1")
    same("e3t", np.array([Fields().value("e3t", day[-1]) * 100 for day in DAYS]), "0.01 m")
    # Units that nobody knows cannot be compared, and a model may give none.
    clean()
    run("files: {u: {every: 1d, mean: [tas: {attributes: {units: K}}]}}\n", last=8, units_of="tas:kelvins_of_ours")
    same("tas", TAS.mean(axis=1), "K")


def refusals():
    twice = ['has "units: degC", which converts its values from K', "once more", 'attributes: {units: degC}']
    other = ['the attribute units of', "but the values that are written are in"]
    for fields, entry, parts, settings in (
            ("", "mean: [tas: {units: degC, multiply: 0.01}]", [*twice, '"multiply: 0.01"'], []),
            ("fields: {tas: {add: 3}}\n", "mean: [tas: {units: degC}]", [*twice, '"add: 3"'], []),
            ("", "mean: [tas: {units: degC}]", [*twice, '"multiply: 2"'], ["--afterbay.collections.f.variables.tas.multiply=2"]),
            ("", "mean: [tas: {attributes: {units: degC}}]", [*other, '"K"', 'write "units: degC"'], []),
            ("", "mean: [tas: {units: degC, attributes: {units: K}}]", [*other, '"degC"', 'write "units: K"'], []),
            ("", "mean: [tas: {attributes: {units: m}}]", [*other, "only values that multiply and add change"], []),
            ("", "mean: [tas: {attributes: {units: 1}}]", ["is a number"], []),
            ("fields: {tas: {add: -273.15, attributes: {units: degC}}}\n", "max: [tas: {add: 0}]", other, []),
            ("fields: {acc: {expression: uas*1800, attributes: {units: m}}}\n", "rate: [acc]", [*other, '"m s-1"'], []),
            ("fields: {acc: {expression: uas*1800, units: m}}\n", "mean: [acc: {units: K}]", ["units of 'acc'", "different quantities"], []),
            ("fields: {acc: {expression: uas*1800, units: m}}\n", "mean: [acc: {units: km, multiply: 2}]", ["once more"], []),
            ("fields: {tc: {expression: tas - 273.15, units: degC}}\n", "sum: [tc: {units: K}]", ["another zero"], []),
            ("fields: {warm: {expression: tas, attributes: {units: degC}}}\n", "mean: [warm]", other, [])):
        clean()
        said = run(f"{fields}files:\n  f: {{every: 1d, {entry}}}\n", expect=1, last=4, settings=settings)
        for part in parts:
            assert part in said, f"{entry}: expected {part!r} in:\n{said}"
        assert re.search(r"output\.yaml:\d+:\d+: ", said) and not glob.glob("*.nc*"), said


for case in (derived, labels, refusals):
    case()
    print(f"{case.__name__}: as expected", flush=True)
