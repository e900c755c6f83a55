#!/usr/bin/env python3
"""Errors that stop a Fortran program: printed once per job, not once per rank with a backtrace, and in Fortran's terms: indices, dimensions
and records from 1, the fastest dimension first. The servers know the reason before the rank is gone."""
import pathlib
import re

from lib_bindings import mpirun, program


def check(mistake, *says, journal=True):
    for leftover in pathlib.Path.cwd().glob("out.nc*"):
        leftover.unlink()
    said = mpirun(3, program("mistakes_fortran"), mistake, "--afterbay.servers=1", "--afterbay.memory.server=16MiB", "--afterbay.deadline=4s",
                  "--afterbay.report.table=off", "--afterbay.journal.directory=" + str(pathlib.Path.cwd() / f"journal_{mistake}"),
                  seconds=40, expect=1)
    errors = [line for line in said.splitlines() if re.search(r"^\[.*\] error: \S|^afterbay: ", line)]
    assert len(errors) == 1, f"{mistake}: {len(errors)} errors:\n{said}"
    for words in says:
        assert re.search(words, said), f"{mistake}: no '{words}' in\n{said}"
    for unwanted in ("Backtrace", "ERROR STOP", "has died", "#0 "):
        assert unwanted not in said, f"{mistake}: '{unwanted}' in\n{said}"
    if journal:
        lines = "".join(path.read_text() for path in pathlib.Path(f"journal_{mistake}").glob("*.jsonl"))
        assert re.search(says[0], lines), f"{mistake}: the journal does not know the reason:\n{lines}"
    print(f"{mistake}: ok: {errors[0]}")


check("twice", r"record 2 of the variable was put already", r"model ranks 0 and 1 \(2 of 2\) gave up")
check("outside", r"start 10 and count 8 in dimension 1 go beyond the global length 16", "model rank 1 gave up")
check("overlap", r"ranks 0 and 1 both hold \(8:8, 1:4\) \(4 points, from index ranges \(1:8, 1:4\) and \(8:15, 1:4\)\)")
check("shape", r"in dimension 1 the array in memory has 9 values, the part to write 8", "by the array's offset")
check("zeroth", r"records are counted from 1")
check("missing", r"model rank 1 did not put variable 'height' of record 2")
check("setting", r"no.such.setting", journal=False)
