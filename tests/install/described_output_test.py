#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page on described output works exactly as written from an installation: its program, its
descriptions, and what the commands print. With AFTERBAY_WRITE=1 in the environment, what they print
is written into the page."""
import os
import pathlib
import re

import netCDF4
import numpy
from _follow import Newcomer

PAGE = "docs/tutorial-output.md"
PRINTED = re.compile(r"<!-- prints: (.+?) -->\n```\n(.*?)```", re.S)
NX, NY, STEPS = 60, 40, 960


def model():
    """The temperature at the end of each step, as the program computes it."""
    t = numpy.full((NY, NX), 10.0)
    heated = (abs(numpy.arange(1, NX + 1) - NX // 2) < 5) & (abs(numpy.arange(1, NY + 1)[:, None] - NY // 2) < 5)
    for number in range(1, STEPS + 1):
        halo = numpy.pad(t, 1, mode="edge")
        sun = max(0.0, -numpy.cos(2 * 3.14159265358979 * number * 900 / 86400))
        change = 1e3 * (halo[1:-1, :-2] + halo[1:-1, 2:] + halo[:-2, 1:-1] + halo[2:, 1:-1] - 4 * t) / 2e3**2 + numpy.where(heated, 1e-4 * sun, 0)
        t = t + 900 * change
        yield t


def check_first(work, t):
    days = t.reshape(10, 96, NY, NX)
    with netCDF4.Dataset(work / "basin_day.nc") as file:
        numpy.testing.assert_allclose(file["t"][:], days.mean(axis=1), rtol=1e-12)
        numpy.testing.assert_allclose(file["t_max"][:], days.max(axis=1), rtol=1e-12)
        numpy.testing.assert_array_equal(file["time"][:], numpy.arange(10) + 0.5)
    with netCDF4.Dataset(work / "basin_snapshot.nc") as file:
        numpy.testing.assert_allclose(file["t"][:], t[23::24], rtol=1e-12)
        assert file["gradient"].shape == (40, NY, NX) and 0.01 < file["gradient"][:].max() < 1, file["gradient"][:].max()


def check_changed(work, t):
    for part, name in enumerate(sorted(work.glob("basin_snapshot_*.nc"))):
        with netCDF4.Dataset(name) as file:
            numpy.testing.assert_allclose(file["t"][:], t[23::24][20 * part : 20 * part + 20] + 273.15, rtol=1e-6)
            assert file["t"].units == "K" and file["t"].dtype == "f4", file["t"]
    with netCDF4.Dataset(work / "basin_section.nc") as file:
        numpy.testing.assert_allclose(file["t"][:, 0], t[3::4, 19], rtol=1e-6)
        assert file["t"].shape == (240, 1, NX), file["t"]


def main():
    user = Newcomer()
    user.read_settings()
    page = user.page(PAGE)
    printed = dict(PRINTED.findall((user.documents / PAGE).read_text()))
    for kind, title, text in page:
        if kind == "test":
            user.save(title, text)
    t = numpy.stack(list(model()))
    checks = {"build and run": check_first, "changed": check_changed}
    said = {}
    for kind, title, text in page:
        if kind != "run":
            continue
        said[title] = user.run(title, text)
        if title in checks:
            checks[title](user.work, t)
    assert "every: 6h" in said["describe"], said["describe"]
    if os.environ.get("AFTERBAY_WRITE"):  # makes the page anew from what the commands print
        path = pathlib.Path(os.environ["AFTERBAY_SOURCE"]) / PAGE
        path.write_text(PRINTED.sub(lambda found: f"<!-- prints: {found[1]} -->\n```\n{last_lines(found[1], said)}```", path.read_text()))
        return
    assert printed.keys() == {"ncdump", "changed", "mistaken"}, printed.keys()
    for title, text in printed.items():
        assert last_lines(title, said) == text, f"{title} printed\n{last_lines(title, said)}"


def last_lines(title, said):
    """What the last command printed: `changed` has several."""
    text = said[title]
    return "".join(line + "\n" for line in text.splitlines() if line.startswith("basin_")) if title == "changed" else text


main()
