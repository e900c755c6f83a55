#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run that is cut into jobs, or killed and resumed, writes the same files as the run in one
piece: bit for bit, on other numbers of ranks and other decompositions."""
import glob
import os
import pathlib
import random
import re
import shutil
import subprocess

from lib_described import run
from lib_jobs import COMMAND, compare, contents, inside, recover, states

DESCRIPTION = """
case: jobs
fields:
  thetao: mean(toce*e3t) / mean(e3t)
  tasmax: mean(max(tas, 1d))
  ws: sqrt(uas^2 + vas^2)
  column: sum(toce*e3t over lev)
  zonal: mean(toce/3 over lon)
  globe: sum(tas*e3t_sum over lat, lon) / sum(e3t_sum over lat, lon)
  e3t_sum: sum(e3t over lev)
  hottest: mean(max(tas/7, 1d) over lat, lon)
grids:
  part: {index: {lat: [1, 3], lon: [0, 4]}, levels: {lev: [10, 20]}}
files:
  day: {every: 1d, split: 1mo, name: "{case}_{file}_{start}", mean: [tas, toce], stddev: [ws], difference: [vas],
        instant: [uas], once: [orog, vas: first]}
  mon: {every: 1mo, mean: [tas, co2, column], rate: [count], write: [thetao, tasmax], max: [toce], missing: 0.5}
  part: {every: 10ts, grid: part, range: [toce], mean: [toce], missing: poison}
  seas: {every: 3mo, align: seasons, stddev: [tas], min: [tas], sample: 12h}
  rec: {every: 6h, split: 7 records, name: "{file}_{part:03}", instant: [tas], at_start: true}
  hours: {every: 1mo, cycle: 1d, cycle_step: 12h, mean: [tas], min: [toce]}
  fx: {once: [orog]}
  late: {every: 1mo, split: 2 records, name: "{file}_{part:03}", mean: [zonal, globe], stddev: [globe], difference: [zonal]}
  late_days: {every: 1d, split: 1mo, name: "{file}_{start}", write: [hottest], instant: [globe], mean: [zonal: z]}
  late_fx: {once: [globe]}
"""
EPOCHS = (DESCRIPTION.replace("case: jobs", 'case: jobs\nstate: "states/{case}_{date:%Y%m%d}_{step:04}"')
          .replace("every: 6h, split", "every: 6h, epochs: 40ts, split").replace("co2], rate", "co2], epochs: 1mo, rate"))
ROUNDS = int(os.environ.get("AFTERBAY_TEST_ROUNDS", "3"))


def parts(random_):
    decomposition = random_.choice(["block", "map"])
    return {"ranks": random_.randint(1, 4), "servers": random_.randint(1, 2), "decomposition": decomposition,
            "halo": random_.choice([0, 1]) if decomposition == "block" else 0}


def in_jobs(random_, cuts, **options):
    state = {}
    first = 0
    for i, last in enumerate(cuts):
        step = dict(first=first, last=last, **options, **parts(random_), **state)
        if i + 1 < len(cuts):
            step["finalize_to"] = f"state{i}.nc"
        run(DESCRIPTION, **step)
        state, first = {"resume": f"state{i}.nc"}, last + 1


def killed(random_, save_at, kill_at, last, **options):
    run(DESCRIPTION, first=0, last=last, save_at=save_at, save_to="state.nc", kill_at=kill_at, expect=1, **options,
        **parts(random_))
    recover()
    run(DESCRIPTION, first=save_at + 1, last=last, resume="state.nc", **options, **parts(random_))


def with_epochs(random_, last, kills, **options):
    """States are saved at the epochs of the description. Each run is killed, and the next one
    resumes from the last epoch."""
    first, state = 0, {}
    for kill_at in kills:
        run(EPOCHS, first=first, last=last, kill_at=kill_at, expect=1, **options, **parts(random_), **state)
        found = recover()
        if found is None:  # before the first one: the run begins anew
            for path in glob.glob("*.nc*"):
                os.remove(path)
            shutil.rmtree("afterbay-journal", ignore_errors=True)
            continue
        assert os.path.exists(found), f"the epoch {found} is complete, but its state is not there: {states()}"
        first = int(re.search(r"_(\d+)\.nc", found).group(1)) + 1
        assert first <= kill_at + 1, f"{found}, killed at {kill_at}"
        state = {"resume": found}
    run(EPOCHS, first=first, last=last, **options, **parts(random_), **state)


def epochs():
    """Every 10 days, and at the ends of months, which are often the next day."""
    for round_ in range(ROUNDS):
        options = {"calendar": random_.choice(["standard", "360_day"]), "step": "6h", "start": "2000-01-25T00:00"}
        last = random_.randint(150, 300)
        inside("whole", lambda: run(EPOCHS, first=0, last=last, **options, **parts(random_)))
        kept = states("whole")
        verified = subprocess.run([COMMAND, "verify", "whole"], capture_output=True, text=True)
        assert len(kept) == 2 and verified.returncode == 0, f"{kept}\n{verified.stdout}{verified.stderr}"
        assert re.search(r"; \d+ states were removed because newer ones follow", verified.stdout), verified.stdout
        kills = sorted(random_.sample(range(5, last), 3))
        inside("killed", lambda: with_epochs(random_, last, kills, **options))
        compare("whole", "killed", f"{options}, killed at {kills}")
        assert set(map(os.path.basename, kept)) <= set(map(os.path.basename, states("killed")))
        print(f"the same with states at epochs: {options}, killed at {kills}", flush=True)


def shorter():
    """A run that resumes and ends earlier than the run that was killed leaves none of its later
    records."""
    split = """
