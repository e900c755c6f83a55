#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Boxes by coordinates and stations, on rectilinear, curvilinear and unstructured grids: points
that numpy chooses from the formulas of the grids, values of the full fields at these points, for
several decompositions and numbers of ranks."""
import os
import shutil
import subprocess
import warnings

import netCDF4
import numpy as np
import xarray

from lib_described import Fields, check, mixed, read, run

LAT, LON, LEV = 10, 16, 3
STEPS = (4, 8)  # ends of days
RADIUS = 6371229.0
WITH_MISSING = (11, 12, 15)
HOW = (("block", 4), ("map", 3), ("whole", 2), ("block", 1))


def fresh(name):
    os.chdir(os.environ["SCRATCH_ROOT"])
    shutil.rmtree(name, ignore_errors=True)
    os.makedirs(name)
    os.chdir(name)


def value(number, n, levels=None):
    """A field on LAT x LON points, flat; with levels, one row per level."""
    points = np.arange((levels or 1) * LAT * LON).reshape(levels or 1, LAT * LON)
    h = mixed(number, n, points)
    values = np.where(h % np.uint64(7) == 0, np.nan, h / 256.0) if number in WITH_MISSING else h / 256.0
    return values if levels else values[0]


def sea(kind="global"):
    """Longitudes and latitudes in degrees, LAT x LON."""
    j, i = np.meshgrid(np.arange(LAT), np.arange(LON), indexing="ij")
    if kind == "regional":
        return -20 + 2.5 * i - 0.5 * j, 40 + 1.5 * j + 0.25 * i
    east = 360 / LON * i + 3.25 * j
    return np.where(east >= 180, east - 360, east), -72 + 140 / LAT * j + np.abs(i - (LON - 1) / 2) * 0.5


def mesh():
    c = np.arange(LAT * LON)
    return c * 37 % 360 + 0.5, c * 53 % 161 - 80.0


def atm():
    lat, lon = np.meshgrid(-90 + (np.arange(LAT) + 0.5) * 180 / LAT, 360 / LON * np.arange(LON), indexing="ij")
    return lon, lat


def inside(lon, lat, box):
    width = 360 if box[1] - box[0] >= 360 else (box[1] - box[0]) % 360
    return ((lon - box[0]) % 360 <= width) & (lat >= box[2]) & (lat <= box[3])


def shortest(hit, circular):
    """Indices of the shortest range with all hits; it may go around."""
    n, hits = len(hit), np.flatnonzero(hit)
    plain = np.arange(hits[0], hits[-1] + 1)
    best = plain
    for start in hits if circular else []:
        length = ((hits - start) % n).max() + 1
        if length < len(best):
            best = np.sort((start + np.arange(length)) % n)
    return best


def distance(lon, lat, to_lon, to_lat):
    """Haversines, in millimetres."""
    a, b = np.radians(lat), np.radians(to_lat)
    h = np.sin((a - b) / 2) ** 2 + np.cos(a) * np.cos(b) * np.sin(np.radians(lon - to_lon) / 2) ** 2
    return np.rint(2 * RADIUS * np.arcsin(np.sqrt(np.minimum(h, 1))) * 1000)


def mean(number, last, levels=None):
    return sum(value(number, n, levels) for n in range(last - 3, last + 1)) / 4


BOXES = {
    "plain": (40, 130.5, -30, 25.25),
    "around": (-60, 35, -40, 60),    # over the meridian and over the seam of the grid
    "dateline": (150, -150, -75, 10),
    "east": (300, 420, 0, 50),       # the same longitudes by other numbers
    "cap": (-180, 180, 20, 90),
}


def boxes():
    fresh("boxes")
    grids = "".join(f"  {name}: {{box: {{lon: [{a}, {b}], lat: [{c}, {d}]}}}}\n" for name, (a, b, c, d) in BOXES.items())
    files = "".join(f"""
  sea_{name}: {{every: 1d, existing: replace, grid: {name}, instant: [sst, so], mean: [ice]}}
  mesh_{name}: {{every: 1d, existing: replace, grid: {name}, instant: [ts], mean: [ta]}}""" for name in BOXES)
    description = f"grids:\n{grids}files:{files}\n"
    cells = np.arange(LAT * LON)
    for kind in ("global", "radians", "constant", "regional"):
        for how, ranks in HOW if kind == "global" else HOW[:2]:
            lon, lat = sea(kind)
            chosen = {name: inside(lon, lat, box) for name, box in BOXES.items()}
            some = [name for name in BOXES if chosen[name].any()]
            text = "".join(line + "\n" for line in description.splitlines()
                           if not line.strip().startswith("sea_") or line.strip()[4:].split(":")[0] in some)
            run(text, ranks=ranks, decomposition=how, lat=LAT, lon=LON, lev=LEV, last=8, grids=kind)
            for name in some:
                hit = chosen[name]
                rows, columns = shortest(hit.any(axis=1), False), shortest(hit.any(axis=0), kind != "regional")
                assert kind == "regional" or name != "around" or len(columns) < LON - 4, columns
                part = np.ix_(rows, columns)
                path = f"sea_{name}.nc"
                check(path, "sst", np.array([value(11, n).reshape(LAT, LON)[part] for n in STEPS]))
                check(path, "so", np.array([value(12, n, LEV).reshape(LEV, LAT, LON)[:, rows][:, :, columns] for n in STEPS]))
                check(path, "ice", np.array([mean(13, n).reshape(LAT, LON)[part] for n in STEPS]))
                scale = np.pi / 180 if kind == "radians" else 1
                assert np.array_equal(read(path, "nav_lon")[0], (lon * scale)[part]), (kind, how, name)
                corners = 4 * np.arange(LAT * LON).reshape(LAT, LON)[part][..., None] + np.arange(4)
                assert np.array_equal(read(path, "nav_corners")[0], corners)
            lon, lat = mesh()
            for name, box in BOXES.items():
                kept = cells[inside(lon, lat, box)]
                path = f"mesh_{name}.nc"
                check(path, "ts", np.array([value(14, n)[kept] for n in STEPS]))
                check(path, "ta", np.array([np.nanmean([value(15, m, LEV)[:, kept] for m in range(n - 3, n + 1)], axis=0)
                                            for n in STEPS]), exact=False)
                assert np.array_equal(read(path, "clon")[0], (lon * scale)[kept]), (kind, how, name)
                assert np.array_equal(read(path, "cell_corners")[0], 4 * kept[:, None] + np.arange(4))


def as_cdo():
    """CDO keeps the same index box of a curvilinear grid."""
    if shutil.which("cdo") is None:
        return
    fresh("cdo")
    a, b, c, d = BOXES["plain"]
    run(f"grids: {{box: {{box: {{lon: [{a}, {b}], lat: [{c}, {d}]}}}}}}\n"
        "files: {all: {every: 1d, instant: [ice]}, box: {every: 1d, grid: box, instant: [ice]}}\n",
        lat=LAT, lon=LON, lev=LEV, last=8, grids="global")
    subprocess.run(["cdo", "-s", "-O", f"sellonlatbox,{a},{b},{c},{d}", "all.nc", "theirs.nc"], check=True)
    assert np.array_equal(read("box.nc", "ice")[0], read("theirs.nc", "ice")[0])


def further():
    """Strides, reversed dimensions, indices, points outside of the box, levels, expressions, and
    bounds that are included."""
    fresh("further")
    box = (-100, 100, -50.5, 40)
    description = """
