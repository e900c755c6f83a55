# SPDX-License-Identifier: Apache-2.0
"""Reads the files of a benchmark with netCDF4 for Python and compares every value."""

import pathlib
import re


def history(directory: pathlib.Path, grid: str, files: int, records: int) -> str:
    """The first error in the history files in `directory`; "" if there is none (see workload.hpp:
    value_at)."""
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


def scale(directory: pathlib.Path, ranks: int, rows: int, columns: int, records: int) -> str:
    """The first error in the file of the scale benchmark; "" if there is none (see
    scale/afterbay_scale_ranks.cpp: value_at)."""
    import netCDF4
    import numpy

    names = sorted(path.name for path in directory.glob("*.nc*"))
    if names != ["history.nc"]:
        return f"files are {names}, not history.nc alone"
    y, x = numpy.ogrid[0:ranks * rows, 0:columns]
    with netCDF4.Dataset(directory / "history.nc") as data:
        data.set_auto_mask(False)
        for number, name in enumerate(("blocks", "points")):
            if data[name].shape != (records, ranks * rows, columns):
                return f"{name}: the shape is {data[name].shape}"
            for record in range(records):
                expected = ((y * 31 + x * 7 + record * 13 + number) & 0xffff).astype("f4")
                if not numpy.array_equal(data[name][record], expected):
                    return f"{name}: record {record} differs"
    return ""


