# SPDX-License-Identifier: Apache-2.0
"""afterbay settings: the list, explanations, and the committed reference page."""
import re
import unittest

from _cli import OK, SOURCE, USAGE, CommandTest


class Settings(CommandTest):
    def test_list(self):
        lines = self.expect(OK, "settings").stdout.splitlines()
        self.assertRegex(lines[0], r"^SETTING +DEFAULT +ACCEPTED$")
        names = [line.split()[0] for line in lines[1:]]
        self.assertEqual(len(names), len(set(names)))
        for name in ("topology", "memory.server", "collections.NAME.store", "collections.NAME.variables.VARIABLE.chunk"):
            self.assertIn(name, names)

    def test_every_default_is_accepted(self):
        """The list's defaults, given as flags, are a correct configuration."""
        flags = []
        for line in self.expect(OK, "settings").stdout.splitlines()[1:]:
            name, default = line.split()[:2]
            # inline.mode contradicts the dedicated topology, and a trigger's `on` alone has no
            # effect
            if default != "-" and name != "inline.mode" and not name.startswith("triggers."):
                flags.append(f"--afterbay.{name}={default}")
        self.assertGreater(len(flags), 15)
        self.expect(OK, "check", *flags)

    def test_explanation(self):
        text = self.expect(OK, "settings", "memory.server").stdout
        for part in ("memory.server\n", "default: 512MiB", "environment: AFTERBAY_MEMORY_SERVER",
                     "flag: --afterbay.memory.server=VALUE", "multiple of 4KiB"):
            self.assertIn(part, text)

    def test_groups_and_patterns(self):
        group = self.expect(OK, "settings", "memory").stdout
        names = [line.split()[0] for line in self.expect(OK, "settings").stdout.splitlines()[1:]]
        of_memory = [name for name in names if name.startswith("memory.")]
        self.assertIn("memory.server", of_memory)
        self.assertEqual(re.findall(r"(?m)^memory\.\S+", group), of_memory)
        self.assertEqual(self.expect(OK, "settings", "memory.*").stdout, group)

    def test_unknown_name(self):
        done = self.expect(USAGE, "settings", "memory.sever")
        self.assertIn('no setting "memory.sever"; did you mean "memory.server"?', done.stderr)

    def test_reference_page_is_up_to_date(self):
        page = (SOURCE / "docs" / "reference" / "configuration.md").read_text()
        made = self.expect(OK, "settings", "--markdown").stdout
        self.assertEqual(made, page, "run: afterbay settings --markdown > docs/reference/configuration.md")

    def test_example_of_the_page_is_correct(self):
        page = self.expect(OK, "settings", "--markdown").stdout
        example = re.search(r"```yaml\n(.*?)```", page, re.S).group(1)
        self.expect(OK, "check", self.write("example.yaml", example))


if __name__ == "__main__":
    unittest.main()
