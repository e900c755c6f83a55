#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A description that the program gives as text: alone, with files, with mistakes, and different on
ranks."""
import glob
import os
import pathlib
import subprocess

from lib_described import MODEL, Expected, Fields, Times, check

OPTIONS = dict(last=8)
COMMAND = ["timeout", "-k", "5", "60", "mpirun", "--oversubscribe"]


def write(**files):
    for path in glob.glob("*.nc*") + glob.glob("*.yaml") + glob.glob("*.txt"):
        os.remove(path)
    for name, text in files.items():
        pathlib.Path(name.replace("_", ".")).write_text(text)


def model(*arguments, ranks=3):
    return ["-np", str(ranks), str(MODEL), "last=8", "--afterbay.servers=1", "--afterbay.report.table=off", *arguments]


def run(*arguments, expect=0):
    done = subprocess.run([*COMMAND, *model(*arguments)], capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert (done.returncode == 0) == (expect == 0), f"{arguments}: exit code {done.returncode}\n{said}"
    return said


def holds(path, operation="mean"):
    check(path, "tas", Expected(Times(**OPTIONS), Fields(), "1d").statistic(operation, "tas"))


# Alone.
write(text_txt="files:\n  day: {every: 1d, mean: [tas]}\n")
run("text=text.txt")
holds("day.nc")

# With a file of the setting, and one that it includes: all are joined.
write(text_txt="case: both\ndefaults: {name: '{case}_{file}'}\ninclude: more.yaml\nfiles:\n  day: {every: 1d, mean: [tas]}\n",
      file_yaml="files:\n  high: {every: 1d, max: [tas]}\n", more_yaml="files:\n  low: {every: 1d, min: [tas]}\n")
run("text=text.txt", "--afterbay.output=file.yaml")
holds("both_day.nc")
holds("both_high.nc", "max")
holds("both_low.nc", "min")

# Places in messages.
write(text_txt="files:\n\n  day: {every: 1d, maen: [tas]}\n")
said = run("text=text.txt", expect=1)
assert "text of the program, line 3, column 20" in said and 'did you mean "mean"' in said, said
write(text_txt="files:\n  day: {every: 1d, mean: [taz]}\n")  # found at start()
said = run("text=text.txt", expect=1)
assert "text of the program, line 2, column 27: there is no field 'taz'" in said, said
assert said.count("text of the program, line 2, column 27") == 1, said
write(text_txt="files:\n  day: {every: 1d, mean: [tas]}\n", file_yaml="files:\n  day: {every: 1d, max: [tas]}\n")
said = run("text=text.txt", "--afterbay.output=file.yaml", expect=1)
assert "file.yaml:2:3: files.day is defined twice, first at text of the program, line 2, column 3" in said, said

# All ranks must give the same; where it is written does not matter.
DAY = "files:\n  day: {every: 1d, mean: [tas]}\n"


def mixed(expect, *arguments_of_ranks):
    command = list(COMMAND)
    for i, arguments in enumerate(arguments_of_ranks):
        command += ([":"] if i else []) + model(*arguments, ranks=1)
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 124 and (done.returncode == 0) == (expect == 0), f"{done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


write(text_txt=DAY, other_txt=DAY.replace("mean", "min"), file_yaml=DAY)
said = mixed(1, ["text=text.txt"], ["text=text.txt"], ["text=other.txt"])
assert "the output description (checksum) is" in said and "rank 2" in said, said
said = mixed(1, ["text=text.txt"], ["text=text.txt"], [])
assert "not set on rank 2" in said, said
assert not glob.glob("*.nc*")
mixed(0, ["text=text.txt"], ["text=text.txt"], ["--afterbay.output=file.yaml"])
holds("day.nc")
print("texts of the program are read, joined and compared")
