#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reductions over dimensions of grids: against numpy, with sums by math.fsum, and against CDO; the
same bits for any decomposition, number of ranks and servers, and format."""
import math
import os
import shutil
import subprocess

import netCDF4
import numpy as np

from lib_described import Expected, Fields, Times, check, mixed, read, reduce, run

OPERATIONS = ("mean", "sum", "min", "max", "range", "stddev")
LAYOUTS = [{"decomposition": "tiles", "ranks": 4, "servers": 1}, {"decomposition": "block", "ranks": 3, "servers": 2},
           {"decomposition": "map", "ranks": 4, "servers": 1}, {"decomposition": "whole", "ranks": 2, "servers": 1},
           {"decomposition": "block", "halo": 2, "ranks": 1, "servers": 1}, {"decomposition": "map", "ranks": 7, "servers": 1},
           {"decomposition": "tiles", "ranks": 6, "servers": 0}, {"decomposition": "map", "ranks": 4, "servers": 1},
           {"decomposition": "map", "ranks": 4, "servers": 0}]
SETTINGS = [(), ("--afterbay.placement=slab",), ("--afterbay.collections.*.store=cdf5",), (), ("--afterbay.transport=mpi",), (), (),
            ("--afterbay.topology=tiered", "--afterbay.nodes=0,0,0,0,1"), ("--afterbay.topology=inline", "--afterbay.inline.mode=thread")]


def fresh(name):
    os.chdir(os.environ["SCRATCH_ROOT"])
    shutil.rmtree(name, ignore_errors=True)
    os.makedirs(name)
    os.chdir(name)


def fsum(values):
    return math.fsum(values) + 0.0


def over(operation, values, axes, missing="ignore"):
    """A reduction over several axes; sums are rounded once."""
    kept = [a for a in range(values.ndim) if a not in axes]
    flat = np.transpose(values, kept + list(axes)).reshape([values.shape[a] for a in kept] + [-1])
    result = np.full(flat.shape[:-1], np.nan)
    for place in np.ndindex(result.shape):
        row = flat[place]
        valid = row[~np.isnan(row)]
        least = {"ignore": 1, "poison": len(row)}.get(missing) or float(missing) * len(row)
        if len(valid) < max(least, 1):
            continue
        if operation == "mean":
            result[place] = fsum(valid) / len(valid)
        elif operation == "sum":
            result[place] = fsum(valid)
        elif operation == "stddev":
            result[place] = np.std(valid)
        else:
            low, high = valid.min(), valid.max()
            result[place] = {"min": low, "max": high, "range": high - low}[operation]
    return result


def derived(over_what, fields):
    return "\n".join(f"  {field}_{name}: {name}({field} over {over_what})" for field in fields for name in OPERATIONS)


DESCRIPTION = f"""
defaults: {{type: float64}}
fields:
  x: tas/7 - uas*1e-9
  t3: toce/3
{derived("lon", ("x", "t3"))}
  g: mean(x over lat, lon)
  g3: mean(t3 over lat, lon)
  all: sum(t3 over lev, lat, lon)
  profile: mean(t3 over lev, lon)
  two: mean(mean(t3 over lev) over lon)
  weighted: sum(x*orog over lat, lon) / sum(orog over lat, lon)
  anomaly: x_mean - x_min*2
  warmest: mean(max(x over lat, lon), 12h)
  later: mean(mean(x) over lon)
  extreme: mean(max(x, 12h) over lat, lon)
  counted: sum(count over lat, lon)
  of_both: mean(mean(t3 over lon) over lev)
grids:
  part: {{index: {{lat: [1, 4], lon: [2, 5]}}, reverse: [lat]}}
