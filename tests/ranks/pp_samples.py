#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of the Unified Model, written again as PP files: see _um_samples.py."""
import _um_samples

_um_samples.main("pp")
