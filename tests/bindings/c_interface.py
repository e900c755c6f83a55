#!/usr/bin/env python3
"""Every function of the C interface, including its errors, and the resulting file."""
from lib_everything import run_and_check

run_and_check("everything_c")
