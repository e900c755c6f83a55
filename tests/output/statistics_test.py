#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Described output against numpy and cftime: random calendars, steps, starts, periods, alignments,
samples, policies for missing values, decompositions, numbers of ranks and servers."""
import os
import random
import shutil

import numpy as np

from lib_described import Expected, Fields, Times, check, read, run

# Where servers run, how data get to them, and who writes what.
PLACES = [
    [], ["--afterbay.transport=mpi"], ["--afterbay.placement=slab"], ["--afterbay.placement=variable"],
    ["--afterbay.topology=inline"], ["--afterbay.topology=inline", "--afterbay.inline.mode=thread"],
    ["--afterbay.topology=tiered", "--afterbay.nodes=NODES"],
]
OPERATIONS = ["mean", "sum", "min", "max", "range", "stddev", "rate", "difference"]
FIELDS = ["tas", "toce", "e3t", "count", "co2", "uas*vas", "sqrt(uas^2 + vas^2)", "toce*e3t"]


def choose(random_):
    options = {
        "calendar": random_.choice(["standard", "proleptic_gregorian", "noleap", "all_leap", "360_day", "julian"]),
        "step": random_.choice(["30min", "1h", "3h", "6h", "12h", "1d"]),
        "decomposition": random_.choice(["block", "map", "whole"]),
        "lat": random_.randint(1, 7), "lon": random_.randint(1, 9), "lev": random_.randint(1, 3),
        "last": random_.randint(1, 130),
    }
    if options["decomposition"] == "block":
        options["halo"] = random_.choice([0, 0, 2])
    options["sections"] = random_.choice([0, 0, 1])
    day = random_.choice([1, 1, 15, 28])
    hour = random_.choice([0, 0, 12]) if options["step"] != "1d" else 0
    options["start"] = f"{random_.choice([1999, 2000, 2004])}-{random_.randint(1, 12):02}-{day:02}T{hour:02}:00"
    seconds = Times(**options).seconds
    periods = [p for p, length in [("1ts", seconds), ("4ts", seconds), ("6h", 21600), ("12h", 43200), ("1d", 86400),
                                   ("1mo", 0), ("3mo", 0), ("1y", 0)] if length % seconds == 0]
    if hour == 12 and options["step"] == "12h":
        periods = [p for p in periods if p != "6h"]
    return options, periods


def one(seed):
    random_ = random.Random(seed)
    options, periods = choose(random_)
    ranks, servers = random_.randint(1, 4), random_.randint(1, 2)
    times, fields = Times(**options), Fields(**options)
    description, files = ["fields:", "  uv: uas*vas", "  speed: sqrt(uas^2 + vas^2)", "  flux: toce*e3t", "files:"], []
    derived = {"uas*vas": "uv", "sqrt(uas^2 + vas^2)": "speed", "toce*e3t": "flux"}
    for f in range(random_.randint(1, 4)):
        every = random_.choice(periods)
        keys = {"align": "calendar", "missing": "ignore", "partial": "write", "stamp": "centre"}
        if every == "3mo":
            keys["align"] = random_.choice(["calendar", "seasons"])
        if every in ("6h", "12h", "1d") and random_.random() < 0.3:
            keys["align"] = "start"
        keys["missing"] = random_.choice(["ignore", "poison", "0.5"])
        keys["partial"] = random_.choice(["write", "write", "skip"])
        keys["stamp"] = random_.choice(["start", "centre", "end"])
        entries = {}
        # The same statistics over another period: what is long is made of what is short where
        # results stay the same.
        again = files and every != files[-1][1] and random_.random() < 0.5
        if again:
            keys["missing"], entries = files[-1][2]["missing"], {op: list(list_) for op, list_ in files[-1][3].items()}
        for name in [] if again else random_.sample(FIELDS, random_.randint(1, 4)):
            for operation in random_.sample(OPERATIONS, random_.randint(1, 3)):
                entries.setdefault(operation, []).append((name, f"{derived.get(name, name)}_{operation}"))
        description.append(f"  f{f}:")
        description += [f"    {key}: {value}" for key, value in {"every": every, "type": "float64", **keys}.items()]
        for operation, list_ in entries.items():
            inner = ", ".join(f"{derived.get(name, name)}: {variable}" for name, variable in list_)
            description.append(f"    {operation}: [{inner}]")
        files.append((f, every, keys, entries))
    shutil.rmtree("run", ignore_errors=True)
    os.makedirs("run")
    os.chdir("run")
    text, settings = "\n".join(description) + "\n", []
    try:
        place = list(random_.choice(PLACES))
        store = random_.choice(["netcdf4", "netcdf4", "cdf5"])
        settings = [f"--afterbay.collections.*.store={store}", *place]
        if "--afterbay.topology=inline" in place:
            servers = 0
        if "--afterbay.topology=tiered" in place:
            ranks += 1  # a frontend
            settings[-1] = "--afterbay.nodes=" + ",".join(["0"] * ranks + ["1"] * servers)
        run(text, ranks=ranks, servers=servers, settings=settings, **options)
        for f, every, keys, entries in files:
            expected = Expected(times, fields, every, keys["align"], missing=keys["missing"], partial=keys["partial"])
            if not expected.records():
                assert not os.path.exists(f"f{f}.nc"), f"f{f}.nc has no record, but exists"
                continue
            numbers, bounds = expected.time(keys["stamp"])
            np.testing.assert_allclose(read(f"f{f}.nc", "time")[0], numbers, rtol=0, atol=1e-9)
            np.testing.assert_allclose(read(f"f{f}.nc", "time_bnds")[0], bounds, rtol=0, atol=1e-9)
            for operation, list_ in entries.items():
                for name, variable in list_:
                    # Fields without missing values have no policy.
                    has_missing = "toce" in name or name in derived
                    if not has_missing:
                        expected.missing = "poison"
                    check(f"f{f}.nc", variable, expected.statistic(operation, name), exact=operation != "stddev")
                    expected.missing = keys["missing"]
    except BaseException:
        print(f"seed {seed}: {ranks} ranks, {servers} servers, {settings}, {options}\n{text}")
        raise
    os.chdir("..")


for seed in range(int(os.environ.get("AFTERBAY_TEST_ROUNDS", "25"))):
    one(seed)