files:
  steps: {{every: 1ts, instant: [{", ".join(f"{f}_{o}" for f in ("x", "t3") for o in OPERATIONS)}, g, g3, all, profile, two, weighted, anomaly, counted, of_both]}}
  poison: {{every: 1ts, missing: poison, instant: [t3_mean, t3_min, g3]}}
  half: {{every: 1ts, missing: 0.9, instant: [t3_mean, t3_max]}}
  part: {{every: 1ts, grid: part, instant: [x_mean, t3_sum, g3]}}
  day: {{every: 1d, mean: [x_mean, g], max: [x_max], stddev: [g]}}
  halves: {{every: 12h, write: [warmest, later, extreme], split: 3 records, name: "halves{{part}}"}}
  start: {{every: 12h, at_start: true, instant: [g]}}
  fx: {{once: [counted, x_max]}}
  full: {{every: 1d, mean: [tas]}}
"""


def layouts():
    """All decompositions, and what the files must contain."""
    first = None
    for number, layout in enumerate(LAYOUTS):
        fresh(f"layout{number}")
        layout = dict(layout)
        options = {"first": 0, "last": 9, "lat": 7, "lon": 9, **layout}
        run(DESCRIPTION, settings=SETTINGS[number], **options)
        found = {}
        for name in sorted(os.listdir(".")):
            if not name.endswith(".nc"):
                continue
            with netCDF4.Dataset(name) as file:
                file.set_auto_maskandscale(False)
                for variable in file.variables.values():
                    found[f"{name}:{variable.name}"] = (variable.dtype.newbyteorder("="), variable.shape,
                                                        np.ascontiguousarray(variable[...], variable.dtype.newbyteorder("=")).tobytes())
        if first is None:
            first = found
            contents(options)
        assert found.keys() == first.keys(), f"{layout}: {found.keys() ^ first.keys()}"
        for name in found:
            assert found[name] == first[name], f"{layout}: {name} has other bits than with {LAYOUTS[0]}"


def contents(options):
    fields, times = Fields(**options), Times(**options)
    steps = range(1, times.last + 1)
    value = lambda name: np.array([fields.value(name, n) for n in steps])
    x = value("tas") / 7 - value("uas") * 1e-9
    t3 = value("toce") / 3
    each = lambda operation, values, axes, missing="ignore": np.array([over(operation, v, axes, missing) for v in values])
    for name in OPERATIONS:
        check("steps.nc", f"x_{name}", each(name, x, (1,)), name != "stddev")
        check("steps.nc", f"t3_{name}", each(name, t3, (2,)), name != "stddev")
    g = each("mean", x, (0, 1))
    check("steps.nc", "g", g)
    check("steps.nc", "g3", each("mean", t3, (1, 2)))
    check("steps.nc", "all", each("sum", t3, (0, 1, 2)))
    check("steps.nc", "profile", each("mean", t3, (0, 2)))
    check("steps.nc", "two", each("mean", np.array([reduce("mean", list(v), None, 1) for v in t3]), (1,)))
    check("steps.nc", "of_both", np.array([reduce("mean", list(v), None, 1) for v in each("mean", t3, (2,))]))
    check("steps.nc", "counted", each("sum", value("count"), (0, 1)))
    orog = value("orog")
    check("steps.nc", "weighted", each("sum", x * orog, (0, 1)) / each("sum", orog, (0, 1)))
    check("steps.nc", "anomaly", each("mean", x, (1,)) - each("min", x, (1,)) * 2)
    check("poison.nc", "t3_mean", each("mean", t3, (2,), "poison"))
    check("poison.nc", "t3_min", each("min", t3, (2,), "poison"))
    check("poison.nc", "g3", each("mean", t3, (1, 2), "poison"))
    check("half.nc", "t3_mean", each("mean", t3, (2,), "0.9"))
    check("half.nc", "t3_max", each("max", t3, (2,), "0.9"))
    part = (slice(None), slice(4, 0, -1), slice(2, 6))
    check("part.nc", "x_mean", each("mean", x[part], (1,)))
    check("part.nc", "t3_sum", each("sum", t3[:, :, 4:0:-1, 2:6], (2,)))
    check("part.nc", "g3", each("mean", t3[:, :, 4:0:-1, 2:6], (1, 2)))
    days = Expected(times, fields, "1d").records()
    zonal = each("mean", x, (1,))
    daily = lambda operation, values: np.array([reduce(operation, [values[n - 1] for n in s], None, 1) for _, _, s in days])
    check("day.nc", "x_mean", daily("mean", zonal))
    check("day.nc", "g", daily("mean", g))
    check("day.nc", "x_max", daily("max", each("max", x, (1,))))
    check("day.nc", "g_stddev", daily("stddev", g), False)
    halves = Expected(times, fields, "12h").records()
    half = lambda operation, values: np.array([reduce(operation, [values[n - 1] for n in s], None, 1) for _, _, s in halves])
    warmest, later, extreme = (np.concatenate([read(f"halves{p}.nc", name)[0] for p in (1, 2)]) for name in ("warmest", "later", "extreme"))
    assert np.array_equal(warmest, half("mean", each("max", x, (0, 1))))
    assert np.array_equal(later, each("mean", half("mean", x), (1,)))
    assert np.array_equal(extreme, each("mean", half("max", x), (0, 1)))
    x0 = fields.value("tas", 0) / 7 - fields.value("uas", 0) * 1e-9
    check("start.nc", "g", np.concatenate([[over("mean", x0, (0, 1))], g[1::2]]))
    check("fx.nc", "counted", over("sum", fields.value("count", 0), (0, 1)))
    check("fx.nc", "x_max", over("max", x0, (1,)))
    with netCDF4.Dataset("steps.nc") as file:
        assert file["x_mean"].dimensions == ("time", "lat") and file["t3_mean"].dimensions == ("time", "lev", "lat")
        assert file["g"].dimensions == ("time",) and file["g3"].dimensions == ("time", "lev")
        assert "lon" not in file.dimensions and "lon" not in file.variables
        assert file["x_mean"].cell_methods == "longitude: mean time: point", file["x_mean"].cell_methods
        np.testing.assert_allclose(file["lat"][...], -90 + (np.arange(7) + 0.5) * 180 / 7)
        dates = netCDF4.num2date(file["time"][...], file["time"].units, file["time"].calendar)
        assert [str(d) for d in dates] == [str(times.date(n)) for n in steps], dates
    with netCDF4.Dataset("day.nc") as file:
        assert file["x_mean"].cell_methods == "longitude: mean time: mean", file["x_mean"].cell_methods
        np.testing.assert_array_equal(file["time_bnds"][...], [[times.days(a), times.days(b)] for a, b, _ in days])
    with netCDF4.Dataset("part.nc") as file:
        np.testing.assert_allclose(file["lat"][...], -90 + (np.arange(4, 0, -1) + 0.5) * 180 / 7)


def unstructured():
    """Grids of cells, and curvilinear ones."""
    first = None
    for number, (layout, ranks) in enumerate((("block", 4), ("map", 3), ("whole", 2), ("map", 1))):
        fresh(f"cells{number}")
        run("""
