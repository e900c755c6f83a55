# SPDX-License-Identifier: Apache-2.0
"""afterbay decomp when it must fail: full disks, too little memory, absurd numbers, names that must
not be printed unchanged. Existing files are not lost, and no temporary files remain."""
import contextlib
import pathlib
import shutil
import subprocess
import sys
import unittest

from _cli import COMMAND, IO, OK, USAGE, CommandTest

try:
    import netCDF4
    import numpy
except ImportError as error:
    print(f"{error.name} for Python is not installed; skipped")
    sys.exit(77)

ONE = "version 2001 npes 3 ndims 2 \n4 3 \n0 6\n3 4 5 0 6 1 \n1 0\n\n2 4\n12 8 0 7 \n"
LITTLE_MEMORY = ("prlimit", f"--as={6 << 30}")


@contextlib.contextmanager
def small_disk(kib):
    disk = pathlib.Path("disk")
    disk.mkdir(exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", disk], capture_output=True, check=False).returncode:
        raise unittest.SkipTest("cannot mount a small file system")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


class Limits(CommandTest):
    def setUp(self):
        for path in pathlib.Path().glob("*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.write("one.dat", ONE)

    def test_a_full_disk_is_said_of_every_kind_of_output_and_what_was_there_is_kept(self):
        self.expect(OK, "decomp", "make", "mpas", "mesh.nc", "--cells", "20000", "--ranks", "40")
        make = ("make", "mpas", "--cells", "20000", "--ranks", "40")
        with small_disk(16) as disk:
            for output, arguments in (("x.nc", ("convert", "mesh.nc")), ("x.dat", ("convert", "mesh.nc", "--map", "1")),
                                      ("x.e3sm", ("convert", "mesh.nc", "--to", "e3sm")), ("x.png", ("draw", "mesh.nc")),
                                      ("m.nc", make), ("m.e3sm", (*make, "--to", "e3sm"))):
                output = disk / output
                output.write_text("mine")
                # The output stands behind the inputs and before the options.
                options = next((i for i, word in enumerate(arguments) if word.startswith("--")), len(arguments))
                done = self.expect(IO, "decomp", *arguments[:options], str(output), *arguments[options:], "--overwrite")
                self.assertIn(f"file {output}", done.stderr)
                self.assertIn("No space left on device [no_space", done.stderr)
                self.assertEqual(output.read_text(), "mine")
                self.assertEqual([path.name for path in disk.iterdir()], [output.name])
                output.unlink()
            done = self.expect(IO, "decomp", *make, str(disk / "m.dat"))
            self.assertIn("No space left on device [no_space", done.stderr)
            self.assertEqual(list(disk.iterdir()), [])

    def test_sizes_beyond_the_memory_are_refused_with_value_and_limit(self):
        self.write("big.dat", f"version 2001 npes 1 ndims 1 \n{1 << 37} \n0 1\n1 \n")
        for words, text in ((("stats", "big.dat"), 'big.dat: the 137438953472 points of the map "big" need 64.0 GiB'),
                            (("convert", "big.dat", "big.nc", "--to", "e3sm"), "big.nc: the 137438953472 points of the map"),
                            (("make", "cubed-sphere", "x.nc", "--columns", "4000000000", "--ranks", "9"), "4000000000 columns"),
                            (("make", "mpas", "x.nc", "--cells", "2000000000", "--ranks", "9"), "2000000000 cells"),
                            (("make", "mpas", "x.nc", "--cells", "20", "--ranks", "2000000000"), "for 2000000000 ranks"),
                            (("make", "land", "x.nc", "--lat", "4000000", "--lon", "1000000", "--ranks", "9"), "8589934592")):
            done = self.expect(IO, "decomp", *words, launcher=LITTLE_MEMORY)
            self.assertIn(text, done.stderr)
            self.assertIn("[resources]", done.stderr)
            if "more than the limit" not in done.stderr:
                self.assertIn("this process may have 6.0 GiB", done.stderr)
        self.assertEqual(sorted(path.name for path in pathlib.Path().iterdir()), ["big.dat", "one.dat"])

    def test_memory_that_is_exhausted_all_the_same_is_an_error_of_the_file(self):
        self.expect(OK, "decomp", "make", "mpas", "mesh.nc", "--cells", "3000000", "--ranks", "4")
        for limit in range(100, 600, 25):  # MiB: within this range the program starts but the map
                                           # does not fit
            done = subprocess.run(["prlimit", f"--as={limit << 20}", COMMAND, "decomp", "stats", "mesh.nc"],
                                  capture_output=True, text=True, check=False)
            if "mesh.nc" in done.stderr and "more memory than" in done.stderr:
                break
        self.assertEqual(done.returncode, IO, done.stderr)
        self.assertIn("mesh.nc: needs more memory than this process can get [resources]", done.stderr)

    def test_absurd_numbers_of_levels_are_refused(self):
        done = self.expect(USAGE, "decomp", "make", "cubed-sphere", "c.nc", "--columns", "1", "--levels", str(1 << 60),
                           "--ranks", "1")
        self.assertIn('"columns_levels" would list at least 18446744073709551615 elements', done.stderr)
        self.assertFalse(pathlib.Path("c.nc").exists())

    def test_negative_numbers_are_refused_as_they_were_given(self):
        for words in (("make", "mpas", "x.nc", "--cells", "9", "--ranks", "-1"), ("make", "mpas", "x.nc", "--ranks", "2", "--cells", "-1"),
                      ("draw", "one.dat", "x.png", "--level", "-1"), ("draw", "one.dat", "x.png", "--level=-1")):
            done = self.expect(USAGE, "decomp", *words)
            self.assertRegex(done.stderr, r"--\w+: it must be 0 or more, not -1\n")

    def test_files_of_others_beside_the_output_are_not_touched(self):
        for output, words in (("p.nc", ("convert", "one.dat")), ("p.dat", ("convert", "one.dat")), ("p.png", ("draw", "one.dat"))):
            self.write(f"{output}.part", "precious")
            self.expect(OK, "decomp", *words, output)
            self.assertEqual(pathlib.Path(f"{output}.part").read_text(), "precious")

    def test_pictures_are_pngs(self):
        self.assertIn('"one.jpg" must end in .png', self.expect(USAGE, "decomp", "draw", "one.dat", "one.jpg").stderr)
        self.expect(OK, "decomp", "draw", "one.dat", "ONE.PNG")

    def test_a_directory_that_is_not_there_is_said_to_be_missing(self):
        for output in ("x.nc", "x.dat", "x.png", "x.e3sm"):
            to = ("--to", "e3sm") if output == "x.e3sm" else ()
            done = self.expect(IO, "decomp", "draw" if output == "x.png" else "convert", "one.dat", f"none/{output}", *to)
            self.assertIn(f"file none/{output}: cannot be created: No such file or directory [io", done.stderr)

    def test_a_text_that_ends_within_a_number_is_refused(self):
        self.write("cut.dat", ONE[:ONE.rindex("7 ") + 1])
        self.assertIn('cut.dat: line 8: the file ends directly after "7"', self.expect(IO, "decomp", "stats", "cut.dat").stderr)

    def test_names_of_maps_do_nothing_to_a_terminal(self):
        self.expect(OK, "decomp", "convert", "one.dat", "out.nc")
        with netCDF4.Dataset("out.nc", "a") as file:
            file["map1"].setncattr("name", "a\nb\x1b[31m")
        self.assertTrue(self.expect(OK, "decomp", "stats", "out.nc").stdout.startswith("a\\nb\\x1b[31m: 3 x 4"))
        for done in (self.expect(OK, "decomp", "convert", "out.nc", "copy.nc"), self.expect(OK, "decomp", "draw", "out.nc", "x.png"),
                     self.expect(USAGE, "decomp", "stats", "out.nc", "--map", "c")):
            self.assertIn("a\\nb\\x1b[31m", done.stdout + done.stderr)
            self.assertNotIn("\x1b", done.stdout + done.stderr)
        with netCDF4.Dataset("copy.nc") as file:
            self.assertEqual(file["map1"].getncattr("name"), "a\nb\x1b[31m")

    def test_a_variable_that_was_never_written_is_not_read_into_memory(self):
        with netCDF4.Dataset("long.nc", "w") as file:
            for name, length in (("num_decomp", 1), ("decomp_nprocs", 1 << 40)):
                file.createDimension(name, length)
            file.createVariable("D1.nreqs", "i4", ("decomp_nprocs",), chunksizes=(1024,))
            file.setncattr("D1.ndims", numpy.int32(1))
            file.setncattr("D1.dims", numpy.array([4], "i4"))
        done = self.expect(IO, "decomp", "stats", "long.nc")
        self.assertIn("long.nc, variable D1.nreqs: has 1099511627776 values, but the file has only", done.stderr)


if __name__ == "__main__":
    unittest.main()
