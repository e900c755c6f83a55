#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two components in one job, with calendars, steps, grids, servers and descriptions of their own;
each is as it is alone."""
import os
import pathlib
import subprocess

import netCDF4
import xarray

from lib_described import MODEL, Expected, Fields, Times, check

ATMOSPHERE = {"calendar": "noleap", "start": "2000-02-28", "step": "3h", "last": 20}
OCEAN = {"calendar": "360_day", "start": "2000-02-28", "step": "6h", "last": 14, "lat": 4, "lon": 6}
pathlib.Path("output.yaml").write_text("files: {day: {every: 1d, mean: [tas], max: [toce]}}\n")
pathlib.Path("ocean.yaml").write_text("files: {sea: {every: 1d, mean: [toce, tas], statistics: model}, hours: {every: 6h, instant: [uas]}}\n")

for servers, ocean_servers in ((1, 1), (1, 2)):
    for path in pathlib.Path(".").glob("*.nc"):
        path.unlink()
    # The last ranks of a component are its servers.
    options = [*(f"{key}={value}" for key, value in ATMOSPHERE.items()), *(f"ocean.{key}={value}" for key, value in OCEAN.items()),
               f"ocean_from={2 + servers}", "--afterbay.report.table=off", "--afterbay.journal.directory=journal-{session}"]
    command = ["timeout", "-k", "5", "100", "mpirun", "--oversubscribe", "-np", str(2 + servers), str(MODEL), *options, f"--afterbay.servers={servers}",
               ":", "-np", str(3 + ocean_servers), str(MODEL), *options, f"--afterbay.servers={ocean_servers}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for given, files in ((ATMOSPHERE, {"day.nc": {"tas": "mean", "toce": "max"}}), (OCEAN, {"sea.nc": {"toce": "mean", "tas": "mean"}})):
        expected = Expected(Times(**given), Fields(**given), "1d")
        for path, variables in files.items():
            for name, operation in variables.items():
                check(path, name, expected.statistic(operation, name))
            with netCDF4.Dataset(path) as file:
                assert file["time"].calendar == given["calendar"], file["time"]
            with xarray.open_dataset(path, decode_times=False) as file:
                numbers, bounds = expected.time()
                assert file.time.values.tolist() == numbers.tolist() and file.time_bnds.values.tolist() == bounds.tolist()
    # The day after 28 February.
    for path, day in (("day.nc", "03-01"), ("sea.nc", "02-29")):
        with xarray.open_dataset(path, decode_times=xarray.coders.CFDatetimeCoder(use_cftime=True)) as file:
            assert file.time.values[1].strftime("%m-%d") == day, file.time.values
    check("hours.nc", "uas", Expected(Times(**OCEAN), Fields(**OCEAN), "6h").instants("uas")[1])
    print(f"as alone, with {servers} and {ocean_servers} servers")
assert os.path.isdir("journal-ocean") and os.path.isdir("journal-atmosphere"), os.listdir()
