#!/usr/bin/env python3
"""Every function of the C interface, its errors included, and the file that comes out."""
from lib_everything import run_and_check

run_and_check("everything_c")
