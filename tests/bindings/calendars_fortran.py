#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calendars in Fortran: the same answers as cftime."""
from lib_bindings import program
from lib_calendars import compare

compare(program("calendar_fortran"), years=(1570, 1610), rounds=10)
