#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`afterbay index`: a trigger writes the index of a GRIB2 file, and ecCodes finds at each place of
it the message that its line describes. Damaged and foreign files are refused, and no index of them
is left."""
import json
import os
import pathlib
import subprocess
import sys

try:
    import eccodes
    import netCDF4
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

AFTERBAY = str(pathlib.Path(os.environ["AFTERBAY_BUILD"], "apps", "afterbay", "afterbay"))
LEVELS = [850, 500, 250]


def make_input(path):
    random = np.random.default_rng(11)
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("time", None), ("plev", len(LEVELS)), ("lat", 9), ("lon", 18)):
            file.createDimension(name, length)

        def variable(name, kind, dimensions, **attributes):
            made = file.createVariable(name, kind, dimensions)
            made.setncatts(attributes)
            return made

        time = variable("time", "f8", ("time",), units="hours since 2026-11-01", standard_name="time")
        variable("start", "f8", (), units="hours since 2026-11-01", standard_name="forecast_reference_time")[...] = 0
        variable("plev", "f8", ("plev",), units="hPa", standard_name="air_pressure")[:] = LEVELS
        variable("lat", "f8", ("lat",), units="degrees_north")[:] = 80 - 20 * np.arange(9)
        variable("lon", "f8", ("lon",), units="degrees_east")[:] = 20 * np.arange(18)
        ta = variable("ta", "f4", ("time", "plev", "lat", "lon"), units="K", standard_name="air_temperature", coordinates="start")
        ps = variable("ps", "f4", ("time", "lat", "lon"), units="Pa", standard_name="surface_air_pressure", coordinates="start")
        for record in range(2):
            time[record] = 6 * record
            ta[record] = 250 + 50 * random.random((len(LEVELS), 9, 18))
            ps[record] = 1e5 + 1e3 * random.random((9, 18))


def index(*arguments):
    return subprocess.run([AFTERBAY, "index", *arguments], capture_output=True, text=True, timeout=60)


def decoded(message):
    handle = eccodes.codes_new_from_message(message)
    try:
        return {key: eccodes.codes_get_string(handle, key) for key in ("shortName", "level", "step", "date", "time", "levtype")}
    finally:
        eccodes.codes_release(handle)


def check(lines, data):
    end = 0
    found = []
    for line in lines:
        assert line["_offset"] == end, line
        end += line["_length"]
        message = data[line["_offset"]:end]
        assert message[:4] == b"GRIB" and message[-4:] == b"7777", line
        of = decoded(message)
        assert line["param"] == of["shortName"] and line["step"] == of["step"] and line["levtype"] == of["levtype"], (line, of)
        assert line["date"] == of["date"] and int(line["time"]) == int(of["time"]), (line, of)
        assert line.get("levelist", "0") == of["level"], (line, of)
        found.append((line["param"], line.get("levelist"), line["step"]))
    assert end == len(data)
    return found


def written_by_a_trigger():
    make_input("in.nc")
    trigger = {"index": {"on": "published", "command": f'"{AFTERBAY}" index "$AFTERBAY_TRIGGER_FILE"'}}
    done = subprocess.run(["timeout", "-k", "5", "60", "mpirun", "--oversubscribe", "-np", "3", AFTERBAY, "replay", "in.nc", "out.grib2",
                           "--store", "grib2", "--servers", "1"],
                          env={**os.environ, "AFTERBAY_TRIGGERS": json.dumps(trigger)}, capture_output=True, text=True)
    if "has no ecCodes" in done.stdout + done.stderr:
        print("skipped: this build has no ecCodes")
        sys.exit(77)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(line) for line in pathlib.Path("out.grib2.index").read_text().splitlines()]
    found = check(lines, pathlib.Path("out.grib2").read_bytes())
    expected = {("t", str(level), step) for level in LEVELS for step in ("0", "6")} | {("sp", None, step) for step in ("0", "6")}
    assert set(found) == expected and len(found) == len(expected), found
    return lines


def mistakes(lines):
    data = pathlib.Path("out.grib2").read_bytes()
    printed = index("--print", "out.grib2")
    assert printed.returncode == 0 and [json.loads(line) for line in printed.stdout.splitlines()] == lines, printed.stderr
    pathlib.Path("cut.grib2").write_bytes(data[:-100])
    pathlib.Path("text.grib2").write_text("no messages")
    pathlib.Path("empty.grib2").write_bytes(b"")
    pathlib.Path("again.grib2").write_bytes(data)
    pathlib.Path("again.grib2.index").write_text("of an earlier file\n")
    for name, text in (("cut.grib2", "no complete GRIB message after the 7 before byte"), ("text.grib2", "no GRIB message"),
                       ("empty.grib2", "no GRIB message"), ("none.grib2", "No such file")):
        done = index(name, "again.grib2")
        assert done.returncode == 3 and text in done.stderr and name in done.stderr, (name, done)
        assert not pathlib.Path(name + ".index").exists(), name
    assert [json.loads(line) for line in pathlib.Path("again.grib2.index").read_text().splitlines()] == lines
    pathlib.Path("taken.grib2").write_bytes(data)
    pathlib.Path("taken.grib2.index").mkdir()
    done = index("taken.grib2")
    assert done.returncode == 3 and "cannot write taken.grib2.index" in done.stderr, done
    assert index().returncode == 2
    assert not [path for path in pathlib.Path().iterdir() if path.name.startswith(("again", "taken")) and path.suffix not in (".grib2", ".index")]


mistakes(written_by_a_trigger())
