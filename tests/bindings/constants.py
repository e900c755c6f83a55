#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Fortran module has the constants of the C interface, with the same numbers: those of all
enumerations but the ones that Fortran expresses by optional arguments."""
import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(os.environ["AFTERBAY_SOURCE"])
#: Fortran has arguments of type logical, no choice, or texts that grow
NOT_IN_FORTRAN = {"afterbay_gaps", "afterbay_order", "AFTERBAY_DATE_BYTES"}


def c_constants():
    """Numbers by name, of enumerations and of macros that are numbers."""
    found = {}
    for header in sorted((ROOT / "include" / "afterbay").glob("*.h")):
        text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
        for name, body in re.findall(r"\benum\s+(\w+)\s*\{(.*?)\}", text, re.S):
            if name in NOT_IN_FORTRAN:
                continue
            enumerators = [one.strip() for one in body.split(",") if one.strip()]
            for one in enumerators:
                constant = re.fullmatch(r"(AFTERBAY_\w+)\s*=\s*(-?\d+)", one)
                assert constant, f"{header.name}, enum {name}: give {one} its number"
                found[constant[1]] = int(constant[2])
        macros = re.findall(r"#define\s+(AFTERBAY_\w+)\s+(-?\d+)\s*$", text, re.M)
        found.update((name, int(number)) for name, number in macros if name not in NOT_IN_FORTRAN)
    return found


def joined(path):
    """The statements of a Fortran source, one per line and without comments."""
    text = re.sub(r"![^\n]*", "", path.read_text())
    return re.sub(r"&[ \t]*\n\s*&?", " ", text)


def fortran_constants():
    found = {}
    for path in sorted((ROOT / "bindings" / "fortran").glob("*.[fF]90")):
        for statement in re.findall(r"integer, parameter, public ::(.*)", joined(path)):
            found.update((name, int(number)) for name, number in re.findall(r"(AFTERBAY_\w+)\s*=\s*(-?\d+)", statement))
    return found


class Constants(unittest.TestCase):
    def test_fortran_has_the_numbers_of_c(self):
        in_c, in_fortran = c_constants(), fortran_constants()
        self.assertLess({"AFTERBAY_OK", "AFTERBAY_STRING", "AFTERBAY_MULTIPLE_NO", "AFTERBAY_UNLIMITED"}, set(in_c))
        self.assertEqual(in_c, in_fortran)

    def test_the_module_exports_them(self):
        uses = re.findall(r"^\s*use afterbay_\w+, only:(.*)", joined(ROOT / "bindings" / "fortran" / "afterbay.f90"), re.M)
        exported = set(re.findall(r"\bAFTERBAY_\w+", " ".join(uses)))
        self.assertEqual(exported, set(c_constants()))


if __name__ == "__main__":
    unittest.main()
