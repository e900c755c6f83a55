# SPDX-License-Identifier: Apache-2.0
"""afterbay decomp: its files in independent readers, its output and its errors."""
import json
import os
import pathlib
import shutil
import sys
import unittest

from _cli import IO, OK, USAGE, CommandTest

try:
    import netCDF4
    import numpy
    from PIL import Image
except ImportError as error:
    print(f"{error.name} for Python is not installed; skipped")
    sys.exit(77)

from _decomp import documented_reader, read_pio

ONE = "version 2001 npes 3 ndims 2 \n4 3 \n0 6\n3 4 5 0 6 1 \n1 0\n\n2 4\n12 8 0 7 \n"
TWO = "version 2001 npes 2 ndims 1 \n5 \n0 3\n5 4 1 \n1 2\n0 2 \n"


class Decomp(CommandTest):
    def setUp(self):
        for path in pathlib.Path().glob("*"):
            path.unlink()
        self.write("one.dat", ONE + "Obtained 1 stack frames.\n./model() [0x4ceb29]\n")
        self.write("two.dat", TWO)

    def test_our_file_as_the_documented_reader_sees_it(self):
        done = self.expect(OK, "decomp", "convert", "one.dat", "two.dat", "out.nc")
        self.assertIn("one: 3 x 4, 3 ranks, 10 elements listed, 2 of them holes", done.stdout)
        for number, path in ((1, "one.dat"), (2, "two.dat")):
            shape, lists = read_pio(path)
            read = documented_reader()("out.nc", number)
            self.assertEqual((read.name, read.shape, read.ranks), (path[:3], shape, len(lists)))
            for rank, expected in enumerate(lists):
                self.assertEqual((read.indices(rank) + 1).tolist(), expected)

    def test_repetition_as_the_documented_reader_sees_it(self):
        for arguments in (("cubed-sphere", "--ne", "2"), ("land", "--lat", "6", "--lon", "9"),
                          ("blocks", "--lat", "6", "--lon", "9"), ("mpas", "--cells", "30")):
            kind, *options = arguments
            self.expect(OK, "decomp", "make", kind, "made.nc", "--ranks", "5", "--levels", "7", *options, "--overwrite")
            self.expect(OK, "decomp", "convert", "made.nc", "made.dat", "--overwrite")
            for number in range(1, len(list(pathlib.Path().glob("made.*.dat"))) + 1):
                shape, lists = read_pio(f"made.{number}.dat")
                read = documented_reader()("made.nc", number)
                self.assertEqual(read.shape, shape)
                for rank, expected in enumerate(lists):
                    self.assertEqual((read.indices(rank) + 1).tolist(), expected, f"{kind}, map {number}")
            for path in pathlib.Path().glob("made.*.dat"):
                path.unlink()

    def test_pio_to_ours_and_back(self):
        self.expect(OK, "decomp", "convert", "one.dat", "two.dat", "out.nc")
        self.expect(OK, "decomp", "convert", "out.nc", "back.dat")
        self.assertEqual(pathlib.Path("back.1.dat").read_text(), ONE)
        self.assertEqual(pathlib.Path("back.2.dat").read_text(), TWO)
        self.expect(OK, "decomp", "convert", "out.nc", "two.txt", "--map", "two")
        self.assertEqual(pathlib.Path("two.txt").read_text(), TWO)

    def test_e3sms_file(self):
        self.expect(OK, "decomp", "convert", "one.dat", "out.nc", "--to", "e3sm")
        with netCDF4.Dataset("out.nc") as file:
            file.set_auto_mask(False)
            self.assertEqual(file.data_model, "NETCDF3_64BIT_DATA")
            self.assertEqual(file.getncattr("D1.dims").tolist(), [3, 4])
            self.assertEqual(file.getncattr("D1.fully_covered"), "false")
            pairs, held = file["D1.nreqs"][:], file["D1.fill_starts"][:]
            first = numpy.cumsum(pairs) - pairs
            written, filled = [], []
            for rank in range(3):
                for i in range(first[rank], first[rank] + pairs[rank]):
                    offset, length = file["D1.offsets"][i], file["D1.lengths"][i]
                    (written if i < first[rank] + held[rank] else filled).extend(range(offset, offset + length))
        self.assertEqual(written, [2, 3, 4, 5, 0, 11, 7, 6])
        self.assertEqual(filled, [1, 8, 9, 10])
        self.expect(OK, "decomp", "convert", "out.nc", "ours.nc")
        self.assertEqual(documented_reader()("ours.nc").indices(2).tolist(), [11, 7, 6])

    def test_files_of_equal_names(self):
        self.expect(OK, "decomp", "convert", "one.dat", "one.dat", "out.nc")
        self.assertEqual(documented_reader()("out.nc", 2).name, "one_2")

    def test_statistics(self):
        text = self.expect(OK, "decomp", "stats", "one.dat").stdout
        self.assertRegex(text, r"points +12, 8 held \(66.67 %\), 4 never held\n")
        self.assertRegex(text, r"overlap +none: no point is listed twice\n")
        self.expect(OK, "decomp", "convert", "one.dat", "two.dat", "out.nc")
        found = json.loads(self.expect(OK, "decomp", "stats", "out.nc", "--json").stdout)
        self.assertEqual([each["name"] for each in found["files"][0]["maps"]], ["one", "two"])
        one = found["files"][0]["maps"][0]
        self.assertEqual((one["points"], one["listed"], one["holes"], one["empty_ranks"]), (12, 10, 2, 1))
        self.assertEqual(one["runs_per_rank"], {"min": 0, "mean": 2.0, "max": 3})
        self.assertAlmostEqual(one["balance"], 5 / (8 / 3))

    def test_overlap_of_ranks_is_told_from_repeats_of_a_rank(self):
        self.write("lap.dat", "version 2001 npes 3 ndims 1 \n9 \n0 4\n1 2 3 3 \n1 3\n3 4 5 \n2 3\n9 9 9 \n")
        text = self.expect(OK, "decomp", "stats", "lap.dat").stdout
        self.assertRegex(text, r"overlap +2 held more than once: 1 by several ranks, 2 repeated by a rank\n")
        one = json.loads(self.expect(OK, "decomp", "stats", "lap.dat", "--json").stdout)["files"][0]["maps"][0]
        self.assertEqual((one["points_held_more_than_once"], one["points_held_by_several_ranks"], one["points_repeated_by_a_rank"]),
                         (2, 1, 2))

    def test_statistics_of_several_files(self):
        text = self.expect(OK, "decomp", "stats", "two.dat", "one.dat").stdout
        for file, first, second in (("two.dat", "two: 5 points, 2 ranks", "points  "), ("one.dat", "one: 3 x 4, 3 ranks", "points  ")):
            self.assertRegex(text, rf"(?m)^{file}:\n{first}\n  {second}")
        found = json.loads(self.expect(OK, "decomp", "stats", "two.dat", "one.dat", "--json", "--map", "1").stdout)
        self.assertEqual([(each["file"], [one["name"] for one in each["maps"]]) for each in found["files"]],
                         [("two.dat", ["two"]), ("one.dat", ["one"])])
        self.assertIn("none.dat", self.expect(IO, "decomp", "stats", "one.dat", "none.dat").stderr)

    def test_picture(self):
        self.expect(OK, "decomp", "draw", "one.dat", "one.png")
        with Image.open("one.png") as image:
            pixels = numpy.asarray(image.convert("RGB"))
        self.assertGreaterEqual(pixels.shape[1], 900)
        high, wide = pixels.shape[0] // 3, pixels.shape[1] // 4
        cell = [[tuple(pixels[high // 2 + y * high, wide // 2 + x * wide]) for x in range(4)] for y in range(3)]
        grey, first, last = (200, 200, 200), cell[0][0], cell[2][3]
        self.assertEqual(cell, [[first, grey, first, first], [first, first, last, last], [grey, grey, grey, last]])
        self.assertEqual(len({grey, first, last}), 3)

    def test_existing_files_are_kept(self):
        self.write("out.nc", "mine")
        self.assertIn("--overwrite", self.expect(IO, "decomp", "convert", "one.dat", "out.nc").stderr)
        self.assertIn("out.nc", self.expect(IO, "decomp", "make", "mpas", "out.nc", "--ranks", "2", "--cells", "9").stderr)
        self.assertEqual(pathlib.Path("out.nc").read_text(), "mine")
        self.expect(OK, "decomp", "convert", "one.dat", "out.nc", "--overwrite")
        self.assertEqual(documented_reader()("out.nc").ranks, 3)

    def test_a_link_stays_one_and_what_it_leads_to_is_written(self):
        pathlib.Path("place").mkdir()
        pathlib.Path("place/real.nc").write_text("old")
        pathlib.Path("link.nc").symlink_to("place/real.nc")
        try:
            self.assertIn("--overwrite", self.expect(IO, "decomp", "convert", "one.dat", "link.nc").stderr)
            self.expect(OK, "decomp", "convert", "one.dat", "link.nc", "--overwrite")
            self.assertTrue(pathlib.Path("link.nc").is_symlink())
            self.assertEqual(documented_reader()("place/real.nc").ranks, 3)
            self.assertEqual(os.listdir("place"), ["real.nc"])
        finally:
            shutil.rmtree("place")

    def test_what_is_no_file_is_neither_read_nor_replaced(self):
        os.mkfifo("pipe.nc")
        for arguments in (("convert", "one.dat", "pipe.nc", "--overwrite"), ("stats", "pipe.nc"),
                          ("draw", "one.dat", "pipe.png", "--overwrite")):
            if "pipe.png" in arguments:
                os.rename("pipe.nc", "pipe.png")
            self.assertIn("is a device, pipe or socket", self.expect(USAGE, "decomp", *arguments).stderr)
        self.assertTrue(pathlib.Path("pipe.png").is_fifo())

    def test_malformed_input_leaves_nothing_behind(self):
        self.write("bad.dat", ONE.replace("12 8", "13 8"))
        for to in ("pio", "e3sm", "afterbay"):
            done = self.expect(IO, "decomp", "convert", "one.dat", "bad.dat", "out.x", "--to", to)
            self.assertIn("bad.dat: line 8: index 1 of rank 2 is 13", done.stderr)
        self.assertIn("line 8", self.expect(IO, "decomp", "stats", "bad.dat").stderr)
        self.assertEqual(sorted(path.name for path in pathlib.Path().iterdir()), ["bad.dat", "one.dat", "two.dat"])

    def test_wrong_command_lines(self):
        self.assertIn("--to", self.expect(USAGE, "decomp", "convert", "one.dat", "out").stderr)
        self.assertIn('no map "three"', self.expect(USAGE, "decomp", "stats", "one.dat", "--map", "three").stderr)
        self.assertIn("convert", self.expect(USAGE, "decomp").stderr)
        self.assertIn('"convrt"', self.expect(USAGE, "decomp", "convrt", "a", "b").stderr)
        self.assertIn("levels 0 ... 2, not 3", self.expect(USAGE, "decomp", "draw", "one.dat", "x.png", "--level", "3").stderr)
        self.assertIn('did you mean "mpas"', self.expect(USAGE, "decomp", "make", "mpass", "x.nc", "--ranks", "2").stderr)
        self.assertIn("needs --lat and --lon", self.expect(USAGE, "decomp", "make", "land", "x.nc", "--ranks", "2").stderr)
        self.assertIn("does not accept --ne", self.expect(USAGE, "decomp", "make", "mpas", "x.nc", "--ranks", "2", "--cells",
                                                     "4", "--ne", "4").stderr)
        self.assertIn("0 ranks", self.expect(USAGE, "decomp", "make", "mpas", "x.nc", "--ranks", "0", "--cells", "4").stderr)
        self.assertIn("none.dat", self.expect(IO, "decomp", "stats", "none.dat").stderr)
        for arguments in (("stats", "one.dat"), ("convert", "one.dat", "x.nc"), ("draw", "one.dat", "x.png")):
            self.assertIn("--map", self.expect(USAGE, "decomp", *arguments, "--map", "").stderr)
        for option in ("--ne", "--columns"):
            done = self.expect(USAGE, "decomp", "make", "cubed-sphere", "x.nc", "--ranks", "2", option, "0")
            self.assertIn(f"{option} is 0", done.stderr)
        self.assertIn("Usage: afterbay decomp convert", self.expect(OK, "decomp", "convert", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
