# SPDX-License-Identifier: Apache-2.0
"""Reads the files of the benchmarks `packing` and `servers` and compares every value with those
that were put: netCDF by netCDF4 for Python, PP by cf-python, which unpacks WGDOS (iris does only
with mo_pack), GRIB2 by ecCodes. Errors of values that packing changes are compared with its
bound."""

import pathlib
import warnings

from harness import Row, argument
from packing_data import MISSING

NAMES = ("ta", "ua", "va", "wap")
STANDARD_NAMES = ("air_temperature", "eastward_wind", "northward_wind", "lagrangian_tendency_of_air_pressure")
DEFAULT_GRIB_BITS = 16
REFERENCE_ERROR = 1.2e-7  #: of the 32-bit reference value of GRIB2, relative


def packed(row: Row, directory: pathlib.Path, files: int, variables: int, steps: int) -> str:
    """The first error in the files of a row, which hold the same values in every record; "" if
    there is none."""
    import numpy

    shape = tuple(int(argument(row, name)) for name in ("--levels", "--rows", "--columns"))
    expected = numpy.fromfile(argument(row, "--data"), "<f4", int(numpy.prod(shape))).reshape(shape).astype("f8")
    names = sorted(path.name for path in directory.glob("packed.*"))
    if names != sorted(f"packed.{file}" for file in range(files)):
        return f"files are {names}, but {files} are expected"
    bounds = [bound_of(row, variable, expected) for variable in range(variables)]
    records_of = {"netcdf4": netcdf_records, "pp": pp_records, "grib2": grib_records}[store_of(row)]
    for name in names:
        try:
            records = {}
            for variable, record, found in records_of(directory / name, shape, variables, steps):
                wrong = difference(found, expected, bounds[variable])
                if wrong:
                    return f"{name}: record {record} of {NAMES[variable]}: {wrong}"
                records[variable, record] = True
        except ImportError as error:
            return f"{name} cannot be read: {error}"
        if len(records) != variables * steps:
            return f"{name}: {len(records)} records of variables, but {variables * steps} are expected"
    return ""


def store_of(row: Row) -> str:
    return argument(row, "--store") if "--store" in row.arguments else "netcdf4"


def attributes_of(row: Row) -> dict[str, str]:
    given = [value for name, value in zip(row.arguments, row.arguments[1:]) if name == "--attribute"]
    return dict(text.split("=", 1) for text in given)


def digits_of(row: Row, variable: int) -> int:
    """The setting significant_digits of a variable; 0: none."""
    begin = f"--afterbay.collections.packed.variables.{NAMES[variable]}.significant_digits="
    return next((int(text.removeprefix(begin)) for text in row.arguments if text.startswith(begin)), 0)


def bound_of(row: Row, variable: int, expected):
    """The largest error of each value, as a number or an array that fits the shape."""
    import numpy

    if store_of(row) == "pp":
        return 2.0 ** (int(attributes_of(row)["PP_accuracy"]) - 1)
    if store_of(row) == "grib2":
        present = numpy.where(expected == MISSING, numpy.nan, expected)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # levels without values
            least, largest = (numpy.nan_to_num(f(present, axis=(1, 2), keepdims=True)) for f in (numpy.nanmin, numpy.nanmax))
        magnitude = numpy.maximum(numpy.abs(least), numpy.abs(largest))
        bound = (largest - least + REFERENCE_ERROR * magnitude) / (2.0**DEFAULT_GRIB_BITS - 1) + 9e-16 * magnitude
        return numpy.where(largest > least, bound, 0)
    digits = digits_of(row, variable)
    return half_of_last_digit(numpy.abs(expected), digits) if digits else 0.0


def half_of_last_digit(magnitude, digits: int):
    """Half a unit of the last of so many significant decimal digits, per number."""
    import numpy

    with numpy.errstate(divide="ignore"):
        logarithm = numpy.log10(magnitude)  # of powers of ten, within its precision
        last = numpy.floor(logarithm * (1 + 1e-12 * numpy.sign(logarithm))) + 1 - digits
    return 0.5 * 10.0**last * (1 + 1e-9)


def difference(found, expected, bound) -> str:
    """`found`: MISSING where values are missing."""
    import numpy

    if found.shape != expected.shape:
        return f"the shape is {found.shape}"
    missing = expected == MISSING
    if not numpy.array_equal(found == MISSING, missing):
        return "other points are missing"
    errors = numpy.where(missing, 0, numpy.abs(found - expected))
    if (errors <= bound).all():  # false for NaN
        return ""
    return f"the largest error is {errors.max():.6g}, but {numpy.max(bound):.6g} is the bound"


def netcdf_records(path: pathlib.Path, shape: tuple, variables: int, steps: int):
    """Variable, record, values."""
    import netCDF4

    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        for variable in range(variables):
            for record in range(len(file[NAMES[variable]])):
                yield variable, record, file[NAMES[variable]][record].astype("f8")


def pp_records(path: pathlib.Path, shape: tuple, variables: int, steps: int):
    import cf
    import numpy

    fields = {field.standard_name: field for field in cf.read(str(path))}
    for variable, name in enumerate(STANDARD_NAMES[:variables]):
        field = fields[name]
        if field.size != steps * int(numpy.prod(shape)):
            return
        pressures = numpy.asarray(field.construct("air_pressure").array).reshape(-1)
        values = numpy.ma.filled(numpy.ma.asarray(field.array, "f4"), MISSING).reshape(steps, *shape)
        for record in range(steps):
            yield variable, record, values[record, numpy.argsort(-pressures)].astype("f8")


def grib_records(path: pathlib.Path, shape: tuple, variables: int, steps: int):
    """Messages are in the order of records, variables and levels."""
    import eccodes
    import numpy

    def slab(file):
        handle = eccodes.codes_grib_new_from_file(file)
        if handle is None:
            return None
        eccodes.codes_set(handle, "missingValue", MISSING)
        values = eccodes.codes_get_values(handle)
        eccodes.codes_release(handle)
        return values.reshape(shape[1:])

    with open(path, "rb") as file:
        for record in range(steps):
            for variable in range(variables):
                slabs = [slab(file) for _ in range(shape[0])]
                if any(it is None for it in slabs):
                    return
                yield variable, record, numpy.stack(slabs)
        if slab(file) is not None:
            yield 0, steps, numpy.empty(0)  # a message too many
