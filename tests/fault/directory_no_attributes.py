#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Artifacts that are directories on a file system without extended attributes (EOPNOTSUPP): new ones are published, and nothing that
exists is replaced or removed. The store that writes directories belongs to the unit tests."""
import os
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
TESTS = ("Artifacts.a_directory_is_published_with_the_list_of_its_files", "Artifacts.two_writers_do_not_write_the_same_directory",
         "ArtifactsAmongOthers.an_older_directory_is_replaced_only_*", "ArtifactsAmongOthers.a_*_of_a_user_*")


def main():
    rules = pathlib.Path("rules").resolve()
    rules.write_text("ops=attribute errno=95\n", encoding="utf-8")
    environment = os.environ | {"LD_PRELOAD": str(BUILD / "tests/fault/libfault_shim.so"), "FAULT_RULES": str(rules)}
    done = subprocess.run([BUILD / "tests/unit_tests", "--gtest_filter=" + ":".join(TESTS)], env=environment, capture_output=True, text=True,
                          timeout=120, check=False)
    if done.returncode != 0 or "[  PASSED  ]" not in done.stdout:
        sys.exit(done.stdout[-6000:] + done.stderr[-2000:])


if __name__ == "__main__":
    main()
