#!/usr/bin/env python3
"""A restart that C or Fortran wrote is read by both, on other numbers of ranks, and written again:
bit for bit the same. So is a file with the same contents that netCDF4 wrote, packed and with other
byte orders."""
import pathlib

import netCDF4
import numpy as np

from lib_bindings import mpirun, program, same_files

# model ranks and servers: the results do not depend on them
WRITERS = {"c": 3, "fortran": 2}
READERS = [("c", 4, "--afterbay.servers=1"), ("fortran", 2, "--afterbay.servers=2"),
           ("c", 2, "--afterbay.transport=mpi"), ("fortran", 3, "--afterbay.servers=1"),
           ("fortran", 2, "--afterbay.topology=inline")]
PROGRAMS = {"c": "restart_c", "fortran": "restart_fortran"}


def run(language, ranks, *arguments):
    """Little memory, so that runs are short."""
    mpirun(ranks, program(PROGRAMS[language]), *arguments, "--afterbay.memory.server=16MiB", "--afterbay.report.table=off")


def ranks_of(model_ranks, setting):
    if "inline" in setting:
        return model_ranks
    return model_ranks + (2 if setting.endswith("servers=2") else 1)


def rewrite(source, target):
    """The same contents in a form that Afterbay would not write."""
    with netCDF4.Dataset(source) as a, netCDF4.Dataset(target, "w") as b:
        a.set_auto_maskandscale(False)
        b.set_auto_maskandscale(False)
        b.setncatts({name: a.getncattr(name) for name in a.ncattrs() if name != "sources"})
        b.setncattr_string("sources", a.sources)
        for name, dimension in a.dimensions.items():
            b.createDimension(name, None if dimension.isunlimited() else len(dimension))
        for name, variable in a.variables.items():
            number = variable.dtype is not str and variable.dtype.kind in "if"
            other = number and variable.dtype.itemsize > 1 and name != "t"
            storage = {"zlib": number and variable.ndim > 1, "shuffle": name == "h", "fletcher32": name == "t",
                       "chunksizes": (2, 3, 4) if name == "h" else None, "endian": "big" if other else "native"}
            made = b.createVariable(name, variable.dtype, variable.dimensions,
                                    fill_value=getattr(variable, "_FillValue", None), **storage)
            made.setncatts({k: variable.getncattr(k) for k in variable.ncattrs() if k != "_FillValue"})
            made[...] = variable[...]


def check_contents(path):
    """The files are correct, checked without any of the project's programs."""
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        data.set_auto_chartostring(False)
        h = np.sqrt(1001.0 + 200 * np.arange(3)[:, None] + np.arange(35)).reshape(3, 5, 7)
        v = np.sqrt(3001.0 + 200 * np.arange(3)[:, None] + np.arange(60)).reshape(3, 3, 20)
        v[:, :, -1] = netCDF4.default_fillvals["f8"]
        assert data["h"][...].tobytes() == h.tobytes()
        assert data["v"][...].tobytes() == v.tobytes()
        assert data["names"][...].tolist() == ["north", "", "far south"]
        assert data["remark"][...].tolist() == ["as it was", "", "as it was"]
        assert data["label"][...].tobytes() == b"aaaaabbb   c   "
        assert data["count"][...] == 5000000000


def main():
    program(PROGRAMS["fortran"])
    for language, model_ranks in WRITERS.items():
        run(language, model_ranks + 1, "write", f"from_{language}.nc")
        check_contents(f"from_{language}.nc")
    same_files("from_c.nc", "from_fortran.nc")
    rewrite("from_c.nc", "theirs.nc")
    for number, (language, model_ranks, setting) in enumerate(READERS):
        source = ["from_fortran.nc", "from_c.nc", "theirs.nc", "theirs.nc", "from_c.nc"][number]
        copy = f"copy_{number}.nc"
        run(language, ranks_of(model_ranks, setting), "copy", source, copy, setting)
        same_files("from_c.nc", copy)
    pathlib.Path("plain.txt").write_text("no netCDF file\n" * 100)
    for language in PROGRAMS:
        run(language, 3, "errors", f"from_{language}.nc")
        with netCDF4.Dataset(f"from_{language}.nc") as data:
            assert data["clock"][0] == 12345


main()
