#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Expressions and statistics over time that servers compute have the bits of those that model ranks
compute: random descriptions, policies, decompositions, stores, placements, transports; jobs that
save and resume in either way."""
import glob
import os
import random
import shutil

import netCDF4
import numpy as np

from lib_described import run
from lib_jobs import inside

# Where servers run, how data get to them, and who writes what.
PLACES = [
    [], [], ["--afterbay.transport=mpi"], ["--afterbay.placement=slab"], ["--afterbay.placement=variable"],
    ["--afterbay.placement=slab", "--afterbay.transport=mpi"],
    ["--afterbay.topology=inline"], ["--afterbay.topology=inline", "--afterbay.inline.mode=thread"],
    ["--afterbay.topology=tiered", "--afterbay.nodes=NODES"],
    ["--afterbay.when_full=spill", "--afterbay.spill.quota=256MiB", "--afterbay.spill.directory=."],
    ["--afterbay.memory.server=2MiB", "--afterbay.memory.block=64KiB"],
]
OPERATIONS = ["mean", "sum", "min", "max", "range", "stddev", "rate", "difference"]
FIELDS = ["tas", "uas", "toce", "e3t", "co2"]
# By loops and by muParser, with missing values, of both types, with an operand that is constant,
# with values that are not numbers.
EXPRESSIONS = {
    "speed": '{expression: "sqrt(uas^2 + vas^2)", units: m s-1}',
    "warm": '"tas > 280 ? uas : vas"',
    "heat": "toce^2/3 - 1",
    "thick": "sqr(e3t) - e3t/3",
    "flux": "uas*area",
    "wet": "exp(uas/10) + log(vas)",
    "same": "tas",
    # Expressions of expressions: with conditions in which missing values count, with fields that an
    # inner one has already, and with one field by two names.
    "power": "speed^3/2 + flux",
    "gust": '"speed > 5 ? warm - uas : 0"',
    "twice": "heat^2 - toce/heat",
    "both": "same*tas - power",
}


def described(random_, statistics):
    """Files whose statistics servers can compute, and others beside them. `statistics`: by file."""
    lines = ["fields:", *(f"  {name}: {text}" for name, text in EXPRESSIONS.items()),
             "grids:", "  part: {index: {lat: [1, 3], lon: [0, 4]}}", "files:"]
    all_names = FIELDS + list(EXPRESSIONS)
    names = random_.sample(all_names, len(all_names))
    for f, who in enumerate(statistics):
        missing = random_.choice(["ignore", "poison", "0.5"])
        keys = {"every": random_.choice(["1ts", "4ts", "1d", "1mo"]), "missing": missing,
                "partial": random_.choice(["write", "write", "skip"]) if f > 0 else "write", "statistics": who, "expressions": who,
                "split": random_.choice(["3 records", "1mo", "1y"]), "name": '"{file}_{part:03}"'}
        if random_.random() < 0.3:
            keys["grid"] = "part"
        if random_.random() < 0.3 and keys["every"] in ("1d", "1mo"):
            keys["sample"] = random_.choice(["12h", "1d"])
        entries = {}
        # No field in two files: statistics over several periods of one field are computed together
        # by model ranks.
        for name in names[f::len(statistics)][:random_.randint(1, 3)]:
            if name == "co2" and "grid" in keys:  # one value
                name = "vas"
            for operation in random_.sample(OPERATIONS, random_.randint(1, 2)):
                entries.setdefault(operation, []).append(f"{name}: {name}_{operation}")
        if random_.random() < 0.5:
            entries["instant"] = ["vas: v", "speed: s", "speed: {name: knots, units: knot}"]
            entries["instant"] += [f"{name}: {name}_now" for name in random_.sample(list(EXPRESSIONS)[1:], 2)]
        if random_.random() < 0.3:
            entries["once"] = ["orog: elevation"]
        lines.append(f"  f{f}:")
        lines += [f"    {key}: {value}" for key, value in keys.items()]
        lines += [f"    {operation}: [{', '.join(inner)}]" for operation, inner in entries.items()]
    return "\n".join(lines) + "\n"


def contents(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        return {name: (variable.dimensions, str(variable.dtype), np.asarray(variable[...]).tobytes())
                for name, variable in file.variables.items()}


def compare(one, other):
    names = sorted(os.path.basename(path) for path in glob.glob(f"{one}/f*.nc"))
    assert names == sorted(os.path.basename(path) for path in glob.glob(f"{other}/f*.nc")), (one, other)
    for name in names:
        a, b = contents(f"{one}/{name}"), contents(f"{other}/{name}")
        assert list(a) == list(b), f"{name}: {list(a)}, {list(b)}"
        for variable in a:
            assert a[variable] == b[variable], f"{name}: {variable} differs between {one} and {other}"
    return len(names)


def parts(random_, store, land):
    """Ranks, servers and settings."""
    ranks, servers = random_.randint(1, 4), random_.randint(1, 2)
    settings = list(random_.choice(PLACES))
    if "--afterbay.topology=inline" in settings:
        servers = 0
    if "--afterbay.topology=tiered" in settings:
        ranks, servers = ranks + 1, 1  # a frontend; several servers take turns in this topology
        settings[-1] = "--afterbay.nodes=" + ",".join(["0"] * ranks + ["1"] * servers)
    decomposition = "map" if land else random_.choice(["block", "map", "whole"])
    return {"ranks": ranks, "servers": servers, "settings": [store, *(["--afterbay.chunk=4KiB"] if land else []), *settings],
            "decomposition": decomposition, "halo": random_.choice([0, 2]) if decomposition == "block" else 0}


def one(seed):
    random_ = random.Random(seed)
    options = {"calendar": random_.choice(["standard", "360_day"]), "step": random_.choice(["3h", "6h", "12h"]),
               "lat": random_.randint(4, 7), "lon": random_.randint(5, 9), "lev": random_.randint(1, 3),
               "sections": random_.choice([0, 0, 1]), "start": "2000-01-27", "rich": 1}
    # No rank has points of half of the rows; records that ranks have begun end within the step.
    options["land"], options["flush"] = random_.choice([0, 0, 1]), random_.choice([0, 0, 1])
    last = random_.randint(20, 150)
    land = options["land"]
    if land:  # in several chunks, of which some have no points
        options.update(lat=48, lon=40)
    store = f"--afterbay.collections.*.store={random_.choice(['netcdf4', 'netcdf4', 'cdf5'])}"
    files = random_.randint(1, 3)
    texts = {}
    for who in ("model", "servers"):
        texts[who] = described(random.Random(seed), [who] * files)
    mixed = described(random.Random(seed), [random_.choice(["model", "servers", "auto"]) for _ in range(files)])
    given = []
    try:
        inside("model", lambda: run(texts["model"], last=last, **options, **parts(random_, store, land)))
        given.append(parts(random_, store, land))
        inside("servers", lambda: run(texts["servers"], last=last, **options, **given[-1]))
        count = compare("model", "servers")
        assert count > 0

        def jobs():
            state, first = {}, 0
            for cut in [*sorted(random_.sample(range(1, last), 2)), last]:
                job = dict(first=first, last=cut, **options, **state)
                if cut < last:
                    job["finalize_to"] = f"state{cut}.nc"
                given.append(parts(random_, store, land))
                run(random_.choice([texts["model"], texts["servers"], mixed]), **job, **given[-1])
                state, first = {"resume": f"state{cut}.nc"}, cut + 1

        inside("jobs", jobs)
        compare("model", "jobs")
    except BaseException:
        print(f"seed {seed}: {given}, {options}, last {last}\n{texts['servers']}")
        raise
    print(f"seed {seed}: {count} files, the same", flush=True)


def full_memory():
    """The model runs ahead until the memory is full. The rank that is behind then needs room for
    the time of a record, which it alone puts, while samples of the same step are not complete."""
    text = """
