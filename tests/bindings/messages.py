#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Errors that end a C++ program which catches nothing, and a C program that calls afterbay_stop:
printed once per job, without a backtrace. Warnings: once per job too."""
import netCDF4

from lib_messages import check, check_never_put

for language in ("cpp", "c"):
    check("nowhere", r"the variable names no decomposition, so that every rank hands over all of it \(4 x 16\): name one in the schema", language=language)
    check("text", r"text cannot be put into variable 'height' of type float32: put numbers", language=language)
    check_never_put(language)
    with netCDF4.Dataset("out.nc") as file:
        assert file["height"].dtype == "f4" and file["height"]._FillValue == -999, file["height"]
        assert file["y"].dtype == "f8" and file["y"][:].tolist() == [1, 2, 3, 4], file["y"]
check("twice", r"record 1 of the variable was put already", r"model ranks 0 and 1 \(2 of 2\) gave up", language="cpp")
check("outside", r"start 9 and count 8 in dimension 1 go beyond the global length 16", "model rank 1 gave up", language="cpp")
check("constant", r"variable 'y' is int8, but its constant values are int32 1, 2, 3, 400, which cannot all become int8", language="cpp")
check("setting", r"no.such.setting", language="cpp", journal=False)
