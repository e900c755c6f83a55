# SPDX-License-Identifier: Apache-2.0
"""afterbay describe --definitions: options, messages, text, JSON, the picture and the reference
page. That the figures are those of runs is tested in tests/output/preview_test.py."""
import json
import pathlib
import unittest
import xml.etree.ElementTree as xml

from _cli import IO, OK, SOURCE, USAGE, WRONG, CommandTest

MODEL = """\
version: 1
processes: {model_ranks: 4, servers: 2}
time: {calendar: noleap, start: 2000-01-01, step: 6h}
dimensions:
  lat: {type: float64, values: [-60, 0, 60]}
  lon: {type: float64, values: [0, 90, 180, 270]}
  lev: {length: 5}
grids: {atm: {dimensions: [lat, lon], kind: block}}
coordinates: {area: {grid: atm, type: float32}}
fields:
  tas: {grid: atm, units: K}
  ta: {grid: atm, axes: [lev], units: K, fill: -999}
  uas: {grid: atm}
  vas: {grid: atm}
  co2: {type: float64}
  <odd>: {grid: atm}
"""

OUTPUT = """\
grids: {north: {box: {lat: [0, 90]}}}
fields: {ws: sqrt(uas^2 + vas^2)}
files:
  month: {every: 1mo, mean: [tas, ws], max: [ta: {grid: north}], once: [co2]}
  day: {every: 1d, split: 1mo, instant: [tas: now, tas: {name: degrees, units: degC}], directory: out}
"""


