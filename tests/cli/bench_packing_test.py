# SPDX-License-Identifier: Apache-2.0
"""The benchmarks `packing` and `servers`: what every way of packing gives for small data, and the
figures that checks compare. The programs are run if they are built."""
import dataclasses
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

SOURCE = pathlib.Path(os.environ.get("AFTERBAY_SOURCE", pathlib.Path(__file__).parents[2]))
PROGRAMS = pathlib.Path(os.environ.get("AFTERBAY_BENCH_PROGRAMS") or pathlib.Path(os.environ.get("AFTERBAY_BUILD", ".")) / "bench")
sys.path.insert(0, str(SOURCE / "bench"))

import harness  # noqa: E402
import packing  # noqa: E402
import packing_data  # noqa: E402
import servers  # noqa: E402

try:
    import numpy  # noqa: F401
except ImportError:
    numpy = None


def figures_of(row):
    program = pathlib.Path(row.program)
    command = [*row.launcher, str(program if program.is_absolute() else PROGRAMS / program), *row.arguments, "--seconds", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("BENCH "))[len("BENCH "):])


@unittest.skipUnless(numpy and (PROGRAMS / "afterbay_packing").is_file(), "the benchmarks are not built, or there is no numpy")
class Packings(unittest.TestCase):
    """Fields that a codec can compress: rows of 16 values, some of them missing."""

    @classmethod
    def setUpClass(cls):
        place = packing_data.directory()
        values = 280 + numpy.random.default_rng(3).uniform(-5, 5, (3, 12, 16))
        values[1, 4, 2:9] = packing_data.MISSING
        values.astype("<f4").tofile(place / "small.bin")
        cls.dataset = packing_data.Dataset("small", "small", place / "small.bin", 3, 12, 16, True, -6, 0.01)
        cls.rows = {row.key.removeprefix("small/"): row for row in packing.codec_rows(cls.dataset, cls.dataset.arguments(2))}

    def test_errors_are_as_stated_and_missing_points_survive(self):
        relative = 285 * 2.0**-10
        largest = {"bitround": relative, "bitround-verified": relative, "granular": 0.5, "granular-verified": 0.5, "bitgroom": 1, "bitgroom-verified": 0.001 * 285,
                   "absolute": 0.01, "absolute-zstd": 0.01, "bitround-zstd": relative, "bitround-deflate": relative, "granular-zstd": 0.5,
                   "wgdos": 2.0**-7, "wgdos-verified": 2.0**-7}
        for key, row in self.rows.items():
            if row.kind != "afterbay":
                continue
            with self.subTest(key):
                found = figures_of(row)
                bound = largest.get(key, 0)
                self.assertLessEqual(found["largest_error"], packing.error_bound(row, self.dataset))
                self.assertEqual(packing.error_bound(row, self.dataset) > 0, bound > 0)
                self.assertLessEqual(found["largest_error"], bound)
                if bound > 0:
                    self.assertGreater(found["largest_error"], 0)
                self.assertEqual(found["bytes"], 2 * self.dataset.bytes)
                self.assertEqual("of_other" in found, "--beside" in row.arguments or "--verify" in row.arguments)

    def test_libraries_unpack_what_they_packed(self):
        for key in ("zlib-4", "libdeflate-4", "libzstd-3", "liblz4", "netcdf-deflate-4"):
            if (PROGRAMS / self.rows[key].program).is_file():
                with self.subTest(key):
                    self.assertEqual(figures_of(self.rows[key])["largest_error"], 0)

    def test_eccodes_and_netcdf_round_as_they_promise(self):
        for key, bound in (("netcdf-bitround", 285 * 2.0**-10), ("eccodes-simple", 10 / 2**15), ("eccodes-ccsds", 10 / 2**15)):
            if (PROGRAMS / self.rows[key].program).is_file():
                with self.subTest(key):
                    self.assertLessEqual(figures_of(self.rows[key])["largest_error"], bound)


