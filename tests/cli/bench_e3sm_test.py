# SPDX-License-Identifier: Apache-2.0
"""The E3SM benchmark's cases: reading headers, tables and maps, and that the programs write all of
them.

With the captured files (AFTERBAY_BENCH_DATA, see bench/README.md) these are checked too, their
headers against the output of ncgen. Programs are run if they are built ($AFTERBAY_BENCH_PROGRAMS,
or bench in the build directory)."""
import ctypes
import ctypes.util
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import netCDF4
import numpy

SOURCE = pathlib.Path(os.environ.get("AFTERBAY_SOURCE", pathlib.Path(__file__).parents[2]))
sys.path.insert(0, str(SOURCE / "bench"))

import e3sm  # noqa: E402
import e3sm_case  # noqa: E402
import e3sm_synthetic  # noqa: E402
import e3sm_verify  # noqa: E402
import harness  # noqa: E402

DATA = e3sm_case.data_directory(None)
PROGRAMS = pathlib.Path(os.environ.get("AFTERBAY_BENCH_PROGRAMS") or pathlib.Path(os.environ.get("AFTERBAY_BUILD", ".")) / "bench")
BASELINES = {"pnetcdf_e3sm": ("nonblocking", "blocking", "vard"), "parallel_netcdf_e3sm": ("any",)}

HEADER = r"""netcdf small {
// file format: CDF-5 (big variables)
dimensions:
	time = UNLIMITED ; // (3 currently)
	lev = 3 ;
	ncol = 99 ;
	chars = 4 ;
variables:
	double lat(ncol) ;
		lat:long_name = "a; b // c \"d\" \'e\'" ;
	float T(time, lev, ncol) ;
		T:_FillValue = 1.e+20f ;
		T:range = -1.5f, 2.f ;
	double ps(time, ncol) ;
		ps:levels = 3 ;
		ps:scale = 1., -1.e+34 ;
	int mask(ncol) ;
	char text(time, chars) ;
	double P0 ;

// global attributes:
		:history = "first\n",
    "second" ;
		:ne = 4 ;
}
"""
TABLE = """order,name,xtype,dims,kind,decomp
0,P0,double,"",fix,-
1,lat,double,"ncol",fix,D1
2,mask,int,"ncol",fix,D1
3,text,char,"time, chars",rec,-
4,ps,double,"time, ncol",rec,D1
5,T,double,"time, lev, ncol",rec,D2
"""


def small_case():
    """Two captured ranks on 3 x 40 points, some of which no rank holds."""
    pathlib.Path("small.txt").write_text(HEADER)
    pathlib.Path("small.csv").write_text(TABLE)
    case = e3sm_case.parse_header(pathlib.Path("small.txt"))
    columns = [numpy.array([39, 0, 1, 2, 20, 8], "i8"), numpy.array([7, 3, 30, 31, 32], "i8")]
    case.maps = {"D1": e3sm_case.Map((40,), columns),
                 "D2": e3sm_case.Map((3, 40), [numpy.concatenate([c + 40 * level for level in range(3)]) for c in columns])}
    e3sm_case.assign_maps(case, pathlib.Path("small.csv"))
    return case


