#!/usr/bin/env python3
"""`afterbay compare` (no MPI): files with equal contents in all formats and storages are equal, and
each kind of difference is found and named. The pairs are made by netCDF4-python, nccopy and
ncgen."""
import os
import pathlib
import subprocess
import sys

try:
    import netCDF4
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import _replay_files as files

AFTERBAY = pathlib.Path(os.environ["AFTERBAY_BUILD"], "apps", "afterbay", "afterbay")
failures = []


def compare(a, b, *options):
    result = subprocess.run([AFTERBAY, "compare", a, b, *options], capture_output=True, text=True, timeout=60)
    return result.returncode, result.stdout + result.stderr


def expect(what, a, b, code, *texts, options=()):
    found, output = compare(a, b, *options)
    missing = [text for text in texts if text not in output]
    if found != code or missing:
        failures.append(f"{what}: exit code {found}, expected {code}; not said: {missing}\n{output}")


def base(path, form="NETCDF4", order=("time", "x", "y"), temperature="f4", edit=None, **options):
    """The file that the others differ from. `edit` changes it before it is closed."""
    with netCDF4.Dataset(path, "w", format=form) as data:
        lengths = {"time": options.get("time", None), "x": options.get("x", 3), "y": 4}
        for name in order:
            data.createDimension(name, lengths[name])
        data.title = options.get("title", "a title")
        for name in options.get("variables", ("temperature", "count", "nan", "label")):
            if name == "temperature":
                t = data.createVariable(name, temperature, options.get("names", ("time", "x", "y")))
                t.units = "K"
                t.level = np.float32(0.5)
                shape = [2 if n == "time" else lengths[n] for n in options.get("names", ("time", "x", "y"))]
                t[...] = np.arange(np.prod(shape)).reshape(shape)
            elif name == "count":
                data.createVariable(name, "i4", ())[...] = 7
            elif name == "nan":
                data.createVariable(name, "f8", ("x",))[...] = np.zeros(lengths["x"])
            elif name == "label" and form == "NETCDF4":
                data.createVariable(name, str, ("y",))[...] = np.array(["a", "b", "", "d"], dtype=object)
        if edit:
            edit(data)
    return path


def set_bits(data, bits):
    data["nan"].set_auto_mask(False)
    data["nan"][1] = np.array([bits], "u8").view("f8")[0]


def test_differences():
    base("a.nc")
    expect("the same", "a.nc", base("b.nc"), 0, "equal: 3 dimensions, 4 variables, 3 attributes, 32 values")

    def differs(what, *texts, **change):
        expect(what, "a.nc", base("b.nc", **change), 1, "different: ", *texts)

    def value(data):
        data["temperature"][1, 2, 0] = -1
    differs("a value", "variable 'temperature'[1, 2, 0]: 20 versus -1", "1 difference, 1 of them in values", edit=value)

    def scalar(data):
        data["count"][...] = 8
    differs("a scalar", "variable 'count': 7 versus 8", edit=scalar)

    def text(data):
        data["label"][2] = "c"
    differs("a string", 'variable \'label\'[2]: "" versus "c"', edit=text)
    differs("negative zero", "variable 'nan'[1]: 0 versus -0", edit=lambda data: set_bits(data, 1 << 63))
    differs("length", "dimension 'x': 3, fixed versus 5, fixed", "variable 'nan': dimensions (x=3) versus (x=5)", x=5)
    differs("unlimited", "dimension 'time': 2, unlimited versus 2, fixed", time=2)
    differs("order of dimensions", "dimension", "the order differs", order=("x", "y", "time"))
    differs("order of variables", "variable", "the order differs", variables=("count", "temperature", "nan", "label"))
    differs("missing variable", "variable 'nan' is only in a.nc", variables=("temperature", "count", "label"))
    differs("turned", "(time=2, x=3, y=4) versus (time=2, y=4, x=3)", names=("time", "y", "x"))
    differs("type", "variable 'temperature': type float32 versus float64", temperature="f8")
    differs("global attribute", 'global attribute \'title\': text "a title" versus text "another"', title="another")

    def attribute(change):
        return lambda data: change(data["temperature"])
    differs("attribute type", "variable 'temperature': attribute 'level': float32 0.5 versus float64 0.5",
            edit=attribute(lambda t: t.setncattr("level", np.float64(0.5))))
    differs("attribute length", "attribute 'level': float32 0.5 versus float32 0.5, 0.5",
            edit=attribute(lambda t: t.setncattr("level", np.float32([0.5, 0.5]))))
    differs("string attribute", "attribute 'units': text \"K\" versus string \"K\"",
            edit=attribute(lambda t: t.setncattr_string("units", "K")))
    differs("additional attribute", "variable 'temperature': attribute 'more' is only in b.nc",
            edit=attribute(lambda t: t.setncattr("more", "")))

    def reorder(t):
        t.delncattr("units")
        t.units = "K"
    differs("order of attributes", "attribute 'level' comes earlier in b.nc than in a.nc", edit=attribute(reorder))


