#!/usr/bin/env python3
"""Checks that each function of the C headers that returns an error code says which errors it has.

A function, `AFTERBAY_API int afterbay_...(...);`, follows its own comment, `/** ... */`. This
comment must name a code of enum afterbay_error other than AFTERBAY_OK, or refer to a function that
exists ("Fails as afterbay_file_put does"), or say that it "never fails". Otherwise a rule must
cover the function: the words "Errors of all functions in this section:" (or "in this file:"),
followed by a code, in a comment `/* ... */` after the heading of the section (`/* ---- Title ----
*/`), or in the comment with `@file`. In other places these words are an error. `check_contracts.py
[FILE...]`; without files: all C headers of the interface.
"""
import pathlib
import re
import sys

ERRORS = "include/afterbay/error.h"
COMMENT = re.compile(r"/\*.*?\*/", re.S)
HEADING = re.compile(r"/\*\s*-{3,}\s*[^-\s].*?-{3,}\s*\*/$")
FUNCTION = re.compile(r"AFTERBAY_API\s+int\s+(afterbay_\w+)\s*\(")
RULE = re.compile(r"Errors of all functions in this (section|file):(\s+AFTERBAY_\w+)?")
NEVER = re.compile(r"\b[Nn]ever fails\b")
REFERENCES = re.compile(r"\b[Ff]ails? as\s+((?:(?:,| and)?\s*afterbay_\w+)+)")


def codes_of(text):
    """The error codes of the header that defines them."""
    body = re.search(r"enum afterbay_error\s*\{(.*?)\}", COMMENT.sub("", text), re.S)[1]
    return set(re.findall(r"AFTERBAY_\w+", body)) - {"AFTERBAY_OK"}


def names_errors(comment, codes, functions):
    """Whether the comment names an error. `functions`: those that it may refer to."""
    if set(re.findall(r"AFTERBAY_\w+", comment)) & codes or NEVER.search(comment):
        return True
    names = [name for found in REFERENCES.findall(comment) for name in re.findall(r"afterbay_\w+", found)]
    return bool(names) and functions.issuperset(names)


def pieces(text):
    """(comment, its end, code): each comment as one line, with the code up to the next one."""
    comments = list(COMMENT.finditer(text))
    ends = [comment.start() for comment in comments[1:]] + [len(text)]
    for comment, end in zip(comments, ends):
        yield re.sub(r"\s+", " ", comment[0]), comment.end(), text[comment.end() : end]


def misplaced(rule, comment, codes, after_heading):
    """What is wrong with a rule; None: nothing."""
    if rule[2] is None or rule[2].strip() not in codes:
        return f"the rule for this {rule[1]} does not begin with an error code"
    if rule[1] == "file" and "@file" not in comment:
        return "the rule for this file must stand in the comment with @file"
    if rule[1] == "section" and (comment.startswith("/**") or not after_heading):
        return "the rule for this section must stand in a comment `/* ... */` right after its heading"
    return None


def problems(text, codes, functions):
    """(line, what is wrong) of a header. `functions`: the names of those of all headers."""
    rules = {"section": False, "file": False}
    after_heading = False
    for comment, end, code in pieces(text):
        is_heading = HEADING.match(comment) is not None
        if is_heading:
            rules["section"] = False
        if rule := RULE.search(comment):
            if wrong := misplaced(rule, comment, codes, after_heading):
                yield text.count("\n", 0, end) + 1, wrong
            else:
                rules[rule[1]] = True
        after_heading = is_heading and not code.strip()
        own = comment if comment.startswith("/** ") and "@file" not in comment else ""
        for function in FUNCTION.finditer(code):
            if not any(rules.values()) and not names_errors(own, codes, functions - {function[1]}):
                line = text.count("\n", 0, end + function.start()) + 1
                yield line, f"{function[1]}: its comment names no error, and no rule of its section does"
            own = ""  # a further function without a comment of its own


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    headers = sorted((root / "include" / "afterbay").glob("*.h"))
    codes = codes_of((root / ERRORS).read_text())
    functions = {name for header in headers for name in re.findall(r"\bafterbay_\w+(?=\s*\()", COMMENT.sub("", header.read_text()))}
    failed = False
    for header in [pathlib.Path(name).resolve() for name in sys.argv[1:]] or headers:
        for line, problem in problems(header.read_text(), codes, functions):
            print(f"{header.relative_to(root)}:{line}: {problem}", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