grids: {thin: {stride: {lon: 2, lat: 2}}, top: {levels: {lev: [10, 20]}}}
files:
  snap: {every: 6h, instant: [uas]}
  thin: {every: 1d, grid: thin, mean: [tas, toce: {grid: top}]}
  day: {every: 1d, mean: [tas, toce], max: [vas]}
"""
    for memory in ("20MiB", "64MiB"):
        inside("full", lambda: run(text, ranks=3, servers=1, last=240, step="6h", settings=[
            f"--afterbay.memory.server={memory}", "--afterbay.deadline=15s", "--afterbay.collections.*.existing=replace"]))


def steps_larger_than_memory():
    """Servers take samples when the ranks have put the whole step, unless memory cannot hold it."""
    text = "files: {day: {every: 1d, statistics: servers, mean: [tas, uas, vas, toce, e3t]}}\n"
    # Memory cannot hold all operands of a step either.
    expressions = """
fields: {one: uas + vas + tas, two: vas - tas, three: 2*uas, four: toce*2}
files: {step: {every: 1ts, expressions: servers, instant: [vas, four, two, one], mean: [three, one: average]}}
"""
    # Memory cannot hold the states with which the second job begins.
    states = """
fields: {one: uas + vas + tas}
files: {month: {every: 1mo, expressions: servers, statistics: servers, stddev: [tas, one], difference: [vas], range: [uas]}}
"""

    def jobs(text):
        options = {"ranks": 3, "servers": 1, "step": "6h", "lat": 256, "lon": 256, "settings": [
            "--afterbay.memory.server=2MiB", "--afterbay.memory.block=64KiB", "--afterbay.deadline=15s"]}
        run(text, last=3, finalize_to="state.nc", **options)
        run(text, first=4, last=8, resume="state.nc", **options)

    for described_ in (text, expressions, states):
        inside("large", lambda text=described_: jobs(text))


def pieces_without_points():
    """Chunks of which no rank has points, and others of which a part is missing."""
    text = """
