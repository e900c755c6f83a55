#!/usr/bin/env python3
"""Checks that every folder of src/ includes only the folders it may depend on.

The table is the only definition of the layers: a folder may include itself, the folders listed
for it, and those that these may include in turn. mpi.h is allowed only where it is named below.
"""
import pathlib
import re
import sys

ALLOWED = {
    "base": [],
    "time": ["base"],
    "codec": ["base"],
    "packing": ["base", "time"],
    "model": ["base", "time", "codec"],
    "pipeline": ["model"],
    "statistics": ["model"],
    "expression": ["base", "time", "model", "statistics"],
    "config": ["base", "model", "triggers", "pipeline"],
    "describe": ["base", "time", "model", "codec", "config", "expression"],
    "mpi": ["base"],
    "wire": ["base", "model", "statistics"],
    "observe": ["base"],
    "transport": ["wire", "mpi"],
    "client": ["transport", "config", "pipeline", "observe"],
    "storage": ["model", "codec", "wire", "time", "packing"],
    "journal": ["base"],
    "triggers": ["base"],
    "server": ["transport", "storage", "journal", "config", "pipeline", "statistics", "expression", "observe"],
    "session": ["client", "server", "describe"],
    "output": ["session", "describe", "statistics", "expression", "time"],
    "decomp": ["storage"],
}
# The traits of formats, and what formats of messages say about a schema: data and pure functions
# that lie beside the stores but are built below model (src/storage/CMakeLists.txt).
FORMAT_ROWS = re.compile(r"src/storage/(formats|[^/]+/(traits|seal|definition_[^/]+)|messages/cf|grib2/(handle|prototype))\.cpp")
FORMAT_ROWS_MAY_INCLUDE = re.compile(
    r"model/(fill_value|format|format_traits|message_accuracy)\.hpp|(base|time|packing)/.*|storage/[^/]+/(definition|definition_check|file_kind|cf|handle|prototype|sections)\.hpp")
MPI_PLACES = ("src/mpi/", "src/transport/mpi", "src/session/", "include/afterbay/mpi.", "bindings/")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def reachable(folder):
    found, waiting = {folder}, [folder]
    while waiting:
        for below in ALLOWED[waiting.pop()]:
            if below not in found:
                found.add(below)
                waiting.append(below)
    return found


def violations(root):
    for path in sorted([*root.glob("src/**/*.[ch]pp"), *root.glob("include/**/*.h*"), *root.glob("bindings/**/*.[ch]*")]):
        name = path.relative_to(root).as_posix()
        parts = name.split("/")
        folder = parts[1] if parts[0] == "src" else None
        if folder is not None and folder not in ALLOWED:
            yield f"{name}:1: the folder {folder} is not in the table of tools/check_layers.py"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            target = match[2]
            if target == "mpi.h" and not name.startswith(MPI_PLACES):
                yield f"{name}:{number}: mpi.h may be included only under {', '.join(MPI_PLACES)}"
            first = target.split("/")[0]
            if "/" not in target or first not in ALLOWED:
                continue
            if FORMAT_ROWS.fullmatch(name):
                if not FORMAT_ROWS_MAY_INCLUDE.fullmatch(target):
                    yield f"{name}:{number}: a format's traits include {target}; they may include {FORMAT_ROWS_MAY_INCLUDE.pattern}"
            elif parts[0] == "include":
                yield f"{name}:{number}: an installed header includes {target}, which is not installed"
            elif folder is not None and first not in reachable(folder):
                may = ", ".join(sorted(reachable(folder) - {folder})) or "nothing"
                yield f"{name}:{number}: {folder} includes {target}; it may include {may}"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    found = list(violations(root))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
