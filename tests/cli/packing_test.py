# SPDX-License-Identifier: Apache-2.0
"""Packed integers are unpacked by other software: netCDF4-python, xarray, CDO."""
import json
import pathlib
import shutil
import subprocess
import unittest

import netCDF4
import numpy
import xarray

from _cli import OK, USAGE, CommandTest

SHAPE = (3, 18, 36)
MISSING = 1e20


def values_of(name):
    generator = numpy.random.default_rng(4)
    values = generator.normal(260, 15, SHAPE) if name == "ts" else numpy.maximum(generator.normal(0, 1e-3, SHAPE), 0)
    values[generator.random(SHAPE) < 0.1] = MISSING
    return values


def write_input(path):
    with netCDF4.Dataset(path, "w") as file:
        for dimension, length in zip(("time", "lat", "lon"), (None, *SHAPE[1:])):
            file.createDimension(dimension, length)
        for name, length in (("time", 3), ("lat", 18), ("lon", 36)):
            axis = file.createVariable(name, "f8", (name,))
            axis.units = {"time": "days since 2000-01-01", "lat": "degrees_north", "lon": "degrees_east"}[name]
            axis[:] = numpy.arange(length) * {"time": 1, "lat": 10, "lon": 10}[name] - (85 if name == "lat" else 0)
        for name in ("ts", "pr"):
            variable = file.createVariable(name, "f8", ("time", "lat", "lon"), fill_value=MISSING)
            variable[:] = values_of(name)


class PackingTest(CommandTest):
    def pack(self, *more, store="netcdf4", expected=OK):
        settings = {"store": store, "existing": "replace", "variables.ts.pack": "int16", "variables.ts.pack_range": "150,350",
                    "variables.pr.pack": "auto", "variables.pr.pack_range": "0,0.01",
                    "variables.pr.absolute_error": "1e-6"}
        return self.expect(expected, "replay", "in.nc", "out.nc", "--afterbay.topology=inline",
                           *(f"--afterbay.collections.replay.{name}={value}" for name, value in settings.items()), *more)

    def check(self, name, found, bound):
        expected = numpy.ma.masked_equal(values_of(name), MISSING)
        found = numpy.ma.masked_invalid(found)
        numpy.testing.assert_array_equal(found.mask, expected.mask)
        self.assertLessEqual(numpy.abs(found - expected).max(), bound, name)
        if name == "pr":
            self.assertTrue((found[expected == 0] == 0).all())

    def test_netcdf4_and_xarray_unpack(self):
        write_input("in.nc")
        for store in ("netcdf4", "cdf5", "cdf2"):
            self.pack(store=store)
            with netCDF4.Dataset("out.nc") as file:
                self.assertEqual((file["ts"].dtype, file["pr"].dtype), ("i2", "i2"))
                self.assertEqual(file["ts"]._FillValue, -32768)
                self.assertEqual(file["ts"].scale_factor, 200 / 65533)
                self.check("ts", file["ts"][:].filled(numpy.nan), 100 / 65533)
                self.check("pr", file["pr"][:].filled(numpy.nan), 1e-6)
            with xarray.open_dataset("out.nc", decode_times=False, engine="netcdf4") as data:
                self.check("ts", data["ts"].values, 100 / 65533)

    def test_cdo_unpacks(self):
        if shutil.which("cdo") is None:
            self.skipTest("there is no cdo")
        write_input("in.nc")
        self.pack()
        subprocess.run(["cdo", "-s", "-f", "nc4", "-b", "F64", "unpack", "out.nc", "unpacked.nc"], check=True)
        with netCDF4.Dataset("unpacked.nc") as file:
            self.check("ts", file["ts"][:].filled(numpy.nan), 100 / 65533 * (1 + 1e-9))

    def test_the_largest_error_is_in_attribute_journal_and_reports(self):
        write_input("in.nc")
        self.pack("--afterbay.report.json=report.json", "--afterbay.report.html=report.html")
        lines = [json.loads(line) for path in pathlib.Path("afterbay-journal").glob("*.jsonl") for line in path.read_text().splitlines()]
        published = [line["largest_errors"] for line in lines if "largest_errors" in line]
        self.assertTrue(published, lines)
        (collection,) = json.loads(pathlib.Path("report.json").read_text())["collections"]
        page = pathlib.Path("report.html").read_text()
        with netCDF4.Dataset("out.nc") as file:
            for name in ("ts", "pr"):
                said = file[name].largest_error
                found = file[name][:].filled(numpy.nan)
                self.assertAlmostEqual(said, numpy.nanmax(numpy.abs(found - values_of(name))), delta=said * 1e-9)
                self.assertEqual([errors[name] for errors in published], [said] * len(published))
                self.assertEqual(collection["largest_errors"][name], said)
                self.assertIn(f"<td class=name>{name}<td>{said:.3g}</tr>", page)

    def test_values_out_of_range_name_the_variable(self):
        write_input("in.nc")
        done = self.pack("--afterbay.collections.replay.variables.ts.pack_range=255,265", expected=USAGE)
        for text in ("variable ts", "values of type float64 are out of range of the file's type int16", "from 255 to 265"):
            self.assertIn(text, done.stderr)

    def test_impossible_accuracy_names_what_is_possible(self):
        write_input("in.nc")
        done = self.pack("--afterbay.collections.replay.variables.ts.absolute_error=1e-3", expected=USAGE)
        self.assertIn("do not fit into int16: pack it as int32, or allow an absolute_error of", done.stderr)


if __name__ == "__main__":
    unittest.main()
