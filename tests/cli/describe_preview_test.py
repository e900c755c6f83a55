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
            'output.yaml:3:3: every of the file "b" (7h) is no multiple of the model\'s step (6h): choose a multiple of it'])

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
        self.assertIn("output.yaml:1:9: grid 'north': the values of the coordinate 'lat' are not known",
                      self.show(code=WRONG).stderr)

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
