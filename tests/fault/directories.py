#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Artifacts that are directories, on file systems that lack something. The store that writes
directories belongs to the unit tests, which are run here:
- without locks (fcntl and flock give ENOSYS), all of publication holds, with two writers among it;
- without extended attributes (EOPNOTSUPP), new ones are published, and nothing that exists is
  replaced or removed."""
import os
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
LACKS = {
    "locks": ("ops=lock errno=38", ("Artifacts.*", "ArtifactsAmongOthers.*", "ThreadSessionArtifact.replaces_an_older_one",
                                    "ThreadSessionArtifact.of_a_failed_run*")),
    "attributes": ("ops=attribute errno=95",
                   ("Artifacts.a_directory_is_published_with_the_list_of_its_files", "Artifacts.two_writers_do_not_write_the_same_directory",
                    "ArtifactsAmongOthers.an_older_directory_is_replaced_only_*", "ArtifactsAmongOthers.a_*_of_a_user_*")),
}


def start(what, rule, tests):
    rules = pathlib.Path("no_" + what).resolve()
    rules.write_text(rule + "\n", encoding="utf-8")
    environment = os.environ | {"LD_PRELOAD": str(BUILD / "tests/fault/libfault_shim.so"), "FAULT_RULES": str(rules)}
    return subprocess.Popen([BUILD / "tests/unit_tests", "--gtest_filter=" + ":".join(tests)], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def main():
    wrong = []
    for what, started in [(what, start(what, *given)) for what, given in LACKS.items()]:
        out, errors = started.communicate(timeout=200)
        if started.returncode != 0 or "[  PASSED  ]" not in out or "[  PASSED  ] 0 tests" in out:
            wrong.append(f"without {what}:\n{out[-6000:]}{errors[-2000:]}")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