defaults: {type: float64}
fields:
  mean_ts: mean(ts/3 over cell)
  sum_ta: sum(ta/7 over cell)
  least: min(ta over cell, lev)
  rows: mean(sst/3 over x)
  sea: mean(sst/3 over y, x)
grids:
  near: {box: {lon: [10, 200], lat: [-60, 70]}}
files:
  steps: {every: 1ts, instant: [mean_ts, sum_ta, least, rows, sea]}
  near: {every: 1ts, grid: near, instant: [mean_ts, sum_ta]}
""", ranks=ranks, last=3, lat=5, lon=6, grids="global", decomposition=layout)
        points = np.arange(30)
        ts = np.array([mixed(14, n, points) / 256.0 for n in (1, 2, 3)])
        level = np.arange(90).reshape(3, 30)
        h = np.array([mixed(15, n, level) for n in (1, 2, 3)])
        ta = np.where(h % np.uint64(7) == 0, np.nan, h / 256.0)
        s = np.array([mixed(11, n, points.reshape(5, 6)) for n in (1, 2, 3)])
        sst = np.where(s % np.uint64(7) == 0, np.nan, s / 256.0)
        check("steps.nc", "mean_ts", np.array([over("mean", v / 3, (0,)) for v in ts]))
        check("steps.nc", "sum_ta", np.array([over("sum", v / 7, (1,)) for v in ta]))
        check("steps.nc", "least", np.array([over("min", v, (0, 1)) for v in ta]))
        check("steps.nc", "rows", np.array([over("mean", v / 3, (1,)) for v in sst]))
        check("steps.nc", "sea", np.array([over("mean", v / 3, (0, 1)) for v in sst]))
        lon, lat = points * 37 % 360 + 0.5, points * 53 % 161 - 80
        inside = (lon >= 10) & (lon <= 200) & (lat >= -60) & (lat <= 70)
        assert 3 < inside.sum() < 28
        check("near.nc", "mean_ts", np.array([over("mean", v[inside] / 3, (0,)) for v in ts]))
        check("near.nc", "sum_ta", np.array([over("sum", v[:, inside] / 7, (1,)) for v in ta]))
        bits = [read("steps.nc", name)[0].tobytes() for name in ("mean_ts", "sum_ta", "least", "rows", "sea")]
        first = first or bits
        assert bits == first, layout


def coordinates():
    """Coordinates of grids, such as areas, are operands."""
    for number, (layout, ranks) in enumerate((("tiles", 4), ("map", 3), ("whole", 1))):
        fresh(f"areas{number}")
        run("""
