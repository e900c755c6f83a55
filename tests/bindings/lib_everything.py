"""The file that everything.c and everything_fortran.f90 write, checked with netCDF4."""
import pathlib

import netCDF4
import numpy as np

from lib_bindings import mpirun, program

NUMERIC = {"int8": "i1", "int16": "i2", "int32": "i4", "int64": "i8", "uint8": "u1", "uint16": "u2", "uint32": "u4",
           "uint64": "u8", "float32": "f4", "float64": "f8"}
ATTRIBUTES = {"int8": [-1, 2], "int16": [-300, 4], "int32": [-70000, 6], "int64": [-5000000000, 8], "uint8": [200, 1],
              "uint16": [60000, 1], "uint32": [70000, 1], "uint64": [5000000000, 1], "float32": [0.5, -2.25],
              "float64": [0.1, 1e300]}
PATH = pathlib.Path("out/everything_0012_03_20010203.nc")


def equal(found, expected, dtype=None):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape and (found == expected).all(), f"{found} is not {expected}"
    assert dtype is None or found.dtype == np.dtype(dtype), f"{found.dtype} is not {dtype}"


def check_attributes(data):
    expected = {"title": "after", "text": "four", "strings": ["one", "twenty two", "été"]}
    for name, value in expected.items():
        assert data.getncattr(name) == value, f"{name}: {data.getncattr(name)!r}"
    for name, dtype in NUMERIC.items():
        equal(data.getncattr(f"some_{name}"), np.array(ATTRIBUTES[name], dtype), dtype)
        equal(data["halo"].getncattr(f"one_{name}"), np.array(ATTRIBUTES[name], dtype)[0], dtype)
    assert "draft" not in data.ncattrs() and "draft" not in data["halo"].ncattrs()
    assert data["halo"].units == "m"
    equal(data["halo"].version, [3, 1, 4], "i4")


def check_values(data):
    field = np.arange(2 * 6 * 8).reshape(2, 6, 8)
    for name, dtype in NUMERIC.items():
        equal(data[name][...], field.astype(dtype), dtype)
    for name in ("halo", "strided", "slot", "tried", "packed"):
        equal(data[name][...], field, "f8")
    assert data["tried"].dtype == "i2" and data["tried"]._FillValue == -32768, data["tried"]
    assert data["packed"].chunking() == [1, 3, 4] and data["packed"].filters()["complevel"] == 4
    assert data["packed"].filters()["fletcher32"] and not data["halo"].filters()["shuffle"]
    assert data["packed"].filters()["shuffle"] and data["packed"]._FillValue == -1.5
    equal(data["label"][...].view("S5").ravel(), np.array([b"aaaaa", b"bbb  ", b" c   "]))
    assert data["names"][...].tolist() == [["a", "bb", ""], ["d", "bb", ""]], data["names"][...]
    assert data["station"][...].tolist() == ["north", "", "far south"]
    equal(data["answer"][...], 42, "i4")
    equal(data["five"][...], np.arange(12 * 48).reshape(2, 3, 2, 6, 8), "i2")
    equal(data["x"][...], np.arange(8) * 0.25, "f8")
    equal(data["mask"][...], (np.arange(48) % 3).reshape(6, 8), "i1")
    holes = np.full((6, 8), -9)
    holes[2:4, 3:7] = np.arange(8).reshape(2, 4)
    equal(data["holes"][...], holes, "i4")
    point = np.arange(48)
    equal(data["listed"][...], np.where(point % 5 == 4, -9, 100 + point).reshape(6, 8), "i4")
    equal(data["runs"][...], np.where(point >= 32, -9, 100 + point).reshape(6, 8), "i4")


def run_and_check(name):
    pathlib.Path("run.yaml").write_text("afterbay:\n  deadline: 50s\n  report:\n    table: off\n")
    PATH.parent.mkdir()
    mpirun(3, program(name))
    assert [p.name for p in PATH.parent.iterdir()] == [PATH.name], list(PATH.parent.iterdir())
    with netCDF4.Dataset(PATH) as data:
        data.set_auto_mask(False)
        data.set_auto_chartostring(False)
        check_attributes(data)
        check_values(data)
