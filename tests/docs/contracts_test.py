#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/check_contracts.py finds functions of C headers whose errors are not named, rules in wrong
places, and each entry that is removed from the headers; it finds nothing in the headers as they
are."""
import os
import pathlib
import re
import sys

SOURCE = pathlib.Path(os.environ["AFTERBAY_SOURCE"])
sys.path.insert(0, str(SOURCE / "tools"))
import check_contracts  # noqa: E402

CODES = {"AFTERBAY_IO", "AFTERBAY_CONFLICT"}
FUNCTIONS = {"afterbay_one", "afterbay_two"}

#: headers, and the lines in which something is wrong
HEADERS = [
    ("/** AFTERBAY_IO if the disk is full. */\nAFTERBAY_API int afterbay_one(int);\n", []),
    ("/** One of AFTERBAY_INT8. */\nAFTERBAY_API int afterbay_one(int);\n", [2]),
    ("/** Never fails. */\nAFTERBAY_API int afterbay_one(int);\nAFTERBAY_API int afterbay_two(int);\n", [3]),
    ("/** Fails as\n   afterbay_two does. */\nAFTERBAY_API int afterbay_one(int);\n", []),
    ("/** Fails as afterbay_one does. */\nAFTERBAY_API int afterbay_one(int);\n", [2]),
    ("/** Fails as afterbay_three does. */\nAFTERBAY_API int afterbay_one(int);\n", [2]),
    ("/* AFTERBAY_IO. */\nAFTERBAY_API int afterbay_one(int);\n", [2]),
    ("/** Frees. */\nAFTERBAY_API void afterbay_one(int);\n", []),
    ("/* ---- One ---- */\n/* Errors of all functions in this section:\n   AFTERBAY_IO. */\n/** One. */\nAFTERBAY_API int afterbay_one(int);\n"
     "/* ---- Two ---- */\n/** Two. */\nAFTERBAY_API int afterbay_two(int);\n", [8]),
    ("/* ---- One ---- */\n/* Errors of all functions in this section: AFTERBAY_INT8. */\n/** One. */\nAFTERBAY_API int afterbay_one(int);\n",
     [2, 4]),
    ("/** Errors of all functions in this section: AFTERBAY_IO. */\nAFTERBAY_API int afterbay_one(int);\n", [1]),
    ("/* ---- One ---- */\n/** One. */\ntypedef int one;\n/* Errors of all functions in this section: AFTERBAY_IO. */\n"
     "AFTERBAY_API int afterbay_one(int);\n", [4, 5]),
    ("/** @file\n   Errors of all functions in this file: AFTERBAY_IO. */\n/** One. */\nAFTERBAY_API int afterbay_one(int);\n", []),
    ("/* Errors of all functions in this file: AFTERBAY_IO. */\n/** One. */\nAFTERBAY_API int afterbay_one(int);\n", [1, 3]),
]


def without_errors(comment, codes):
    """The comment without anything that the check accepts."""
    comment = re.sub("|".join(sorted(codes, key=len, reverse=True)), "an error", comment)
    return re.sub(r"\b([Ff]ails?)\s+as\b", r"\1 like", comment)


def main():
    for text, expected in HEADERS:
        found = [line for line, _ in check_contracts.problems(text, CODES, FUNCTIONS)]
        assert found == expected, (text, found)

    headers = sorted((SOURCE / "include/afterbay").glob("*.h"))
    codes = check_contracts.codes_of((SOURCE / check_contracts.ERRORS).read_text())
    functions = {name for header in headers for name in re.findall(r"\bafterbay_\w+(?=\s*\()", check_contracts.COMMENT.sub("", header.read_text()))}
    entries = 0
    for header in headers:
        text = header.read_text()
        problems = list(check_contracts.problems(text, codes, functions))
        assert not problems, (header.name, problems)
        for comment in check_contracts.COMMENT.finditer(text):
            before, after = text[: comment.start()], text[comment.end() :]
            is_rule = check_contracts.RULE.search(re.sub(r"\s+", " ", comment[0])) is not None
            is_entry = comment[0].startswith("/** ") and any(check_contracts.problems(before + "/** x */" + after, codes, functions))
            if not is_rule and not is_entry:
                continue  # a rule covers the function, or there is none
            entries += 1
            changed = before + without_errors(comment[0], codes) + after
            assert any(check_contracts.problems(changed, codes, functions)), f"{header.name}: not missed: {comment[0]}"
    assert entries > 60, entries


main()
