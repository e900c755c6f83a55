# SPDX-License-Identifier: Apache-2.0
"""Independent readers of decomposition files: Afterbay's by the program in the documentation, PIO's
text by hand."""
import os
import pathlib
import re

from _cli import SOURCE

PAGE = SOURCE / "docs" / "reference" / "decomposition-files.md"


def documented_reader():
    """The class DecompositionMap of the page that defines the file format."""
    found = re.search(r"<!-- python: read_decomposition -->\n```python\n(.*?)```", PAGE.read_text(), re.S)
    names = {}
    exec(compile(found[1], str(PAGE), "exec"), names)
    return names["DecompositionMap"]


def read_pio(path):
    """Lengths (C order) and lists (1-based, 0 = hole) of PIO's text."""
    lines = pathlib.Path(path).read_text().split("\n")
    ranks = int(lines[0].split()[3])
    lists, at = [], 2
    for rank in range(ranks):
        number, length = map(int, lines[at].split())
        assert number == rank
        lists.append([int(word) for word in lines[at + 1].split()])
        assert len(lists[-1]) == length
        at += 2
    return tuple(map(int, reversed(lines[1].split()))), lists


def captured_data():
    """The folder with decompositions captured from real runs, or None."""
    place = os.environ.get("AFTERBAY_BENCH_DATA")
    folder = pathlib.Path(place) if place else SOURCE.parent / "shared" / "data"
    return folder if folder.is_dir() else None
