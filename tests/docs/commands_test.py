#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/check_commands.py finds commands of the tutorial and of the examples' page that a bare
Debian lacks: in the project with one package removed, or with one command added."""
import os
import pathlib
import re
import shutil
import sys

SOURCE = pathlib.Path(os.environ["AFTERBAY_SOURCE"])
sys.path.insert(0, str(SOURCE / "tools"))
import check_commands  # noqa: E402

COPIED = ("docs", "examples", "tools", "tests", "bench")


def project(name):
    """A copy that the test may change."""
    root = pathlib.Path(name)
    for folder in COPIED:
        shutil.copytree(SOURCE / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(SOURCE / "dev", root / "dev")
    return root


def change(path, pattern, text):
    changed, count = re.subn(pattern, text, path.read_text(), flags=re.M)
    assert count > 0, f"{path} has no {pattern}"
    path.write_text(changed)


def expect(root, *wanted):
    found = list(check_commands.violations(root))
    for words in wanted:
        assert any(all(word in line for word in words) for line in found), f"nobody says {words}:\n" + "\n".join(found)
    assert wanted or not found, "\n".join(found)
    print(f"{root}: {len(found)} found, as expected")


def a_package_less():
    for package, command in (("make", "make"), ("netcdf-bin", "ncdump"), ("man-db", "man"), ("g++", "g++"), ("gfortran", "gfortran")):
        root = project(f"no_{command}")
        change(root / "tools/dev/setup.sh", rf"(?<=[( ]){re.escape(package)}(?=[ )])", "")
        expect(root, ("docs/tutorial.md", f"runs {command}:", f"./dev build release does not install {package}"))
        root = project(f"not_named_{command}")
        change(root / "docs/tutorial.md", rf"(apt-get install.*) {re.escape(package)}(?=[ \n])", r"\1")
        expect(root, ("docs/tutorial.md", f"runs {command}:", f"name {package}"))


def what_cmake_needs():
    root = project("cmake")
    change(root / "tools/dev/setup.sh", r"(?<=[( ])make ", "")
    script = root / "tests/install/one.sh"
    script.write_text("cmake -S . -B build \\\n  -DX=1\n")
    expect(root, ("tests/install/one.sh:1", "runs make"), ("examples/README.md", "runs make"))
    script.write_text("cmake -S . -B build \\\n  -G Ninja\ncmake --build build\ncmake --preset dev\n")
    (root / "tests/install/two.py").write_text('subprocess.run(["cmake", "-S", ".", "-B", "build"], check=True)\n')
    expect(root, ("tests/install/two.py:1", "runs make"))
    assert not any("one.sh" in line for line in check_commands.violations(root))


def commands_of_pages():
    root = project("pages")
    page = root / "docs/how-to/run.md"
    page.write_text(page.read_text() + "\n<!-- run: more -->\n```sh\nX=1 nosuchprogram --now | cdo -s\n```\n")
    expect(root, ("docs/how-to/run.md", "nosuchprogram", "PACKAGES"), ("docs/how-to/run.md", "runs cdo", "does not install cdo"))


expect(project("as_it_is"))
a_package_less()
what_cmake_needs()
commands_of_pages()
