#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The build computes values as IEEE 754 defines: flags that prevent it are refused, and products
are rounded before they are added to."""
import json
import os
import pathlib
import platform
import re
import shlex
import subprocess
import unittest

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
SOURCE = pathlib.Path(os.environ["AFTERBAY_SOURCE"])


def command_for(source):
    """The build's compiler and flags for a file of the library of `source`, applied to `source`
    itself."""
    folder = "/".join(pathlib.Path(source).parts[:2])
    entries = json.loads((BUILD / "compile_commands.json").read_text())
    entry = next(it for it in entries if f"/{folder}/" in it["file"])
    words = shlex.split(entry["command"])
    begin = next(i for i, word in enumerate(words) if re.search(r"(g\+\+|clang\+\+|icpx|c\+\+)[-0-9.]*$", word))
    words = words[begin:words.index("-o")]
    return [*words, "-c", str(SOURCE / source)], entry["directory"]


def compiled(source, *flags):
    words, directory = command_for(source)
    return subprocess.run([*words, *flags], cwd=directory, capture_output=True, text=True, check=False)


class StrictFloatingPointTest(unittest.TestCase):
    def test_fast_math_is_refused(self):
        """Before, NaN was computed with, and integers were not rounded."""
        for source in ("src/pipeline/linear.cpp", "src/model/missing_values.cpp", "src/model/convert/baseline.cpp"):
            for flag in ("-ffast-math", "-Ofast", "-ffinite-math-only"):
                with self.subTest(source=source, flag=flag):
                    done = compiled(source, "-fsyntax-only", flag)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn("Afterbay must be compiled without -ffast-math", done.stderr)

    def test_products_are_rounded_before_they_are_added_to(self):
        """Before, a build for processors with FMA differed from others in the last bit."""
        fused = {"x86_64": ["-march=haswell"], "aarch64": []}.get(platform.machine())
        if fused is None:
            self.skipTest(f"instructions of {platform.machine()} are unknown to this test")
        done = compiled("src/pipeline/linear.cpp", *fused, "-O3", "-S", "-o", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("mul", done.stdout)
        self.assertEqual(re.findall(r"\b(?:vfn?m(?:add|sub)\w+|fn?m(?:add|sub)|fml[as])\b", done.stdout), [])


if __name__ == "__main__":
    unittest.main()
