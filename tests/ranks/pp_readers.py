#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PP files, read by other programs: see _um_readers.py."""
import _um_readers

_um_readers.main("pp", "f4")
