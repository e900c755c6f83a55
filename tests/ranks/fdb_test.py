#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""GRIB2 files reach ECMWF's FDB by a trigger, as docs/how-to/grib.md says: what `fdb-read` returns
for a request are the messages of the files, byte for byte."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

try:
    import netCDF4
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

AFTERBAY = pathlib.Path(os.environ["AFTERBAY_BUILD"], "apps", "afterbay", "afterbay")
SCHEMA = "[ class, expver, stream, date, time, domain\n  [ type, levtype\n    [ step, levelist?, param ]]]\n"
CONFIG = """---
type: local
engine: toc
schema: {here}/fdb/etc/fdb/schema
spaces:
- handler: Default
  roots:
  - path: {here}/fdb/root
"""
REQUEST = """retrieve,
  class=od, expver=0001, stream=oper, date=20261101, time=0000, domain=g,
  type=fc, levtype=pl, levelist=850/500, step=0/6/12, param=130
"""
KEYS = {"GRIB_centre": "ecmf", "GRIB_setLocalDefinition": np.int32(1), "GRIB_localDefinitionNumber": np.int32(1),
        "GRIB_marsClass": "od", "GRIB_marsType": "fc", "GRIB_marsStream": "oper", "GRIB_experimentVersionNumber": "0001"}


def make_input(path):
    random = np.random.default_rng(7)
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("time", None), ("plev", 2), ("lat", 18), ("lon", 36)):
            file.createDimension(name, length)

        def variable(name, kind, dimensions, **attributes):
            made = file.createVariable(name, kind, dimensions)
            made.setncatts(attributes)
            return made

        time = variable("time", "f8", ("time",), units="hours since 2026-11-01", standard_name="time")
        variable("start", "f8", (), units="hours since 2026-11-01", standard_name="forecast_reference_time")[...] = 0
        variable("plev", "f8", ("plev",), units="hPa", standard_name="air_pressure")[:] = [850, 500]
        variable("lat", "f8", ("lat",), units="degrees_north")[:] = 85 - 10 * np.arange(18)
        variable("lon", "f8", ("lon",), units="degrees_east")[:] = 10 * np.arange(36)
        ta = variable("ta", "f4", ("time", "plev", "lat", "lon"), units="K", standard_name="air_temperature", coordinates="start")
        for record in range(3):
            time[record] = 6 * record
            ta[record] = 250 + 50 * random.random((2, 18, 36))
        for key, value in KEYS.items():
            file.setncattr(key, value)


def prepare(here):
    etc = here / "fdb" / "etc" / "fdb"
    etc.mkdir(parents=True)
    (here / "fdb" / "root").mkdir()
    (etc / "schema").write_text(SCHEMA)
    (etc / "config.yaml").write_text(CONFIG.format(here=here))
    os.environ["FDB_HOME"] = os.environ["FDB5_HOME"] = str(here / "fdb")


def messages(data):
    """The messages of a GRIB2 file: the length of each is in its bytes 9 to 16."""
    found = []
    while data:
        length = int.from_bytes(data[8:16], "big")
        assert data[:4] == b"GRIB" and data[length - 4:length] == b"7777"
        found.append(data[:length])
        data = data[length:]
    return found


def main():
    if shutil.which("fdb-write") is None:
        print("skipped: there is no fdb-write (Debian: fdb5)")
        sys.exit(77)
    here = pathlib.Path.cwd()
    prepare(here)
    make_input("in.nc")
    trigger = {"fdb": {"on": "published", "command": 'fdb-write "$AFTERBAY_TRIGGER_FILE"'}}
    done = subprocess.run(["timeout", "-k", "5", "60", "mpirun", "--oversubscribe", "-np", "3", str(AFTERBAY), "replay", "in.nc",
                           "out.grib2", "--store", "grib2", "--servers", "1"],
                          env={**os.environ, "AFTERBAY_TRIGGERS": json.dumps(trigger)}, capture_output=True, text=True)
    if "has no ecCodes" in done.stdout + done.stderr:
        print("skipped: this build has no ecCodes")
        sys.exit(77)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(line) for path in pathlib.Path("afterbay-journal").glob("*.jsonl") for line in path.read_text().splitlines()]
    ran = [line["ok"] for line in lines if line["event"] == "trigger_ran"]
    assert ran == [True], lines
    (here / "request").write_text(REQUEST)
    read = subprocess.run(["fdb-read", "--raw", "request", "read.grib2"], capture_output=True, text=True)
    assert read.returncode == 0, read.stdout + read.stderr
    written = messages(pathlib.Path("out.grib2").read_bytes())
    assert len(written) == 6
    assert sorted(messages(pathlib.Path("read.grib2").read_bytes())) == sorted(written)
    print(f"{len(written)} messages are the same in the file and in FDB")


main()