class Preview(CommandTest):
    def setUp(self):
        self.write("model.yaml", MODEL)
        self.write("output.yaml", OUTPUT)

    def show(self, *arguments, code=OK):
        return self.expect(code, "describe", "output.yaml", "--definitions", "model.yaml", *arguments)

    def shown(self, *arguments):
        return json.loads(self.show("--json", *arguments).stdout)

    def test_reductions_over_grids(self):
        """4 ranks hold 3 of 12 points each. The zonal mean has 15 points, to which 3 ranks
        contribute at most; the two sums have one."""
        self.write("output.yaml", "fields:\n  zonal: mean(ta over lon)\n"
                   "  globe: sum(tas*area over lat, lon) / sum(area over lat, lon)\n"
                   "files: {f: {every: 1d, mean: [zonal, globe]}}\n")
        totals = self.shown()["totals"]
        bytes_per_point = 18
        expected = (3 * 15 + 2 * 3) * bytes_per_point
        self.assertEqual(totals["bytes_between_model_ranks_per_step"], {"average": expected, "most": expected})
        self.assertEqual(totals["steps_to_results_of_grids"], 4)
        text = self.show().stdout
        self.assertIn(f"between model ranks: about {expected} B per step on average and at most {expected} B", text)
        self.assertIn("whose results follow 4 steps later", text)
        self.assertIn("mean over lon of ta", text)
        self.assertEqual(self.shown("--model-ranks", "1")["totals"]["steps_to_results_of_grids"], 0)

    def test_json(self):
        shown = self.shown()
        self.assertEqual(shown["run"], {
            "calendar": "noleap", "start": "2000-01-01T00:00:00", "end": "2001-01-01T00:00:00", "step": "6h",
            "steps": 1460, "step_0": False, "days": 365.0, "model_ranks": 4, "servers": 2})
        month, day = shown["files"]
        self.assertEqual([v["name"] for v in month["variables"]], ["tas", "ws", "ta", "co2"])
        self.assertEqual([v["operation"] for v in month["variables"]], ["mean", "mean", "max", "once"])
        ws, ta, co2 = month["variables"][1:]
        self.assertEqual((ws["expression"], ws["type"], ws["bytes"]), ("sqrt(uas^2 + vas^2)", "float32", 48))
        self.assertEqual((ta["grid"], ta["points"], ta["bytes"]), ("north", "lev 5 x lat 2 x lon 4", 160))
        self.assertEqual((co2["values"], co2["bytes"]), ("once", 8))
        # Per record: three variables, the time and its bounds. Once: lat, lon, those of the subset,
        # area twice, co2.
        self.assertEqual(month["bytes_per_record"], 48 + 48 + 160 + 8 + 16)
        self.assertEqual(month["bytes_per_file"], 24 + 32 + 16 + 48 + 32 + 8)
        self.assertEqual(month["files"], [{"path": "month.nc", "records": 12, "bytes": 12 * 280 + 160}])
        self.assertEqual(month["puts_per_step"]["most"], 4)
        self.assertEqual((day["records"], len(day["files"]), day["files"][1]["path"]), (365, 12, "out/day_2000-02-2000-02.nc"))
        self.assertEqual(shown["unused_fields"], ["<odd>"])
        totals = shown["totals"]
        # Columns take multiples of 64 bytes, after a head of 64: the sum of tas; sum and count of
        # ws, which may be missing; the largest ta. The buffers of ws come on top: its operands and
        # itself, 3 points each.
        self.assertEqual(totals["state_bytes_per_rank"], 2 * 64 + 3 * 64 + 2 * 64 + 3 * 3 * 8)
        self.assertEqual(totals["puts_per_step"]["most"], 5)
        self.assertEqual(totals["bytes"], month["bytes"] + day["bytes"])
        self.assertAlmostEqual(totals["bytes_to_servers_per_day"] * 365, totals["bytes_to_servers"])
        kinds = [stage["kind"] for stage in shown["stages"]]
        self.assertEqual(sorted(kinds), ["expression", "field", "field", "field", "field", "field", "statistic", "statistic",
                                         "statistic", "subset"])
        for number, stage in enumerate(shown["stages"]):
            self.assertTrue(all(of < number for of in stage["of"]))
            self.assertEqual(stage["runs_in"], "model ranks")

    def test_points_that_only_a_run_knows(self):
        """Boxes by coordinates that ranks hold, and long or auxiliary ones, which are not on file.
        The other files are shown as ever. Stations of a grid with values are found."""
        self.write("model.yaml", MODEL.replace("grids: {atm", "  y: {length: 4}\n  x: {length: 5}\n  far: {type: float64, length: 70000}\n"
                                               "grids: {sea: {dimensions: [y, x], kind: block}, atm").replace(
            "coordinates: {", "coordinates: {nav_lon: {grid: sea, type: float64, standard_name: longitude}, "
            "nav_lat: {grid: sea, type: float64, standard_name: latitude}, row: {dimensions: [y], type: float64}, ").replace(
            "fields:\n", "fields:\n  sst: {grid: sea}\n  long: {axes: [far]}\n"))
        self.write("output.yaml", """\
grids:
  atlantic: {box: {lon: [-80, 20]}}
  rows: {box: {row: [1, 2]}, index: {x: [0, 1]}}
  end: {box: {far: [0, 1]}}
  buoys: {stations: {a: [1, 2], b: [100, -50]}, max_distance: 5000km}
files:
  sea: {every: 1d, instant: [sst: {grid: atlantic}, sst: {name: whole}]}
  rows: {every: 1d, grid: rows, instant: sst}
  end: {every: 1d, grid: end, instant: long}
  at_sea: {every: 1d, grid: buoys, instant: sst}
  at_air: {every: 1d, grid: buoys, instant: [tas, ta]}
  day: {every: 1d, instant: tas}
""")
        shown = {file["name"]: file for file in self.shown("--length", "10d")["files"]}
        self.assertEqual({name: (file["points_known_in_run_only"], file["is_upper_bound"]) for name, file in shown.items()}, {
            "sea": (["atlantic"], True), "rows": (["rows"], True), "end": (["end"], True), "at_sea": (["buoys"], False),
            "at_air": ([], False), "day": ([], False)})
        self.assertEqual([v["points"] for v in shown["sea"]["variables"]], ["y 4 x x 5", "y 4 x x 5"])
        self.assertEqual([v["points"] for v in shown["rows"]["variables"]], ["y 4 x x 2"], "indices are known")
        self.assertEqual([v["points"] for v in shown["at_sea"]["variables"]], ["station 2"])
        self.assertEqual([v["points"] for v in shown["at_air"]["variables"]], ["station 2", "lev 5 x station 2"])
        self.assertEqual(shown["day"]["records"], 10)
        text = self.show("--length", "10d").stdout
        self.assertIn("  its points are known in a run only (grid atlantic): figures are those of all points, at most\n", text)
        self.assertIn("  its points are known in a run only (grid buoys)\n", text)
        self.assertRegex(text, r"\nfiles: 6 files, at most [0-9.]+ MiB, before compression\n")
        # What can be found is found.
        self.write("output.yaml", "grids: {g: {stations: {a: [45, 30]}, max_distance: 100km}}\nfiles: {f: {every: 1d, grid: g, instant: tas}}\n")
        self.assertRegex(self.show(code=WRONG).stderr, r"output\.yaml:1:\d+: grid 'g': the station 'a' at \[45, 30\] is \d+\.\d+ km away")

    def test_settings_that_a_run_refuses(self):
        for keys, message in (
                ("store: cdf5, deflate: 5, instant: tas", "deflate"),
                ("instant: [tas: {bitround: 40}]", "variable 'tas': bitround"),
                ("instant: [tas: {bitround: 4, bitgroom: 3}]", "variable 'tas': "),
                ("instant: [tas: {chunk: [1, 9]}]", "has 2 chunk lengths for 3 dimensions"),
                ("store: cdf5, compress: auto, instant: tas", "collection 'f' has the setting compress and the store cdf5"),
                ("instant: [co2: {pack: int16}]", "pack")):
            with self.subTest(keys):
                self.write("output.yaml", "files: {f: {every: 1d, %s}}\n" % keys)
                done = self.show(code=WRONG)
                self.assertRegex(done.stderr, r"output\.yaml:1:\d+: ")
                self.assertIn(message, done.stderr)
        # What depends on settings that the description does not say is not refused.
        self.write("output.yaml", "files: {f: {every: 1d, deflate: 3, instant: [tas: {bitround: 9, chunk: [2, 3, 2]}, ta: {pack: int16, pack_range: [0, 400]}]}}\n")
        self.show()

    def test_selections_of_axes(self):
        """They apply to the fields that have the axis."""
        self.write("model.yaml", MODEL.replace("lev: {length: 5}", "lev: {type: float64, values: [1000, 850, 500, 250, 100]}"))
        self.write("output.yaml", """\
defaults: {grid: p}
fields: {both: tas + mean(ta over lev)}
grids:
  p: {levels: {lev: [850, 500]}}
  q: {box: {lat: [0, 90]}, index: {lev: [0, 1]}, reverse: [lev], stride: {lev: 2}}
files:
  a: {every: 1d, mean: [tas, ta, both]}
  b: {every: 1d, grid: q, instant: [tas, ta, co2, both]}
  c: {every: 1d, instant: [both]}
  d: {every: 1d, grid: own, instant: [tas]}
""")
        shown = {file["name"]: {v["name"]: (v["grid"], v["points"]) for v in file["variables"]} for file in self.shown()["files"]}
        whole = ("own", "lat 3 x lon 4")
        self.assertEqual(shown["a"], {"tas": whole, "ta": ("p", "lev 2 x lat 3 x lon 4"), "both": whole})
        self.assertEqual(shown["b"], {"tas": ("q", "lat 2 x lon 4"), "ta": ("q", "lev 1 x lat 2 x lon 4"), "co2": ("own", "a single value"), "both": ("q", "lat 2 x lon 4")})
        self.assertEqual(shown["c"], {"both": whole})
        for grid, files, messages in (
                ("levels: {lev: [850]}", "f: {every: 1d, grid: g, instant: [tas, co2]}", ["output.yaml:1:", "field 'tas' has no coordinate 'lev'"]),
                ("box: {lat: [0, 90]}, levels: {lev: [850]}", "f: {every: 1d, grid: g, instant: tas}", ["field 'tas' has no coordinate 'lev'"]),
                ("index: {lev: [0, 1]}", "f: {every: 1d, grid: g, instant: tas}, h: {every: 1d, grid: g, instant: ta}", ["field 'tas' has no dimension 'lev'"]),
                ("stride: {lev: 2}", "f: {every: 1d, grid: g, instant: tas}", ["field 'tas' has no dimension 'lev'"]),
                ("box: {lat: [0, 90]}", "f: {every: 1d, grid: g, instant: co2}", ["field 'co2' has no coordinate 'lat'"]),
                ("levels: {lve: [850]}", "f: {every: 1d, grid: g, instant: [tas, ta]}", ["has no coordinate 'lve'"])):
            with self.subTest(grid):
                self.write("output.yaml", "grids: {g: {%s}}\nfiles: {%s}\n" % (grid, files))
                said = self.show(code=WRONG).stderr
                for message in messages:
                    self.assertIn(message, said)

    def test_tokens_in_directories(self):
        self.write("model.yaml", MODEL.replace("step: 6h}", "step: 6h, member: 7}"))
        self.write("output.yaml", """\
case: run
defaults: {directory: "out/{case}/m{member:03}"}
files:
  day: {every: 1d, split: 1mo, directory: "{file}/{start:%Y}/", name: "{start:%m}", instant: tas}
  six: {every: 6h, instant: tas}
  plain: {every: 6h, directory: "a/b", instant: tas}
  braces: {every: 6h, directory: "x{{y}}/z", instant: tas}
""")
        paths = {file["name"]: file["files"][0]["path"] for file in self.shown("--length", "60d")["files"]}
        self.assertEqual(paths, {"day": "day/2000/01.nc", "six": "out/run/m007/six.nc", "plain": "a/b/plain.nc", "braces": "x{y}/z/braces.nc"})
        printed = self.expect(OK, "describe", "output.yaml").stdout
        self.assertIn('directory: "out/{case}/m{member:03}"', printed.replace("'", '"'))
        for directory, message in (("{membre}", "'{membre}' is unknown"), ("{member", "brace"), ("{case:x}", "has no format")):
            self.write("output.yaml", "case: c\nfiles: {f: {every: 1d, directory: '%s', instant: tas}}\n" % directory)
            done = self.show(code=WRONG)
            self.assertRegex(done.stderr, r"output\.yaml:2:\d+: directory: ")
            self.assertIn(message, done.stderr)
        self.write("output.yaml", "files:\n  f: {every: 1d, directory: '{file}', name: x, instant: tas}\n  f2: {every: 1d, directory: f, name: x, instant: tas}\n")
        self.assertIn("would have the same name", self.show(code=WRONG).stderr)

    def test_offsets_in_steps(self):
        self.write("output.yaml", "files: {f: {every: 1d, sample: 12h, sample_offset: 12h-1ts, mean: tas}, g: {every: 1d, sample: 12h, sample_offset: 6h, mean: uas}}\n")
        f, g = self.shown()["files"]
        self.assertEqual(f["bytes"], g["bytes"])
        self.write("output.yaml", "files: {f: {every: 1d, sample: 12h, sample_offset: 6h-2ts, mean: tas}}\n")
        self.assertIn("is negative with steps of 6h", self.show(code=WRONG).stderr)
        for offset in ("-1ts", "-6h", "-6h+3ts"):
            self.write("output.yaml", "files: {f: {every: 1d, sample: 12h, sample_offset: %s, mean: tas}}\n" % offset)
            self.assertIn("sample_offset: expected a period", self.show(code=WRONG).stderr)

    def test_options(self):
        shown = self.shown("--length", "10d", "--model-ranks", "100", "--servers", "7")
        self.assertEqual((shown["run"]["steps"], shown["run"]["model_ranks"], shown["run"]["servers"]), (40, 100, 7))
        self.assertEqual([file["records"] for file in shown["files"]], [1, 10], "the month is written in part")
        self.assertEqual(self.shown("--length", "3ts")["run"]["steps"], 3)
        self.assertEqual(self.shown("--length", "7h")["run"]["steps"], 1)
        self.assertIn("a run of 1h has no step of 6h", self.show("--length", "1h", code=WRONG).stderr)
        self.assertIn("give a shorter one", self.show("--length", "100000y", code=WRONG).stderr)
        for wrong in (["--length", "soon"], ["--length", "-1d"], ["--servers", "0"], ["--step", "6h"],
                      ["--calendar", "noleap"], ["--model-ranks", "none"]):
            self.show(*wrong, code=USAGE)
        for option in (["--length", "1y"], ["--model-ranks", "2"], ["--draw", "a.svg"]):
            self.expect(USAGE, "describe", "output.yaml", *option)

    def test_text(self):
        text = self.show().stdout
        for part in ("output.yaml with the definitions in model.yaml\n",
                     "run: 2000-01-01T00:00:00 to 2001-01-01T00:00:00, calendar noleap, 1460 steps of 6h\n",
                     "processes: 4 model ranks, 2 servers\n", "\nmonth: every 1mo, 12 records in 1 file, month.nc\n",
                     "ws = sqrt(uas^2 + vas^2)", "ta on north",
                     "\nday: every 1d, 365 records in 12 files, out/day_2000-01-2000-01.nc to out/day_2000-12-2000-12.nc\n",
                     "in the model ranks, if they hold", "maximum of ta on north", "not used: <odd>\n",
                     "per simulated day", "fields: 5 of 6 are used"):
            self.assertIn(part, text)
        self.assertLess(text.index("\nmonth: "), text.index("\nday: "), "in the order of the description")
        for line in text.splitlines():
            self.assertEqual(line, line.rstrip())
        self.write("output.yaml", "files: {}\n")
        self.assertIn("none, they compute nothing", self.show().stdout)

    def test_problems_of_the_description(self):
        self.write("output.yaml", "files:\n  a: {every: 1d, mean: [tsa]}\n  b: {every: 7h, mean: [tas]}\n")
        done = self.show(code=WRONG)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.splitlines(), [
            "afterbay describe: output.yaml:2:25: there is no field 'tsa': the model has not defined it, and it has no "
            'expression under fields; did you mean "tas"?',
            'output.yaml:3:3: every of the file "b" (7h) is not a multiple of the model\'s step (6h): choose a multiple of it'])

    def test_problems_of_the_definitions(self):
        self.write("model.yaml", MODEL.replace("kind: block", "kind: blok").replace("units: K, fill", "unit: K, fill"))
        self.assertEqual(self.show(code=WRONG).stderr.splitlines()[:3], [
            "afterbay describe: the file of definitions has 2 problems:",
            '  model.yaml:8:45: kind: expected block, map or whole, found "blok"; did you mean "block"?',
            '  model.yaml:12:32: unknown key "unit" of a field; did you mean "units"?'])
        for text in ("", "just text\n", "files: {}\n", "version: 3\n", MODEL.replace("version: 1\n", "")):
            self.write("model.yaml", text)
            self.assertRegex(self.show(code=WRONG).stderr, r"model\.yaml:\d+:\d+: .*(version|expected the definitions)")
        self.write("model.yaml", MODEL + "fields: {}\n")
        self.assertIn('model.yaml:17:1: "fields" is given twice', self.show(code=WRONG).stderr)
        pathlib.Path("model.yaml").unlink()
        self.assertIn("model.yaml", self.show(code=IO).stderr)

    def test_subset_by_values_that_are_not_on_file(self):
        self.write("model.yaml", MODEL.replace("values: [-60, 0, 60]", "length: 3"))
        self.assertIn("its points are known in a run only (grid north)", self.show().stdout)

    def drawn(self):
        done = self.show("--draw", "plan.svg")
        self.assertIn("output.yaml with the definitions", done.stdout)
        root = xml.parse("plan.svg").getroot()
        space = "{http://www.w3.org/2000/svg}"
        texts = [text.text for text in root.iter(space + "text")]
        boxes = [[float(box.get(key)) for key in ("x", "y", "width", "height")] for box in root.iter(space + "rect") if box.get("x")]
        self.assertLessEqual(max(x + w for x, _, w, _ in boxes), float(root.get("width")))
        self.assertLessEqual(max(y + h for _, y, _, h in boxes), float(root.get("height")))
        for i, (x, y, w, h) in enumerate(boxes):
            self.assertGreaterEqual(y, 60)
            for other in boxes[:i]:
                apart = x + w <= other[0] or other[0] + other[2] <= x or y + h <= other[1] + 0.1 or other[1] + other[3] <= y + 0.1
                self.assertTrue(apart, f"{boxes[i]} and {other} overlap")
        return texts

    def test_picture(self):
        texts = self.drawn()
        for text in ("tas", "on north", "ws = sqrt(uas^2 + vas^2)", "mean every 1mo", "maximum every 1mo", "month", "day",
                     "degrees", "every 1d, 365 records, 12 files, 44.0 KiB", "every 1mo, 12 records, 1 file, 3.4 KiB", "not used: <odd>"):
            self.assertIn(text, texts)
        self.assertIn("no/plan.svg' cannot be written: No such file", self.show("--draw", "no/plan.svg", code=IO).stderr)

    def test_picture_of_sixty_fields(self):
        names = [f"field_{i:02}" for i in range(60)]
        self.write("model.yaml", MODEL + "".join(f"  {name}: {{grid: atm}}\n" for name in names))
        self.write("output.yaml", f"files:\n  day: {{every: 1d, mean: [{', '.join(names[:40])}]}}\n"
                   f"  month: {{every: 1mo, mean: [{', '.join(names[20:])}], max: [{', '.join(names[::5])}]}}\n"
                   f"  snap: {{every: 6h, instant: [{', '.join(names[::7])}]}}\n")
        texts = self.drawn()
        self.assertTrue(all(texts.count(name) >= 2 for name in names))

    def test_reference_page_is_up_to_date(self):
        page = (pathlib.Path(SOURCE) / "docs" / "reference" / "definitions.md").read_text()
        made = self.expect(OK, "describe", "--definitions-markdown").stdout
        self.assertEqual(made, page, "run: afterbay describe --definitions-markdown > docs/reference/definitions.md")


if __name__ == "__main__":
    unittest.main()