grids:
  thin: {box: {lon: [-100, 100], lat: [-50.5, 40]}, stride: {x: 2}, reverse: [y], levels: {lev: [30, 10]}}
  few: {box: {lon: [-100, 100], lat: [-50.5, 40]}, stride: {cell: 3}, reverse: [cell], index: {cell: [20, 139]}}
  masked: {box: {lon: [-100, 100], nav_lat: [-50.5, 40]}, outside: missing}
  edge: {box: {clon: [37.5, 37.5]}}
  four: {box: {clat: [-80, -77]}}
  flat: {box: {lon: [-100, 100], lat: [-50.5, 40]}, stride: {x: 2}, reverse: [y]}
fields: {twice: sst*2 + ice, warm: ts*2, deep: max(so over lev), high: max(ta over lev)}
files:
  thin: {every: 1d, existing: replace, grid: thin, instant: [so]}
  flat: {every: 1d, existing: replace, grid: flat, max: [twice]}
  uv: {every: 1d, existing: replace, grid: flat, instant: [sst, uo]}
  few: {every: 1d, existing: replace, grid: few, instant: [ts, high], max: [warm], once: [ts: first]}
  masked: {every: 1d, existing: replace, grid: masked, instant: [sst, so, deep], mean: [sst: mean_sst]}
  edge: {every: 1d, existing: replace, grid: edge, instant: [ts]}
  both: {every: 1d, existing: replace, instant: [ts, ta: {grid: few}]}
  four: {every: 1d, existing: replace, grid: four, instant: [ts]}
