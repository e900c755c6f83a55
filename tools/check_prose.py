#!/usr/bin/env python3
"""Checks that prose in Markdown files has at most 100 columns.

Not checked, since it cannot be wrapped: tables, code blocks (fenced and indented), HTML comments, link
definitions, and lines that are one link or one word. `check_prose.py [FILE...]`; without files: all of the
project's.
"""
import pathlib
import re
import subprocess
import sys

COLUMNS = 100
FENCE = re.compile(r"^\s*(?:>\s*)*(`{3,}|~{3,})")
LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
DEFINITION = re.compile(r"^\s*\[[^\]]+\]:\s")
ONE_LINK = re.compile(r"^!?\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])[.,;:)]*$")


def cannot_be_wrapped(line):
    if line.lstrip().startswith("|") or DEFINITION.match(line):
        return True
    text = LIST_ITEM.sub("", line).strip()
    return " " not in text or ONE_LINK.match(text) is not None


def prose(text):
    """The lines that are neither code nor HTML comments, with their numbers."""
    fence, in_comment, in_list, indented_code, blank_before = None, False, False, False, True
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence):
                fence = None
            continue
        if in_comment or line.lstrip().startswith("<!--"):
            in_comment = "-->" not in line
            continue
        if mark:
            fence = mark[1]
            continue
        if not line.strip():
            blank_before = True
            continue
        indented = line.startswith(("    ", "\t"))
        indented_code = indented and not in_list and (blank_before or indented_code)
        if LIST_ITEM.match(line) and not indented_code:
            in_list = True
        elif not line[0].isspace():
            in_list = False
        blank_before = False
        if not indented_code:
            yield number, line


def long_lines(text):
    """(number, columns) of the lines that are too long."""
    for number, line in prose(text):
        if len(line) > COLUMNS and not cannot_be_wrapped(line):
            yield number, len(line)


def markdown_files(root):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
                            cwd=root, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if (root / name).is_file()]


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    names = sys.argv[1:] or markdown_files(root)
    failed = False
    for name in names:
        for number, columns in long_lines((root / name).read_text()):
            print(f"{name}:{number}: {columns} columns; wrap prose at {COLUMNS}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
