# SPDX-License-Identifier: Apache-2.0
"""Reads a file of the E3SM benchmark with netCDF4 for Python and compares its whole contents with
the case."""

import pathlib

import e3sm_case
from e3sm_case import numpy


def file(path: pathlib.Path, case: e3sm_case.Case, records: int) -> str:
    """The first error in the file at `path`; "" if there is none."""
    import netCDF4

    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)
        data.set_always_mask(False)
        data.set_auto_scale(False)
        data.set_auto_chartostring(False)
        return structure(data, case, records) or values(data, case, records)


def structure(data, case: e3sm_case.Case, records: int) -> str:
    found = described(data)
    wanted = {
        "dimensions": {(name, length == e3sm_case.UNLIMITED, length or records) for name, length in case.dimensions.items()},
        "attributes": {("", *described_attribute(a.name, a.type, a.values)) for a in case.attributes}
        | {(v.name, *described_attribute(a.name, a.type, a.values)) for v in case.variables for a in v.attributes},
        "variables": {(v.name, e3sm_case.NUMPY_TYPES[v.type], v.dimensions) for v in case.variables},
    }
    for kind, expected in wanted.items():
        if missing := expected - found[kind]:
            return f"{kind}: {len(missing)} missing, among them {sorted(missing, key=str)[0]}"
        if unknown := found[kind] - expected:
            return f"{kind}: {len(unknown)} more than wanted, among them {sorted(unknown, key=str)[0]}"
    return ""


def described(data) -> dict[str, set]:
    """Dimensions, variables and all attributes of an open file, as sets."""
    attributes = {("", *of_file(data, name)) for name in data.ncattrs()}
    for name, variable in data.variables.items():
        attributes |= {(name, *of_file(variable, attribute)) for attribute in variable.ncattrs()}
    return {
        "dimensions": {(name, d.isunlimited(), len(d)) for name, d in data.dimensions.items()},
        "attributes": attributes,
        "variables": {(name, v.dtype.str.lstrip("<>|=") if v.dtype != "S1" else "S1", v.dimensions)
                      for name, v in data.variables.items()},
    }


def of_file(holder, name: str) -> tuple:
    value = holder.getncattr(name)
    if isinstance(value, str):
        return name, "char", value
    array = numpy.atleast_1d(value)
    kinds = {"i4": "int", "f4": "float", "f8": "double"}
    kind = kinds.get(array.dtype.str[1:], array.dtype.str)
    return described_attribute(name, kind, tuple(array.tolist()))


def described_attribute(name: str, kind: str, values) -> tuple:
    if kind == "float":
        values = tuple(float(numpy.float32(value)) for value in values)
    return name, kind, values


def values(data, case: e3sm_case.Case, records: int) -> str:
    for position, variable in enumerate(case.variables):
        stored = data[variable.name]
        for record in range(records if case.is_record(variable) else 1):
            found = numpy.asarray(stored[record] if case.is_record(variable) else stored[...])
            expected = e3sm_case.expected(case, position, record)
            if found.shape != expected.shape:
                return f"{variable.name}: shape {found.shape}, not {expected.shape}"
            different = numpy.flatnonzero(found.ravel() != expected.ravel())
            if different.size:
                point = different[0]
                return (f"{variable.name}: record {record}: {different.size} points differ, the first is {point}: "
                        f"{found.ravel()[point]}, not {expected.ravel()[point]}")
    return ""
