#!/usr/bin/env python3
"""Every procedure of the Fortran module, including its errors; the resulting file is the same as in
C."""
import pathlib

import netCDF4

from lib_bindings import mpirun, program, same_files
from lib_everything import PATH, run_and_check

program("everything_fortran")
run_and_check("everything_c")
from_c = PATH.rename("from_c.nc")
PATH.parent.rmdir()
run_and_check("everything_fortran")
same_files(from_c, PATH)

# If finalize, close and commit are refused while a slot is not committed, session, file and slot
# stay unchanged. Before, memory that was lent to the model disappeared with the session.
mpirun(3, program("refused_fortran"))
for name, first in (("closed.nc", 1), ("finalized.nc", 101)):
    with netCDF4.Dataset(name) as data:
        assert data["v"][...].tolist() == [[first + i for i in range(8)]], data["v"][...]
        assert data["narrow"][...].tolist() == [[5] * 8], data["narrow"][...]

# Without ierr an error stops the program and prints its message once: a directory below a plain
# file.
pathlib.Path("plain").write_text("not a directory")
directory = str(pathlib.Path("plain", "below").absolute())
said = mpirun(2, program("shallow_water"), "--grid", "64x64", "--steps", "0", "--directory", directory, expect=1)
assert said.count(directory) >= 1 and said.count("cannot create the directory") == 1 and "Backtrace" not in said, said

# Without output the model once crashed.
said = mpirun(2, program("shallow_water"), "--grid", "64x64", "--steps", "0", "--output", "none")
assert "output none: the model was blocked for" in said, said
