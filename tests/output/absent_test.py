#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records in which a variable has no value: xarray and CDO must not take what is there for one.
Neither knows the default fill values of netCDF without the attribute _FillValue."""
import os
import shutil
import subprocess

import netCDF4
import numpy as np
import xarray

from lib_described import Fields, run

FIELDS = Fields()


def fresh(name):
    os.chdir(os.environ["SCRATCH_ROOT"])
    shutil.rmtree(name, ignore_errors=True)
    os.makedirs(name)
    os.chdir(name)


def mean(name, steps):
    return sum(FIELDS.value(name, n) for n in steps) / len(steps)


def in_cdo(path, name):
    """How many values CDO finds missing in each record."""
    done = subprocess.run(["cdo", "-s", "infon", f"-selname,{name}", path], capture_output=True, text=True, check=True)
    lines = [line.split(":") for line in done.stdout.splitlines() if line.strip() and not line.lstrip().startswith("-1")]
    return [int(line[3].split()[3]) for line in lines]


def has_no_value(path, name, record):
    with xarray.open_dataset(path, decode_timedelta=False) as file:
        found = file[name].values
        assert np.isnan(found[record]).all(), f"{path}: {name}[{record}] is {found[record].ravel()[:3]} in xarray"
        others = np.delete(found, record % len(found), axis=0)
        assert np.isfinite(others).all() and np.isfinite(file[name].mean()), f"{path}: {name} has other missing values"
    missing = in_cdo(path, name)
    size = int(np.prod(found.shape[1:]))
    assert missing[record] == size and sum(missing) == size, f"{path}: {name}: CDO finds missing values {missing}, of {size}"


def instants():
    """The run ends within a period, of which there are means and no instants."""
    fresh("instants")
    run("""
files:
  i: {every: 1d, instant: [tas, count], mean: [uas]}
  m: {every: 1d, split: 1mo, name: "m_{start}", instant: [tas], max: [uas]}
""", last=130)
    for path, name in (("i.nc", "tas"), ("i.nc", "count"), ("m_2000-02.nc", "tas")):
        has_no_value(path, name, -1)
    with xarray.open_dataset("i.nc") as file:
        assert np.array_equal(file.tas.values[:-1], np.array([FIELDS.value("tas", n) for n in range(4, 131, 4)], "f4"))
        assert np.array_equal(file.uas.values[-1], mean("uas", [129, 130]).astype("f4"))
        assert np.isnat(file.time_instant.values[-1]) and not np.isnat(file.time_instant.values[:-1]).any()
        assert str(file.time_instant.values[-2]).startswith("2000-02-02T00:00"), file.time_instant.values[-2]
    with netCDF4.Dataset("i.nc") as file:
        assert file["count"]._FillValue == -2147483647 and "_FillValue" in file["uas"].ncattrs()


def samples():
    """The first period has an instant at its end, and no sample in it."""
    fresh("samples")
    run('files: {e: {every: 1d, sample: 1d, sample_offset: 12h, mean: [tas], instant: [uas]}}', start="2000-01-01T18:00", last=9)
    has_no_value("e.nc", "tas", 0)
    with xarray.open_dataset("e.nc") as file:
        assert np.array_equal(file.tas.values[1:], np.array([FIELDS.value("tas", n) for n in (3, 7)], "f4"))
        assert np.array_equal(file.uas.values, np.array([FIELDS.value("uas", n) for n in (1, 5, 9)], "f4"))


def cycles():
    """Parts of a cycle that the run does not reach."""
    fresh("cycles")
    run('files: {c: {every: 1mo, cycle: 1d, cycle_step: 12h, mean: [tas]}}', last=2)
    has_no_value("c.nc", "tas", 1)


def only_instants():
    """They all have values, and fields without a fill value need no attribute."""
    fresh("only_instants")
    run('files: {o: {every: 1d, instant: [tas, toce], once: [orog]}}', last=6)
    with netCDF4.Dataset("o.nc") as file:
        assert "_FillValue" not in file["tas"].ncattrs() and file["toce"]._FillValue == -999
        assert "_FillValue" not in file["orog"].ncattrs() and len(file["time"]) == 1


os.environ["SCRATCH_ROOT"] = os.getcwd()
for task in (instants, samples, cycles, only_instants):
    task()
    print(f"{task.__name__}: good", flush=True)
