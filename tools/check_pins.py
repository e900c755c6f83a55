#!/usr/bin/env python3
"""Checks that .pre-commit-config.yaml has the versions of tools/requirements.txt."""
import pathlib
import re
import sys

PIN = re.compile(r"([\w.-]+)==([\w.]+)")


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    wanted = dict(PIN.findall((root / "tools/requirements.txt").read_text()))
    failed = False
    for name, version in PIN.findall((root / ".pre-commit-config.yaml").read_text()):
        if wanted.get(name) != version:
            print(f".pre-commit-config.yaml: {name}=={version}; tools/requirements.txt has {wanted.get(name, 'none')}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