"""
    lon, lat = sea()
    hit = inside(lon, lat, box)
    rows, columns = shortest(hit.any(axis=1), False), shortest(hit.any(axis=0), True)
    clon, clat = mesh()
    kept = np.flatnonzero(inside(clon, clat, box))
    few = kept[(kept >= 20) & (kept <= 139)][::3][::-1]
    four = np.flatnonzero((clat >= -80) & (clat <= -77))
    assert len(four) == 4
    plane = lambda number, n: value(number, n).reshape(LAT, LON)
    for kind, (how, ranks) in [("radians", HOW[0]), *[("global", each) for each in HOW]]:
        run(description, ranks=ranks, decomposition=how, lat=LAT, lon=LON, lev=LEV, last=8, grids=kind)
        part = np.ix_(rows[::-1], columns[::2])
        check("thin.nc", "so", np.array([value(12, n, LEV).reshape(LEV, LAT, LON)[[0, 2]][:, rows[::-1]][:, :, columns[::2]]
                                         for n in STEPS]))
        twice = lambda n: 2 * plane(11, n) + plane(13, n)
        expected = [np.fmax.reduce([twice(n)[part] for n in range(last - 3, last + 1)]) for last in STEPS]
        check("flat.nc", "twice", np.array(expected))
        if kind == "global":
            hit_u = inside(lon + 30, lat, box)
            rows_u, columns_u = shortest(hit_u.any(axis=1), False)[::-1], shortest(hit_u.any(axis=0), True)[::2]
            check("uv.nc", "sst", np.array([plane(11, n)[part] for n in STEPS]))
            check("uv.nc", "uo", np.array([plane(16, n)[np.ix_(rows_u, columns_u)] for n in STEPS]))
            assert not np.array_equal(columns[::2], columns_u)
            with netCDF4.Dataset("uv.nc") as file:
                assert file["uo"].dimensions[2] == "x_flat_sea_u" and file["sst"].dimensions[2] == "x_flat_sea"
        check("few.nc", "ts", np.array([value(14, n)[few] for n in STEPS]))
        check("few.nc", "first", value(14, 1)[few])
        check("few.nc", "warm", np.array([2 * np.max([value(14, n)[few] for n in range(last - 3, last + 1)], axis=0)
                                          for last in STEPS]))
        scale = np.pi / 180 if kind == "radians" else 1
        assert np.array_equal(read("few.nc", "clat")[0], (clat * scale)[few])
        part = np.ix_(rows, columns)
        masked = lambda number, n: np.where(hit, plane(number, n), np.nan)
        check("masked.nc", "sst", np.array([masked(11, n)[part] for n in STEPS]))
        check("masked.nc", "so", np.array([np.where(hit, value(12, n, LEV).reshape(LEV, LAT, LON), np.nan)[:, rows][:, :, columns]
                                           for n in STEPS]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # points at which all values are missing
            means = [np.nanmean([masked(11, n)[part] for n in range(last - 3, last + 1)], axis=0) for last in STEPS]
        largest = lambda number, n: np.fmax.reduce(value(number, n, LEV))
        check("masked.nc", "deep", np.array([np.where(hit, largest(12, n).reshape(LAT, LON), np.nan)[part] for n in STEPS]))
        check("few.nc", "high", np.array([largest(15, n)[few] for n in STEPS]))
        check("masked.nc", "mean_sst", np.array(means), exact=False)
        assert np.array_equal(read("masked.nc", "nav_lat")[0], (lat * scale)[part])
        # 37.5 degrees in radians and back are not 37.5.
        check("edge.nc", "ts", np.array([value(14, n)[clon == 37.5] for n in STEPS]))
        check("both.nc", "ts", np.array([value(14, n) for n in STEPS]))
        check("both.nc", "ta", np.array([value(15, n, LEV)[:, few] for n in STEPS]))
        with netCDF4.Dataset("both.nc") as file:
            assert file["ta"].dimensions == ("time", "lev", "cell_few") and len(file.dimensions["cell"]) == LAT * LON
        # As many points as the cells have corners: no dimension is taken for the other.
        check("four.nc", "ts", np.array([value(14, n)[four] for n in STEPS]))
        assert np.array_equal(read("four.nc", "cell_corners")[0], 4 * four[:, None] + np.arange(4)), four


PLACES = {"papa": (-145, 50), "Ålesund": (6.15, 62.47), "pole": (0, 90), "tie": (33.75, 0), "west": (-0.001, -8),
          "twin": (-145.2, 50.1), "far": (361 - 2, -33.3)}


def nearest(lon, lat, allowed=None):
    points, metres = [], []
    for to_lon, to_lat in PLACES.values():
        d = distance(lon, lat, to_lon, to_lat).ravel()
        if allowed is not None:
            d = np.where(allowed.ravel(), d, np.inf)
        points.append(int(np.argmin(d)))  # the first of equal ones
        metres.append(d.min() / 1000)
    return np.array(points), np.array(metres)


def stations():
    fresh("stations")
    places = "{" + ", ".join(f'"{name}": [{lon}, {lat}]' for name, (lon, lat) in PLACES.items()) + "}"
    description = f"""
