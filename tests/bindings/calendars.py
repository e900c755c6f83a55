#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calendars in C, and so in C++, whose functions C calls: the same answers as cftime, over 10 000
years."""
from lib_bindings import program
from lib_calendars import compare

compare(program("calendar_c"), years=(-5000, 5000), rounds=150)
