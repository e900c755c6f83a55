"""Common functions of the tests of the bindings: running a program under mpirun, comparing netCDF
files."""
import os
import pathlib
import subprocess
import sys

import netCDF4
import numpy as np

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])


def program(name):
    """The built program; a test whose program was not built is skipped (for example, without
    Fortran)."""
    for folder in ("tests/bindings", "examples"):
        path = BUILD / folder / name
        if path.exists():
            return str(path)
    print(f"{name} was not built under {BUILD}; skipped")
    sys.exit(77)


def mpirun(ranks, *command, seconds=100, expect=0):
    """Runs a program; shows its output if its exit code is not the expected one."""
    done = subprocess.run(["timeout", "-k", "5", str(seconds), "mpirun", "--oversubscribe", "-np", str(ranks), *command],
                          capture_output=True, text=True)
    if (done.returncode == 0) != (expect == 0):
        print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
        raise SystemExit(f"{' '.join(command)} on {ranks} ranks: exit code {done.returncode}")
    return done.stdout + done.stderr


def same_values(a, b):
    """Compares bit for bit, so that NaN equals NaN and 0 differs from -0."""
    if a.dtype == object or a.dtype.kind in "US":
        return a.tolist() == b.tolist()
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def attributes_of(thing):
    return [(name, thing.getncattr(name)) for name in thing.ncattrs()]


def same_attributes(a, b, where):
    ours, theirs = attributes_of(a), attributes_of(b)
    assert [n for n, _ in ours] == [n for n, _ in theirs], f"{where}: attributes {ours} and {theirs}"
    for (name, x), (_, y) in zip(ours, theirs):
        assert type(x) is type(y) and np.array_equal(x, y), f"{where}: attribute {name}: {x!r} and {y!r}"
        assert np.asarray(x).dtype == np.asarray(y).dtype, f"{where}: attribute {name}: type"


def same_files(first, second):
    """Same dimensions, variables, types, attributes and values, all in the same order."""
    with netCDF4.Dataset(first) as a, netCDF4.Dataset(second) as b:
        a.set_auto_maskandscale(False)
        b.set_auto_maskandscale(False)
        assert [(d, len(v), v.isunlimited()) for d, v in a.dimensions.items()] == [
            (d, len(v), v.isunlimited()) for d, v in b.dimensions.items()], f"dimensions of {first} and {second}"
        same_attributes(a, b, f"{first}, {second}")
        assert list(a.variables) == list(b.variables), f"variables of {first} and {second}"
        for name in a.variables:
            x, y, where = a[name], b[name], f"{first}, {second}: {name}"
            assert x.dimensions == y.dimensions and x.dtype == y.dtype, where
            same_attributes(x, y, where)
            assert same_values(x[...], y[...]), f"{where}: values differ"
