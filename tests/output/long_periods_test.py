#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Model ranks make statistics over months of those over days, servers do not. A run whose jobs
compute in different places resumes from the states of all of them, and writes the same bits as the
run in one piece."""
import os
import random

from lib_described import run
from lib_jobs import compare, inside

ROUNDS = int(os.environ.get("AFTERBAY_TEST_ROUNDS", "3"))
# Sums of these fields are exact in double precision.
PERIODS = {"hours": "6h", "day": "1d", "month": "1mo"}


def described(who, missing):
    """`who`: for each file, who computes its statistics. `deep` is that of a field that no other
    file has, with a period of its own, so that a state has both kinds in any case."""
    lines = ["files:"]
    for (name, every), by in zip(PERIODS.items(), who):
        lines.append(f"  {name}: {{every: {every}, split: 1y, statistics: {by}, missing: {missing}, type: own, "
                     "mean: [tas, toce], max: [toce], range: [uas], sum: [vas], min: [e3t]}")
    lines.append("  deep: {every: 3mo, align: seasons, mean: [tas: tas_season], stddev: [toce: toce_spread]}")
    return "\n".join(lines) + "\n"


def parts(random_):
    decomposition = random_.choice(["block", "map"])
    return {"ranks": random_.randint(1, 3), "servers": random_.randint(1, 2), "decomposition": decomposition}


def one(seed):
    random_ = random.Random(seed)
    missing = random_.choice(["ignore", "poison", "0.5"])
    options = {"step": "3h", "start": "2000-01-27", "lat": 5, "lon": 7, "calendar": random_.choice(["standard", "360_day"])}
    last = random_.randint(60, 140)
    inside("whole", lambda: run(described(["model"] * 3, missing), last=last, **options, **parts(random_)))
    # Some cuts are in the same day, or in the same six hours.
    first_cut = random_.randint(1, last - 10)
    cuts = sorted({first_cut, first_cut + random_.randint(1, 3), random_.randint(1, last - 1)})
    choices = [[random_.choice(["model", "servers"]) for _ in PERIODS] for _ in range(len(cuts) + 1)]
    choices[0], choices[1] = random_.sample([["model"] * 3, ["servers"] * 3, ["model", "servers", "model"],
                                             ["servers", "model", "model"], ["model", "model", "servers"]], 2)

    def jobs():
        state, begin = {}, 1
        for number, (cut, who) in enumerate(zip([*cuts, last], choices)):
            save = {"finalize_to": f"state{number}.nc"} if cut < last else {}
            run(described(who, missing), first=begin, last=cut, **options, **state, **save, **parts(random_))
            state, begin = {"resume": f"state{number}.nc"}, cut + 1

    inside("jobs", jobs)
    number = compare("whole", "jobs", f"seed {seed}: {options}, cut at {cuts} of {last}, computed by {choices}")
    assert number >= 4, number
    print(f"seed {seed}: {number} files, the same: cut at {cuts}, computed by {choices}", flush=True)


def without_steps():
    """The last job has no steps: it ends the periods that another one has begun elsewhere."""
    for who, then in ((["model"] * 3, ["servers"] * 3), (["servers"] * 3, ["model"] * 3)):
        inside("whole", lambda who=who: run(described(who, "ignore"), last=29, step="3h"))

        def jobs():
            run(described(who, "ignore"), last=29, step="3h", finalize_to="state.nc")
            run(described(then, "ignore"), first=30, last=29, step="3h", resume="state.nc", ranks=2)

        inside("jobs", jobs)
        assert compare("whole", "jobs", f"{who}, then {then}") == 4


without_steps()
for seed in range(ROUNDS):
    one(seed)
