"""Compares the contents of two netCDF files bit for bit with netCDF4-python, independently of the
project's tools."""
import netCDF4
import numpy as np


def bits(values):
    """Type, shape and bytes of an array or attribute, whatever its byte order."""
    if isinstance(values, str):
        return "text", values
    if isinstance(values, list):
        return "texts", tuple(values)
    array = np.asarray(values)
    if array.dtype == object:
        return "strings", array.shape, tuple(array.ravel().tolist())
    native = array.astype(array.dtype.newbyteorder("="), copy=False)
    return native.dtype.str, native.shape, native.tobytes()


def describe(path):
    """Everything that netCDF4-python provides about a file, as a flat list of (what, value) in the
    file's order."""
    said = []
    with netCDF4.Dataset(path) as data:
        data.set_auto_maskandscale(False)
        data.set_auto_chartostring(False)
        for dimension in data.dimensions.values():
            said.append((f"dimension {dimension.name}", (len(dimension), dimension.isunlimited())))
        for name in data.ncattrs():
            said.append((f"attribute {name}", bits(data.getncattr(name))))
        for variable in data.variables.values():
            said.append((f"variable {variable.name}", (str(np.dtype(variable.dtype).newbyteorder("=")), variable.dimensions)))
            for name in variable.ncattrs():
                said.append((f"{variable.name}:{name}", bits(variable.getncattr(name))))
            said.append((f"values of {variable.name}", bits(variable[...])))
    return said


def difference(a, b):
    """A description of the first difference, or nothing."""
    of_a, of_b = describe(a), describe(b)
    for (what_a, value_a), (what_b, value_b) in zip(of_a, of_b):
        if what_a != what_b:
            return f"{what_a} in {a} stands where {what_b} is in {b}"
        if value_a != value_b:
            return f"{what_a} differs: {str(value_a)[:200]} in {a}, {str(value_b)[:200]} in {b}"
    if len(of_a) != len(of_b):
        return f"{a} has {len(of_a)} parts, {b} has {len(of_b)}"
    return None
