#!/usr/bin/env python3
"""The errors of `afterbay replay`, their messages and exit codes, and that no files remain."""
import os
import pathlib
import shutil
import subprocess
import sys

try:
    import netCDF4
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

import _replay_check as check
import _replay_files as files

AFTERBAY = pathlib.Path(os.environ["AFTERBAY_BUILD"], "apps", "afterbay", "afterbay")
ENVIRONMENT = {"AFTERBAY_MEMORY_SERVER": "48MiB", "AFTERBAY_DEADLINE": "10s", "AFTERBAY_REPORT_TABLE": "off"}
failures = []


def mpirun(processes, *words):
    result = subprocess.run(["timeout", "-k", "5", "60", "mpirun", "--oversubscribe", "-np", str(processes), AFTERBAY, *words],
                            capture_output=True, text=True, env={**os.environ, **ENVIRONMENT})
    return result.returncode, result.stdout + result.stderr


def expect(what, code, *texts, arguments, processes=3, left=()):
    """Runs `afterbay replay ARGUMENTS`; `left` are the files that may be in the directory out
    afterwards."""
    shutil.rmtree("out", ignore_errors=True)
    pathlib.Path("out").mkdir()
    found, output = mpirun(processes, "replay", *arguments)
    missing = [text for text in texts if text not in output]
    if found != code or missing:
        failures.append(f"{what}: exit code {found}, expected {code}; not said: {missing}\n{output}")
    if sorted(path.name for path in pathlib.Path("out").iterdir()) != sorted(left):
        failures.append(f"{what}: left {list(pathlib.Path('out').iterdir())}, expected {left}")
    return output


def refuses(what, source, *texts, store="netcdf4"):
    output = expect(what, 3, *texts, arguments=[source, "out/out.nc", "--store", store])
    if output.count(texts[0]) > 1:
        failures.append(f"{what}: said {output.count(texts[0])} times\n{output}")


def make_unsuitable():
    with netCDF4.Dataset("groups.nc", "w") as data:
        data.createGroup("forecast")
    subprocess.run(["ncgen", "-4", "-o", "types.nc", "-"], text=True, check=True,
                   input="netcdf types { types: ubyte enum sky {clear = 0, cloudy = 1} ; dimensions: x = 2 ; "
                         "variables: sky now(x) ; }")
    with netCDF4.Dataset("unlimited.nc", "w") as data:
        for name in ("time", "station"):
            data.createDimension(name, None)
        data.createVariable("t", "f4", ("time", "station"))[:] = np.zeros((2, 3))
    with netCDF4.Dataset("last.nc", "w") as data:
        data.createDimension("x", 2)
        data.createDimension("time", None)
        data.createVariable("t", "f4", ("x", "time"))[:] = np.zeros((2, 3))
    with netCDF4.Dataset("wide.nc", "w") as data:
        for d in range(9):
            data.createDimension(f"d{d}", 1)
        data.createVariable("wide", "f4", [f"d{d}" for d in range(9)])[...] = 0
    with netCDF4.Dataset("reserved.nc", "w", format="NETCDF3_CLASSIC") as data:
        data.setncattr("NAME", "kept by HDF5")


def test_unsuitable_files():
    make_unsuitable()
    refuses("groups", "groups.nc", "groups 'forecast'")
    refuses("types", "types.nc", "user-defined types 'sky'")
    refuses("unlimited", "unlimited.nc", "2 unlimited dimensions ('time', 'station')",
            "variable 't' has the unlimited dimension 'station' as number 2")
    refuses("not first", "last.nc", "variable 't' has the unlimited dimension 'time' as number 2: it must be the first")
    refuses("wide", "wide.nc", "variable 'wide' has 9 dimensions")
    refuses("reserved", "reserved.nc", "global attribute 'NAME' has a name that netCDF-4 keeps for itself")
    refuses("missing", "missing.nc", "missing.nc: cannot open it as a netCDF file: No such file or directory")


def test_types_of_stores(inputs):
    refuses("strings", inputs["every_type"], "cannot be played into a cdf5 file", "variable 'words' has the type string",
            "global attribute 'strings' has the type string", "variable 'time': attribute 'string' has the type string",
            store="cdf5")
    refuses("unsigned", inputs["every_number"], "cannot be played into a cdf2 file",
            *[f"variable 'field_{kind}' has the type {name}" for kind, name in
              (("u1", "uint8"), ("u2", "uint16"), ("u4", "uint32"), ("i8", "int64"), ("u8", "uint64"))],
            "global attribute 'many_u4' has the type uint32", store="cdf2")
    expect("store of the setting", 3, "cannot be played into a cdf2 file", "variable 'field_u1' has the type uint8",
           arguments=[inputs["every_number"], "out/out.nc", "--store", "cdf5", "--afterbay.collections.replay.store=cdf2"])


def test_existing_output(inputs):
    expect("existing", 3, "exists", arguments=[inputs["late_fill"], inputs["lone_byte"]])
    if check.difference(inputs["lone_byte"], "kept.nc"):
        failures.append("the existing file was changed")
    shutil.copy("kept.nc", "replaced.nc")
    expect("replace", 0, "equal: ", arguments=[inputs["late_fill"], "replaced.nc", "--verify",
                                               "--afterbay.collections.replay.existing=replace"])
    if check.difference(inputs["late_fill"], "replaced.nc"):
        failures.append("the existing file was not replaced")


def test_command_line(inputs):
    source = str(inputs["late_fill"])
    expect("no output", 2, "OUTPUT", arguments=[source])
    expect("option", 2, "--stor", arguments=[source, "out/out.nc", "--stor", "cdf5"])
    expect("store", 2, "netcdf5", arguments=[source, "out/out.nc", "--store", "netcdf5"])
    expect("setting", 2, "topolgy", "topology", arguments=[source, "out/out.nc", "--afterbay.topolgy=inline"])
    expect("store in memory", 2, "--verify: netCDF-C does not read the store memory: leave --verify out, or use the store netcdf4, cdf5",
           arguments=[source, "out/out.nc", "--verify", "--afterbay.collections.replay.store=memory"])
    expect("only servers", 2, "servers", arguments=[source, "out/out.nc", "--servers", "3"])


def test_runs(inputs):
    source = str(inputs["every_classic"])
    said = expect("repeat", 0, "3 files, 9 records", "5 model ranks, 1 server", "(lat,lon): 7 x 9 points in",
                  arguments=[source, "out/out.nc", "--store", "cdf2", "--repeat", "3", "--verify"], processes=6,
                  left=["out.nc", "out.2.nc", "out.3.nc"])
    if said.count(": equal: ") != 3:
        failures.append(f"repeat: not all three files were compared\n{said}")
    expect("store of the setting", 0, "out.nc (cdf5): ", left=["out.nc"],
           arguments=[source, "out/out.nc", "--afterbay.collections.replay.store=cdf5"])
    expect("alone", 0, "1 model rank, inline", "equal: ", processes=1, left=["out.nc"],
           arguments=[source, "out/out.nc", "--verify", "--afterbay.topology=inline"])


def main():
    inputs = files.synthetic("inputs")
    shutil.copy(inputs["lone_byte"], "kept.nc")
    test_unsuitable_files()
    test_types_of_stores(inputs)
    test_existing_output(inputs)
    test_command_line(inputs)
    test_runs(inputs)
    for failure in failures:
        print(failure, file=sys.stderr)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
