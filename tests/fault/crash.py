#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills runs (kill -9 of all processes, or of the servers; every second time with a loss of power)
at random moments, in several layouts. Files published according to the journal, or reported to the
model as complete, must exist, with their checksum and all values; other files with a final name
must be complete too, and no more than were being published at that moment; a rerun in the same
directory continues and completes, after which `status` still counts files that the rerun did not
write again. CRASH_KILLS: how many kills (a sample by default); CRASH_SEED
repeats a sequence."""
import os
import random
import sys
import time

from _crash import LOST, OK, Broken, Trial

KILLS = int(os.environ.get("CRASH_KILLS", "12"))
SEED = int(os.environ.get("CRASH_SEED", str(time.time_ns() % 1_000_000)))
FILES = 150  # of history in a run: a few seconds
LAYOUTS = [{"servers": 1}, {"servers": 2, "placement": "file"}, {"servers": 2, "placement": "slab"}, {"servers": 2, "direct_io": "off"},
           {"servers": 0}, {"servers": 0, "inline.mode": "thread"}, {"servers": 2, "placement": "variable", "transport": "mpi"},
           {"servers": 2, "frontends": 1, "topology": "tiered"}, {"servers": 1, "when_full": "spill", "spill.quota": "256MiB", "spill.directory": ".", "memory.server": "4MiB", "memory.block": "256KiB",
          "memory.small_block": "64KiB"}]


def one(number, dice):
    layout, power = LAYOUTS[number % len(LAYOUTS)], number // len(LAYOUTS) % 2 == 1 if KILLS > 2 * len(LAYOUTS) else number % 2 == 1
    who = dice.choice(["*", "*", "server"]) if layout["servers"] and not power else "*"
    seconds = dice.uniform(0.0, 0.6)
    trial = Trial(f"kill{number}", layout, power=power)
    try:
        lost = trial.kill(FILES, seconds, who)
        published, unsaid, ended = trial.check()
        if published > 0:
            trial.check_commands(unsaid, ended)
        trial.rerun(8)
        left = trial.left_incomplete()
        trial.check()
        trial.command("status", code=LOST if left else OK)
        trial.command("verify", code=OK)
    except Broken as broken:
        sys.exit(f"seed {SEED}, kill {number}: {layout}, {who} killed after {seconds:.2f} s, {trial.work}: {broken}")
    print(f"{number}: {layout}, {who} killed after {seconds:.2f} s{f', {lost} changes lost with the power' if power else ''}: "
          f"{published} files published{', and the run ended' if ended else ''}, {len(unsaid)} between their names and the journal", flush=True)
    trial.remove()
    return published, len(unsaid), ended, lost


def main():
    dice = random.Random(SEED)
    results = [one(number, dice) for number in range(KILLS)]
    killed = sum(not ended for _, _, ended, _ in results)
    published, unsaid, lost = (sum(result[i] for result in results) for i in (0, 1, 3))
    print(f"seed {SEED}: {len(results)} runs, {killed} killed before their end, {published} published files all whole, {unsaid} files "
          f"between their names and the journal, {lost} changes lost with the power")
    if KILLS >= 10 and (killed < KILLS / 3 or published == 0 or lost == 0):
        sys.exit("too few runs were killed in the middle: this shows nothing")


main()
