# SPDX-License-Identifier: Apache-2.0
"""Follows the instructions of a page of the documentation, from an installation: saves the files
that follow `<!-- test: NAME -->`, and gives the commands that follow `<!-- run: TITLE -->` to a
shell, unchanged, in an environment without Afterbay."""
import os
import pathlib
import re
import subprocess
import sys

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
BLOCK = re.compile(r"<!-- (test|run): (.+?) -->\n```\w+\n(.*?)```", re.S)


class Newcomer:
    """A user with a home directory that contains only Afterbay, in ~/afterbay."""

    def __init__(self):
        self.home = pathlib.Path.cwd() / "home"
        self.home.mkdir()
        self.begin("first")
        self.exported = ""
        done = subprocess.run(["cmake", "--install", BUILD, "--prefix", self.home / "afterbay"], capture_output=True, text=True,
                              timeout=60, check=False)
        if done.returncode != 0:
            sys.exit(f"cmake --install: {done.stdout}{done.stderr}")
        self.documents = self.home / "afterbay/share/doc/afterbay"

    def begin(self, name):
        """Continues in an empty directory of this name."""
        self.work = self.home / name
        self.work.mkdir()

    def page(self, name):
        """The blocks of an installed page: (kind, title, text)."""
        return BLOCK.findall((self.documents / name).read_text())

    def save(self, name, text):
        (self.work / name).write_text(text)

    def export(self, text):
        """Commands to be repeated in every new shell."""
        self.exported += text

    def run(self, title, commands):
        """Returns what the commands print; ends the test if one fails."""
        environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "USER": os.environ.get("USER", "")}
        script = f"set -e -o pipefail\n{self.exported}{commands}"
        done = subprocess.run(["bash", "-c", script], cwd=self.work, env=environment, capture_output=True, text=True, timeout=120,
                              check=False)
        if done.returncode != 0:
            sys.exit(f"{title}: exit code {done.returncode}\n{commands}\n{done.stdout}\n{done.stderr}")
        print(f"{title}: good")
        return done.stdout

    def read_settings(self):
        """The exports at the start of the tutorial."""
        blocks = {title: text for kind, title, text in self.page("docs/tutorial.md") if kind == "run"}
        self.export(blocks["settings"])
        if os.getuid() == 0:
            self.export(blocks["as root"])