class Figures(unittest.TestCase):
    def results(self, rows, metrics):
        found = harness.Results(rows, len(next(iter(metrics.values()))))
        found.metrics.update(metrics)
        return found

    def test_workers_are_compared_with_the_codec_by_rates(self):
        rows = [harness.Row(f"workers/zstd-3/{what}", what, packing.PIPELINE, "afterbay", "p", 1) for what in ("alone", "1", "2")]
        results = self.results(rows, {"workers/zstd-3/alone": [{"bytes": 100, "end_s": 1.0}], "workers/zstd-3/1": [{"bytes": 400, "end_s": 5.0}],
                                      "workers/zstd-3/2": [{"bytes": 400, "end_s": 2.0}]})
        self.assertEqual(packing.against_codec(results, "zstd-3", 1), [0.8])
        self.assertEqual(packing.against_codec(results, "zstd-3", 2), [2.0])
        checks = {check.name: check.holds for check in packing.checks(results, [])}
        self.assertEqual(checks["shuffle, zstd 3, 1 worker: rate / that of the codec alone"], False)

    def test_packing_in_the_model_is_compared_with_the_best_layout(self):
        dataset = packing_data.Dataset("d", "d", pathlib.Path("d"), 1, 8, 8, False, 0, 0.1)
        rows = servers.packing_rows(dataset, "deflate", "deflate", (), 4, 10.0, False)
        ends = {"none": 1.0, "1x1": 1.5, "2x1": 1.25, "1x2": 1.0, "2x2": 1.125, "synchronous": 2.5}
        results = self.results(rows, {f"deflate/{layout}": [{"end_s": end}] for layout, end in ends.items()})
        self.assertEqual(servers.against_best(results, "deflate"), [2.5])
        held = {check.name.rsplit(": ")[0].rsplit(", ")[-1]: check.holds for check in servers.checks(results) if "without output" in check.name}
        if len(os.sched_getaffinity(0)) >= 2:
            self.assertEqual(held, {"2x1": False, "1x2": True})
        self.assertIn("1 server x 2 workers", servers.scenario_table(results, "deflate"))

    @unittest.skipUnless(numpy, "no numpy")
    def test_errors_beyond_what_a_codec_allows_are_missed_checks(self):
        place = packing_data.directory()
        numpy.array([-100, 50, packing_data.MISSING], "<f4").tofile(place / "d.bin")
        dataset = packing_data.Dataset("d", "d", place / "d.bin", 1, 1, 3, True, -6, 0.01)
        self.assertEqual(dataset.magnitude_and_spread(), (100, 150))
        rows = packing.codec_rows(dataset, dataset.arguments(1))
        bounds = {row.key.removeprefix("d/"): packing.error_bound(row, dataset) for row in rows}
        self.assertEqual((bounds["zstd-3"], bounds["netcdf-deflate-4"], bounds["libzstd-3"]), (0, 0, 0))
        self.assertEqual((bounds["wgdos"], bounds["wgdos-verified"], bounds["absolute"], bounds["absolute-zstd"]), (2.0**-7, 2.0**-7, 0.01, 0.01))
        self.assertEqual((bounds["bitround"], bounds["netcdf-bitround"]), (100 * 2.0**-10, 100 * 2.0**-10))
        self.assertAlmostEqual(bounds["granular"], 0.5)
        self.assertAlmostEqual(bounds["eccodes-ccsds"], 150 / 65535, 6)
        for error, holds in ((2.0**-7, True), (2.0**-6, False)):
            results = self.results(rows, {"d/wgdos": [{"largest_error": 0.0}, {"largest_error": error}], "d/zstd-3": [{"largest_error": error}]})
            held = {check.name: check.holds for check in packing.error_checks(results, dataset)}
            self.assertEqual(held["d, WGDOS 2^-6: largest error"], holds)
            self.assertEqual(held["d, shuffle, zstd 3: largest error"], False)
            self.assertEqual(held["d, shuffle, lz4: largest error"], False)  # not measured
            self.assertNotIn("d, zlib 1 alone: largest error", held)

    def test_bounds_that_one_core_cannot_show_are_missed_checks(self):
        dataset = packing_data.Dataset("d", "d", pathlib.Path("d"), 1, 8, 8, False, 0, 0.1)
        rows = servers.packing_rows(dataset, "deflate", "deflate", (), 4, 10.0, False)
        results = self.results(rows, {row.key: [{"end_s": 1.0}] for row in rows})
        workers = [harness.Row(f"workers/zstd-3/{what}", what, packing.PIPELINE, "afterbay", "p", 1) for what in ("alone", "1", "2")]
        rates = self.results(workers, {row.key: [{"bytes": 100, "end_s": 1.0}] for row in workers})
        with unittest.mock.patch.object(packing, "has_two_cores", lambda: False):
            of_servers = [check for check in servers.checks(results) if "without output" in check.name]
            of_workers = [check for check in packing.checks(rates, []) if "2 workers" in check.name]
        self.assertEqual((len(of_servers), len(of_workers)), (2, 1))
        for check in of_servers + of_workers:
            self.assertEqual((check.value, check.holds), (None, False))
            self.assertIn("not measured", check.text())

    def test_each_layout_is_a_row_with_its_servers_and_workers(self):
        dataset = packing_data.Dataset("d", "d", pathlib.Path("d"), 1, 8, 8, False, 0, 0.1)
        rows = {row.key: row for row in servers.packing_rows(dataset, "deflate", "deflate", ("--store", "netcdf4"), 4, 10.0, False)}
        self.assertEqual(rows["deflate/2x1"].ranks, 3)
        self.assertIn("--afterbay.writers=2", rows["deflate/1x2"].arguments)
        self.assertEqual(harness.argument(rows["deflate/none"], "--pause-ms"), "10.000")


