# SPDX-License-Identifier: Apache-2.0
"""afterbay describe: examples, messages, the JSON Schema, and the committed reference page."""
import json
import pathlib
import re
import unittest

import jsonschema
import yaml

from _cli import IO, OK, SOURCE, USAGE, WRONG, CommandTest

EXAMPLES = sorted((pathlib.Path(SOURCE) / "tests" / "cli" / "descriptions").glob("*.yaml"))


class CoreSchema(yaml.SafeLoader):
    """PyYAML with the core schema of YAML 1.2 in place of that of YAML 1.1."""


CoreSchema.yaml_implicit_resolvers = {}
for tag, pattern, first in (
        ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
        ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
        ("int", r"[-+]?[0-9]+", list("-+0123456789")),
        ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", list("-+.0123456789"))):
    CoreSchema.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(rf"^(?:{pattern})$"), first)


class Describe(CommandTest):
    def described(self, text, *arguments):
        return self.expect(OK, "describe", self.write("d.yaml", text), *arguments).stdout

    def refused(self, text, *arguments):
        """The problems, one per line."""
        done = self.expect(WRONG, "describe", self.write("d.yaml", text), *arguments)
        self.assertEqual(done.stdout, "")
        first, *lines = done.stderr.splitlines()
        self.assertRegex(first, r"^afterbay describe: the output description (is wrong|has \d+ problems):$")
        return [line.removeprefix("  ") for line in lines]

    def validator(self):
        schema = json.loads(self.expect(OK, "describe", "--schema").stdout)
        jsonschema.Draft202012Validator.check_schema(schema)
        return jsonschema.Draft202012Validator(schema)

    def test_examples_read_back_from_what_is_printed(self):
        self.assertGreater(len(EXAMPLES), 15)
        for path in EXAMPLES:
            with self.subTest(path.name):
                printed = self.expect(OK, "describe", path).stdout
                self.assertEqual(self.described(printed), printed)
                as_json = self.expect(OK, "describe", path, "--json").stdout
                self.assertEqual(self.described(as_json), printed)
                self.assertEqual(yaml.load(printed, CoreSchema), json.loads(as_json))

    def test_examples_and_what_is_printed_match_the_schema(self):
        validator = self.validator()
        for path in EXAMPLES:
            with self.subTest(path.name):
                validator.validate(yaml.load(path.read_text(), CoreSchema))
                validator.validate(json.loads(self.expect(OK, "describe", path, "--json").stdout))

    def test_the_schema_refuses_mistakes(self):
        validator = self.validator()
        for text in ("file: {}", "files: [a]", "files: {a: 3}", "files: {a: {evry: 1d}}", "files: {a: {every: 3}}",
                     "files: {a: {stamp: middle}}", "files: {a: {at_start: on}}", "files: {a: {mean: {tas: {unit: K}}}}",
                     "files: {a: {mean: [[tas]]}}", "files: {a: {missing: 2}}", "files: {a: {detail: -1}}",
                     "files: {a: {store: netcdf}}", "files: {a: {stripe: {cuont: 4}}}", "grids: {g: {}}",
                     "grids: {g: {box: {lon: [1]}}}", "grids: {g: {stride: {x: 0}}}", "defaults: {mean: tas}",
                     "fields: {ws: [a]}", "fields: {ws: {expresion: a}}", "files: {a: {attributes: {x: true}}}"):
            with self.subTest(text):
                self.assertFalse(validator.is_valid(yaml.load(text, CoreSchema)))
                self.refused(text + "\n")

    def test_the_schema_takes_variables_anywhere(self):
        self.validator().validate({"files": {"a": {"detail": "${LEVEL}", "bounds": "${BOUNDS:-true}", "stamp": "${S}"}}})

    def test_reference_page_is_up_to_date(self):
        page = (pathlib.Path(SOURCE) / "docs" / "reference" / "description.md").read_text()
        made = self.expect(OK, "describe", "--markdown").stdout
        self.assertEqual(made, page, "run: afterbay describe --markdown > docs/reference/description.md")

    def test_example_of_the_page(self):
        page = self.expect(OK, "describe", "--markdown").stdout
        printed = yaml.load(self.described(re.search(r"```yaml\n(.*?)```", page, re.S).group(1)), CoreSchema)
        self.assertEqual(printed["case"], "control")
        self.assertEqual(printed["files"]["day"]["mean"], ["tas", "psl", "pr", {"toce": "tos"}])
        self.assertEqual(printed["files"]["mon"]["mean"][2], {"snc": {"detail": 2, "units": "%"}})

    def test_several_files_and_variables(self):
        fields = self.write("fields.yaml", "fields: {ws: sqrt(u^2 + v^2)}\n")
        files = self.write("files.yaml", "case: ${CASE}\nfiles: {a: {every: 1d, mean: ws}}\n")
        done = self.expect(OK, "describe", fields, files, "--set", "CASE=x")
        self.assertTrue(done.stdout.startswith("case: x\nfields:\n  ws: sqrt(u^2 + v^2)\nfiles:\n  a:\n    every: 1d\n"))
        done = self.expect(OK, "describe", fields, files, settings={"CASE": "y"})
        self.assertIn("case: y\n", done.stdout)
        done = self.expect(WRONG, "describe", fields, files, "--no-environment", settings={"CASE": "y"})
        self.assertIn("the variable CASE has no value", done.stderr)

    def test_calendar_and_step(self):
        text = "files: {a: {every: 1d, mean: tas, align: 2000-02-30}}\n"
        self.assertIn("2000-02-30", self.described(text, "--calendar", "360_day"))
        self.refused(text)
        self.assertEqual(self.refused("files: {a: {every: 1d, mean: tas}}\n", "--step", "50min"),
                         ["d.yaml:1:20: files.a: every (1d) is not a multiple of the model's step (50min)"])

    def test_help_says_where_to_read_on(self):
        for words in (("describe", "--help"), ("help", "describe")):
            text = self.expect(OK, *words).stdout
            self.assertIn("--markdown prints the reference of all keys", text)
            for page in re.findall(r"docs/\S+\.md", text):
                self.assertTrue((pathlib.Path(SOURCE) / page).exists(), page)
            self.assertGreaterEqual(len(re.findall(r"docs/\S+\.md", text)), 2)

    def test_nearest_names(self):
        """Wherever a name is mistyped."""
        for text, hint in (
                ("flies: {}", '"files"'), ("files: {a: {evrey: 1d}}", '"every"'), ("files: {a: {every: 1d, mean: {tas: {untis: K}}}}", '"units"'),
                ("fields: {ws: {expresion: a}}", '"expression"'), ("grids: {g: {staions: {p: [0, 0]}}}", '"stations"'),
                ("files: {a: {like: bb, every: 1d}, bbb: {every: 1d, mean: t}}", '"bbb"'), ("files: {a: {every: 1d, mean: t, stamp: centr}}", '"centre"'),
                ("files: {a: {every: 1d, mean: t, store: netcdf}}", '"netcdf4"'), ("files: {a: {every: 1d, mean: t, existing: apend}}", '"append"'),
                ("files: {a: {every: 1d, mean: t, type: flaot32}}", '"float32"'), ("files: {a: {every: 1d, mean: t, stripe: {cuont: 4}}}", '"stripe.count"'),
                ("files: {a: {every: 1dd, mean: t}}", '"d"'), ("files: {a: {every: 1d, mean: t, name: '{fiel}'}}", '"file"'),
                ("fields: {x: sqr(maen(t))}", '"mean"'), ("files: {a: {every: 1d, mean: tt, without: ttt}}", '"tt"'),
                ("files: {a: {every: 1d, mean: t, grid: medd}}\ngrids: {med: {stride: {x: 2}}}", '"med"'),
                ("groups: {surface: [t]}\nfiles: {a: {every: 1d, mean: group(surfce)}}", '"surface"'),
                ("files: {a: {every: 1d, mean: t, placement: slba}}", '"slab"')):
            with self.subTest(text):
                self.assertRegex("\n".join(self.refused(text + "\n")), rf"d\.yaml:\d:\d+: .*did you mean {re.escape(hint)}\?")
        self.assertEqual(self.refused("files: {a: {every: 1d, mean: t, wibble: 1}}\n"),
                         ['d.yaml:1:33: unknown key "wibble" of a file; afterbay describe --markdown lists all keys'])

    def test_exit_codes(self):
        self.expect(USAGE, "describe")
        self.expect(USAGE, "describe", "d.yaml", "--schema")
        self.expect(USAGE, "describe", "d.yaml", "--set", "CASE")
        self.expect(USAGE, "describe", "d.yaml", "--calendar", "maya")
        self.expect(USAGE, "describe", "d.yaml", "--step", "soon")
        done = self.expect(IO, "describe", "none.yaml")
        self.assertIn("none.yaml: cannot read it: No such file or directory", done.stderr)

    def test_messages(self):
        """A dozen typical mistakes with their exact texts."""
        for text, lines in (
                ("file: {a: {every: 1d, mean: tas}}\n",
                 ['d.yaml:1:1: expected include:, case:, state:, defaults:, fields:, grids:, groups: or files:, found "file"; '
                  'did you mean "files"?']),
                ("files:\n  day: {evry: 1d, once: orog}\n",
                 ['d.yaml:2:9: unknown key "evry" of a file; did you mean "every"?']),
                ("files:\n  day: {every: 1day, mean: tas}\n",
                 ['d.yaml:2:16: every: "1day" is not a period: "day" is not a unit; did you mean "d"? Units are '
                  'y, mo, d, h, min, s, ms, us, ns or ts (time steps)']),
                ("files:\n  day: {mean: [tas, pr]}\n",
                 ['d.yaml:2:3: files.day: every is missing; "mean" needs a period, for example "every: 1d"']),
                ("files:\n  day: {every: 1d}\n",
                 ['d.yaml:2:3: the file "day" has no fields: add a list, for example "mean: [tas]", or "enabled: false" '
                  'if it is a pattern']),
                ("files:\n  day: {every: 1d, mean: [tas], grid: med}\ngrids:\n  mde: {stride: {x: 2}}\n",
                 ['d.yaml:2:39: grid: there is no "med" under "grids:"; did you mean "mde"?']),
                ("files:\n  day: {every: 1d, mean: [tas: t, pr: t]}\n",
                 ['d.yaml:2:35: the file "day" has two variables "t", the other one at d.yaml:2:27; rename one, as in '
                  '"pr: NAME"']),
                ("files:\n  mon: {every: 1mo, split: 1d, mean: tas}\n",
                 ['d.yaml:2:28: files.mon: split (1d) is shorter than every (1mo), so that files would have no record; '
                  'write a longer split, or "1 records"']),
                ("files:\n  day: {every: 1d, split: 1mo, mean: tas, name: \"{file}\"}\n",
                 ['d.yaml:2:49: files.day: all files that split makes would have the name "{file}"; add {start}, {end} '
                  'or {part}']),
                ("files:\n  day: {every: 1d, mean: tas, name: \"{case}_{file}\"}\n",
                 ['d.yaml:2:37: files.day: the name "{case}_{file}" contains {case}, but the description has no "case:" '
                  'at the top']),
                ("files:\n  day: {every: 1d, mean: tas, name: \"{fille}\"}\n",
                 ['d.yaml:2:37: name: "{fille}": \'{fille}\' is unknown; did you mean "file"?; {case}, {file}, {period}, '
                  '{grid}, {start}, {end}, {part}, {member} can be used, and {{ and }} for braces']),
                ("fields:\n  a: b + 1\n  b: a - 1\n",
                 ["d.yaml:2:6: fields depend on themselves: a needs b needs a; change one of the expressions"]),
                ("fields:\n  tasmax: mean(max(tas, 1d)) + sqroot(b)\n  ws: sqrt(u^2 v^2)\n",
                 ['d.yaml:2:11: expression: column 22 of the expression: there is no function "sqroot"; did you mean "sqrt"?',
                  'd.yaml:3:7: expression: column 10 of the expression: expected an operator, "," or ")", found "v"']),
                ("files:\n  day: {every: 1d, sample: 7h, mean: tas, missing: mask}\n",
                 ["d.yaml:2:28: files.day: every (1d) is not a multiple of sample (7h)",
                  'd.yaml:2:52: missing: expected ignore, poison or a number above 0 and up to 1, found "mask"']),
                ("files:\n  day: {every: 1d, mean: &x [tas]}\n  mon: {every: 1mo, mean: *x}\n",
                 ["d.yaml:2:26: YAML anchors (&name) are not accepted; use like:, defaults: or groups: to repeat settings",
                  "d.yaml:3:27: YAML aliases (*name) are not accepted; use like:, defaults: or groups: to repeat "
                  "settings, and put quotes around a name that begins with *"]),
        ):
            with self.subTest(text):
                self.assertEqual(self.refused(text), lines)


if __name__ == "__main__":
    unittest.main()