class Header(unittest.TestCase):
    def test_text_with_semicolons_quotes_comments_and_line_breaks(self):
        case = small_case()
        attributes = {a.name: a for v in case.variables for a in v.attributes}
        self.assertEqual(attributes["long_name"].values, "a; b // c \"d\" 'e'")
        self.assertEqual([(a.name, a.type, a.values) for a in case.attributes],
                         [("history", "char", "first\nsecond"), ("ne", "int", (4,))])

    def test_numbers_keep_their_types(self):
        attributes = {a.name: a for v in small_case().variables for a in v.attributes}
        self.assertEqual([(attributes[name].type, attributes[name].values) for name in ("range", "levels", "scale")],
                         [("float", (-1.5, 2.0)), ("int", (3,)), ("double", (1.0, -1e34))])

    def test_dimensions_get_the_lengths_of_the_maps(self):
        self.assertEqual(small_case().dimensions, {"time": 0, "lev": 3, "ncol": 40, "chars": 4})

    def test_type_on_file_changes_decomposed_records_and_their_fill_values(self):
        case = e3sm_case.with_type(small_case(), "double")
        kinds = {v.name: v.type for v in case.variables}
        self.assertEqual(kinds, {"lat": "double", "T": "double", "ps": "double", "mask": "int", "text": "char", "P0": "double"})
        fill = next(a for v in case.variables for a in v.attributes if a.name == "_FillValue")
        self.assertEqual(fill.type, "double")

    def test_without_a_table_maps_are_known_by_dimensions_and_others_are_refused(self):
        case = small_case()
        case.name = "f_small"
        case.variables = [e3sm_case.replace(variable, map=None) for variable in case.variables]
        case.maps = {"D2": case.maps["D1"], "D3": case.maps["D2"]}
        e3sm_case.assign_maps(case, pathlib.Path("none.csv"))
        self.assertEqual({v.name: v.map for v in case.variables},
                         {"lat": "D2", "T": "D3", "ps": "D2", "mask": "D2", "text": None, "P0": None})
        self.assertEqual(case.order, [v.name for v in case.variables])
        case.variables.append(e3sm_case.Variable("odd", "double", ("ncol", "lev")))
        with self.assertRaisesRegex(e3sm_case.Malformed, r"f_small: odd \(ncol, lev\) lies on no map"):
            e3sm_case.assign_maps(case, pathlib.Path("none.csv"))

    def test_a_table_of_other_variables_is_refused(self):
        case = small_case()
        pathlib.Path("other.csv").write_text(TABLE.replace("mask", "masque"))
        with self.assertRaisesRegex(e3sm_case.Malformed, "other.csv"):
            e3sm_case.assign_maps(case, pathlib.Path("other.csv"))


    def test_malformed_headers_and_tables_name_file_and_value(self):
        for text, what in (("", "small.txt: not the header"), (HEADER.replace("lev = 3", "lev = x"), "small.txt: dimension lev: 'x'")):
            pathlib.Path("small.txt").write_text(text)
            with self.assertRaisesRegex(e3sm_case.Malformed, what):
                e3sm_case.parse_header(pathlib.Path("small.txt"))
        case = small_case()
        for text, what in (("order,decomp\n0,-\n", "bad.csv:1: no column name"),
                           (TABLE.replace("D2", "D9"), "bad.csv: T lies on the map D9; there are D1, D2")):
            pathlib.Path("bad.csv").write_text(text)
            with self.assertRaisesRegex(e3sm_case.Malformed, what):
                e3sm_case.assign_maps(case, pathlib.Path("bad.csv"))


class Maps(unittest.TestCase):
    DAT = "version 2001 npes 2 ndims 2 \n40 3 \n0 4\n3 0 1 41 \n1 0\n\n./model() [0x13dd3dd]\n"

    def test_dat_file_is_one_based_with_holes_lengths_fastest_first_and_a_stack_trace(self):
        pathlib.Path("map.dat").write_text(self.DAT)
        found = e3sm_case.read_dat(pathlib.Path("map.dat"))
        self.assertEqual(found.dims, (3, 40))
        self.assertEqual([list(indices) for indices in found.ranks], [[2, 0, 40], []])

    def test_dat_file_with_fewer_indices_than_announced_is_refused(self):
        pathlib.Path("map.dat").write_text(self.DAT.replace("0 4\n", "0 5\n"))
        with self.assertRaisesRegex(e3sm_case.Malformed, "map.dat: rank 0: 4 indices where 5"):
            e3sm_case.read_dat(pathlib.Path("map.dat"))

    def test_dat_file_with_wrong_values_is_refused(self):
        for old, new, what in (("3 0 1 41", "3 0 1 121", "rank 0: its indices leave 0..120"), ("3 0 1 41", "-3 0 1 41", "leave 0..120"),
                               ("40 3 ", "40", "map.dat:2: 1 lengths where ndims is 2"), ("\n1 0\n", "\n", "rank 1 of 2 is not there")):
            pathlib.Path("map.dat").write_text(self.DAT.replace(old, new))
            with self.assertRaisesRegex(e3sm_case.Malformed, what):
                e3sm_case.read_dat(pathlib.Path("map.dat"))

    def test_a_ranks_pairs_begin_after_all_pairs_of_the_ranks_before_fill_pairs_too(self):
        with netCDF4.Dataset("map.nc", "w", format="NETCDF3_64BIT_DATA") as data:
            data.createDimension("decomp_nprocs", 2)
            data.createDimension("D1.total_nreqs", 5)
            for name, values in (("nreqs", [3, 2]), ("fill_starts", [1, 2])):
                data.createVariable(f"D1.{name}", "i4", ("decomp_nprocs",))[:] = values
            for name, values in (("offsets", [4, 9, 12, 20, 30]), ("lengths", [2, 1, 1, 3, 4])):
                data.createVariable(f"D1.{name}", "i4", ("D1.total_nreqs",))[:] = values
        self.assertEqual(e3sm_case.read_requests(pathlib.Path("map.nc"), "D1"), [[(4, 2)], [(20, 3), (30, 4)]])

    def test_more_columns_give_every_rank_its_own_once_again(self):
        case = e3sm_case.scaled(small_case(), 3)
        self.assertEqual((case.dimensions["ncol"], case.maps["D2"].dims), (120, (3, 120)))
        self.assertEqual(list(case.maps["D1"].ranks[1]), [7, 3, 30, 31, 32, 47, 43, 70, 71, 72, 87, 83, 110, 111, 112])
        points = case.maps["D2"].ranks[0]
        self.assertEqual(sorted(set(points % 120)), sorted(case.maps["D1"].ranks[0]))
        self.assertEqual(len(set(points)), 3 * 18)


