#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The libraries export the public interfaces of C, C++ and Fortran, and nothing else: what symbols/
lists. A symbol that is missing breaks programs that are linked with an older library of the same
minor version (CONTRIBUTING.md, "Compatibility").

With --write the lists are made anew."""
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
LIBRARIES = {"libafterbay": BUILD / "src" / "libafterbay.so", "libafterbay_fortran": BUILD / "bindings" / "libafterbay_fortran.so"}
#: what of the strong symbols may be exported: C's names, namespace afterbay, the modules and their
#: public procedures
PUBLIC = {
    "libafterbay": r"afterbay_\w+|(vtable|typeinfo|typeinfo name) for afterbay::\w+|afterbay::(\w+::)?(~?\w+|operator[=+*])(\[abi:cxx11\])?\(.*",
    "libafterbay_fortran": r"__afterbay\w*_MOD_\w+|afterbay_\w+",
}


def internal():
    """Matches names in the namespaces of the sources, of which nothing is for users: public names
    are in afterbay itself."""
    names = {name for folder in ("src", "bindings") for path in (HERE.parent.parent / folder).rglob("*.[ch]pp")
             for name in re.findall(r"^namespace afterbay::(\w+)", path.read_text(), re.M)}
    assert {"c", "client", "decomp", "formats", "pipeline", "server"} <= names, names
    return rf"\bafterbay::({'|'.join(sorted(names))})::"


INTERNAL = internal()


def exported(library):
    """(strong, weak): names, of C++ demangled."""
    said = subprocess.run(["nm", "--dynamic", "--defined-only", "--demangle", library], check=True, capture_output=True, text=True).stdout
    strong, weak = set(), set()
    for line in said.splitlines():
        _, kind, name = line.split(" ", 2)
        # Inline functions and type information are in the program as well, as far as it uses them.
        (weak if kind in "WVuv" else strong).add(name)
    return strong, weak


def main():
    failed = []
    for name, library in LIBRARIES.items():
        if not library.exists():
            sys.exit(f"{library} was not built")
        strong, weak = exported(library)
        listed = HERE / "symbols" / f"{name}.txt"
        if "--write" in sys.argv:
            listed.write_text("".join(f"{symbol}\n" for symbol in sorted(strong)))
        known = set(listed.read_text().splitlines())
        failed += [f"{name} does not export {symbol} any more: that breaks programs; is it a new minor version?" for symbol in sorted(known - strong)]
        failed += [f"{name} exports {symbol}, which {listed} does not list: hide it, or run this script with --write" for symbol in sorted(strong - known)]
        failed += [f"{name} exports {symbol}, which is not part of the public interface" for symbol in sorted(strong)
                   if not re.fullmatch(PUBLIC[name], symbol) or re.search(INTERNAL, symbol.split("(")[0])]
        failed += [f"{name} exports {symbol}, an inline function or template of something internal" for symbol in sorted(weak)
                   if re.search(INTERNAL, symbol.split("(")[0]) or "afterbay" not in symbol]
        print(f"{name}: {len(strong)} symbols, {len(weak)} inline functions and types")
    if failed:
        sys.exit("\n".join(failed))


if __name__ == "__main__":
    main()
