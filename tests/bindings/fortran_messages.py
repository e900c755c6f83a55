#!/usr/bin/env python3
"""Errors that stop a Fortran program: printed once per job, not once per rank with a backtrace, and
in Fortran's terms: indices, dimensions and records from 1, the fastest dimension first. The servers
know the reason before the rank is gone."""
import functools

import netCDF4

import lib_messages

check = functools.partial(lib_messages.check, language="fortran")
check("twice", r"record 2 of the variable was put already", r"model ranks 0 and 1 \(2 of 2\) gave up")
check("outside", r"start 10 and count 8 in dimension 1 go beyond the global length 16", "model rank 1 gave up")
check("overlap", r"ranks 0 and 1 both hold \(8:8, 1:4\) \(4 points, from index ranges \(1:8, 1:4\) and \(8:15, 1:4\)\)")
check("shape", r"in dimension 1 the array in memory has 9 values, the part to write 8", "or give the array's offset")
check("zeroth", r"records are counted from 1")
check("stop", r"records are counted from 1")
check("missing", r"model rank 1 did not put variable 'height' of record 2", r"error: rank 1, file out\.nc, variable height: ",
      r"I/O server 0 \(rank 2\) stops writing")
check("setting", r"no.such.setting", journal=False)
check("nowhere", r"the variable names no decomposition, so that every rank hands over all of it \(16 x 4\): name one in the schema")
check("text", r"text cannot be put into variable 'height' of type float32: put numbers")
check("order", r"variable 'height' has the unlimited dimension 'time' as dimension 1: it must come last \(slowest\)")
check("unfit", r"variable 'height': dimension 'y' has length 4, but dimension 2 of decomposition 'grid' has 5")
check("far", r"record 20260101 of variable 'height' lies \d+ records beyond the last one",
      "give the number of the record, counted from 1, not its date or time")
with netCDF4.Dataset("older.nc", "w") as older:
    for name, length in ("time", None), ("x", 16), ("y", 4):
        older.createDimension(name, length)
    older.createVariable("height", "f4", ("time", "x", "y"))
check("append", r"variable 'height': dimensions \(x, y, time\) wanted, \(y, x, time\) in the file")
lib_messages.check_never_put("fortran")
with netCDF4.Dataset("out.nc") as file:
    assert file["height"].dtype == "f4" and file["height"]._FillValue == -999, file["height"]
    assert file["y"].dtype == "f8" and file["y"][:].tolist() == [1, 2, 3, 4], file["y"]
