# SPDX-License-Identifier: Apache-2.0
"""`afterbay codecs` measures codecs on a file; its output is a configuration."""
import os
import re
import subprocess
import unittest

import netCDF4
import numpy

from _cli import OK, IO, USAGE, CommandTest

SHAPE = (3, 60, 90)


def write_input(path, chunk=(1, 30, 90), **filters):
    with netCDF4.Dataset(path, "w") as file:
        for dimension, length in zip(("time", "y", "x"), (None, *SHAPE[1:])):
            file.createDimension(dimension, length)
        smooth = numpy.sin(numpy.arange(numpy.prod(SHAPE)).reshape(SHAPE) / 500).astype("f4")
        file.createVariable("v", "f4", ("time", "y", "x"), chunksizes=chunk, **filters)[:] = smooth
        file.createVariable("fixed", "f4", ("y", "x"))[:] = 1


class CodecChoiceTest(CommandTest):
    def measured(self, *options):
        """Sizes in percent and seconds by filters, the chosen filters, and the settings."""
        text = self.expect(OK, "codecs", "in.nc", *options).stdout
        rows = re.findall(r"^#   (\S.*?) +([\d.]+) % +(\S+)(?:  (.*))?$", text, re.M)
        chosen = [name for name, _, _, note in rows if note == "<- chosen"]
        self.assertEqual(len(chosen), 1, text)
        settings = "".join(line + "\n" for line in text.splitlines() if not line.startswith("#"))
        return {name: (float(size), float(seconds), note) for name, size, seconds, note in rows}, chosen[0], settings

    def test_chooses_the_smallest_in_time(self):
        write_input("in.nc")
        rows, chosen, settings = self.measured("--every", "1000", "--collection", "history")
        self.assertEqual(rows[chosen][0], min(size for size, _, _ in rows.values()))
        self.assertEqual(rows["none"], (100.0, 0.0, ""))
        self.assertIn('"history":', settings)
        rows, chosen, settings = self.measured("--every", "1e-9")
        self.assertEqual(chosen, "none")
        self.assertTrue(all(note == "too slow" for name, (_, _, note) in rows.items() if name != "none"))

    def test_all_compressors_of_the_build_are_tried(self):
        write_input("in.nc")
        refusal = self.expect(USAGE, "codecs", "in.nc", "--every", "1", "--only", "gzip").stderr
        known = set(re.search(r"{(.*?)}", refusal)[1].split(","))
        # The settings page has a section for every filter that a build can have.
        page = self.expect(OK, "settings", "--markdown").stdout
        filters = {name for name in re.findall(r"^### `collections\.NAME\.(\w+)`", page, re.M)}
        self.assertLessEqual({"deflate"}, known)
        self.assertLessEqual(known, filters)
        chains = [name for name in self.measured("--every", "1000")[0] if name != "none"]
        self.assertEqual({chain.split(", ")[-1].split()[0] for chain in chains}, known)
        for name in known:
            only = self.measured("--every", "1000", "--only", name)[0]
            self.assertEqual({chain.split(", ")[-1].split()[0] for chain in only if chain != "none"}, {name})
        # A file for readers without plugins needs none.
        self.assertFalse([chain for chain in chains if "bitshuffle" in chain and "deflate" in chain])
        self.assertIn("bitshuffle, lz4", chains)

    def test_settings_give_the_predicted_size(self):
        write_input("in.nc")
        _, chosen, settings = self.measured("--every", "1000", "--only", "deflate", "--records", "3")
        self.assertIn("deflate", chosen)
        self.write("run.yaml", settings)
        self.expect(OK, "replay", "in.nc", "out.nc", "--afterbay.topology=inline",
                    settings={"AFTERBAY_CONFIG": "run.yaml"})
        with netCDF4.Dataset("out.nc") as file:
            filters = file["v"].filters()
            self.assertEqual(filters["complevel"], int(chosen.split()[-1]))
            self.assertEqual(filters["shuffle"], "shuffle" in chosen)

    def test_other_filters_of_the_model_are_off(self):
        """In each direction: the choice has fewer filters than the schema, or others."""
        write_input("in.nc", zlib=True, complevel=4, shuffle=True)
        for arguments in (("--every", "1e-9"), ("--every", "1000", "--only", "zstd"), ("--every", "1000", "--only", "lz4")):
            _, chosen, settings = self.measured(*arguments)
            self.write("run.yaml", settings)
            self.expect(OK, "replay", "in.nc", "out.nc", "--afterbay.topology=inline",
                        settings={"AFTERBAY_CONFIG": "run.yaml"})
            shown = subprocess.run(["h5dump", "-p", "-H", "-d", "v", "out.nc"], capture_output=True, text=True, check=True).stdout
            filters = shown.split("FILTERS {")[1].split("FILLVALUE")[0].lower()
            self.assertEqual("deflate" in filters, False, f"{chosen}: {filters}")
            self.assertEqual("shuffle" in filters.replace("bitshuffle", ""), "shuffle" in chosen.replace("bitshuffle", ""), f"{chosen}: {filters}")
            os.remove("out.nc")

    def test_files_without_chunks_are_cut(self):
        write_input("in.nc", chunk=None)
        self.expect(OK, "replay", "in.nc", "classic.nc", "--afterbay.topology=inline", "--afterbay.collections.replay.store=cdf5")
        self.expect(OK, "codecs", "classic.nc", "--every", "1")

    def test_refusals(self):
        with netCDF4.Dataset("fixed.nc", "w") as file:
            file.createDimension("x", 3)
            file.createVariable("v", "f4", ("x",))[:] = 1
        done = self.expect(USAGE, "codecs", "fixed.nc", "--every", "1")
        self.assertIn("has no records of numbers", done.stderr)
        self.expect(IO, "codecs", "none.nc", "--every", "1")
        self.expect(USAGE, "codecs", "fixed.nc")
        self.expect(USAGE, "codecs", "fixed.nc", "--every", "1", "--only", "gzip")


if __name__ == "__main__":
    unittest.main()
