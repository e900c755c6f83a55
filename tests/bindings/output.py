#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Described output in C and Fortran: the files that a description asks for, the same in both
languages and in one job or two, and messages for what is wrong in the program or in the
description."""
import pathlib
import re

import netCDF4

from lib_bindings import program, same_files
from lib_output import DESCRIPTION, LAST, check_files, run

MIDDLE = 18  # within a day and within a month


def same_directories(first, second):
    names = sorted(path.name for path in pathlib.Path(first).glob("bindings_*.nc"))
    assert names == sorted(path.name for path in pathlib.Path(second).glob("bindings_*.nc")) and len(names) == 5, names
    for name in names:
        same_files(pathlib.Path(first, name), pathlib.Path(second, name))


def run_and_check(language):
    run(language, language, 0, LAST, "-", "-", "-")
    check_files(language)
    print(f"{language}: one job: good", flush=True)
    jobs = f"{language}_jobs"
    run(language, jobs, 0, MIDDLE, "-", "state.nc", "-")
    run(language, jobs, MIDDLE + 1, LAST, "state.nc", "-", "-")
    check_files(jobs)
    same_directories(language, jobs)
    print(f"{language}: two jobs: good", flush=True)


def check_wrong_order(language):
    """The session cannot end before the output, which would lose what began periods have; after
    the end of both, calls of the output are refused."""
    directory = pathlib.Path(f"{language}_order")
    run(language, directory, 0, 8, "-", "-", "order")
    with netCDF4.Dataset(directory / "bindings_day_07.nc") as file:
        assert len(file["time"]) >= 1, file
    print(f"{language}: session first: good", flush=True)


def check_text(language):
    """The program gives a part of the description."""
    run(language, f"{language}_text", 0, LAST, "-", "-", "text", description=DESCRIPTION.replace("  fx: {once: orog}\n", ""))
    check_files(f"{language}_text")
    same_directories(language, f"{language}_text")
    print(f"{language}: a text of the program: good", flush=True)


def check_message(language, mistake, *says, description=DESCRIPTION):
    said = run(language, f"{language}_{mistake}", 0, 6, "-", "-", mistake, description=description, expect=1)
    assert len(re.findall(r"^\[.*\] error: rank|^afterbay: ", said, re.M)) == 1, f"{mistake} in {language}: not one error:\n{said}"
    for words in says:
        assert len(re.findall(words, said)) == 1, f"{mistake} in {language}: '{words}' is not there once:\n{said}"
    for unwanted in ("Backtrace", "ERROR STOP", "#0 ", "does not hold"):
        assert unwanted not in said, f"{mistake} in {language}: '{unwanted}' in\n{said}"
    print(f"{mistake} in {language}: good", flush=True)


def main():
    languages = ["c", "fortran"]
    program("output_fortran")
    for language in languages:
        run_and_check(language)
    same_directories("c", "fortran")
    lengths = {"c": ("6 x 8", "6 x 4"), "fortran": ("8 x 6", "4 x 6")}
    mistyped = DESCRIPTION.replace("max: [tas, ta]", "max: [tas, tsa]").replace("every: 6h", "every: 5h")
    for language in languages:
        check_wrong_order(language)
        check_text(language)
        check_message(language, "wrong_text", "text of the program, line 2, column 8: .*'?\"?onec")
        check_message(language, "lengths", "grid 'atm'", *lengths[language])
        check_message(language, "left_out", "step 3 cannot end: the description needs the field tas in this step")
        check_message(language, "description", r"output\.yaml:8:.*'tsa'", r"output\.yaml:6:.*5h", description=mistyped)


main()
