#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `afterbay describe --definitions` says of a description against the files that a run writes,
the fields that it asks for, the memory that it reports, and its messages."""
import glob
import json
import os
import pathlib
import random
import re
import shutil
import subprocess

import netCDF4

from lib_described import BUILD, run

COMMAND = BUILD / "apps/afterbay/afterbay"
OPERATIONS = ["mean", "sum", "min", "max", "range", "stddev", "rate", "difference", "instant"]
FIELDS = ["tas", "uas", "toce", "e3t", "count", "co2", "ws", "flux", "column", "deviation"]
GRIDS = """\
grids:
  box: {box: {lon: [-50, 100], lat: [-60, 76]}}
  thin: {stride: {lon: 2, lat: 2}, reverse: [lat]}
fields:
  ws: sqrt(uas^2 + vas^2)
  flux: toce*e3t
  heat: mean(toce*e3t) / mean(e3t)
  highest: mean(max(tas, 1d))
  column: sum(toce*e3t over lev) / sum(e3t over lev)
  deviation: tas - max(toce over lev)
  zonal: mean(toce over lon)
  globe: sum(tas over lat, lon) / 2
"""
LATE = ["zonal", "globe"]  # in files of their own
ROOT = os.getcwd()


def preview(*arguments, expect=0):
    done = subprocess.run([COMMAND, "describe", "output.yaml", "--definitions", "model.yaml", *arguments],
                          capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode == 0) == (expect == 0), f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout if expect == 0 else done.stderr


def fresh(name):
    os.chdir(ROOT)
    shutil.rmtree(name, ignore_errors=True)
    os.makedirs(name)
    os.chdir(name)


def sizes(path):
    """Records and bytes of all variables, as netCDF shows them."""
    with netCDF4.Dataset(path) as file:
        records = len(file.dimensions["time"]) if "time" in file.dimensions else 0
        return records, sum(v.dtype.itemsize * v.size for v in file.variables.values())


def lists_of_fields(random_, grid, operations):
    """`mean: [tas, ...]` with a name for each variable of the file."""
    lists = {}
    if random_.random() < 0.25:
        return [f"{operation}: [{', '.join(f'{field}: {field}_{operation}' for field in LATE)}]"
                for operation in random_.sample(operations, min(len(operations), 2))]
    fields = FIELDS if grid == "own" else [field for field in FIELDS if field != "co2"]  # which has no dimensions
    for field in random_.sample(fields, random_.randint(1, 5)):
        for operation in random_.sample(operations, min(len(operations), random_.randint(1, 2))):
            lists.setdefault(operation, []).append(f"{field}: {field}_{operation}")
    return [f"{operation}: [{', '.join(fields)}]" for operation, fields in lists.items()]


def file_of(random_):
    """The keys of an entry of a random kind."""
    grid = random_.choice(["own", "own", "box", "thin"])
    keys = [f"grid: {grid}", f"type: {random_.choice(['own', 'own', 'float64'])}"]
    kind = random_.choice(["plain", "plain", "split", "parts", "records", "cycle", "start", "once", "chain"])
    if kind == "once":
        return keys + ["once: [orog, tas: first]"]
    if kind == "chain":
        return keys + ["every: 1mo", "write: [heat, highest]", "split: 1y", 'name: "{file}_{start}"']
    if kind == "start":
        return keys + [f"every: {random_.choice(['1d', '2ts'])}", "at_start: true",
                       *lists_of_fields(random_, grid, ["instant"])]
    if kind == "cycle":
        return keys + ["every: 1mo", "cycle: 1d", "cycle_step: 12h", f"partial: {random_.choice(['write', 'skip'])}",
                       *lists_of_fields(random_, grid, ["mean", "max"])]
    periods = ["1d", "1mo", "12h"] if kind in ("split", "parts") else ["1d", "1mo", "12h", "3ts"]
    keys += [f"every: {random_.choice(periods)}", f"partial: {random_.choice(['write', 'skip'])}",
             f"bounds: {random_.choice(['true', 'false'])}", f"missing: {random_.choice(['ignore', 'poison', '0.5'])}",
             f"statistics: {random_.choice(['auto', 'model'])}", *lists_of_fields(random_, grid, OPERATIONS)]
    if random_.random() < 0.4 and "zonal" not in "".join(keys):
        keys.append("once: [orog]")
    if kind == "split":
        keys += ["split: 1mo", 'name: "{file}_{start}-{end}"', "directory: sub"]
    if kind == "parts":
        keys += ["split: 1y", 'name: "{file}_{part:03}"']
    if kind == "records":
        keys += [f"split: {random_.randint(1, 9)} records", 'name: "{file}_{part}"']
    return keys


def one(seed):
    random_ = random.Random(seed)
    fresh(f"run{seed}")
    step = random_.choice(["1h", "3h", "6h", "12h"])
    options = {
        "calendar": random_.choice(["standard", "noleap", "360_day", "julian"]), "step": step,
        "start": f"{random_.choice([1999, 2000])}-{random_.randint(1, 12):02}-{random_.choice([1, 1, 20]):02}",
        "decomposition": random_.choice(["block", "map", "whole"]), "last": random_.randint(1, 150),
        "lat": random_.randint(4, 9), "lon": random_.randint(5, 9), "lev": random_.randint(1, 3),
    }
    if random_.random() < 0.4:
        options["rich"] = 1
    description = GRIDS + "files:\n"
    for number in range(random_.randint(1, 5)):
        description += f"  f{number}:\n" + "".join(f"    {key}\n" for key in file_of(random_))
    # Step 0 exists if a file has the values at the start.
    first = 0 if "at_start" in description else 1
    ranks = random_.choice([1, 2, 3])
    try:
        # The preview shows what model ranks compute, unless it is told otherwise; over a network
        # they do.
        said = run(description, ranks=ranks, servers=random_.randint(1, 2), first=first, count=1,
                   settings=["--afterbay.output.definitions=model.yaml", "--afterbay.log=info",
                             "--afterbay.transport=mpi"], **options)
        shown = json.loads(preview("--json", "--length", f"{options['last']}ts"))
        expected = {part["path"]: (part["records"], part["bytes"]) for file in shown["files"] for part in file["files"]}
        found = {path: sizes(path) for path in glob.glob("**/*.nc", recursive=True)}
        assert found == expected, f"the run wrote {found}, the preview says {expected}"
        assert [file["name"] for file in shown["files"]] == sorted(file["name"] for file in shown["files"])
        for file in shown["files"]:
            parts = [found[part["path"]] for part in file["files"]]
            assert (file["records"], file["bytes"]) == (sum(p[0] for p in parts), sum(p[1] for p in parts))
        wanted, most = (int(number) for number in re.search(r"(\d+) fields were wanted, at most (\d+)", said).groups())
        puts = shown["totals"]["puts_per_step"]
        assert (round(puts["average"] * options["last"]), puts["most"]) == (wanted, most), f"{puts}, not {wanted}, {most}"
        memory = re.search(r"take (\S+ \S+) of memory", said)[1]
        if ranks == 1:  # otherwise the first rank has another part of the grid
            assert memory == about(shown["totals"]["state_bytes_per_rank"]), f"{memory}: {shown['totals']}"
        between = shown["totals"]["bytes_between_model_ranks_per_step"]["most"]
        contributes = ranks > 1 and options["decomposition"] != "whole" and ("zonal_" in description)
        assert (between > 0) == contributes, f"{between} bytes between {ranks} ranks"
        assert shown["run"]["model_ranks"] == ranks and shown["run"]["steps"] == options["last"]
        assert "unused" in shown["unused_fields"]
    except BaseException:
        print(f"seed {seed}: {ranks} ranks, {options}\n{description}")
        raise


def about(count):
    """As messages print bytes."""
    amount, units = float(count), ["B", "KiB", "MiB", "GiB"]
    while amount >= 1024 and len(units) > 1:
        amount, units = amount / 1024, units[1:]
    return f"{amount:.0f} B" if units[0] == "B" else f"{amount:.1f} {units[0]}"


def say_the_same(text, **options):
    for path in glob.glob("*.nc*"):
        os.remove(path)
    of_run = run(text, ranks=2, last=8, expect=1, seconds=40, **options)
    of_preview = preview("--length", "8ts", expect=1).removeprefix("afterbay describe: ")
    lines = [line.strip() for line in of_preview.splitlines()]
    assert lines and all(line in of_run for line in lines), f"the preview says\n{of_preview}\nthe run says\n{of_run}"
    return of_preview


def mistakes():
    """Both report the same places and texts."""
    fresh("mistakes")
    run("files: {}\n", ranks=2, last=1, settings=["--afterbay.output.definitions=model.yaml"])
    for text in (
            "files:\n  f: {every: 1d, mean: [taz]}\n  g: {every: 5h, max: [tas]}\n",
            "files:\n  f: {every: 1d, mean: [tas: {units: Pa}], sum: [tas: {name: s, units: degC}]}\n",
            "fields: {x: tas + toce}\nfiles:\n  f: {every: 1d, mean: [x]}\n",
            "fields: {tas: uas*2}\nfiles:\n  f: {every: 1d, mean: [tas]}\n",
            "grids: {g: {levels: {lev: [15]}}}\nfiles:\n  f: {every: 1d, grid: g, mean: [toce]}\n",
            "grids: {g: {box: {lat: [1, 2]}}}\nfiles:\n  f: {every: 1d, grid: g, mean: [tas]}\n",
            "files:\n  f: {every: 1d, name: 'a_{member}', mean: [tas]}\n",
            "files:\n  f: {every: 1d, mean: [tas: lat]}\n",
            "files:\n  f: {every: 1d, align: 2001-02-31, mean: [tas]}\n",
            "files:\n  f: {every: 6h, split: 2 records, name: 'x_{start:%Y}', mean: [tas]}\n",
            "files:\n  f: {every: 1d, epochs: 4h, mean: [tas]}\n",
            "files:\n  f: {every: 1d, statistics: servers, optional: on, mean: [tas]}\n",
            "files:\n  f: {every: 1d, statistics: servers, mean: [tas: {multiply: 2}]}\n",
            "files:\n  f: {every: 1d, statistics: servers, mean: [tas: {pack: int16, pack_range: \"0,400\"}]}\n",
            "files:\n  f: {every: 1d, store: cdf2, type: int64, mean: [tas]}\n"):
        say_the_same(text)
    # The first years are multiples of steps; the first leap year is not.
    later = {"step": "5d", "start": "2001-01-01"}
    run("files: {}\n", ranks=2, last=1, settings=["--afterbay.output.definitions=model.yaml"], **later)
    for text in ("files:\n  f: {every: 1y, mean: [tas]}\n", "files:\n  f: {every: 1ts, epochs: 1y, instant: [tas]}\n"):
        said = say_the_same(text, **later)
        assert "output.yaml:2:3: " in said and "(1y): a period ends at 2005-01-01" in said, said


def files_of_definitions():
    """The file of a model with everything, and what a missing directory means."""
    fresh("definitions")
    shown = []
    for decomposition, kind in (("block", "block"), ("map", "map"), ("whole", "whole")):
        run("files: {}\n", ranks=3, last=1, rich=1, member=4, decomposition=decomposition, reference="1999-01-01",
            settings=["--afterbay.output.definitions=model.yaml"])
        text = pathlib.Path("model.yaml").read_text()
        assert f"atm: {{dimensions: [lat, lon], lengths: [6, 8], kind: {kind}}}" in text, text
        shown.append(text.replace(f"kind: {kind}", "kind: ?"))
    assert shown[0] == shown[1] == shown[2]
    for line in ("model_ranks: 3", "servers: 1", "step: 6h", 'start: "2000-01-01T00:00:00"', "member: 4",
                 "fill: -999", "axes: [lev]", "vertices: nv", "cell_measures"):
        assert line in text, f"{line} is not in\n{text}"
    assert not glob.glob("*.tmp")
    said = run("files: {}\n", ranks=2, last=1, settings=["--afterbay.output.definitions=none/model.yaml"])
    assert "cannot be written to 'none/model.yaml'" in said and "No such file" in said, said


files_of_definitions()
mistakes()
for round_ in range(int(os.environ.get("AFTERBAY_TEST_ROUNDS", "25"))):
    one(round_)
