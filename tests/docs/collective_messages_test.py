#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each kind of src/wire/collective_messages.hpp belongs to one struct, in the file that its comment
names: two messages of one kind would be taken for each other. The structs are local to the files
of several layers, so that no type list can contain them."""
import os
import pathlib
import re

SOURCE = pathlib.Path(os.environ["AFTERBAY_SOURCE"])
HEADER = "src/wire/collective_messages.hpp"
ENUMERATOR = re.compile(r"^  (\w+),\s*///< ([\w.]+)$", re.M)
USE = re.compile(r"\bCollectiveMessage::(\w+)")


def problems(header, sources):
    """What is wrong. `sources`: texts by the paths of files."""
    body = re.search(r"enum class CollectiveMessage[^{]*\{(.*?)\};", header, re.S)[1]
    listed = dict(ENUMERATOR.findall(body))
    code = re.sub(r"//[^\n]*", "", body)
    for name in re.findall(r"\w+", code):
        if name not in listed and name != "count":
            yield f"{name}: name the file of its struct in a comment"
    found = {}
    for path, text in sources.items():
        for name in USE.findall(text):
            found.setdefault(name, []).append(path)
    for name, file in listed.items():
        paths = found.get(name, [])
        if len(paths) != 1:
            yield f"{name} is the kind of {len(paths)} messages: {paths}"
        elif pathlib.PurePath(paths[0]).name != file:
            yield f"{name} is the kind of a message in {paths[0]}, not in {file}"


def main():
    header = (SOURCE / HEADER).read_text()
    sources = {str(path.relative_to(SOURCE)): path.read_text() for path in sorted((SOURCE / "src").rglob("*.[ch]pp"))
               if str(path.relative_to(SOURCE)) != HEADER}
    found = list(problems(header, sources))
    assert not found, "\n".join(found)

    # The test itself: two structs of one kind, one less, another file, a kind without a file.
    first, file = ENUMERATOR.findall(header)[0]
    again = {**sources, "src/base/again.cpp": f"wire::kind_of(wire::CollectiveMessage::{first});"}
    assert [line.split()[0] for line in problems(header, again)] == [first]
    fewer = {path: text for path, text in sources.items() if not path.endswith("/" + file)}
    assert any(line.startswith(f"{first} is the kind of 0 messages") for line in problems(header, fewer))
    assert any("not in other.cpp" in line for line in problems(header.replace(f"///< {file}", "///< other.cpp", 1), sources))
    assert list(problems(header.replace("  count\n", "  more,\n  count\n"), sources)) == ["more: name the file of its struct in a comment"]


if __name__ == "__main__":
    main()