class Figures(unittest.TestCase):
    @staticmethod
    def report(prepare_s, create_s):
        timers = [("server", 1.0), ("create", create_s)] + ([("prepare", prepare_s)] if prepare_s else [])
        return {"server": {"ranks": 2, "timers": [{"name": name, "inclusive_s": seconds / 2} for name, seconds in timers]}}

    def test_a_structure_made_ahead_is_added_to_the_total_but_for_what_was_waited_for(self):
        for prepare_s, create_s, least, most in ((0.5, 0.125, 1.375, 1.5), (0.5, 0.75, 1.0, 1.5), (None, 0.5, 1.0, 1.0)):
            found = harness.with_prepare({"end_s": 1.0, "report": self.report(prepare_s, create_s)})
            self.assertEqual(found, {"least": least, "most": most})

    def test_the_table_has_the_most_requests_of_a_rank_and_the_librarys_own_memory(self):
        rows = [harness.Row("s/iput_varn/ompio", "PnetCDF", "s", "baseline", "pnetcdf_e3sm", 2), harness.Row("s/2+1/cdf5", "Afterbay", "s", "afterbay", "afterbay_e3sm", 3)]
        results = harness.Results(rows, 1)
        figures = {"end_s": 1.0, "bytes": 2**20, "pieces": {"sum": 73.0, "max": 43.0}, "memory_mib": {"max": 9.0}}
        results.metrics = {rows[0].key: [{**figures, "library_mib": 2.25}], rows[1].key: [figures]}
        header, _, pnetcdf, afterbay = e3sm.scenario_table(results, "s").splitlines()
        columns = re.split(r"\s{2,}", header.strip())
        for line, wanted in ((pnetcdf, ("73", "43", "9", "2.25")), (afterbay, ("73", "43", "9", "-"))):
            cells = dict(zip(columns, re.split(r"\s{2,}", line.strip())[1:]))
            self.assertEqual((cells["requests"], cells["most"], cells["memory MiB"], cells["heap MiB"]), wanted)

    def test_files_of_several_records_are_verified_of_a_run_that_is_not_timed(self):
        class Recorder(harness.Runner):
            runs = []
            def missing(self, row):
                return False
            def run(self, row, verify=None):
                self.runs.append((row.arguments, verify is not None))
                return {"end_s": float(len(self.runs))}

        rows = [harness.Row("one", "", "s", "afterbay", "p", 1, ("a",), verify=True),
                harness.Row("several", "", "s", "afterbay", "p", 1, ("b",), verify=True, verify_arguments=("--every-point",))]
        plan = harness.Plan(rows, 2, lambda results: [], lambda results: [], verify=lambda row, directory: "")
        results = Recorder(pathlib.Path("."), pathlib.Path("."), 1, False).run_all(plan)
        self.assertEqual(Recorder.runs, [(("a",), True), (("b", "--every-point"), True), (("b",), False), (("b",), False), (("a",), False)])
        self.assertEqual(results.values("several", "end_s"), [3.0, 4.0])

    def test_every_point_that_a_rank_holds_is_another_in_each_of_the_first_records(self):
        case = small_case()
        for position, variable in enumerate(case.variables):
            if not case.is_record(variable) or variable.map is None:
                continue
            records = numpy.stack([e3sm_case.expected(case, position, record).ravel() for record in range(5)])
            held = records[0] != e3sm_case.fill_value(variable)
            for record in range(1, 5):
                self.assertTrue((records[record] != records[record - 1])[held].all(), variable.name)