defaults: {type: float64}
fields:
  globe: sum(tas*area over lat, lon) / sum(area over lat, lon)
  flux: tas*area
  total: sum(area over lat, lon)
  heat: sum(sum(e3t over lev)*area over lat, lon)
  sunny: "mean(lat2d > 5 ? tas : 0/0 over lat, lon)"
  regional: mean(tas/3 over lat, lon by basin along region)
  deep: sum(toce/7 over lat, lon by basin along region)
  bands: max(tas over lon by basin along region)
  relative: regional - sum(tas/3 over lat, lon by basin along region)/2
grids:
  part: {index: {lat: [1, 4], lon: [2, 5]}, reverse: [lat]}
files:
  steps: {every: 1ts, instant: [globe, heat, sunny, regional, deep, bands, relative]}
  flux: {every: 1ts, instant: [flux]}
  part: {every: 1ts, grid: part, instant: [globe, regional]}
  own: {every: 1ts, type: own, instant: [globe]}
  fx: {once: [total]}
""", ranks=ranks, last=4, rich=1, decomposition=layout)
        fields, steps = Fields(), range(1, 5)
        points = np.arange(48).reshape(6, 8)
        area, tas = points + 1.0, np.array([fields.value("tas", n) for n in steps])
        e3t = np.array([v.sum(axis=0) for v in (fields.value("e3t", n) for n in steps)])
        weighted = lambda a, w: np.array([over("sum", v * w, (0, 1)) for v in a]) / over("sum", w, (0, 1))
        check("steps.nc", "globe", weighted(tas, area))
        check("steps.nc", "heat", np.array([over("sum", v * area, (0, 1)) for v in e3t]))
        check("flux.nc", "flux", tas * area)
        box = (slice(4, 0, -1), slice(2, 6))
        check("part.nc", "globe", weighted(tas[:, box[0], box[1]], area[box]))
        basin = points * 5 // 3 % 7 - 2

        def by_region(operation, values, axes, basins):
            return np.stack([over(operation, np.where(basins == region, values, np.nan), axes) for region in range(1, 6)], -1)

        check("steps.nc", "regional", np.array([by_region("mean", v / 3, (0, 1), basin) for v in tas]))
        toce = np.array([fields.value("toce", n) for n in steps])
        check("steps.nc", "deep", np.array([by_region("sum", v / 7, (1, 2), basin) for v in toce]))
        check("steps.nc", "bands", np.array([by_region("max", v, (1,), basin) for v in tas]))
        check("steps.nc", "relative", np.array([by_region("mean", v / 3, (0, 1), basin) - by_region("sum", v / 3, (0, 1), basin) / 2
                                                for v in tas]))
        check("part.nc", "regional", np.array([by_region("mean", v[box] / 3, (0, 1), basin[box]) for v in tas]))
        with netCDF4.Dataset("steps.nc") as file:
            assert file["deep"].dimensions == ("time", "lev", "region") and file["bands"].dimensions == ("time", "lat", "region")
            assert list(file["region"][...]) == [1, 2, 3, 4, 5]
        check("fx.nc", "total", over("sum", area, (0, 1)))
        assert read("own.nc", "globe")[1] == "f4", "all operands are float32"
        check("steps.nc", "sunny", np.array([over("mean", np.where(points / 2 > 5, v, np.nan), (0, 1)) for v in tas]))
    fresh("areas_of_cells")
    run("fields: {x: sum(ts*clat over cell)}\nfiles: {f: {every: 1ts, instant: [x], type: float64}}\n", ranks=3, last=2, lat=5, lon=6,
        grids="global", decomposition="map")
    cells = np.arange(30)
    check("f.nc", "x", np.array([over("sum", mixed(14, n, cells) / 256.0 * (cells * 53 % 161 - 80), (0,)) for n in (1, 2)]))


def against_cdo():
    fresh("cdo")
    run("""
