# SPDX-License-Identifier: Apache-2.0
"""Files that fault_model reads, whole or damaged."""
import netCDF4
import numpy

DAMAGES = {"truncated": {"keep": 0.5}, "cut to its head": {"keep": 0.01}, "foreign": {"text": "not a netCDF file\n" * 99}}


def make_input(work, *, keep=None, text=None):
    path = work / "in.nc"
    if text is not None:
        path.write_text(text)
        return
    with netCDF4.Dataset(path, "w") as data:
        for name, length in {"time": None, "lev": 8, "lat": 64, "lon": 64}.items():
            data.createDimension(name, length)
        variable = data.createVariable("temperature", "f4", ("time", "lev", "lat", "lon"))
        variable[0:3] = numpy.arange(3 * 8 * 64 * 64).reshape(3, 8, 64, 64)
    if keep is not None:
        with open(path, "r+b") as file:
            file.truncate(int(path.stat().st_size * keep))