@unittest.skipIf(DATA is None, "no captured files")
class Captured(unittest.TestCase):
    def test_cases_have_the_published_numbers_of_variables_and_amounts(self):
        for name, variables, decomposed, mib in (("f_h0", 414, 387, 32.1), ("f_h1", 51, 24, 0.63), ("g", 52, 41, 7.9)):
            case = e3sm_case.with_type(e3sm_case.load(name, DATA), "double")
            on_maps = [v for v in case.variables if v.map]
            amount = sum(numpy.prod(case.shape(v)) * numpy.dtype(e3sm_case.NUMPY_TYPES[v.type]).itemsize for v in on_maps)
            self.assertEqual((len(case.variables), len(on_maps)), (variables, decomposed), name)
            self.assertAlmostEqual(amount / 2**20, mib, delta=0.05, msg=name)

    def test_maps_known_by_dimensions_are_those_of_the_tables(self):
        for name in e3sm_case.SOURCES:
            case = e3sm_case.load(name, DATA)
            derived = e3sm_case.maps_by_dimensions(case)
            self.assertEqual(derived, {v.name: v.map for v in case.variables}, name)

    def test_headers_are_read_as_ncgen_reads_them(self):
        for name, (header, _, _) in e3sm_case.SOURCES.items():
            subprocess.run(["ncgen", "-5", "-o", f"{name}.nc", DATA / header], check=True)
            with netCDF4.Dataset(f"{name}.nc") as data:
                self.assertEqual(e3sm_verify.structure(data, e3sm_case.parse_header(DATA / header), 0), "", name)

    def test_cases_differ_from_the_captured_headers_only_in_the_lengths_of_their_maps(self):
        for name, kind in (("f_h0", "float"), ("f_h1", "float"), ("g", "double")):
            case = e3sm_case.with_type(e3sm_case.load(name, DATA), kind)
            subprocess.run(["ncgen", "-5", "-o", "captured.nc", DATA / e3sm_case.SOURCES[name][0]], check=True)
            with netCDF4.Dataset("captured.nc") as data:
                lengths = {dimension: 0 if d.isunlimited() else len(d) for dimension, d in data.dimensions.items()}
                self.assertEqual(e3sm_verify.structure(data, e3sm_case.replace(case, dimensions=lengths), 0), "", name)
            self.assertEqual(set(lengths), set(case.dimensions))

    def test_raw_offsets_pairs_and_pio_text_tell_the_same(self):
        for name in ("f_h0", "g"):
            maps = DATA / e3sm_case.SOURCES[name][2]
            for number, found in e3sm_case.read_maps(maps).items():
                for indices, pairs in zip(found.ranks, e3sm_case.read_requests(maps, number)):
                    written = [point for offset, length in pairs for point in range(offset, offset + length)]
                    self.assertEqual(sorted(written), sorted(indices.tolist()), number)
        for number, file in e3sm_case.DAT_FILES.items():
            text = e3sm_case.read_dat(DATA / file)
            combined = e3sm_case.read_maps(DATA / e3sm_case.SOURCES["f_h0"][2])[number]
            self.assertEqual(text.dims, combined.dims)
            self.assertTrue(all(numpy.array_equal(a, b) for a, b in zip(text.ranks, combined.ranks)))


def requests_of(case, ranks, records):
    """The pieces of each running rank that are separate in the file, counted independently: a row
    of a map ends a piece."""
    counts = []
    for group in numpy.array_split(numpy.arange(2), ranks):  # of the captured ranks, contiguous, the remainder to the lowest
        total = 0
        for variable in case.variables:
            times = records if case.is_record(variable) else 1
            if variable.map is None:
                total += times * (len(counts) == 0)
                continue
            found = case.maps[variable.map]
            held = numpy.sort(numpy.concatenate([numpy.empty(0, "i8"), *(found.ranks[captured] for captured in group)]))
            apart = (numpy.diff(held) != 1) | (held[1:] % found.dims[-1] == 0)
            total += times * (int(apart.sum()) + 1 if held.size else 0)
        counts.append(total)
    return counts