def test_payloads():
    """NaNs are equal to themselves, and differ by their payload."""
    quiet, other = 0x7FF8000000000001, 0x7FF8000000000002
    base("a.nc", edit=lambda data: set_bits(data, quiet))
    expect("the same NaN", "a.nc", base("b.nc", edit=lambda data: set_bits(data, quiet)), 0)
    expect("another NaN", "a.nc", base("b.nc", edit=lambda data: set_bits(data, other)), 1,
           "variable 'nan'[1]: nan (0x7ff8000000000001) versus nan (0x7ff8000000000002)")


def test_limits():
    def many(data):
        data["temperature"][...] = 99
        data["count"][...] = 1
    base("a.nc")
    base("b.nc", edit=many)
    expect("three of a variable", "a.nc", "b.nc", 1, "'temperature'[0, 0, 2]: 2 versus 99", "'count': 7 versus 1",
           "... and 21 more", "25 differences, 25 of them in values")
    _, output = compare("a.nc", "b.nc")
    if "[0, 0, 3]" in output:
        failures.append(f"more than three values of a variable are listed\n{output}")
    found, output = compare("a.nc", "b.nc", "--quiet")
    if found != 1 or len(output.splitlines()) != 1:
        failures.append(f"--quiet does not print one line\n{output}")


def test_storage_is_not_contents(inputs):
    for name, path in inputs.items():
        expect(name, path, path, 0, "equal: ")
        kinds = [] if name in files.WITH_STRINGS else ["cdf5"]
        for kind in kinds + ["netCDF-4"]:
            copy = f"{name}_{kind}.nc"
            subprocess.run(["nccopy", "-k", kind, path, copy], check=True)
            expect(f"{name} as {kind}", path, copy, 0, "equal: ")
    subprocess.run(["nccopy", "-d", "5", "-s", "-c", "time/1,x/100,y/100", inputs["large"], "packed.nc"], check=True)
    expect("packed", inputs["large"], "packed.nc", 0, "equal: ")


def test_large_difference(large):
    """A difference in the last bytes of a variable that is read in many slabs."""
    subprocess.run(["cp", large, "changed.nc"], check=True)
    with netCDF4.Dataset("changed.nc", "a") as data:
        data["t"].set_auto_mask(False)
        data["t"][2, 12, 300, 400] = 1.25
    expect("last value", large, "changed.nc", 1, "variable 't'[2, 12, 300, 400]: ", " versus 1.25", "1 difference,")


def test_refusals():
    base("a.nc")
    expect("no such file", "a.nc", "missing.nc", 3, "missing.nc", "No such file")
    pathlib.Path("text.nc").write_text("this is not a netCDF file\n")
    expect("no netCDF file", "text.nc", "a.nc", 3, "text.nc")
    with netCDF4.Dataset("groups.nc", "w") as data:
        data.createGroup("forecast")
        data.createGroup("analysis")
    expect("groups", "groups.nc", "a.nc", 3, "groups 'forecast', 'analysis'")
    subprocess.run(["ncgen", "-4", "-o", "types.nc", "-"], text=True, check=True,
                   input="netcdf types { types: compound pair { int a ; int b ; } ; ubyte enum sky {clear = 0} ; }")
    expect("types", "a.nc", "types.nc", 3, "user-defined types 'pair', 'sky'")
    result = subprocess.run([AFTERBAY, "compare", "a.nc"], capture_output=True, text=True, timeout=60)
    if result.returncode != 2:
        failures.append(f"one file: exit code {result.returncode}, expected 2\n{result.stderr}")


def main():
    inputs = files.synthetic("inputs")
    test_differences()
    test_payloads()
    test_limits()
    test_storage_is_not_contents({**inputs, **files.real()})
    test_large_difference(inputs["large"])
    test_refusals()
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