def shared(directory: pathlib.Path, program: str, processes: int, mib: int, records: int) -> str:
    """The first error in the files of the shared-file benchmark; "" if there is none (see
    shared/block.hpp)."""
    import numpy

    side = 256
    columns = max(count for count in range(1, processes + 1) if count * count <= processes and processes % count == 0)
    levels = mib * 4 // records
    lat, lon = side * (processes // columns), side * columns
    k, j, i = numpy.ogrid[0:levels, 0:lat, 0:lon]
    base = (((k * 73 + j * 37 + i * 11) & 4095) * 0.0625).astype("f4")
    stamped = numpy.zeros((lat, lon), "f4")
    stamped[::32, ::32] = 256.0
    for record in range(records):
        found = shared_record(directory, program, record, (records, levels, lat, lon), side)
        if isinstance(found, str):
            return found
        if not numpy.array_equal(found, base + (record + 1) * stamped):
            return f"record {record} differs"
    return ""


def shared_record(directory: pathlib.Path, program: str, record: int, shape: tuple, side: int):
    """One record, (level, lat, lon), from the files of any program; an error message if they are
    wrong."""
    import numpy

    levels, lat, lon = shape[1:]
    if program == "file_per_process":
        columns = lon // side
        whole = numpy.empty(shape[1:], "f4")
        for rank in range(columns * (lat // side)):
            block = numpy.memmap(directory / f"rank.{rank}.bin", "<f4", "r").reshape(shape[0], levels, side, side)
            row, column = divmod(rank, columns)
            whole[:, row * side:(row + 1) * side, column * side:(column + 1) * side] = block[record]
        return whole
    path = directory / "shared.nc"
    if program == "mpi_io":
        return numpy.memmap(path, "<f4", "r").reshape(shape)[record]
    if program == "hdf5_shared":
        import h5py
        with h5py.File(path) as file:
            return file["field"][record] if file["field"].shape == shape else f"the shape is {file['field'].shape}"
    import netCDF4
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        return file["field"][record] if file["field"].shape == shape else f"the shape is {file['field'].shape}"


def threads(directory: pathlib.Path, variables: int, steps: int) -> str:
    """The first error in the file of the threads benchmark; "" if there is none (see
    threads/case.cpp: value_at)."""
    import netCDF4
    import numpy

    names = sorted(path.name for path in directory.glob("*.nc*"))
    if names != ["threads.nc"]:
        return f"files are {names}, not threads.nc alone"
    with netCDF4.Dataset(directory / "threads.nc") as data:
        data.set_auto_mask(False)
        for v in range(variables):
            values = data[f"v{v}"]
            if values.shape[0] != steps:
                return f"v{v}: {values.shape[0]} records"
            k, j, i = numpy.ogrid[0:values.shape[1], 0:values.shape[2], 0:values.shape[3]]
            expected = (v * 7 + k * 3 + j * 11 + i).astype("f4")
            for step in range(steps):
                if step > 0:
                    expected[:, :, ::32] = v * 7 + k * 3 + j * 11 + i[:, :, ::32] + step * 101
                if not numpy.array_equal(values[step], expected):
                    return f"v{v}: record {step} differs"
    return ""


def fields(directory: pathlib.Path, output: str, grid: str, counts: tuple[int, int], days: int, steps_per_day: int) -> str:
    """The first error in the files of the fields benchmark; "" if there is none (see
    fields/description.cpp, workload.hpp: value_at).

    A stamped point has 256 n more in step n; means are sums in double precision, divided and
    rounded once. Those of cdo may be rounded in every step. If all steps are written, only the
    first and the last values are read."""
    import numpy

    lon, lat, levels = (int(part) for part in grid.split("x"))
    if output == "expressions":
        return expressions(directory, counts, (levels, lat, lon), days, steps_per_day)
    per_day, total = steps_per_day, days * steps_per_day
    def mean(first: int, count: int) -> tuple[int, int]:
        return sum(range(first, first + count)), count
    daily_means = [mean(day * per_day + 1, per_day) for day in range(days)]
    daily_last = [((day + 1) * per_day, 1) for day in range(days)]
    quarters = [((quarter + 1) * per_day // 4, 1) for quarter in range(4 * days)]
    j, i = numpy.arange(lat), numpy.arange(lon)
    latitude, longitude = -90 + (j + 0.5) * 180 / lat, (i + 0.5) * 360 / lon
    box = (j[(latitude >= 20) & (latitude <= 70)], i[(longitude >= 330) | (longitude <= 60)])
    expected = {"mean": {"means": daily_means}, "instant": {"instants": [(1, 1), (total, 1)], "means": daily_means},
                "five": {"means": daily_means, "max": daily_last, "month": [mean(1, total)], "snap": quarters, "box": daily_means}}[output]
    names = sorted(path.stem for path in directory.glob("*.nc"))
    if names != sorted(expected):
        return f"files are {names}, not {sorted(expected)}"
    for name, records in expected.items():
        places = box if name == "box" else (j, i)
        error = fields_of_file(directory / f"{name}.nc", counts, levels, places, records, output == "instant")
        if error:
            return error
    return ""


def expressions(directory: pathlib.Path, counts: tuple[int, int], shape: tuple[int, int, int], days: int, steps_per_day: int) -> str:
    """Daily means of sqrt(a^2 + b^2), of each two fields."""
    import netCDF4
    import numpy

    levels, lat, lon = shape
    j, i = numpy.arange(lat)[:, None], numpy.arange(lon)[None, :]
    stamped = numpy.where((j % 32 == 0) & (i % 32 == 0), 256.0, 0.0)
    plane, found = 0, {}
    for path in directory.glob("*.nc"):
        with netCDF4.Dataset(path) as data:
            data.set_auto_mask(False)
            found.update((name, data[name][...]) for name in data.variables if re.fullmatch("e[0-9]+", name))
    depths = [1] * counts[0] + [levels] * counts[1]
    bases = []
    for depth in depths:
        k = numpy.arange(plane, plane + depth)[:, None, None]
        plane += depth
        bases.append(((k * 73 + j * 37 + i * 11) & 4095) * 0.0625)
    if len(found) != len(bases) // 2:
        return f"there are {len(found)} expressions, not {len(bases) // 2}"
    for number, values in ((int(name[1:]), values) for name, values in found.items()):
        a, b = bases[2 * number : 2 * number + 2]
        for day in range(days):
            steps = range(day * steps_per_day + 1, (day + 1) * steps_per_day + 1)
            expected = sum(numpy.hypot(a + stamped * n, b + stamped * n) for n in steps) / steps_per_day
            if values.shape[0] != days or not numpy.allclose(values[day].reshape(expected.shape), expected, rtol=1e-6, atol=0):
                return f"e{number}, day {day} differs"
    return ""


def fields_of_file(path: pathlib.Path, counts: tuple[int, int], levels: int, places: tuple, records: list[tuple[int, int]], by_cdo: bool) -> str:
    """`records`: the sum of the numbers of the steps that a record has, and how many they are.
    `places`: along lat and lon."""
    import netCDF4
    import numpy

    j, i = places[0][:, None], places[1][None, :]
    stamped = numpy.where((j % 32 == 0) & (i % 32 == 0), 256.0, 0.0)
    everything = path.stem != "instants"
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        plane = 0
        for kind, count, depth in (("flat", counts[0], 1), ("deep", counts[1], levels)):
            for number in range(count):
                variable = data[f"{kind}{number:03}"]
                k = numpy.arange(plane, plane + depth)[:, None, None]
                plane += depth
                base = ((k * 73 + j * 37 + i * 11) & 4095) * 0.0625
                if everything and variable.shape[0] != len(records):
                    return f"{path.name}: {variable.name} has {variable.shape[0]} records, not {len(records)}"
                for record, (steps, divisor) in zip(range(len(records)) if everything else (0, -1), records):
                    expected = ((base * divisor + stamped * steps) / divisor).astype("f4")
                    found = variable[record].reshape(depth, *variable.shape[-2:])
                    if found.shape != expected.shape or not numpy.allclose(found, expected, rtol=1e-5 if by_cdo else 0, atol=0):
                        return f"{path.name}: {variable.name}, record {record} differs"
    return ""