files:
  day: {every: 1d, split: 1mo, mean: [tas], once: [tas: first]}
  hours: {every: 6h, split: 20 records, name: "{file}_{part:02}", instant: [uas]}
"""
    inside("whole", lambda: run(split, last=131))

    def twice():
        run(split, last=200, save_at=80, save_to="state.nc")
        for path in ("day_2000-01-2000-01.nc", "hours_04.nc"):  # as they were at the state
            os.remove(path)
        run(split, last=80, finalize_to="state2.nc", settings=["--afterbay.collections.*.existing=replace"])
        run(split, first=81, last=131, resume="state2.nc")
        for path in glob.glob("hours_0[89].nc") + glob.glob("hours_10.nc"):
            os.remove(path)  # of times that the second run did not reach

    inside("twice", twice)
    compare("whole", "twice", "a run that ended earlier")
    one = "files: {day: {every: 1d, mean: [tas]}}\n"

    def stale():
        run(one, last=40, finalize_to="state.nc")
        run(one, first=41, last=80, resume="state.nc")
        before = contents("day.nc")
        found = run(one, first=41, last=60, resume="state.nc", expect=1)
        assert "20 records of an earlier run, and this run ends with record 15" in found, found
        assert contents("day.nc") == before, "the file that was published must not change"

    inside("stale", stale)


def without_steps():
    """A job that resumes and has no steps ends the periods that have begun."""
    for who in ("model", "servers"):
        text = f"""
fields: {{globe: "mean(tas over lat, lon)", scaled: mean(tas)*cell_index}}
files:
  mon: {{every: 1mo, statistics: {who}, mean: [tas], max: [toce], difference: [vas], type: own}}
  seas: {{every: 3mo, align: seasons, write: [scaled]}}
  late: {{every: 1mo, mean: [globe], instant: [globe: last]}}
"""
        inside("whole", lambda: run(text, last=133))

        def jobs():
            run(text, last=133, finalize_to="state.nc", ranks=2)
            run(text, first=134, last=133, resume="state.nc", ranks=3)

        inside("jobs", jobs)
        number = compare("whole", "jobs", f"a job without steps, statistics by {who}")
        assert number == 3, number


def no_steps_at_all():
    """A run that stops before its first step writes nothing that would stop the next one."""
    text = """
fields: {cells: 2*cell_index}
files: {fx: {once: [orog, cells]}, mon: {every: 1mo, mean: [tas]}}
"""
    inside("none", lambda: run(text, last=0))
    assert not list(pathlib.Path("none").glob("*.nc*")), list(pathlib.Path("none").iterdir())
    inside("none", lambda: run(text, last=4))
    assert pathlib.Path("none", "fx.nc").is_file()


shorter()
without_steps()
no_steps_at_all()
random_ = random.Random(16)
epochs()
for round_ in range(ROUNDS):
    options = {"calendar": random_.choice(["standard", "360_day", "noleap"]), "step": "6h",
               "start": f"2000-{random_.randint(1, 12):02}-{random_.choice([1, 20, 27])}T00:00"}
    last = random_.randint(150, 400)
    inside("whole", lambda: run(DESCRIPTION, first=0, last=last, **options, **parts(random_)))
    # Every other run ends with a job that has no steps.
    cuts = sorted(random_.sample(range(1, last), random_.randint(1, 3))) + [last] * (1 + round_ % 2)
    inside("jobs", lambda: in_jobs(random_, cuts, **options))
    number = compare("whole", "jobs", f"{options}, cut at {cuts}")
    save_at = random_.randint(1, last - 10)
    kill_at = random_.randint(save_at, min(save_at + 40, last))
    inside("killed", lambda: killed(random_, save_at, kill_at, last, **options))
    compare("whole", "killed", f"{options}, saved at {save_at}, killed at {kill_at}")
    print(f"{number} files are the same: {options}, cuts {cuts}, saved at {save_at}, killed at {kill_at}")
