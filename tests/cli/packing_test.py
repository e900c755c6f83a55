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

from _cli import OK, USAGE, CommandTest, run

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
        file["ts"].valid_range = numpy.array([160, 340], "i4")  # all values are inside
        file["pr"].valid_min = 0.0


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
                for limit, wanted in zip(file["ts"].valid_range, (160, 340)):
                    self.assertLessEqual(abs(limit * file["ts"].scale_factor + file["ts"].add_offset - wanted), 100 / 65533)
                self.assertEqual(file["ts"].valid_range.dtype, "i2")
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

    def test_the_largest_error_is_in_each_report_alone(self):
        write_input("in.nc")
        self.pack("--afterbay.report.json=report.json")
        with netCDF4.Dataset("out.nc") as file:
            wanted = {name: file[name].largest_error for name in ("ts", "pr")}
        (collection,) = json.loads(pathlib.Path("report.json").read_text())["collections"]
        self.assertEqual(collection["largest_errors"], wanted)
        shown = self.pack("--afterbay.report.table=on")
        for name, error in wanted.items():
            self.assertIn(f"{error:.3g}", shown.stdout + shown.stderr, name)
        self.pack("--afterbay.report.html=alone.html")
        page = pathlib.Path("alone.html").read_text()
        for name, error in wanted.items():
            self.assertTrue(f"<td class=name>{name}<td>{error:.3g}</tr>" in page, name)

    def test_values_out_of_range_name_the_variable(self):
        write_input("in.nc")
        done = self.pack("--afterbay.collections.replay.variables.ts.pack_range=255,265", expected=USAGE)
        for text in ("variable ts", "values of type float64 are out of range of the file's type int16", "from 255 to 265"):
            self.assertIn(text, done.stderr)

    def test_impossible_accuracy_names_what_is_possible(self):
        write_input("in.nc")
        done = self.pack("--afterbay.collections.replay.variables.ts.absolute_error=1e-3", expected=USAGE)
        self.assertIn("do not fit into int16: pack it as int32, or allow an absolute_error of", done.stderr)

    def test_limits_that_are_no_numbers_are_refused(self):
        write_input("in.nc")
        with netCDF4.Dataset("in.nc", "a") as file:
            file["ts"].valid_min = numpy.nan
        self.assertIn("attribute valid_min is NaN", self.pack(expected=USAGE).stderr)


class RoundingTest(CommandTest):
    """No reader takes a rounded value for a missing or invalid one."""

    CASES = {  # name: fill value, attributes, settings, the value that would become missing
        "fill": (-1000.0, {}, "absolute_error=1", -999.7),
        "digits": (-1000.0, {}, "significant_digits=3", -999.7),
        "missing": (None, {"missing_value": numpy.float32(100)}, "granular_bitround=3", 99.97),
        "default": (None, {}, "relative_error=0.001", 9.9702e36),
        "zero": (0.0, {}, "absolute_error=0.01", 0.003),
        "limit": (None, {"valid_max": numpy.float32(0.7)}, "bitround=1", 0.699)}

    def test_values_near_missing_ones_are_read_as_they_were_put(self):
        values = {}
        with netCDF4.Dataset("in.nc", "w") as file:
            file.createDimension("x", 1000)
            for name, (fill, attributes, _, near) in self.CASES.items():
                variable = file.createVariable(name, "f4", ("x",), fill_value=fill)
                variable.setncatts(attributes)
                values[name] = (numpy.random.default_rng(5).normal(0, 1, 1000) if name == "zero" else
                                numpy.linspace(0.1, 0.6, 1000)).astype("f4")
                values[name][17] = near
                variable[:] = values[name]
        for store in ("netcdf4", "cdf5"):
            self.expect(OK, "replay", "in.nc", f"{store}.nc", "--afterbay.topology=inline", f"--afterbay.collections.replay.store={store}",
                        "--afterbay.collections.replay.existing=replace",
                        *(f"--afterbay.collections.replay.variables.{name}.{case[2]}" for name, case in self.CASES.items()))
            with netCDF4.Dataset(f"{store}.nc") as file, xarray.open_dataset(f"{store}.nc", engine="netcdf4") as data:
                for name, (fill, _, setting, near) in self.CASES.items():
                    found = file[name][:]
                    self.assertFalse(numpy.ma.getmaskarray(found).any(), name)
                    self.assertEqual(found[17], numpy.float32(near), name)
                    self.assertFalse(numpy.isnan(data[name].values).any(), name)
                    difference = numpy.abs(found.astype("f8") - values[name])
                    self.assertGreater(difference.max(), 0, name)
                    if "error" in setting or "significant" in setting:
                        self.assertEqual(file[name].largest_error, difference.max(), name)

    def test_a_largest_error_that_no_longer_holds_is_left_out(self):
        with netCDF4.Dataset("in.nc", "w") as file:
            file.createDimension("x", 100)
            variable = file.createVariable("v", "f4", ("x",))
            variable[:] = numpy.linspace(100, 300, 100)
            variable.largest_error = 1e-6
        self.expect(OK, "replay", "in.nc", "bits.nc", "--afterbay.topology=inline",
                    "--afterbay.collections.replay.existing=replace", "--afterbay.collections.replay.variables.v.bitround=1")
        with netCDF4.Dataset("bits.nc") as file:
            self.assertNotIn("largest_error", file["v"].ncattrs())