def pnetcdf_counts_its_memory():
    """Whether this machine's PnetCDF was built to report its allocations."""
    library = ctypes.CDLL(ctypes.util.find_library("pnetcdf"))
    return library.ncmpi_inq_malloc_max_size(ctypes.byref(ctypes.c_longlong())) == 0


def run(program, ranks, path, *arguments):
    """The figures that the program prints."""
    command = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(ranks), PROGRAMS / program, "--case", path,
               "--dir", ".", "--no-copy", *arguments]
    pathlib.Path("e3sm.nc").unlink(missing_ok=True)
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    [line] = [line for line in done.stdout.splitlines() if line.startswith("BENCH ")]
    return json.loads(line.removeprefix("BENCH "))


class Programs(unittest.TestCase):
    """One running rank holds both captured ranks, two hold one each; two of four hold nothing."""

    def check(self, case, program, ranks, *arguments):
        figures = run(program, ranks, e3sm_case.write(case, pathlib.Path("case.json")), "--records", "2", "--every-point", *arguments)
        self.assertEqual(e3sm_verify.file(pathlib.Path("e3sm.nc"), case, 2), "", f"{program}, {ranks} ranks {arguments}")
        return figures

    @unittest.skipUnless((PROGRAMS / "afterbay_e3sm").is_file(), "afterbay_e3sm is not built")
    def test_afterbay_writes_every_point_and_fills_those_that_no_rank_holds(self):
        for kind in ("float", "double"):
            case = e3sm_case.with_type(small_case(), kind)
            for ranks in (1, 2, 4):
                for store in ("cdf5", "netcdf4"):
                    self.check(case, "afterbay_e3sm", ranks + 1, "--mode", "dedicated", "--servers", "1", "--store", store)
            self.check(case, "afterbay_e3sm", 6, "--mode", "dedicated", "--servers", "2")
            self.check(case, "afterbay_e3sm", 4, "--mode", "synchronous")

    @unittest.skipUnless((PROGRAMS / "afterbay_e3sm").is_file(), "afterbay_e3sm is not built")
    def test_requests_are_counted_over_all_ranks_and_for_the_rank_that_has_most(self):
        case = small_case()
        self.assertEqual(requests_of(case, 2, 2), [43, 30])
        for ranks in (1, 2, 4):
            counts = requests_of(case, ranks, 2)
            figures = self.check(case, "afterbay_e3sm", ranks + 1, "--mode", "dedicated", "--servers", "1")
            self.assertEqual(figures["pieces"], {"sum": sum(counts), "max": max(counts)}, f"{ranks} ranks")
            self.assertNotIn("library_mib", figures)

    @unittest.skipUnless((PROGRAMS / "pnetcdf_e3sm").is_file(), "pnetcdf_e3sm is not built")
    def test_pnetcdf_reports_its_own_memory_where_it_counts_that(self):
        for mode in BASELINES["pnetcdf_e3sm"]:
            figures = run("pnetcdf_e3sm", 2, e3sm_case.write(small_case(), pathlib.Path("case.json")), "--records", "2", "--mode", mode)
            self.assertEqual("library_mib" in figures, pnetcdf_counts_its_memory(), mode)
            self.assertGreater(figures.get("library_mib", 1), 0)
            self.assertEqual(figures["pieces"], {"sum": 73, "max": 43}, mode)

    @unittest.skipUnless(any((PROGRAMS / name).is_file() for name in BASELINES), "no baseline is built")
    def test_baselines_write_every_point(self):
        """For cases without gaps, which write no fill values."""
        case = small_case()
        for found in case.maps.values():
            everything = numpy.arange(numpy.prod(found.dims))
            found.ranks = [everything[everything % 3 != 1][::-1], everything[everything % 3 == 1]]
        for program, modes in BASELINES.items():
            for mode in modes if (PROGRAMS / program).is_file() else ():
                for ranks in (1, 2, 4):
                    self.check(case, program, ranks, "--mode", mode)


if __name__ == "__main__":
    unittest.main()