grids:
  sites: {{stations: {places}}}
  wet: {{stations: {places}, mask: tmask}}
  high: {{stations: {{papa: [-145, 50], up: [10, 80]}}, levels: {{lev: [20]}}, max_distance: 3000km}}
  two: {{stations: {{papa: [-145, 50], up: [10, 80]}}}}
fields: {{warm: ts*2, deep: max(so over lev)}}
files:
  atm: {{every: 6h, existing: replace, grid: sites, instant: [tas], mean: [uas], once: [orog]}}
  sea: {{every: 1d, existing: replace, grid: sites, instant: [sst, deep], mean: [ice]}}
  wet: {{every: 1d, existing: replace, grid: wet, instant: [sst]}}
  mesh: {{every: 1d, existing: replace, grid: sites, instant: [ts], max: [warm]}}
  profiles: {{every: 1d, existing: replace, grid: sites, mean: [so], instant: [so: now]}}
  only: {{every: 1d, existing: replace, store: cdf5, grid: high, instant: [so]}}
  both: {{every: 1d, existing: replace, instant: [tas, uas: {{grid: sites}}, ts: {{grid: two}}, co2]}}
"""
    lon, lat = sea()
    clon, clat = mesh()
    alon, alat = atm()
    at = {"sea": nearest(lon, lat), "wet": nearest(lon, lat, np.arange(LAT * LON) % 3 != 0), "mesh": nearest(clon, clat),
          "atm": nearest(alon, alat)}
    assert at["sea"][0][0] == at["sea"][0][5], "two stations share a point"
    row = at["atm"][0] // LON
    assert row[2] == LAT - 1 and at["atm"][0][2] % LON == 0, "all points of the last row are as near to the pole"
    plane = lambda number, n: mixed(number, n, np.arange(LAT * LON)) / 256.0
    for kind, (how, ranks) in [("radians", HOW[0]), *[("global", each) for each in HOW], ("constant", HOW[1])]:
        run(description, ranks=ranks, decomposition=how, lat=LAT, lon=LON, lev=LEV, last=8, grids=kind)
        points = at["atm"][0]
        check("atm.nc", "tas", np.array([plane(1, n)[points] for n in range(1, 9)]))
        check("atm.nc", "uas", np.array([plane(2, n)[points] for n in range(1, 9)]))
        check("atm.nc", "orog", plane(8, 0)[points])
        assert np.array_equal(read("atm.nc", "cell_index")[0], points + 0.25)
        check("sea.nc", "sst", np.array([value(11, n)[at["sea"][0]] for n in STEPS]))
        check("sea.nc", "deep", np.array([np.fmax.reduce(value(12, n, LEV))[at["sea"][0]] for n in STEPS]))
        check("sea.nc", "ice", np.array([mean(13, n)[at["sea"][0]] for n in STEPS]))
        check("wet.nc", "sst", np.array([value(11, n)[at["wet"][0]] for n in STEPS]))
        check("mesh.nc", "ts", np.array([value(14, n)[at["mesh"][0]] for n in STEPS]))
        check("mesh.nc", "warm", np.array([2 * np.max([value(14, n)[at["mesh"][0]] for n in range(last - 3, last + 1)], axis=0)
                                           for last in STEPS]))
        check("profiles.nc", "so", np.array([np.where(np.isnan(x := np.array([value(12, m, LEV)[:, at["sea"][0]]
                                                                              for m in range(n - 3, n + 1)])).all(axis=0),
                                                      np.nan, np.nansum(x, axis=0) / np.maximum((~np.isnan(x)).sum(axis=0), 1))
                                             for n in STEPS]), exact=False)
        for path, of, (all_lon, all_lat) in (("atm", "tas", (alon, alat)), ("sea", "sst", (lon, lat)),
                                             ("wet", "sst", (lon, lat)), ("mesh", "ts", (clon, clat))):
            with xarray.open_dataset(f"{path}.nc") as file:
                assert file.attrs["featureType"] == "timeSeries" and file[of].dims == ("time", "station")
                assert [str(name) for name in file.station_name.values] == list(PLACES), file.station_name.values
                assert file.station_name.attrs["cf_role"] == "timeseries_id"
                assert {"lon", "lat", "station_name"} <= set(file[of].coords), file[of].coords
                points, metres = at[path]
                np.testing.assert_allclose(file.lon.values, all_lon.ravel()[points], rtol=0, atol=1e-12)
                np.testing.assert_allclose(file.lat.values, all_lat.ravel()[points], rtol=0, atol=1e-12)
                np.testing.assert_allclose(file.station_distance.values, metres, rtol=0, atol=0.0011)
                assert file.lon.attrs["standard_name"] == "longitude" and file.lat.attrs["units"] == "degrees_north"
                assert file.requested_lon.values.tolist() == [place[0] for place in PLACES.values()]
                assert file.requested_lat.values.tolist() == [place[1] for place in PLACES.values()]
                assert "nav_lon" not in file.variables and "clon" not in file.variables and "bounds" not in file.lon.attrs
        with netCDF4.Dataset("profiles.nc") as file:
            assert file.featureType == "timeSeriesProfile" and file["so"].dimensions == ("time", "lev", "station")
            assert file["now"].coordinates.split()[:4] == ["time_instant", "station_name", "lat", "lon"], file["now"].coordinates
        with netCDF4.Dataset("only.nc") as file:
            assert file.data_model == "NETCDF3_64BIT_DATA" and file["so"].shape == (2, 1, 2)
            assert file["station_name"][:].tolist() == ["papa", "up"] and file["station_name"].dtype == "S1"
        up = int(np.argmin(distance(lon, lat, 10, 80).ravel()))
        check("only.nc", "so", np.array([value(12, n, LEV)[1:2][:, [at["sea"][0][0], up]] for n in STEPS]))
        with netCDF4.Dataset("both.nc") as file:
            assert "featureType" not in file.ncattrs() and file["uas"].dimensions == ("time", "station_sites")
            assert file["uas"].coordinates.split()[:3] == ["station_name_sites", "lat_sites", "lon_sites"], file["uas"].coordinates
            assert "cf_role" not in file["station_name_sites"].ncattrs() and file["ts"].dimensions == ("time", "station_two")
            assert file["tas"].dimensions == ("time", "lat", "lon") and file["lon"].dimensions == ("lon",)
        check("both.nc", "uas", np.array([plane(2, n)[at["atm"][0]] for n in STEPS]))
        cells = [int(np.argmin(distance(clon, clat, x, y))) for x, y in ((-145, 50), (10, 80))]
        check("both.nc", "ts", np.array([value(14, n)[cells] for n in STEPS]))


def pairs():
    """Fields of one grid that name different longitudes, in their attribute `coordinates`."""
    fresh("pairs")
    box = (-100, 100, -50.5, 40)
    description = """
