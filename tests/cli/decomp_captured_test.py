# SPDX-License-Identifier: Apache-2.0
"""Decompositions captured from E3SM runs (in $AFTERBAY_BENCH_DATA, or shared/data beside the
source) are read and written exactly as by E3SM-IO's own converter."""
import pathlib
import sys
import unittest

from _cli import OK, CommandTest

try:
    import netCDF4
    import numpy
except ImportError as error:
    print(f"{error.name} for Python is not installed; skipped")
    sys.exit(77)

from _decomp import captured_data, documented_reader, read_pio

DATA = captured_data()
if DATA is None:
    print("there is no folder with captured decompositions: set AFTERBAY_BENCH_DATA; skipped")
    sys.exit(77)
TEXTS = [str(DATA / f"piodecomp16tasks16io0{name}.dat") for name in ("1dims_ioid_514", "1dims_ioid_516", "2dims_ioid_548")]


def contents(path):
    """Everything in a classic netCDF file except the command line that created it."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        listed = lambda of: {name: numpy.asarray(of.getncattr(name)).tolist() for name in of.ncattrs()}
        dimensions = {name: len(dimension) for name, dimension in file.dimensions.items()}
        variables = {name: (variable.dtype.str, variable.dimensions, listed(variable), variable[:].tolist())
                     for name, variable in file.variables.items()}
        attributes = listed(file)
        attributes.pop("command_line")
        return file.data_model, dimensions, variables, attributes


class Captured(CommandTest):
    def setUp(self):
        for path in pathlib.Path().glob("*"):
            path.unlink()

    def expect_same(self, path, captured):
        found, expected = contents(path), contents(DATA / captured)
        for part_found, part_expected in zip(found, expected):
            self.assertEqual(part_found, part_expected)

    def test_e3sms_file_of_the_f_case_from_pios_text(self):
        self.expect(OK, "decomp", "convert", *TEXTS, "f.nc", "--to", "e3sm")
        self.expect_same("f.nc", "map_f_case_16p.nc")

    def test_e3sms_files_by_way_of_ours(self):
        for case in ("map_f_case_16p.nc", "map_g_case_16p.nc"):
            self.expect(OK, "decomp", "convert", str(DATA / case), f"ours.{case}")
            self.expect(OK, "decomp", "convert", f"ours.{case}", f"again.{case}", "--to", "e3sm")
            self.expect_same(f"again.{case}", case)

    def test_pios_text_by_way_of_ours(self):
        self.expect(OK, "decomp", "convert", *TEXTS, "ours.nc")
        self.expect(OK, "decomp", "convert", "ours.nc", "back.dat")
        for number, path in enumerate(TEXTS, 1):
            text = pathlib.Path(path).read_text()
            self.assertEqual(pathlib.Path(f"back.{number}.dat").read_text(), text[:text.index("\nObtained")])
            shape, lists = read_pio(path)
            read = documented_reader()("ours.nc", number)
            self.assertEqual(read.shape, shape)
            for rank, expected in enumerate(lists):
                self.assertEqual((read.indices(rank) + 1).tolist(), expected)

    def test_levels_are_kept_once(self):
        self.expect(OK, "decomp", "convert", TEXTS[2], "ours.nc")
        self.assertLess(len(documented_reader()("ours.nc").offset), 1000)  # of 62352 single points on 72 levels


if __name__ == "__main__":
    unittest.main()