def write_field(path, name="surface_temperature", **attributes):
    with netCDF4.Dataset(path, "w") as file:
        for axis, length in (("time", None), ("lat", 19), ("lon", 36)):
            file.createDimension(axis, length)
        for axis, units, meaning in (("time", "hours since 2026-11-01", "time"), ("lat", "degrees_north", "latitude"),
                                     ("lon", "degrees_east", "longitude")):
            file.createVariable(axis, "f8", (axis,)).setncatts({"units": units, "standard_name": meaning})
        file["lat"][:], file["lon"][:] = numpy.linspace(90, -90, 19), numpy.arange(36) * 10.0
        variable = file.createVariable("ta", "f4", ("time", "lat", "lon"))
        variable.setncatts({"units": "K", "standard_name": name, **attributes})
        file["time"][:] = [6, 12]
        variable[:] = numpy.random.default_rng(6).normal(270, 20, (2, 19, 36))
        return variable[:].filled().astype("f8")


class MessagesTest(CommandTest):
    """Formats of messages keep a stated error by their own packing."""

    def replay(self, store, *more, expected=OK):
        shutil.rmtree("afterbay-journal", ignore_errors=True)
        return self.expect(expected, "replay", "in.nc", f"out.{store}", "--store", store, "--afterbay.topology=inline",
                           "--afterbay.collections.replay.existing=replace", "--afterbay.report.json=report.json", *more)

    def said(self):
        lines = [json.loads(line) for path in pathlib.Path("afterbay-journal").glob("*.jsonl") for line in path.read_text().splitlines()]
        (collection,) = json.loads(pathlib.Path("report.json").read_text())["collections"]
        published = [line["largest_errors"] for line in lines if "largest_errors" in line][-1]
        self.assertEqual(collection["largest_errors"], published)
        return published["ta"]

    def test_errors_of_fields_in_the_schema_are_in_journal_and_report(self):
        """The mask is given with the schema, because a packing names it."""
        write_field("in.nc", PP_packing="land", PP_mask="share", PP_outside_mask="drop")
        with netCDF4.Dataset("in.nc", "a") as file:
            share = file.createVariable("share", "f4", ("lat", "lon"))
            share.setncatts({"units": "1", "standard_name": "land_area_fraction", "PP_stash": "m01s00i505", "PP_accuracy": numpy.int32(-4)})
            share[:] = 0.3  # becomes 5/16
            share[0, 0] = 0.5  # fields of equal values survive as they are
        for store in ("pp", "fieldsfile"):
            self.replay(store)
            lines = [json.loads(line) for path in pathlib.Path("afterbay-journal").glob("*.jsonl") for line in path.read_text().splitlines()]
            (collection,) = json.loads(pathlib.Path("report.json").read_text())["collections"]
            published = [line["largest_errors"] for line in lines if "largest_errors" in line][-1]
            self.assertAlmostEqual(published["share"], 5 / 16 - 0.3, delta=1e-7)
            self.assertEqual(collection["largest_errors"], published)

    def need_grib(self):
        try:
            import eccodes
        except (ImportError, RuntimeError) as error:
            self.skipTest(str(error))
        write_field("in.nc", "air_temperature")
        if "has no ecCodes" in run("replay", "in.nc", "try.grib2", "--store", "grib2", "--afterbay.topology=inline").stderr:
            self.skipTest("this build has no ecCodes")
        return eccodes

    def test_grib2(self):
        eccodes = self.need_grib()
        wanted = write_field("in.nc", "air_temperature")
        setting = "--afterbay.collections.replay.variables.ta.absolute_error"
        for bound in ("0.01", "0.3", "20"):
            self.replay("grib2", f"{setting}={bound}")
            found = []
            with open("out.grib2", "rb") as file:
                while (message := eccodes.codes_grib_new_from_file(file)) is not None:
                    found.append(eccodes.codes_get_values(message).reshape(19, 36))
            worst = numpy.abs(numpy.array(found) - wanted).max()
            self.assertLessEqual(worst, float(bound))
            self.assertGreater(worst, float(bound) / 40)
            self.assertAlmostEqual(self.said(), worst, delta=1e-12 * 300)

    def test_what_grib2_packing_cannot_keep_is_refused(self):
        self.need_grib()
        setting = "--afterbay.collections.replay.variables.ta."
        write_field("in.nc", "air_temperature", GRIB_bitsPerValue=numpy.int32(1))
        self.assertIn("remove the attribute, and absolute_error sets",
                      self.replay("grib2", f"{setting}absolute_error=0.01", expected=USAGE).stderr)
        write_field("in.nc", "air_temperature")
        self.assertIn("set absolute_error alone", self.replay("grib2", f"{setting}relative_error=0.01", expected=USAGE).stderr)

    def test_pp(self):
        write_field("in.nc")
        setting = "--afterbay.collections.replay.variables.ta."
        self.replay("pp", f"{setting}absolute_error=0.01")
        self.assertLessEqual(self.said(), 2**-7)
        self.assertGreater(self.said(), 2**-8)
        write_field("in.nc", PP_accuracy=numpy.int32(2))
        self.replay("pp")
        self.assertLessEqual(self.said(), 2)
        self.assertGreater(self.said(), 1)
        self.assertIn("PP_accuracy = 2, which allows errors of 2",
                      self.replay("pp", f"{setting}absolute_error=0.01", expected=USAGE).stderr)
        self.assertIn("set absolute_error alone", self.replay("pp", f"{setting}bitround=7", expected=USAGE).stderr)


if __name__ == "__main__":
    unittest.main()