grids:
  box: {box: {lon: [-100, 100], lat: [-50.5, 40]}}
  masked: {box: {lon: [-100, 100], lat: [-50.5, 40]}, outside: missing}
  sites: {stations: {papa: [-145, 50], up: [10, 60], low: [30, -40]}}
  upper: {box: {deep: [0, 10.1]}}
fields: {flux: size*tos, flow: vo*size, zonal_t: max(tos over x), zonal_f: max(vo over x)}
files:
  both: {every: 1d, existing: replace, grid: box, instant: [tos, vo, flux, flow]}
  first: {every: 1d, existing: replace, grid: box, instant: [vo]}
  masked: {every: 1d, existing: replace, grid: masked, instant: [tos, vo]}
  sites: {every: 1d, existing: replace, grid: sites, instant: [tos, vo]}
  grids: {every: 1d, existing: replace, grid: box, instant: [sst, uo]}
  zonal: {every: 1d, existing: replace, grid: box, instant: [zonal_t, zonal_f]}
  upper: {every: 1d, existing: replace, grid: upper, instant: [dic]}
"""
    lon, lat = sea()
    all_points = np.arange(LAT * LON).reshape(LAT, LON)
    plane = lambda number, n: value(number, n).reshape(LAT, LON)
    kept = {}
    for name, east in (("tos", 0), ("vo", 30)):
        hit = inside(lon + east, lat, box)
        kept[name] = hit, np.ix_(shortest(hit.any(axis=1), False), shortest(hit.any(axis=0), True))
    assert not np.array_equal(kept["tos"][1][1], kept["vo"][1][1])
    for how, ranks in HOW:
        run(description, ranks=ranks, decomposition=how, lat=LAT, lon=LON, lev=LEV, last=8, grids="pairs")
        for name, number, product, zonal, longitudes, east in (("tos", 17, "flux", "zonal_t", "lon_t", 0),
                                                               ("vo", 18, "flow", "zonal_f", "lon_f", 30)):
            hit, part = kept[name]
            values = np.array([plane(number, n)[part] for n in STEPS])
            check("both.nc", name, values)
            check("both.nc", product, np.array([plane(number, n)[part] for n in STEPS]) * (all_points + 0.5)[part])
            check("masked.nc", name, np.array([np.where(hit, plane(number, n), np.nan)[part] for n in STEPS]))
            check("zonal.nc", zonal, values.max(axis=2))
            stations = [int(np.argmin(distance(lon + east, lat, x, y).ravel())) for x, y in ((-145, 50), (10, 60), (30, -40))]
            check("sites.nc", name, np.array([value(number, n)[stations] for n in STEPS]))
            with netCDF4.Dataset("both.nc") as file:
                named = [it for it in file[name].coordinates.split() if it.startswith(longitudes)]
                assert len(named) == 1 and file[named[0]].dimensions == file[name].dimensions[1:], file[name].coordinates
                assert np.array_equal(file[named[0]][:], (lon + east)[part]), named
            with netCDF4.Dataset("sites.nc") as file:
                station, at_lon = ([it for it in file[name].coordinates.split() if it.startswith(begin)][0] for begin in ("station", "lon"))
                assert file[at_lon].dimensions == file[name].dimensions[1:] == file[station].dimensions[:1]
                np.testing.assert_allclose(file[at_lon][:], (lon + east).ravel()[stations], rtol=0, atol=1e-12)
        check("first.nc", "vo", np.array([plane(18, n)[kept["vo"][1]] for n in STEPS]))
        # A coordinate that is the same on all ranks has the points of each variable.
        for name, number, which in (("sst", 11, "tos"), ("uo", 16, "vo")):
            part = kept[which][1]
            check("grids.nc", name, np.array([plane(number, n)[part] for n in STEPS]))
            with netCDF4.Dataset("grids.nc") as file:
                wide = [it for it in file[name].coordinates.split() if it.startswith("wide")]
                assert len(wide) == 1 and file[wide[0]].dimensions == file[name].dimensions[1:], file[name].coordinates
                assert np.array_equal(file[wide[0]][:], all_points[part]), wide
        # 10.1 as float32 is more than 10.1.
        check("upper.nc", "dic", np.array([value(20, n, LEV).reshape(LEV, LAT, LON)[:2] for n in STEPS]))


def nearest_of(lon, lat):
    return [int(np.argmin(distance(lon, lat, x, y).ravel())) for x, y in ((-145, 50), (0, 90), (33.75, 0))]


def contents(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        return {name: (variable.dimensions, variable[...].tobytes()) for name, variable in file.variables.items()}


def jobs():
    """A run in three jobs on other ranks, servers and decompositions writes the same files."""
    description = """
