#!/usr/bin/env python3
"""Checks the lengths of source files: asks about more than 500 lines, fails above 800."""
import pathlib
import subprocess
import sys

ASK, STOP = 500, 800
PATTERNS = ["*.cpp", "*.hpp", "*.c", "*.h", "*.f90", "*.F90", "*.py", "*.sh", "*.cmake", "CMakeLists.txt", "dev"]


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *PATTERNS],
        cwd=root, capture_output=True, text=True, check=True)
    failed = False
    for name in listed.stdout.splitlines():
        path = root / name
        lines = len(path.read_text(errors="replace").splitlines()) if path.is_file() else 0
        if lines > STOP:
            print(f"{name}: {lines} lines; split it, the limit is {STOP}", file=sys.stderr)
            failed = True
        elif lines > ASK:
            print(f"{name}: {lines} lines; could it be two files?")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
