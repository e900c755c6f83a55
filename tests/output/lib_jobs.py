"""Runs that are cut into jobs: their files against those of the run in one piece, and what the
journal says after a crash."""
import glob
import os
import re
import shutil
import subprocess

import netCDF4
import numpy as np

from lib_described import BUILD

COMMAND = str(BUILD / "apps/afterbay/afterbay")


def inside(folder, task):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.chdir(folder)
    task()
    os.chdir("..")


def contents(path):
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        variables = {}
        for name, variable in file.variables.items():
            attributes = {key: np.asarray(variable.getncattr(key)).tobytes() for key in variable.ncattrs()}
            variables[name] = (variable.dimensions, variable.dtype, attributes, variable[...].tobytes())
        return ({name: len(dimension) for name, dimension in file.dimensions.items()},
                {key: file.getncattr(key) for key in file.ncattrs()}, variables)


def compare(first, second, what):
    files = lambda folder: sorted(os.path.basename(path) for path in glob.glob(f"{folder}/*.nc")
                                  if not os.path.basename(path).startswith("state"))
    assert files(first) == files(second), f"{what}: {files(first)}, {files(second)}"
    for name in files(first):
        a, b = contents(f"{first}/{name}"), contents(f"{second}/{name}")
        assert a[0] == b[0], f"{what}: {name}: dimensions {a[0]}, {b[0]}"
        assert a[1] == b[1], f"{what}: {name}: attributes"
        assert list(a[2]) == list(b[2]), f"{what}: {name}: variables"
        for variable in a[2]:
            assert a[2][variable] == b[2][variable], f"{what}: {name}: {variable} differs"
    return len(files(first))


def recover():
    """Restores files as `afterbay status` says; returns the name of the last complete epoch, or
    None."""
    status = subprocess.run([COMMAND, "status", "--over"], capture_output=True, text=True).stdout
    for line in re.findall(r"afterbay recover .*", status):
        done = subprocess.run([COMMAND, *line.split()[1:]], capture_output=True, text=True)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
    found = re.search(r"last complete epoch: (\S+)", status)
    return found and found.group(1)


def states(folder="."):
    """Without what servers write of them."""
    return sorted(path for path in glob.glob(f"{folder}/states/*.nc") if os.path.basename(path).count(".") == 1)