grids:
  box: {box: {lon: [-60, 35], lat: [-40, 60]}, outside: missing}
  cells: {box: {lon: [-60, 35], lat: [-40, 60]}}
  sites: {stations: {papa: [-145, 50], pole: [0, 90], tie: [33.75, 0]}}
files:
  box: {every: 1d, grid: box, mean: [sst, so], max: [sst: top]}
  cells: {every: 30h, align: start, grid: cells, stddev: [ts], mean: [ta], once: [ts: first]}
  sites: {every: 2d, grid: sites, mean: [sst, tas], rate: [ice]}
"""
    options = dict(lat=LAT, lon=LON, lev=LEV, grids="global")
    fresh("whole")
    run(description, ranks=3, last=18, **options)
    found = {}
    for path in ("box.nc", "cells.nc", "sites.nc"):
        found[path] = contents(path)
    fresh("jobs")
    run(description, ranks=4, last=5, finalize_to="a.nc", decomposition="map", **options)
    run(description, ranks=2, servers=2, first=6, last=11, resume="a.nc", finalize_to="b.nc",
        settings=["--afterbay.placement=slab"], **options)
    run(description, ranks=5, first=12, last=18, resume="b.nc", decomposition="block", **options)
    for path, expected in found.items():
        here = contents(path)
        assert here.keys() == expected.keys(), path
        for name in here:
            assert here[name] == expected[name], f"{path}: {name} differs"
    # Stations with other points have another state.
    said = run(description.replace("[0, 90]", "[0, -90]"), ranks=2, first=12, last=18, resume="b.nc", expect=1, **options)
    assert "station 3 at station #" in said and "have changed" in said, said
    with netCDF4.Dataset("sites.nc") as file:
        assert {"station_sites_sea", "station_sites_atm"} <= set(file.dimensions), file.dimensions
        assert np.array_equal(file["lon_sites_atm"][:], atm()[0].ravel()[nearest_of(*atm())]) and "lat_sites_sea" in file.variables


def axes():
    """A selection along an axis leaves fields without this axis as they are."""
    fresh("axes")
    for how, ranks in HOW:
        run("""
