#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Coordinates that the library computes: HEALPix grids against the package `healpix`, reduced
Gaussian grids against numpy's Gauss-Legendre quadrature, areas of cells against CDO, for blocks,
maps with holes and whole fields; and grids that do not exist."""
import os
import pathlib
import subprocess

import healpix
import netCDF4
import numpy as np

PROGRAM = pathlib.Path(os.environ["AFTERBAY_BUILD"]) / "tests/output/point_grids"
DESCRIPTION = """
files:
  day: {every: 1d, instant: [number], name: day}
"""
HOW = (("block", 3), ("map", 4), ("whole", 2))


def run(kind, number, how, ranks, expect=0):
    pathlib.Path("output.yaml").write_text(DESCRIPTION)
    pathlib.Path("day.nc").unlink(missing_ok=True)
    command = ["timeout", "-k", "5", "60", "mpirun", "--oversubscribe", "-np", str(ranks + 1), str(PROGRAM), kind, str(number), how,
               "--afterbay.output=output.yaml", "--afterbay.servers=1", "--afterbay.report.table=off"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode == 0) == (expect == 0), (command, done.stdout, done.stderr)
    return done.stdout + done.stderr


def area(lat, lon):
    """Areas of polygons on the unit sphere with edges of great circles, by angular excess."""
    lat, lon = np.radians(lat), np.radians(lon)
    at = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)

    def triangle(a, b, c):
        triple = np.einsum("ij,ij->i", a, np.cross(b, c))
        return 2 * np.arctan2(triple, 1 + sum(np.einsum("ij,ij->i", x, y) for x, y in ((a, b), (b, c), (c, a))))
    return triangle(at[:, 0], at[:, 1], at[:, 2]) + triangle(at[:, 0], at[:, 2], at[:, 3])


def check_file(lat, lon):
    """Returns the corners."""
    with netCDF4.Dataset("day.nc") as data:
        data.set_auto_mask(False)
        count = len(data.dimensions["cell"])
        assert count == len(lat), (count, len(lat))
        assert np.array_equal(data["number"][0], np.arange(count)), "values lie at other points"
        assert set(data["number"].coordinates.split()) == {"lat", "lon"}, data["number"].coordinates
        assert data["lat"].units == "degrees_north" and data["lon"].standard_name == "longitude"
        assert (data["lat"].bounds, data["lon"].bounds) == ("lat_bnds", "lon_bnds")
        assert np.abs(data["lat"][:] - lat).max() < 1e-12 * 180, np.abs(data["lat"][:] - lat).max()
        assert data["lon"][:].min() >= 0 and data["lon"][:].max() < 360
        apart = np.abs((data["lon"][:] - lon + 180) % 360 - 180).max()
        assert apart < 1e-12 * 360, apart
        corners = data["lat_bnds"][:], data["lon_bnds"][:]
        assert np.abs(corners[1] - data["lon"][:][:, None]).max() <= 180
    return corners


def check_healpix(nside, nested):
    count = 12 * nside * nside
    lon, lat = healpix.pix2ang(nside, np.arange(count), nest=nested, lonlat=True)
    for how, ranks in HOW:
        run("nested" if nested else "ring", nside, how, ranks)
        lats, lons = check_file(lat, lon)
        # A point just inside of a corner belongs to the cell.
        for corner in range(4):
            inner_lat = lats[:, corner] + 0.02 * (lat - lats[:, corner])
            inner_lon = lons[:, corner] + 0.02 * ((lon - lons[:, corner] + 180) % 360 - 180)
            pole = np.abs(lats[:, corner]) > 89.99
            inner_lon[pole] = lon[pole]
            found = healpix.ang2pix(nside, inner_lon, inner_lat, nest=nested, lonlat=True)
            assert np.array_equal(found, np.arange(count)), (nside, nested, corner, np.flatnonzero(found != np.arange(count)))
        with netCDF4.Dataset("day.nc") as data:
            mapping = data[data["number"].grid_mapping]
            assert mapping.grid_mapping_name == "healpix" and mapping.healpix_nside == nside
            assert mapping.indexing_scheme == mapping.healpix_order == ("nested" if nested else "ring")
            if nside & (nside - 1) == 0:
                assert 2 ** mapping.refinement_level == nside
            else:
                assert not hasattr(mapping, "refinement_level")
        assert (area(lats, lons) > 0).all(), "corners are not counterclockwise"


def check_gaussian(kind, number):
    rows = [4 + i % 4 for i in range(number)]
    if kind == "octahedral":
        rows = [20 + 4 * i for i in range(number)]
        rows += rows[::-1]
    nodes, weights = np.polynomial.legendre.leggauss(len(rows))
    lat = np.concatenate([np.full(n, np.degrees(np.arcsin(x))) for n, x in zip(rows, nodes[::-1])])
    lon = np.concatenate([360 * np.arange(n) / n for n in rows])
    for how, ranks in HOW:
        run(kind, number, how, ranks)
        lats, lons = check_file(lat, lon)
        bands = (np.sin(np.radians(lats)).max(axis=1) - np.sin(np.radians(lats)).min(axis=1)) * (lons.max(axis=1) - lons.min(axis=1)) / 360
        expected = np.concatenate([np.full(n, w / n) for n, w in zip(rows, weights[::-1])])
        assert np.abs(bands - expected).max() < 1e-12, np.abs(bands - expected).max()
        assert ((lats.min(axis=1) <= lat) & (lat <= lats.max(axis=1))).all()
        assert (area(lats, lons) > 0).all(), "corners are not counterclockwise"
        with netCDF4.Dataset("day.nc") as data:
            assert not hasattr(data["number"], "grid_mapping")


def check_cdo():
    """Areas that CDO computes from the corners: all of the sphere."""
    run("nested", 8, "block", 2)
    done = subprocess.run(["cdo", "-s", "output", "-fldsum", "-gridarea", "day.nc"], capture_output=True, text=True, check=True)
    assert abs(float(done.stdout) / (4 * np.pi * 6371000**2) - 1) < 2e-3, done.stdout


def main():
    for nside, nested in ((1, True), (4, True), (1, False), (3, False), (8, False)):
        check_healpix(nside, nested)
    check_gaussian("octahedral", 8)
    check_gaussian("gaussian", 5)
    check_gaussian("gaussian", 1)
    check_cdo()
    assert "power of two, such as 4" in run("nested", 3, "block", 2, expect=1)
    assert "nside 0" in run("ring", 0, "whole", 2, expect=1)
    assert "can be processed" in run("ring", 1 << 20, "whole", 2, expect=1)
    assert "0 latitudes" in run("gaussian", 0, "whole", 2, expect=1)
    print("computed coordinates are those of healpix, numpy and CDO")


if __name__ == "__main__":
    main()
