#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No file of a run replaces another one of it, whatever `existing` says: not a later part, not the
file of another entry, not a state; and not in a later job."""
import glob
import hashlib
import os
import pathlib
import shutil
import subprocess

import numpy as np
import xarray

from lib_described import BUILD, Fields, run

COMMAND = str(BUILD / "apps/afterbay/afterbay")


def fresh(name):
    os.chdir(os.environ["SCRATCH_ROOT"])
    shutil.rmtree(name, ignore_errors=True)
    os.makedirs(name)
    os.chdir(name)


def contents():
    return {path: hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest() for path in glob.glob("**/*.nc", recursive=True)}


def refused(description, parts, continued=(), **options):
    """Returns new files; those that were there before must be unchanged, but for continued ones."""
    before = contents()
    found = run(description, expect=1, seconds=60, **options)
    for part in parts:
        assert part in found, f"expected {part!r} in:\n{found}"
    after = contents()
    for path, digest in before.items():
        assert after.get(path) == digest or path in continued, f"{path} was replaced or removed"
    return after.keys() - before.keys()


def later_jobs():
    """Names that repeat after 31 days."""
    fresh("later_jobs")
    daily = 'files: {a: {every: 1d, split: 1d, KEYS name: "x_{start:%d}", mean: [tas]}}\n'
    parts = ["output.yaml:1:9", "part 32 of the file 'a'", 'x_01.nc"', "which part 1 of the file 'a' has", "{part}"]
    run(daily.replace("KEYS", ""), last=124, finalize_to="state.nc")
    assert not refused(daily.replace("KEYS", ""), parts, first=125, last=140, resume="state.nc")
    with xarray.open_dataset("x_01.nc") as file:
        assert str(file.time.values[0]).startswith("2000-01-01"), file.time
    shutil.rmtree("one", ignore_errors=True)
    os.makedirs("one")
    os.chdir("one")
    refused(daily.replace("KEYS", "existing: replace,"), parts, last=140)
    if os.path.exists("x_01.nc"):  # the run stopped, perhaps before it was published
        with xarray.open_dataset("x_01.nc") as file:
            assert str(file.time.values[0]).startswith("2000-01-01"), file.time
    # When parts begin, the state says.
    fresh("later_records")
    records = 'files: {a: {every: 1d, split: 15 records, name: "x_{start:%d}", mean: [tas]}}\n'
    run(records, last=200, finalize_to="state.nc")
    assert sorted(glob.glob("x_*.nc")) == ["x_01.nc", "x_15.nc", "x_16.nc", "x_31.nc"], os.listdir()
    assert not refused(records, ["part 5 of the file 'a'", '"x_01.nc", which an earlier part has'], first=201, last=260,
                       resume="state.nc", continued=["x_15.nc"])


def records_without_a_name():
    """Files that are split by records had no usable default."""
    fresh("records_without_a_name")
    run("files: {a: {every: 1d, split: 3 records, mean: [tas]}, b: {every: 6h, split: 8 records, instant: [uas]}}\n", last=16)
    assert sorted(glob.glob("*.nc")) == ["a_2000-01-01.nc", "a_2000-01-04.nc", "b_2000-01-01T000000.nc", "b_2000-01-03T000000.nc"], os.listdir()


def parts_of_single_records():
    """The record of the start and the next one had one name, and so had records of one second."""
    fresh("parts_of_single_records")
    snap = "files: {s: {every: 6h, split: 1 records, at_start: true, KEYS instant: [tas]}}\n"
    run(snap.replace("KEYS", ""), first=0, last=2, finalize_to="state.nc")
    run(snap.replace("KEYS", ""), first=3, last=4, resume="state.nc")
    names = {n: f"s_2000-01-0{1 + n // 4}T{n % 4 * 6:02}0000.nc" for n in range(9)}
    assert sorted(glob.glob("s*.nc")) == [*(names[n] for n in range(5)), "state.nc"], os.listdir()
    for n in range(5):
        with xarray.open_dataset(names[n]) as file:
            assert file.time.values == [np.datetime64("2000-01-01") + np.timedelta64(6 * n, "h")], file.time
    fresh("appended_single_records")
    append = snap.replace("KEYS", 'existing: append, time_units: "days since 2000-01-01",')
    run(append, first=0, last=4)
    run(append, first=1, last=4, start="2000-01-02")
    assert sorted(glob.glob("s*.nc")) == [names[n] for n in range(9)], os.listdir()
    assert not refused(append, ["has 1 records already"], first=0, last=4, start="2000-01-03")
    fresh("pairs")
    run(snap.replace("KEYS", "").replace("1 records", "2 records"), first=0, last=4)
    assert sorted(glob.glob("*.nc")) == [names[0], names[2], names[4]], os.listdir()
    fresh("fractions")
    run("files: {f: {every: 500ms, split: 1 records, mean: [tas]}, g: {every: 1s, split: 1s, mean: [tas]},"
        " h: {every: 250ms, split: 500ms, name: '{file}_{start}-{end}', instant: [uas]}}\n", step="250ms", last=4)
    at = "2000-01-01T"
    assert sorted(glob.glob("*.nc")) == [f"f_{at}000000.000.nc", f"f_{at}000000.500.nc", f"g_{at}000000-{at}000000.nc",
                                         f"h_{at}000000.000-{at}000000.499.nc", f"h_{at}000000.500-{at}000000.999.nc"], os.listdir()
    fresh("refused_at_start")
    for line, name in (("every: 6h, at_start: true, split: 1 records, name: '{file}_{start:%Y%m%d}', instant: [tas]", "a_20000101.nc"),
                       ("every: 500ms, split: 1 records, name: '{file}_{start:%H%M%S}', mean: [tas]", "a_000000.nc")):
        # In start(): a first step that does not follow would be refused after it.
        refused(f"files: {{a: {{{line}}}}}\n", ["output.yaml:1:9", "two parts of the file 'a'", f'"{name}"', "add {part}"], first=7,
                step="250ms" if "ms" in line else "6h")


def what_was_left():
    """Parts that begin after the state are written again, as before."""
    fresh("what_was_left")
    daily = 'files: {a: {every: 1d, split: 1d, name: "x_{start:%m%d}", mean: [tas]}}\n'
    run(daily, last=40, save_at=16, save_to="state.nc")
    before = contents()
    assert "x_0110.nc" in before
    run(daily, first=17, last=40, resume="state.nc")
    with xarray.open_dataset("x_0110.nc") as file:
        assert str(file.time.values[0]).startswith("2000-01-10")
    assert contents().keys() == before.keys()


def states():
    fresh("states")
    both = 'case: c\nstate: "{case}_{date}"\nfiles: {a: {every: 1d, split: 1d, epochs: 1d, name: "{case}_{start}", mean: [tas]}}\n'
    assert not refused(both, ["output.yaml:2:8", "a state would have the name", "part 2 of the file 'a'"], last=12)
    daily = 'files: {a: {every: 1d, split: 1d, name: "s_{start:%d}", mean: [tas]}}\n'
    run(daily, last=16, finalize_to="s_05.nc")
    assert not refused(daily, ["part 5 of the file 'a'", "s_05.nc", "a saved state"], first=17, last=24, resume="s_05.nc")
    # The other way round.
    run("files: {b: {every: 1d, mean: [tas]}}\n", last=6)
    refused("files: {b: {every: 1d, existing: replace, mean: [tas]}}\n", ["the name of the file 'b'", "different names"],
            last=6, finalize_to="b.nc")


def other_files():
    """Found before the first step: nothing is written."""
    fresh("other_files")
    two = "files:\n  a: {every: 1d, existing: replace, %s, mean: [tas]}\n  b: {every: 1d, existing: replace, %s, mean: [uas]}\n"
    at_start = ["output.yaml:3:3", "the file 'b'", "of the file 'a'"]
    in_text = ["output.yaml:3:3", 'the files "a"', "would have the same name"]
    for first, second, parts in (
            ('split: 1d, name: "x_{start:%d}"', 'split: 2d, end_date: exclusive, name: "x_{end:%d}"', at_start),
            ('split: 1d, name: "x_{start:%Y%m%d}"', "name: x_20000103", at_start),
            ('split: 2 records, name: "x_{part}"', "name: x_7", at_start),
            ("name: x", "name: ./x.nc", in_text),
            ('directory: ".", name: x', "name: y/../x.nc", in_text),
            ("directory: d, name: x", "name: d//x", in_text)):
        assert not refused(two % (first, second), parts, last=8), (first, second)


def preview():
    """It knows how long the run is."""
    fresh("preview")
    daily = 'files: {a: {every: 1d, split: 1d, existing: replace, name: "x_{start:%d}", mean: [tas]}}\n'
    run(daily, last=0, settings=["--afterbay.output.definitions=model.yaml"])
    for days, expected in ((31, 0), (32, 1)):
        done = subprocess.run([COMMAND, "describe", "output.yaml", "--definitions", "model.yaml", "--length", f"{days}d"],
                              capture_output=True, text=True)
        said = done.stdout + done.stderr
        assert (done.returncode == 0) == (expected == 0), f"{days} days: exit code {done.returncode}\n{said}"
        assert expected == 0 or ("output.yaml:1:9" in said and "part 32 of the file 'a'" in said), said


def endings():
    """Names end as the store says, wherever it is set, unless they end as files of another do."""
    fresh("endings")
    line = "  {0}: {{every: 6h, {1}instant: [tas]}}\n"
    every_store = "files:\n" + "".join(line.format(*it) for it in (
        ("a", "store: grib2, "), ("b", "store: pp, "), ("c", "store: cdf5, "), ("d", ""), ("e", "store: grib2, name: e.grb, "),
        ("z", "store: fieldsfile, "), ("f", "store: pp, name: f.2000, "), ("g", "name: g.nc4, "), ("h", 'store: pp, split: 1d, name: "h_{start}", '),
        ("i", "store: pp, name: i.nc, ")))
    try:
        run(every_store, last=4, plain=1)
    except SystemExit:
        if "has no ecCodes" not in run(every_store, last=4, plain=1, expect=1):
            raise
        print("endings: skipped: this build has no ecCodes")
        return
    found = sorted(os.listdir())
    assert [path for path in found if path[1] in "._"] == [
        "a.grib2", "b.pp", "c.nc", "d.nc", "e.grb", "f.2000.pp", "g.nc4", "h_2000-01-01.pp", "i.nc", "z.ff"], found
    starts = {path: pathlib.Path(path).read_bytes()[:4] for path in found if path[1] in "._"}
    assert starts["a.grib2"] == starts["e.grb"] == b"GRIB" and starts["c.nc"][:3] == b"CDF", starts
    assert starts["d.nc"] == starts["g.nc4"] == b"\x89HDF", starts
    assert pathlib.Path("z.ff").read_bytes()[:8] == (20).to_bytes(8, "big")  # the format of UM files
    # The first record of a PP file is a header of 64 words.
    assert all(starts[path] == b"\0\0\1\0" for path in ("b.pp", "f.2000.pp", "h_2000-01-01.pp", "i.nc")), starts
    if shutil.which("grib_get_data"):
        values = subprocess.run(["grib_get_data", "a.grib2"], capture_output=True, text=True, check=True).stdout
        lines = [line.split() for line in values.splitlines() if not line.startswith("Lat")]
        numbers = np.array([float(line[2]) for line in lines if len(line) == 3]).reshape(4, 6, 8)
        expected = np.array([Fields().value("tas", n) for n in range(1, 5)])
        np.testing.assert_allclose(numbers, expected, atol=0.01)
    # Collisions, also if settings outside of the description choose the store.
    fresh("endings_collide")
    two = "files:\n  a: {every: 6h, name: x.grib2, instant: [tas]}\n  b: {every: 6h, name: x, instant: [uas]}\n"
    run(two, last=1, plain=1)
    assert sorted(path for path in os.listdir() if path.startswith("x")) == ["x.grib2", "x.nc"], os.listdir()
    shutil.rmtree("../endings_collide/afterbay-journal", ignore_errors=True)
    os.remove("x.grib2")
    os.remove("x.nc")
    refused(two, ["output.yaml:3:3", "the file 'b'", 'x.grib2", which the file \'a\' has'], last=0, plain=1,
            settings=["--afterbay.collections.b.store=grib2"])
    refused(two.replace("name: x,", "name: x, store: grib2,"), ["output.yaml:3:3", 'would have the same name, "x.grib2"'], last=0)


def directories():
    """They have the tokens of names, so that members and parts do not replace each other."""
    fresh("directories")
    text = ('case: c\nstate: "state_{step}"\ndefaults: {directory: "out/{case}/m{member:03}"}\nfiles:\n  day: {every: 1d, epochs: 1d, mean: [tas]}\n'
            '  six: {every: 6h, split: 1d, directory: "{file}_{member}/{start:%Y%m}", name: "{start:%d}", instant: [uas]}\n'
            '  plain: {every: 6h, directory: "pl{{ain", instant: [tas]}\n')
    every = {"out/c/m{0:03}/day.nc", "six_{0}/200001/01.nc", "six_{0}/200001/02.nc", "pl{{ain/plain.nc"}
    for member in (1, 12):
        shutil.rmtree("pl{ain", ignore_errors=True)
        run(text, last=8, member=member, settings=["--afterbay.journal.directory=off"])
        expected = {path.format(m) for path in every for m in (1, 12) if m <= member}
        assert {path for path in contents() if not path.startswith("state_")} == expected, contents().keys()
    with xarray.open_dataset("six_12/200001/02.nc") as file:
        np.testing.assert_array_equal(file.uas, [Fields().value("uas", n) for n in range(5, 9)])
    # A run that resumes goes on with them.
    fresh("directories_resumed")
    day = 'files: {a: {every: 6h, split: 1d, directory: "{start:%m}/x", name: "a{start:%d}", instant: [tas]}}\n'
    run(day, last=6, finalize_to="state.nc")
    run(day, first=7, last=8, resume="state.nc")
    assert sorted(glob.glob("01/x/*.nc")) == ["01/x/a01.nc", "01/x/a02.nc"], contents().keys()
    with xarray.open_dataset("01/x/a02.nc") as file:
        np.testing.assert_array_equal(file.tas, [Fields().value("tas", n) for n in range(5, 9)])
    # Settings of collections replace what stands before the first token.
    fresh("directories_replaced")
    run('files: {a: {every: 1d, directory: "out/m{member}", mean: [tas]}}\n', last=4, member=3, settings=["--afterbay.collections.a.directory=other"])
    assert list(contents()) == ["other/m3/a.nc"], contents().keys()
    # What cannot be known is refused.
    fresh("directories_refused")
    refused('files: {a: {every: 1d, directory: "m{member}", mean: [tas]}}\n', ["output.yaml:1:9", "{member}"], last=4)
    refused('files: {a: {every: 1d, directory: "{membre}", mean: [tas]}}\n', ["output.yaml:1:35: directory: ", "{member}"], last=4)


os.environ["SCRATCH_ROOT"] = os.getcwd()
for task in (directories, endings, later_jobs, records_without_a_name, parts_of_single_records, what_was_left, states, other_files, preview):
    task()
    print(f"{task.__name__}: good", flush=True)