@unittest.skipUnless(numpy and (PROGRAMS / "afterbay_packed").is_file(), "the benchmarks are not built, or there is no numpy")
class Verification(unittest.TestCase):
    """Files of sessions, read by software of others."""

    @classmethod
    def setUpClass(cls):
        cls.place = packing_data.directory()
        values = 280 + numpy.random.default_rng(3).uniform(-5, 5, (3, 12, 16)).astype("<f4")
        values[1, 4, 2:9] = packing_data.MISSING
        values.tofile(cls.place / "small.bin")
        cls.dataset = packing_data.Dataset("small", "small", cls.place / "small.bin", 3, 12, 16, True, -6, 0.01)
        wrong = values.copy()
        wrong[2, 3, 4] += 0.5
        wrong.tofile(cls.place / "wrong.bin")
        gone = values.copy()
        gone[0, 0, 0] = packing_data.MISSING
        gone.tofile(cls.place / "gone.bin")

    def check(self, session, reader):
        try:
            importlib.import_module(reader)
        except (ImportError, RuntimeError) as error:
            self.skipTest(f"{reader}: {error}")
        row = harness.Row("r", "r", "s", "afterbay", "afterbay_packed", 2,
                          self.dataset.arguments(2) + ("--files", "2", "--variables", "2", "--steps", "3", *session))
        with tempfile.TemporaryDirectory() as directory:
            command = ["mpirun", "--oversubscribe", "-np", "2", str(PROGRAMS / row.program), "--dir", directory, *row.arguments]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=directory)
            if "has no ecCodes" in done.stdout + done.stderr:
                self.skipTest("built without ecCodes")
            self.assertEqual(done.returncode, 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}")
            def verdict(data):
                given = tuple(str(self.place / data) if argument == str(self.dataset.path) else argument for argument in row.arguments)
                return packing.verify_row(dataclasses.replace(row, arguments=given), pathlib.Path(directory))
            self.assertEqual(verdict("small.bin"), "")
            self.assertIn("the largest error is", verdict("wrong.bin"))
            self.assertIn("other points are missing", verdict("gone.bin"))
            (pathlib.Path(directory) / "packed.1").unlink()
            self.assertIn("2 are expected", verdict("small.bin"))

    def test_netcdf(self):
        self.check(("--afterbay.collections.packed.deflate=1",), "netCDF4")

    def test_pp_packed_by_wgdos(self):
        self.check(("--store", "pp", "--attribute", "PP_packing=wgdos", "--attribute", "PP_accuracy=-6"), "cf")

    def test_grib2(self):
        self.check(("--store", "grib2", "--attribute", "GRIB_packingType=grid_ccsds"), "eccodes")

    def test_rounded_values_are_compared_with_their_digits(self):
        settings = tuple(f"--afterbay.collections.packed.variables.{name}.significant_digits=4" for name in ("ta", "ua"))
        self.check(settings, "netCDF4")


class Data(unittest.TestCase):
    @unittest.skipUnless(numpy, "no numpy")
    def test_noise_has_many_binades_and_the_size_that_it_says(self):
        found, = packing_data.noise(packing_data.directory(), False)
        values = numpy.fromfile(found.path, "<f4")
        self.assertEqual(values.nbytes, found.bytes)
        self.assertEqual(len(numpy.unique(numpy.frexp(values)[1])), 20)

    @unittest.skipUnless(numpy and packing_data.have_samples(), "no iris-sample-data")
    def test_samples_have_the_shapes_that_they_say(self):
        for found in packing_data.samples(packing_data.directory()):
            self.assertEqual(found.path.stat().st_size, found.bytes)
            self.assertEqual((numpy.fromfile(found.path, "<f4") == numpy.float32(packing_data.MISSING)).any(), found.missing)
            self.assertLessEqual(found.bytes, 4 << 20)  # a chunk


if __name__ == "__main__":
    unittest.main()
