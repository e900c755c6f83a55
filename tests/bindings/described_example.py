#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The description of the shallow-water model, examples/shallow_water/output.yaml: its hourly
instants are the records that the model itself writes at these steps, bit for bit, and its daily
means and maxima are those of the model's records of all steps. The programs in C and C++ write the
same files with it."""
import pathlib
import shutil

import netCDF4
import numpy as np

from lib_bindings import mpirun, program, same_files, same_values

DESCRIPTION = pathlib.Path(__file__).resolve().parents[2] / "examples" / "shallow_water" / "output.yaml"
HOUR, DAY, LAST = 18, 432, 450  # in steps of 200 s: the second day has one hour
MODEL = ("--grid", "168x112", "--steps", str(LAST))
STATE, SURFACE = ("h", "u", "v", "vorticity"), ("elevation", "speed")


def run(directory, *arguments):
    mpirun(4, program("shallow_water"), *MODEL, "--directory", directory, "--afterbay.servers=1", *arguments)
    return [netCDF4.Dataset(path) for path in sorted(pathlib.Path(directory).iterdir())]


def check_names(data, path, variables):
    assert pathlib.Path(data.filepath()) == pathlib.Path("described", path), data.filepath()
    found = [name for name, variable in data.variables.items() if variable.ndim == 3]
    assert found == variables, f"{path}: {found}"
    assert data.title == "a shallow-water model"


def check_hours(hour, records):
    check_names(hour, "hour.nc", ["vorticity", "elevation", "speed"])
    steps = range(HOUR, LAST + 1, HOUR)
    assert np.array_equal(hour["time"][:], np.array(steps) / DAY), hour["time"][:]
    for name in ("vorticity", "elevation", "speed"):
        for record, step in enumerate(steps):
            assert same_values(hour[name][record].data, records[name][step].data), f"{name} after {record + 1} h"


def check_days(day, records):
    check_names(day, "day.nc", [*STATE, *SURFACE, "speed_max"])
    periods = [(0, DAY), (DAY, LAST)]  # the steps after the first number, up to and including the second
    assert np.array_equal(day["time_bnds"][:], np.array(periods) / DAY), day["time_bnds"][:]
    for record, (begin, end) in enumerate(periods):
        for name in (*STATE, *SURFACE):
            values = records[name][begin + 1:end + 1].astype(np.float64)
            # The model's own records are rounded to float32, the samples of the means are not.
            bound = 2.0**-23 * np.abs(values).max()
            mean, early = values.mean(axis=0), records[name][begin:end].astype(np.float64).mean(axis=0)
            assert np.abs(mean - early).max() > 4 * bound, f"{name}: the check cannot tell one step more from one less"
            assert np.abs(day[name][record] - mean).max() <= bound, f"mean of {name} over day {record + 1}"
        speed_max = records["speed"][begin + 1:end + 1].max(axis=0)
        assert same_values(day["speed_max"][record].data, speed_max.data), f"maximum over day {record + 1}"


def main():
    program("shallow_water")
    own = run("own", "--fields-every", "1", "--surface-every", "1")
    records = {name: file[name] for file in own for name in (*STATE, *SURFACE) if name in file.variables}
    assert len(records) == 6 and all(len(variable) == LAST + 1 for variable in records.values()), records
    day, hour = run("described", "--output", "described", f"--afterbay.output={DESCRIPTION}")
    check_hours(hour, records)
    check_days(day, records)
    # The contents do not depend on ranks and servers.
    for language, ranks, servers in (("c", 4, 2), ("cpp", 3, 1)):
        mpirun(ranks, program(f"shallow_water_{language}"), *MODEL, "--directory", language, "--output", "described",
               f"--afterbay.output={DESCRIPTION}", f"--afterbay.servers={servers}")
        assert sorted(path.name for path in pathlib.Path(language).iterdir()) == ["day.nc", "hour.nc"]
        for name in ("day.nc", "hour.nc"):
            same_files(f"described/{name}", f"{language}/{name}")
    for file in own:
        file.close()
    shutil.rmtree("own")  # 200 MB


main()
