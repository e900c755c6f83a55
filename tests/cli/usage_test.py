# SPDX-License-Identifier: Apache-2.0
"""Help, mistyped names and exit codes, for every command."""
import pathlib
import subprocess
import tempfile
import unittest

from _cli import COMMAND, IO, OK, USAGE, CommandTest


class Usage(CommandTest):
    def commands(self):
        """The names that `afterbay --help` lists."""
        text = self.expect(OK, "--help").stdout
        return [line.split()[0] for line in text.split("Subcommands:")[1].splitlines()
                if line.startswith("  ") and not line.startswith("   ")]

    def test_all_commands_explain_themselves(self):
        names = self.commands()
        for name in ("check", "completion", "help", "serve", "settings", "version"):
            self.assertIn(name, names)
        for name in names:
            text = self.expect(OK, name, "--help").stdout
            self.assertIn(f"Usage: afterbay {name}", text)
            self.assertEqual(self.expect(OK, "help", name).stdout, text)

    def test_output_that_does_not_arrive_is_a_failure(self):
        with open("/dev/full", "w") as full:
            for words in (("--help",), ("--version",), *((name, "--help") for name in self.commands()),
                          *(("help", name) for name in self.commands()), ("version",), ("settings",), ("completion", "bash")):
                done = subprocess.run([COMMAND, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(done.returncode, IO, words)
                self.assertIn("afterbay: standard output cannot be written", done.stderr)

    def test_closed_output_is_a_failure_and_no_file_gets_what_is_printed(self):
        made = pathlib.Path(tempfile.mkdtemp(dir=".")) / "made.nc"
        done = subprocess.run(["sh", "-c", '"$0" decomp make mpas "$1" --cells 9 --ranks 2 >&-', COMMAND, made],
                              stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, IO)
        self.assertIn("standard output cannot be written: Bad file descriptor", done.stderr)
        self.assertIn("cells: 9 points", self.expect(OK, "decomp", "stats", str(made)).stdout)

    def test_no_command(self):
        done = self.expect(USAGE)
        self.assertEqual(done.stdout, "")
        self.assertIn("Subcommands:", done.stderr)

    def test_mistyped_command(self):
        done = self.expect(USAGE, "chekc", "run.yaml")
        self.assertEqual(done.stderr, 'afterbay: no command "chekc"; did you mean "check"?\n')

    def test_unknown_command(self):
        done = self.expect(USAGE, "frobnicate")
        self.assertIn('no command "frobnicate"; commands: check, ', done.stderr)

    def test_mistyped_subcommand(self):
        for words, text in ((("decomp", "statz", "x.nc"), 'decomp: no subcommand "statz"; did you mean "stats"?'),
                            (("plan", "storge", "."), 'plan: no subcommand "storge"; did you mean "storage"?'),
                            (("decomp", "xyzzy"), 'no subcommand "xyzzy"; subcommands: convert, stats, draw, make')):
            self.assertIn(text, self.expect(USAGE, *words).stderr)

    def test_mistyped_option(self):
        done = self.expect(USAGE, "check", "--shwo")
        self.assertIn('afterbay check: no option "--shwo"; did you mean "--show"?\nTry: afterbay check --help',
                      done.stderr)
        self.assertIn('no option "--rank"; did you mean "--ranks"?', self.expect(USAGE, "check", "--rank=3").stderr)
        self.assertIn('afterbay: no option "--versoin"; did you mean "--version"?',
                      self.expect(USAGE, "--versoin").stderr)

    def test_mistyped_option_that_is_required(self):
        self.assertIn('afterbay codecs: no option "--evry"; did you mean "--every"?',
                      self.expect(USAGE, "codecs", "a.nc", "--evry", "10").stderr)
        self.assertIn("afterbay codecs: --every is required", self.expect(USAGE, "codecs", "a.nc").stderr)

    def test_too_many_arguments(self):
        self.assertIn('unexpected argument "b.yaml"', self.expect(USAGE, "check", "a.yaml", "b.yaml").stderr)

    def test_settings_where_they_have_no_effect(self):
        self.assertIn("settings have no effect here: --afterbay.servers=2",
                      self.expect(USAGE, "version", "--afterbay.servers=2").stderr)

    def test_topics(self):
        text = self.expect(OK, "help", "exit-codes").stdout
        for code, what in enumerate(("done", "wrong", "command line", "file", "died", "defect")):
            self.assertRegex(text, rf"(?m)^  {code}  .*{what}")
        self.assertIn('did you mean "exit-codes"?', self.expect(USAGE, "help", "exit-code").stderr)

    def test_version(self):
        version = self.expect(OK, "version").stdout
        self.assertRegex(version, r"^afterbay \d+\.\d+\.\d+\n$")
        self.assertEqual(self.expect(OK, "--version").stdout, version)
        self.assertRegex(self.expect(OK, "version", "--all").stdout, r"(?m)^HDF5 +1\.\d+\.\d+$")


if __name__ == "__main__":
    unittest.main()
