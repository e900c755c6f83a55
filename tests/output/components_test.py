#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two components in one job, with calendars, steps, grids, servers and descriptions of their own;
each is as it is alone."""
import os
import pathlib
import re
import subprocess
import time

import netCDF4
import xarray

from lib_described import MODEL, Expected, Fields, Times, check, run
from lib_jobs import inside

ATMOSPHERE = {"calendar": "noleap", "start": "2000-02-28", "step": "3h", "last": 20}
OCEAN = {"calendar": "360_day", "start": "2000-02-28", "step": "6h", "last": 14, "lat": 4, "lon": 6}
pathlib.Path("output.yaml").write_text("files: {day: {every: 1d, mean: [tas], max: [toce]}}\n")
pathlib.Path("ocean.yaml").write_text("files: {sea: {every: 1d, mean: [toce, tas], statistics: model}, hours: {every: 6h, instant: [uas]}}\n")

for servers, ocean_servers in ((1, 1), (1, 2)):
    for path in pathlib.Path(".").glob("*.nc"):
        path.unlink()
    # The last ranks of a component are its servers.
    options = [*(f"{key}={value}" for key, value in ATMOSPHERE.items()), *(f"ocean.{key}={value}" for key, value in OCEAN.items()),
               f"ocean_from={2 + servers}", "--afterbay.report.table=off", "--afterbay.journal.directory=journal-{session}"]
    command = ["timeout", "-k", "5", "100", "mpirun", "--oversubscribe", "-np", str(2 + servers), str(MODEL), *options, f"--afterbay.servers={servers}",
               ":", "-np", str(3 + ocean_servers), str(MODEL), *options, f"--afterbay.servers={ocean_servers}"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    for given, files in ((ATMOSPHERE, {"day.nc": {"tas": "mean", "toce": "max"}}), (OCEAN, {"sea.nc": {"toce": "mean", "tas": "mean"}})):
        expected = Expected(Times(**given), Fields(**given), "1d")
        for path, variables in files.items():
            for name, operation in variables.items():
                check(path, name, expected.statistic(operation, name))
            with netCDF4.Dataset(path) as file:
                assert file["time"].calendar == given["calendar"], file["time"]
            with xarray.open_dataset(path, decode_times=False) as file:
                numbers, bounds = expected.time()
                assert file.time.values.tolist() == numbers.tolist() and file.time_bnds.values.tolist() == bounds.tolist()
    # The day after 28 February.
    for path, day in (("day.nc", "03-01"), ("sea.nc", "02-29")):
        with xarray.open_dataset(path, decode_times=xarray.coders.CFDatetimeCoder(use_cftime=True)) as file:
            assert file.time.values[1].strftime("%m-%d") == day, file.time.values
    check("hours.nc", "uas", Expected(Times(**OCEAN), Fields(**OCEAN), "6h").instants("uas")[1])
    print(f"as alone, with {servers} and {ocean_servers} servers")
assert os.path.isdir("journal-ocean") and os.path.isdir("journal-atmosphere"), os.listdir()


def wait_for(condition, running, what):
    deadline = time.monotonic() + 60
    while not condition():
        assert running.poll() is None, f"the job has ended without {what}"
        assert time.monotonic() < deadline, f"no {what} within 60 s"
        time.sleep(0.02)


def together(atmosphere, ocean, published, *settings, ranks=5, seconds=30):
    """Both components with a server each. The atmosphere begins when the ocean has started, and
    the ocean as soon as the atmosphere's file has this name. Returns the exit code and what they
    said. If processes fail, mpirun itself sometimes waits for ever (PMIx_server_finalize) when all
    of them have ended: it is not given more than these seconds from then on."""
    pathlib.Path("output.yaml").write_text(atmosphere[0])
    pathlib.Path("ocean.yaml").write_text(ocean[0])
    for held in pathlib.Path(".").glob("begin-*"):
        held.unlink()
    command = ["timeout", "-k", "5", "200", "mpirun", "--oversubscribe", "-np", str(ranks), str(MODEL), "ocean_from=3", *atmosphere[1:],
               *(f"ocean.{option}" for option in ocean[1:]), "hold=begin-atmosphere", "ocean.hold=begin-ocean",
               "--afterbay.servers=1", "--afterbay.report.table=off", *settings]
    with open("said", "w+") as said, subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT) as job:
        for component, condition in (("atmosphere", lambda: os.path.exists("begin-ocean.held")), ("ocean", lambda: os.path.exists(published))):
            wait_for(condition, job, f"what the {component} waits for")
            pathlib.Path(f"begin-{component}").touch()
        try:
            code = job.wait(seconds)
        except subprocess.TimeoutExpired:
            job.terminate()
            code = job.wait()
        said.seek(0)
        return code, said.read()


def one_after_the_other():
    """The ocean writes to the name of a file that the atmosphere has published long before, in the
    same job: it had replaced it."""
    first = "files: {day: {every: 1d, existing: replace, name: x.nc, mean: [tas]}}\n"
    second = "files: {sea: {every: 5d, KEYS, name: x.nc, mean: [toce]}}\n"
    for keys in ("existing: replace", "existing: append", "existing: refuse"):
        code, said = together((first, "last=8"), (second.replace("KEYS", keys), "last=24"), "x.nc")
        assert code != 0, f"{keys}: the file was replaced\n{said}"
        path = os.path.abspath("x.nc")
        for part in ("ocean.yaml:1:9: the file 'sea' of the session 'ocean'", path, "the session 'atmosphere'",
                     "names or directories of their own"):
            assert part in said, f"{keys}: expected {part!r} in:\n{said}"
        with netCDF4.Dataset("x.nc") as file:
            assert len(file["time"]) == 2 and "tas" in file.variables, file
        os.remove("x.nc")
        print(f"one after the other, {keys}: refused", flush=True)


def with_journals_of_their_own():
    """Who has written the file is not known: the run that replaces it says so, and goes on."""
    first = "files: {day: {every: 1d, existing: replace, name: x.nc, mean: [tas]}}\n"
    second = "files: {sea: {every: 5d, existing: replace, name: x.nc, mean: [toce]}}\n"
    code, said = together((first, "last=8"), (second, "last=24"), "x.nc", "--afterbay.journal.directory=journal-{session}")
    assert code == 0, said
    for part in ("warning: ocean.yaml:1:9: the file 'sea' of the session 'ocean' replaces or continues", os.path.abspath("x.nc")):
        assert part in said, f"expected {part!r} in:\n{said}"
    with netCDF4.Dataset("x.nc") as file:
        assert "toce" in file.variables, file
    os.remove("x.nc")


def states_of_both():
    """States at epochs replace those of earlier jobs: they had replaced those of the other
    component."""
    text = "state: 's_{step}'\nfiles: {NAME: {every: 1d, epochs: 1d, mean: [tas]}}\n"
    code, said = together((text.replace("NAME", "air"), "last=8"), (text.replace("NAME", "sea"), "last=12"), "s_4.nc")
    assert code != 0, said
    for part in ("a state would replace one that the session 'atmosphere' has saved", "names of their own", os.path.abspath("s_4.nc")):
        assert part in said, f"expected {part!r} in:\n{said}"


def all_ranks_know():
    """Only the first rank of a component looks for files of others: its ranks had waited until the
    deadline, or until it stopped, and got another error."""
    first = "files: {day: {every: 1d, existing: replace, name: x.nc, mean: [tas]}}\n"
    for keys in ("replace", "append"):
        second = f"files: {{sea: {{every: 5d, existing: {keys}, name: x.nc, mean: [toce]}}}}\n"
        # Ranks that fail do something else for 10 s.
        code, said = together((first, "last=8"), (second, "last=24"), "x.nc", "hesitate_ms=10000", ranks=7, seconds=60)
        assert code != 0, said
        failed = re.findall(r"rank (\d) failed at (\d+) ms: (.*)", said)
        assert sorted(rank for rank, _, _ in failed) == ["0", "1", "2"], said
        times = [int(at) for _, at, _ in failed]
        assert max(times) - min(times) < 5000, f"{keys}: some ranks learnt late\n{said}"
        messages = {message for _, _, message in failed}
        assert len(messages) == 1, f"{keys}: {messages}"
        assert "the session 'atmosphere' has given to a file of its own" in messages.pop(), said
        os.remove("x.nc")
        print(f"all ranks know, {keys}: as expected", flush=True)


def while_another_session_runs():
    """A session that has published the file still runs: the next one does not begin. When it has
    ended, its file is that of an earlier run, and is replaced."""
    pathlib.Path("output.yaml").write_text("files: {fx: {once: [orog], name: x.nc}, day: {every: 1d, mean: [tas]}}\n")
    command = ["timeout", "-k", "5", "60", "mpirun", "--oversubscribe", "-np", "2", str(MODEL), "last=8", "hold=end", "hold_after=4",
               "--afterbay.output=output.yaml", "--afterbay.servers=1", "--afterbay.session=atmosphere", "--afterbay.report.table=off"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as atmosphere:
        wait_for(lambda: os.path.exists("x.nc"), atmosphere, "the first run's file")
        replacing = "files: {sea: {every: 1d, existing: replace, name: x.nc, mean: [toce]}}\n"
        said = run(replacing, ranks=1, last=0, expect=1, settings=["--afterbay.session=ocean"])
        for part in ("output.yaml:1:9: the file 'sea' of the session 'ocean'", os.path.abspath("x.nc"), "the session 'atmosphere'"):
            assert part in said, f"expected {part!r} in:\n{said}"
        pathlib.Path("end").touch()
        assert atmosphere.wait() == 0
    run(replacing, ranks=1, last=4, settings=["--afterbay.session=ocean"])
    with netCDF4.Dataset("x.nc") as file:
        assert "toce" in file.variables, file


inside("one_after_the_other", one_after_the_other)
inside("with_journals_of_their_own", with_journals_of_their_own)
inside("states_of_both", states_of_both)
inside("all_ranks_know", all_ranks_know)
inside("while_another_session_runs", while_another_session_runs)
