#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`compress: auto` in jobs with several servers: the first measures, later ones use its choice, as
netCDF4-python, ncdump and h5py see it."""
import glob
import json
import os
import re
import subprocess

import h5py
import netCDF4
import numpy as np

from lib_described import run

DESCRIPTION = """
files:
  h: {every: 1ts, directory: out, name: NAME, instant: [tas, uas, toce]%s}
"""
SIZES = {"lat": 120, "lon": 160, "last": 4}
CHOICE = "out/compress.h.yaml"


def session(name, keys="", ranks=2, servers=2, settings=("--afterbay.placement=slab",), **more):
    text = (DESCRIPTION % keys).replace("NAME", name)
    return run(text, ranks=ranks, servers=servers, settings=["--afterbay.report.table=auto", *settings], **SIZES, **more)


def values(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        return {name: np.asarray(file[name][...]) for name in ("tas", "uas", "toce")}


def same(path, expected):
    found = values(path)
    for name, one in expected.items():
        assert found[name].tobytes() == one.tobytes(), f"{path}: {name} differs"


def chunks(path):
    """The encoded chunks by variable and place."""
    found = {}
    with h5py.File(path) as file:
        for name in ("tas", "uas", "toce"):
            one = file[name].id
            for i in range(one.get_num_chunks()):
                place = one.get_chunk_info(i).chunk_offset
                found[name, place] = one.read_direct_chunk(place)
    return found


def chain_of(path):
    """As `afterbay codecs` writes it, from HDF5's own list of filters."""
    with h5py.File(path) as file:
        chains = set()
        for name in ("tas", "uas", "toce"):
            creation = file[name].id.get_create_plist()
            filters = [creation.get_filter(i) for i in range(creation.get_nfilters())]
            words = {1: "deflate %d", 2: "shuffle", 32001: "blosc", 32004: "lz4", 32008: "bitshuffle", 32015: "zstd %d"}
            chains.add(", ".join(words[it[0]] % it[2][:1] if "%d" in words[it[0]] else words[it[0]]
                                 for it in filters) or "none")
        assert len(chains) == 1, chains
        return chains.pop()


def measures_and_uses():
    plain = session("plain")
    assert "hint" not in plain and not os.path.exists(CHOICE)
    expected = values("out/plain.nc")

    printed = session("first", ", compress: portable", pause_ms=500,
                      settings=("--afterbay.placement=slab", "--afterbay.report.json=report.json",
                                "--afterbay.report.html=report.html", "--afterbay.report.table=on"))
    same("out/first.nc", expected)
    assert chain_of("out/first.nc") == "shuffle, deflate 1", chain_of("out/first.nc")
    chosen = re.search(r"hint: h: later sessions write with (.*), see out/compress\.h\.yaml", printed)
    assert chosen, printed
    chosen = chosen[1]
    assert chosen != "none", printed
    report = next(it for it in json.load(open("report.json"))["collections"] if it["name"] == "h")["compress"]
    assert (report["filters"], report["chosen"], report["file"]) == ("shuffle, deflate 1", chosen, CHOICE), report
    assert len(report["trials"]) == 7 and "7 of 7 chains" in report["why"], report
    assert f"chosen for later sessions: {chosen}" in printed
    assert "chosen for later sessions" in open("report.html").read()
    assert sorted(os.listdir("out")) == ["compress.h.yaml", "first.nc", "plain.nc"]
    text = open(CHOICE).read()
    assert f"{chosen} " in text and "<- chosen" in text and "No filter changes values" in text, text

    printed = session("second", ", compress: auto", settings=("--afterbay.placement=slab", "--afterbay.report.table=on"))
    same("out/second.nc", expected)
    assert chain_of("out/second.nc") == chosen
    assert "as an earlier session chose: out/compress.h.yaml" in printed and "hint: h:" not in printed, printed
    assert open(CHOICE).read() == text
    header = subprocess.run(["ncdump", "-hs", "out/second.nc"], capture_output=True, text=True, check=True).stdout
    if "deflate" in chosen:
        assert f"tas:_DeflateLevel = {chosen.split()[-1]}" in header, header

    # The same file as the configuration, and in another layout, gives the same bytes of all chunks.
    for name, layout in (("third", {"ranks": 2, "servers": 1}), ("fourth", {"ranks": 3, "servers": 1})):
        session(name, settings=("--afterbay.config=" + CHOICE,), **layout)
        assert chain_of(f"out/{name}.nc") == chosen
        same(f"out/{name}.nc", expected)
        assert chunks(f"out/{name}.nc") == chunks("out/second.nc")


def chooses_without_a_report():
    for path in glob.glob("out/*"):
        os.remove(path)
    session("quiet", ", compress: portable", pause_ms=500, settings=("--afterbay.placement=slab", "--afterbay.report.table=off"))
    os.remove(CHOICE)


def nothing_is_left_of_a_job_that_died():
    session("dead", ", compress: auto", pause_ms=50, kill_at=3, kill_rank=0, expect=1)
    assert not glob.glob("out/compress*"), os.listdir("out")


def refused():
    for name, text, word in (("zstd: 99", "collections:\n  h:\n    zstd: 99\n", ":3:11: zstd: expected"),
                             ("half", "collections:\n  h:\n    zst", "remove out/compress.h.yaml")):
        open(CHOICE, "w").write(text)
        printed = session("refused", ", compress: auto", expect=1)
        assert word in printed and CHOICE in printed, (name, printed)
    os.remove(CHOICE)
    printed = session("refused", ", compress: auto, deflate: 3", expect=1)
    assert "which chooses the filters; remove one of them" in printed, printed


measures_and_uses()
chooses_without_a_report()
nothing_is_left_of_a_job_that_died()
refused()
