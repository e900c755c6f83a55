#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every fsync of a publication is needed, and a missing one is detected: a disk that falsely
reports data as durable loses files that were reported as complete to the journal or the model when
the power fails. (That nothing is lost on an honest disk is shown by crash.py.)"""
import sys

from _crash import Broken, Trial

LAYOUTS = [{"servers": 1}, {"servers": 2, "placement": "slab"}]
LIES = {"the data of a file": "ops=sync path=*.part lie", "the names in a directory": "ops=sync path=*/out lie",
        "the journal": "ops=sync path=*.jsonl lie"}
MOST_TRIES = 8


def found(what, rule):
    for number in range(MOST_TRIES):
        trial = Trial("lie", LAYOUTS[number % len(LAYOUTS)], power=True, rules=[rule])
        try:
            trial.kill(150, 0.3 + 0.1 * number)
            trial.check()
        except Broken as broken:
            trial.remove()
            print(f"{what} not made durable: found in try {number + 1}: {str(broken)[:150]}", flush=True)
            return
        trial.remove()
    sys.exit(f"{what} was not made durable, and {MOST_TRIES} losses of power did not show it")


for name, lie in LIES.items():
    found(name, lie)