fields: {zm: mean(tas over lon), fm: "mean(tas over lat, lon)", fx: "max(tas over lat, lon)", fs: "stddev(tas over lat, lon)"}
files:
  tas: {every: 1ts, instant: [tas]}
  day: {every: 1d, mean: [tas]}
  zonal: {every: 1d, mean: [zm, fm]}
  steps: {every: 1ts, instant: [fx, fs]}
""", ranks=4, decomposition="tiles", lat=18, lon=24, last=8)
    for operator, of, path, name in (("-zonmean", "day", "zonal", "zm"), ("-fldmean,weights=FALSE", "day", "zonal", "fm"),
                                     ("-fldmax", "tas", "steps", "fx"), ("-fldstd,weights=FALSE", "tas", "steps", "fs")):
        subprocess.run(["cdo", "-s", "-O", "-b", "F64", operator, f"{of}.nc", "cdo.nc"], check=True, capture_output=True)
        found, expected = read(f"{path}.nc", name)[0], read("cdo.nc", "tas")[0].squeeze()
        assert found.shape == expected.shape and np.allclose(found, expected, rtol=1e-6), name


MISTAKES = [
    ("x: mean(tas over lons)", "instant: [x]", "did you mean \"lon\""),
    ("x: tas - mean(tas over lon)", "instant: [x]", "is the result of a reduction over a grid"),
    ("x: mean(tas over lat, lon) * co2", "instant: [x]", "is the result of a reduction over a grid"),
    ("x: mean(tas over lon)", "instant: [x, tas]", "write them into different files"),
    ("x: mean(tas over lon) - mean(tas over lat)", "instant: [x]", "must lie on one grid"),
    ("x: mean(tas over lat, lon by basn along region)", "instant: [x]", "did you mean \"basin\""),
    ("x: mean(tas over lat, lon by basin along regions)", "instant: [x]", "no dimension 'regions'"),
    ("x: mean(toce over lev by basin along region)", "instant: [x]", "reduces over no dimension of a grid"),
    ("x: mean(toce over lat, lon by basin along lev)", "instant: [x]", "have the dimension 'lev' already"),
    ("x: mean(tas over lat, lon by node_x along region)", "instant: [x]", "does not number points of the grid 'atm'"),
    ("x: rate(tas over lon)", "instant: [x]", "reduction over time only"),
]


def mistakes():
    for expression, file, text in MISTAKES:
        fresh("mistakes")
        said = run(f"fields:\n  {expression}\nfiles:\n  f: {{every: 1d, {file}}}\n", expect=1, rich=1)
        assert text in said and "output.yaml:" in said, f"{expression}: {said}"


os.environ.setdefault("SCRATCH_ROOT", os.getcwd())
for task in (layouts, unstructured, coordinates, against_cdo, mistakes):
    task()
