#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Artifacts that are directories on a file system without locks (fcntl and flock give ENOSYS): the unit tests of publication hold there
too, with two writers among them. The store that writes directories belongs to the unit tests."""
import os
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
TESTS = ("Artifacts.*", "ArtifactsAmongOthers.*", "ThreadSessionArtifact.replaces_an_older_one", "ThreadSessionArtifact.of_a_failed_run*")


def main():
    rules = pathlib.Path("rules").resolve()
    rules.write_text("ops=lock errno=38\n", encoding="utf-8")
    environment = os.environ | {"LD_PRELOAD": str(BUILD / "tests/fault/libfault_shim.so"), "FAULT_RULES": str(rules)}
    done = subprocess.run([BUILD / "tests/unit_tests", "--gtest_filter=" + ":".join(TESTS)], env=environment, capture_output=True, text=True,
                          timeout=120, check=False)
    if done.returncode != 0 or "[  PASSED  ]" not in done.stdout:
        sys.exit(done.stdout[-6000:] + done.stderr[-2000:])


if __name__ == "__main__":
    main()
