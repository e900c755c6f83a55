#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The output of `afterbay check` in docs/explanation/scaling.md is that of the command. `--write`
puts it there."""
import os
import pathlib
import re
import subprocess
import sys

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
SOURCE = pathlib.Path(os.environ["AFTERBAY_SOURCE"])
PAGE = SOURCE / "docs" / "explanation" / "scaling.md"
BLOCK = re.compile(r"(<!-- output of: check -->\n```console\n\$ afterbay )([^\n]+)\n(.*?)(```)", re.S)


def output(arguments):
    done = subprocess.run([BUILD / "apps/afterbay/afterbay", *arguments.split()], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"afterbay {arguments}: {done.returncode}\n{done.stderr}")
    # The line with the ranks that serve is long.
    return "".join(line[:96] + " ...\n" if len(line) > 100 and re.match(r"model: |server", line) else line + "\n" for line in done.stdout.splitlines())


def main():
    text = PAGE.read_text()
    found = BLOCK.findall(text)
    assert found, "no output of check was found"
    if "--write" in sys.argv:
        PAGE.write_text(BLOCK.sub(lambda match: f"{match[1]}{match[2]}\n{output(match[2])}{match[4]}", text))
        return
    for _, arguments, shown, _ in found:
        said = output(arguments)
        if said != shown:
            sys.exit(f"{PAGE} shows for `afterbay {arguments}`:\n{shown}the command says:\n{said}Update the page: {sys.argv[0]} --write")
        print(f"{arguments}: good")


main()
