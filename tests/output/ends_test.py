#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where runs and periods begin and end, and what that means for samples, instants and the record of
the start; fields that are computed from each other in many ways."""
import netCDF4
import numpy as np

from lib_described import Fields, check, read, run
from lib_jobs import compare, inside

FIELDS = Fields()


def many_paths():
    """Each of these fields is computed from both before it: 2^30 ways lead to the last ones."""
    steps = ["a0: tas + uas", "b0: tas - uas"]
    for i in range(1, 31):
        steps += [f"a{i}: (a{i - 1} + b{i - 1})/2", f"b{i}: (a{i - 1} - b{i - 1})/2"]
    text = "fields:\n" + "".join(f"  {step}\n" for step in steps) + "files:\n"
    text += "  ranks: {every: 1d, expressions: model, instant: [a30, b30], mean: [a30: average]}\n"
    text += "  servers: {every: 1d, expressions: servers, instant: [a30, b30], mean: [a29: average]}\n"
    run(text, last=8, ranks=2)
    tas, uas = (np.array([FIELDS.value(name, n) for n in (4, 8)]) for name in ("tas", "uas"))
    for path in ("ranks.nc", "servers.nc"):
        # (a + b)/2 and (a - b)/2 of a sum and a difference are the summands.
        check(path, "a30", (tas + uas) / 2 ** 15)
        check(path, "b30", (tas - uas) / 2 ** 15)
    # The names of the files come back in the state: another period must not get the same statistic.
    deep = ["d0: mean(tas)", *(f"d{i}: d{i - 1} + 1" for i in range(1, 121))]
    text = "fields:\n" + "".join(f"  {step}\n" for step in deep)
    run(text + "files: {day: {every: 1d, write: [d120]}, half: {every: 12h, write: [d120]}}\n", last=8)
    for path, every in (("day.nc", 4), ("half.nc", 2)):
        means = [np.mean([FIELDS.value("tas", n) for n in range(first + 1, first + every + 1)], axis=0) for first in range(0, 8, every)]
        check(path, "d120", np.array(means) + 120, exact=False)


def too_many_steps():
    """Servers keep the results of all steps at once."""
    text = "fields:\n  a0: tas + uas\n" + "".join(f"  a{i}: a{i - 1}/2 + 1\n" for i in range(1, 120))
    text += "files: {f: {every: 1d, expressions: WHO, instant: [a119]}}\n"
    said = run(text.replace("WHO", "servers"), last=4, expect=1)
    assert "servers cannot compute 'a119': it is computed through more than 99 other expressions" in said, said
    run(text.replace("WHO", "auto"), last=4)


def samples_at_the_end():
    """A period that the end of the run cuts short is a sample only if its end would be one."""
    text = 'fields: {tx: "max(tas, 1d)"}\nfiles: {m: {every: 1mo, sample: 5d, mean: [tx]}}\n'
    days = {day: np.max([FIELDS.value("tas", n) for n in range(4 * day - 3, 4 * day + 1)], axis=0) for day in (3, 8)}
    half = np.max([FIELDS.value("tas", n) for n in (29, 30)], axis=0)
    # The ends of days 3 and 8 are sampled.
    for last, expected in ((28, days[3]), (30, (days[3] + half) / 2), (34, (days[3] + days[8]) / 2)):
        inside("samples", lambda last=last: run(text, last=last))
        check("samples/m.nc", "tx", expected[None])


def anomalies_are_instants():
    """A field minus a statistic over a period has the value of the step in which the period
    ends."""
    text = 'fields: {anom: "tas - mean(tas, 1d)"}\nfiles: {d: {every: 1d, instant: [anom], mean: [tas]}}\n'
    run(text, last=10)  # the last period has a mean, but no instant
    means = [np.mean([FIELDS.value("tas", n) for n in range(first + 1, first + 5)], axis=0) for first in (0, 4)]
    expected = [FIELDS.value("tas", n) - mean for n, mean in zip((4, 8), means)]
    check("d.nc", "anom", np.array([*expected, np.full(means[0].shape, np.nan)]), exact=False)
    with netCDF4.Dataset("d.nc") as file:
        assert file["anom"].cell_methods == "time: point", file["anom"].cell_methods
        time = file["time_instant"]
        assert list(netCDF4.num2date(time[:2], time.units)) == list(netCDF4.num2date([1, 2], "days since 2000-01-01")), time[:]
        assert file["tas"].cell_methods == "time: mean", file["tas"].cell_methods


def state_before_the_first_step():
    text = "files: {snap: {every: 6h, instant: [tas], at_start: true}, day: {every: 1d, mean: [tas], once: [orog]}}\n"
    inside("whole", lambda: run(text, first=0, last=8))

    def jobs():
        run(text, first=1, last=0, finalize_to="state.nc")
        said = run(text, first=1, last=8, resume="state.nc", expect=1)
        assert "step 1 cannot be the first one" in said and "at_start" in said, said
        run(text, first=0, last=8, resume="state.nc")

    inside("jobs", jobs)
    assert compare("whole", "jobs", "a state before the first step") == 2


def append_without_a_file():
    """There is no earlier run that has the record of the start."""
    text = "files: {snap: {every: 6h, instant: [tas], at_start: true, existing: append, time_units: \"days since 2000-01-01\"}}\n"
    said = run(text, last=4, expect=1)
    assert "step 1 cannot be the first one" in said, said
    run(text, first=0, last=4)
    run(text, first=1, last=4, start="2000-01-02")
    assert read("snap.nc", "tas")[0].shape[0] == 9


def entries_for_coordinates():
    """An entry that gives a coordinate attributes does not change the type of what is computed."""
    text = "fields: {FIELDw: tas*cell_index}\nfiles: {f: {every: 1d, type: own, mean: [w]}}\n"
    for entry in ("", 'cell_index: {units: "1"}, '):
        inside("entries", lambda entry=entry: run(text.replace("FIELD", entry), last=4))
        assert read("entries/f.nc", "w")[1] == np.float64


inside("paths", many_paths)
inside("steps", too_many_steps)
samples_at_the_end()
inside("anomalies", anomalies_are_instants)
state_before_the_first_step()
inside("append", append_without_a_file)
entries_for_coordinates()
