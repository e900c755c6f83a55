#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory of described output on a rank: what the report says, and what `output.memory` refuses."""
import glob
import json
import os
import pathlib

from lib_described import run

LAT, LON, LEV = 40, 60, 5
PLANE, RANKS = LAT * LON, 2
GRID = dict(lat=LAT, lon=LON, lev=LEV, ranks=RANKS, last=4)
KIB = 1024


def needed(description, **options):
    """Bytes on the rank that needs most."""
    run(description, settings=["--afterbay.report.json=report.json", "--afterbay.collections.*.existing=replace"], **GRID, **options)
    report = json.loads(pathlib.Path("report.json").read_text())
    memory = report["model"]["counters"].get("memory of output")
    return memory["total"] if memory else 0


def file(keys, top=""):
    return f"{top}files: {{f: {{every: 1mo, statistics: model, {keys}}}}}\n"


def about(found, expected):
    """Coordinates of the grid and alignment come on top."""
    coordinates = PLANE // RANKS * 8
    assert expected <= found <= expected + coordinates + 4 * KIB, f"{found} bytes, expected {expected} and coordinates"


points = PLANE // RANKS
about(needed(file("mean: [tas]")), points * (8 + 4))  # the sum, and a result
about(needed(file("mean: [toce]")), LEV * points * (12 + 4))  # with numbers of valid values
about(needed(file("max: [tas]")), points * (4 + 4))
about(needed(file("instant: [tas]")), 0)
about(needed(file("instant: [tas: {units: degC}]")), points * 8)
about(needed(file("mean: [w]", "fields: {w: sqrt(uas^2 + vas^2)}\n")), points * (2 * 8 + 8) + points * (12 + 4))
about(needed(file("mean: [tas], grid: g", "grids: {g: {stride: {lon: 2}}}\n")), points // 2 * (4 + 4 + 8 + 4))
about(needed(file("once: [toce], mean: [tas]")), LEV * points * 4 + points * (8 + 4))
plain = needed(file("mean: [toce]"))
in_sections = needed(file("mean: [toce]"), sections=1)
assert in_sections == plain + LEV * points * 4, (plain, in_sections)
with_halo = needed(file("mean: [toce]"), halo=1)
assert with_halo == plain + LEV * points * 4, (plain, with_halo)

# Refused before the run begins, with what needs most.
for path in glob.glob("*.nc*"):
    os.remove(path)
two = file("mean: [toce], max: [tas], once: [e3t]")
found = run(two, settings=["--afterbay.output.memory=64KiB"], expect=1, **GRID)
for part in ("of memory on model rank ", "The largest parts are: statistics of 'toce' over 1mo (",
             "'e3t' of the file 'f', written once (", "statistics of 'tas' over 1mo ("):
    assert part in found, f"expected {part!r} in:\n{found}"
assert found.index("'toce'") < found.index("'e3t'") < found.index("'tas'"), found
assert not glob.glob("*.nc*"), "a file was made"
# What is enough is accepted; copies of arrays, of which the plan knows nothing, are refused in put.
enough = f"--afterbay.output.memory={plain // KIB + 1}KiB"
run(file("mean: [toce]"), settings=[enough], **GRID)
os.remove("f.nc")
found = run(file("mean: [toce]"), settings=[enough], sections=1, expect=1, **GRID)
assert "the sections of 'toce' (" in found and "output.memory" in found, found
for path in glob.glob("*.nc*"):
    os.remove(path)


def of_servers(keys, **options):
    """Bytes on all servers. Chunks may be longer than the grid."""
    run(f"fields: {{w: uas*vas}}\nfiles: {{f: {{every: 1mo, statistics: servers, expressions: servers, {keys}}}}}\n",
        settings=["--afterbay.report.json=report.json", "--afterbay.collections.*.existing=replace"], **GRID, **options)
    report = json.loads(pathlib.Path("report.json").read_text())
    assert report["model"]["counters"].get("memory of output", {"total": 0})["total"] <= PLANE * 8, report["model"]
    return report["server"]["counters"]["memory of statistics"]["total"]


# The operands of an expression, and the sums of its means in float64.
for keys, bytes_ in [("mean: [tas]", PLANE * 8), ("mean: [toce]", LEV * PLANE * 12), ("max: [tas], min: [tas: low]", 2 * PLANE * 4),
                     ("instant: [w]", 2 * PLANE * 4), ("mean: [w]", 2 * PLANE * 4 + PLANE * 12)]:
    found = of_servers(keys)
    assert bytes_ <= found <= 1.1 * bytes_ + KIB, f"{keys}: {found} bytes, expected {bytes_}"
os.remove("f.nc")
found = run("files: {f: {every: 1mo, statistics: servers, mean: [toce, tas]}}\n", expect=1,
            settings=["--afterbay.memory.statistics=64KiB"], **GRID)
for part in ("the statistics and expressions of collection 'f' need ", "memory.statistics is 64.0 KiB", "statistics: model"):
    assert part in found, f"expected {part!r} in:\n{found}"
assert not glob.glob("*.nc*"), "a file was made"



def servers_compute(keys="", settings=(), values="mean: [tas]", **options):
    run(f"fields: {{w: uas*vas, y: 2*w, z: y - mean(tas)}}\nfiles: {{f: {{every: 1d, {keys}{values}}}}}\n",
        settings=["--afterbay.report.json=report.json", *(f"--afterbay.{setting}" for setting in settings)], **{**GRID, **options})
    os.remove("f.nc")
    report = json.loads(pathlib.Path("report.json").read_text())
    return "memory of statistics" in report.get("server", {}).get("counters", {})


# `auto`: servers that share memory with all ranks, have processors of their own, and keep the
# file.
processors = len(os.sched_getaffinity(0))
for settings, servers, near in [
        ([], 1, True), ([], 2, True), (["placement=slab"], 2, True), (["transport=mpi"], 1, False), (["placement=file"], 2, False),
        (["topology=inline"], 0, False), (["topology=tiered", "nodes=0,0,1"], 1, False), (["collections.f.variables.tas.multiply=2"], 1, False),
        (["collections.f.optional=on"], 1, False)]:
    found = servers_compute(settings=settings, servers=servers)
    assert found == (near and RANKS + servers <= processors), f"{settings}: servers computed: {found}"
    if near:
        assert servers_compute("statistics: servers, ", settings, servers=servers), settings
assert servers_compute(ranks=1) == (processors >= 2)
# Expressions likewise, also of others; but what the model computes in any case, it hands over as
# one field, and so what is computed from that.
for values, near in [("instant: [w]", True), ("mean: [w]", True), ("instant: [w, y]", True), ("instant: [y]", True),
                     ("instant: [w], write: [z]", False), ("instant: [y], write: [z]", False), ("mean: [w], instant: [w: now]", True),
                     ("type: float64, instant: [w]", False)]:
    assert servers_compute(values=values, ranks=1) == (near and processors >= 2), values
print("the memory of described output is reported and limited")
