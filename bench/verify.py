# SPDX-License-Identifier: Apache-2.0
"""Reads what a benchmark wrote, with netCDF4 for Python, and compares every value."""

import pathlib


def history(directory: pathlib.Path, grid: str, files: int, records: int) -> str:
    """What is wrong with the history files in `directory`; "" when nothing is (see workload.hpp: value_at)."""
    import netCDF4
    import numpy

    lon, lat, levels = (int(part) for part in grid.split("x"))
    k, j, i = numpy.ogrid[0:levels + 1, 0:lat, 0:lon]
    base = (((k * 73 + j * 37 + i * 11) & 4095) * 0.0625).astype("f4")
    stamped = numpy.zeros((lat, lon), "f4")
    stamped[::32, ::32] = 256.0
    names = sorted(path.name for path in directory.glob("*.nc*"))
    expected_names = [f"history.{file}.nc" for file in range(files)]
    if names != expected_names:
        return f"files are {names}, not {expected_names}"
    for file, name in enumerate(expected_names):
        with netCDF4.Dataset(directory / name) as data:
            data.set_auto_mask(False)
            if data["temperature"].shape != (records, levels, lat, lon) or data["pressure"].shape != (records, lat, lon):
                return f"{name}: shapes are {data['temperature'].shape} and {data['pressure'].shape}"
            for record in range(records):
                expected = base + (file * records + record + 1) * stamped
                if not numpy.array_equal(data["temperature"][record], expected[:levels]):
                    return f"{name}: record {record} of temperature differs"
                if not numpy.array_equal(data["pressure"][record], expected[levels]):
                    return f"{name}: record {record} of pressure differs"
    return ""