fields: {w: uas/vas}
files:
  now: {every: 1ts, WHO, instant: [w]}
  day: {every: 1d, WHO, mean: [w, tas], sum: [uas]}
"""
    for who in ("model", "servers"):
        keys = f"statistics: {who}, expressions: {who}, name: \"f_{{file}}\""
        inside(who, lambda keys=keys: run(text.replace("WHO", keys), ranks=2, last=160, step="30min", lat=96, lon=40, land=1,
                                          decomposition="map", settings=["--afterbay.chunk=4KiB"]))
    assert compare("model", "servers") == 2


def refused(description, *parts, **options):
    found = run(description, expect=1, ranks=2, last=4, **options)
    for part in parts:
        assert part in found, f"expected {part!r} in:\n{found}"
    assert not glob.glob("f*.nc"), "a file was made"


def mistakes():
    """What servers cannot compute, in the words and at the place of the description."""
    servers = "files:\n  f: {every: 1d, statistics: servers, %s}\n"
    place = 'output.yaml:2:3: the file "f" has statistics: servers, but servers cannot compute the mean of '
    of = "fields: {w: sqrt(uas^2 + vas^2), y: tas - mean(toce over lev), z: w - mean(tas), x: toce*e3t, c: 2*area, m: \"max(uas, 1d)\"}\n"
    below = place.replace(":2:3", ":3:3")
    refused(of + servers % "mean: [y]", below + "y: it is computed from a reduction over dimensions")
    refused(of + servers % "mean: [x]", below + "x: 'toce' has values of type float32, and the variable is of type float64")
    refused(of + servers % "expressions: model, mean: [w]", below + "w: the expression is left to the model (expressions: model)")
    refused(of + servers % "mean: [c]", below + "c: it is computed from coordinates only", rich=1)
    refused(of + servers % "sample: 12h, mean: [tas], write: [m]",
            below.replace("the mean of", "the maximum of") + "uas: its samples are not those of the file")
    # What is not asked for does not end the run.
    for settings in ([], ["--afterbay.collections.f.variables.w.multiply=2"]):
        keys = "mean: [tas], instant: [w]" if settings else "optional: on, instant: [w]"
        inside("accepted", lambda keys=keys, settings=settings: run(of + servers % keys, ranks=1, last=4, settings=settings))
    expressions = "files:\n  f: {every: 1d, expressions: servers, %s}\n"
    wishes = 'output.yaml:3:3: the file "f" has expressions: servers, but servers cannot compute '
    refused(of + expressions % "statistics: model, mean: [w]",
            wishes + "the mean of w: the statistic is left to the model (statistics: model)", "Write expressions: auto or model")
    refused(of + expressions % "write: [z]", wishes + "'z': it is computed from statistics over time")
    refused(of + expressions % "type: float64, instant: [w]",
            wishes + "'w': 'uas' has values of type float32, and the variable is of type float64")
    refused(of + expressions % "instant: [w: {type: int32}]", wishes + "'w': it is not of type float32 or float64")
    refused(of + expressions % "optional: on, instant: [w]", wishes + "'w': its files or records may be given up")
    boxes = [f"b{number}: {{index: {{lon: [{number % 8}, 8], lat: [0, {1 + number // 8}]}}}}" for number in range(13)]
    many = ", ".join(f"w: {{name: w{number}, grid: b{number}}}" for number in range(13))
    refused(of + "grids: {" + ", ".join(boxes) + "}\n" + expressions % f"instant: [{many}]",
            wishes.replace(":3:3", ":4:3") + "'w': the expressions of the file compute with more than 24 fields",
            lat=5, lon=9)
    refused(servers % "type: float64, mean: [tas]", place + "tas: its values are converted to another type")
    refused(servers % "mean: [tas: {units: degC}]", place + "tas: its values are converted to another type or other units")
    refused(servers % "cycle: 1d, cycle_step: 12h, mean: [tas]", place + "tas: its periods are folded")
    refused(servers % "mean: [tas]", place + "tas: its files go to different servers in turn", "placement: collection",
            servers=2, settings=["--afterbay.placement=file"])
    refused(servers % "mean: [tas]", place + "tas: values of variable 'tas' pass stages",
            settings=["--afterbay.collections.f.variables.tas.multiply=2"])
    refused(servers % "optional: on, mean: [tas]", place + "tas: its files or records may be given up")
    refused("files: {f: {every: 1d, statistics: server, mean: [tas]}}\n", "expected auto, model or servers", "servers")


def states_that_do_not_belong_together():
    text = "files: {f: {every: 1mo, statistics: servers, mean: [tas]}}\n"
    for last, state in ((3, "one.nc"), (3, "two.nc")):
        run(text, ranks=2, last=last, finalize_to=state, settings=["--afterbay.collections.*.existing=replace"])
    again = {"first": 4, "last": 6, "ranks": 2, "expect": 1}
    shutil.copy("two.f.nc", "one.f.nc")
    found = run(text, resume="one.nc", **again)
    assert "one.f.nc" in found and "does not belong to the state that names it" in found, found
    os.remove("one.f.nc")
    found = run(text, resume="one.nc", **again)
    assert "one.f.nc" in found, found
    os.makedirs("moved")
    for name in ("two.nc", "two.f.nc"):
        shutil.move(name, "moved/" + name)
    run(text, resume="moved/two.nc", first=4, last=6, ranks=2, settings=["--afterbay.collections.*.existing=replace"])


inside("mistakes", mistakes)
inside("states", states_that_do_not_belong_together)
full_memory()
steps_larger_than_memory()
pieces_without_points()
for seed in range(int(os.environ.get("AFTERBAY_TEST_ROUNDS", "6"))):
    one(seed)
