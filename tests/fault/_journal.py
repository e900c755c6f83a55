# SPDX-License-Identifier: Apache-2.0
"""Reads a journal and checks files independently of Afterbay: JSON by Python, checksums by liblzma,
contents by netCDF."""
import collections
import ctypes
import ctypes.util
import json
import pathlib

import netCDF4
import numpy

LZMA = ctypes.CDLL(ctypes.util.find_library("lzma") or "liblzma.so.5")
LZMA.lzma_crc64.restype = ctypes.c_uint64
LZMA.lzma_crc64.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]

ROWS, COLUMNS, LEVELS, RECORDS = 96, 64, 6, 5
Journal = collections.namedtuple("Journal", "published opened torn runs")


def checksum(path):
    data = pathlib.Path(path).read_bytes()
    return f"crc64-xz:{LZMA.lzma_crc64(data, len(data), 0):016x}"


def read(directory):
    """The newest entry of each published file, the paths that were opened, the incomplete lines,
    run id -> events."""
    published, opened, torn, runs = {}, set(), 0, collections.defaultdict(list)
    for file in sorted(pathlib.Path(directory).glob("server-*.jsonl")):
        for line in file.read_bytes().split(b"\n"):
            if not line:
                continue
            try:
                entry = json.loads(line)
            except ValueError:
                torn += 1
                continue
            runs[entry["run"]].append(entry)
            if entry["event"] == "file_opened":
                opened.add(entry["path"])
            if entry["event"] == "file_published":
                if entry["path"] not in published or published[entry["path"]]["at"] <= entry["at"]:
                    published[entry["path"]] = entry
    return Journal(published, opened, torn, runs)


def expected(step, record, planes):
    points = numpy.arange(planes * ROWS * COLUMNS, dtype=numpy.uint64).reshape(planes, ROWS, COLUMNS)
    return ((step * 7919 + record * 613 + points) % 100003).astype(numpy.float32)


def wrong_contents(path):
    """The error in a file of crash_model; nothing if it is complete."""
    step = int(path.stem.split("_")[1])
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        if path.stem.startswith("restart"):
            return None if (data["temperature"][:] == expected(step, 0, LEVELS)).all() else "other values"
        if len(data.dimensions["time"]) != RECORDS:
            return f"{len(data.dimensions['time'])} records"
        for record in range(RECORDS):
            if not (data["temperature"][record] == expected(step, record, LEVELS)).all():
                return f"other temperatures in record {record}"
            if not (data["rain"][record] == expected(step, record, 1)[0]).all():
                return f"other rain in record {record}"
    return None


def wrong_files(journal):
    """Files that the journal calls published although they are not."""
    wrong = []
    for path, entry in journal.published.items():
        file = pathlib.Path(path)
        if not file.exists():
            wrong.append(f"{path} is missing")
        elif file.stat().st_size != entry["bytes"]:
            wrong.append(f"{path} has {file.stat().st_size} bytes, published with {entry['bytes']}")
        elif checksum(file) != entry["checksum"]:
            wrong.append(f"{path} has checksum {checksum(file)}, published with {entry['checksum']}")
    return wrong