defaults: {grid: p}
fields: {sum: tas + toce_20, toce_20: mean(toce over lev)}
grids:
  p: {levels: {lev: [20]}}
  north: {box: {lat: [0, 90]}, index: {lev: [1, 2]}, outside: missing}
  box: {box: {lat: [0, 90]}, levels: {lev: [20]}}
files:
  p: {every: 6h, existing: replace, instant: [tas, toce, co2, sum]}
  north: {every: 6h, existing: replace, grid: north, instant: [toce, co2, sst: {grid: own}]}
  box: {every: 6h, existing: replace, grid: box, instant: [tas, sum]}
""", ranks=ranks, decomposition=how, last=3, lat=6, lon=8, lev=3, grids="global")
        fields = Fields(lat=6, lon=8, lev=3)
        with netCDF4.Dataset("p.nc") as file:
            file.set_auto_mask(False)
            toce = np.array([fields.value("toce", n)[1:2] for n in (1, 2, 3)])
            np.testing.assert_array_equal(file["tas"][:], [fields.value("tas", n) for n in (1, 2, 3)])
            np.testing.assert_array_equal(file["toce"][:], np.where(np.isnan(toce), np.float32(-999), toce))
            np.testing.assert_array_equal(file["co2"][:], [fields.value("co2", n) for n in (1, 2, 3)])
            assert file["lev"][:].tolist() == [20] and file["tas"].dimensions == ("time", "lat", "lon"), file
        with netCDF4.Dataset("north.nc") as file:
            north = file["lat"][:] >= 0
            assert north.all() and file["toce"].shape == (3, 2, len(north), 8), file
            np.testing.assert_array_equal(file["co2"][:], [fields.value("co2", n) for n in (1, 2, 3)])
        with netCDF4.Dataset("box.nc") as file:
            expected = np.array([fields.value("tas", n) + fields.value("toce", n)[1] for n in (1, 2, 3)])[:, -len(north):]
            np.testing.assert_array_equal(np.ma.filled(file["sum"][:].astype("f8"), np.nan), expected.astype("f4").astype("f8"))


def mistakes():
    """What is wrong is said with its place, on all ranks alike, and no file is made."""
    fresh("mistakes")

    def expect(parts, grid, fields="sst", ranks=3, **options):
        found = run(f"grids:\n  g:\n    {grid}\nfiles:\n  f: {{every: 1d, grid: g, mean: [{fields}]}}\n", expect=1, seconds=40,
                    ranks=ranks, **{"lat": LAT, "lon": LON, "last": 4, "grids": "global", **options})
        for part in parts:
            assert part in found, f"expected {part!r} in:\n{found}"
        assert not [path for path in os.listdir(".") if path.endswith(".nc")], os.listdir(".")

    expect(["output.yaml:3:20: grid 'g': field 'sst' has no coordinate 'nav_lno'", 'did you mean "nav_lon"',
            "it has nav_lon, nav_lat, tmask"], "box: {nav_lno: [0, 10]}")
    expect(["output.yaml:3:16: grid 'g' keeps no point of the grid 'sea'", "lon from 0 to 10, while nav_lon goes from -180 to 17",
            "lat from 89 to 90, while nav_lat goes from -71.75 to"], "box: {lon: [0, 10], lat: [89, 90]}")
    expect(["output.yaml:3:16: grid 'g' keeps no point of the grid 'mesh'", "lat from 85 to 90, while clat goes from -80 to 80"],
           "box: {lat: [85, 90]}", "ts", decomposition="map")
    expect(["output.yaml:3:16", "keeps no point"], "box: {lat: [85, 90]}", "ts", decomposition="whole")
    for fields in ("ice", "sst, ice", "ice, sst"):
        expect(["output.yaml:2:3", "field 'ice' does not have", "fill value"], "{box: {lat: [0, 40]}, outside: missing}", fields)
    for formula in ("tos*wet", "wet*tos"):
        said = run(f"fields: {{x: {formula}}}\ngrids: {{g: {{box: {{lat: [0, 40]}}, outside: missing}}}}\n"
                   "files: {f: {every: 1d, grid: g, mean: [tos, x]}}\n", ranks=3, lat=LAT, lon=LON, last=4, grids="pairs", expect=1)
        assert "output.yaml:2:9: grid 'g'" in said and "floating-point numbers, but 'wet' holds int32" in said, said
    expect(["output.yaml:3:22: grid 'g': the station 'far' at [10, 89] is ", "km away from the nearest point of the grid 'sea'",
            "max_distance is 100 km", "output.yaml:3:37: grid 'g': the station 'too'"],
           "{stations: {far: [10, 89], too: [0, -89]}, max_distance: 100km}")
    expect(["the station 'oslo' at [10.7, 59.9] is 322.686 km", "the station 'perth' at", "at [17.5, 43.75]; max_distance is 300 km"],
           "{stations: {paris: [2.35, 48.85], rome: [12.5, 41.9], oslo: [10.7, 59.9], perth: [116, -32]}, max_distance: 300km}",
           grids="regional")
    expect(["output.yaml:2:3", "no coordinate 'tmsk' for mask", 'did you mean "tmask"'], "{stations: {a: [0, 0]}, mask: tmsk}")
    expect(["field 'co2' has no horizontal grid", "grid: own"], "stations: {a: [0, 0]}", "co2")
    expect(["stations need longitudes and latitudes", "field 'tas' has no coordinate 'lon'"], "stations: {a: [0, 0]}", "tas",
           coordinates="none")
    expect(["no dimension 'y'", "besides those that the stations replace"], "{stations: {a: [0, 0]}, reverse: [y]}")
    expect(["levels are values of a dimension, but 'nav_lon'"], "levels: {nav_lon: [0]}")


os.environ["SCRATCH_ROOT"] = os.getcwd()
for case in (boxes, as_cdo, further, stations, pairs, jobs, axes, mistakes):
    case()
    print(f"{case.__name__}: as expected")
