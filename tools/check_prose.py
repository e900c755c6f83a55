#!/usr/bin/env python3
"""Checks prose in Markdown files and in comments of sources: at most 100 columns, no fragments.

Columns. Not checked in Markdown, since it cannot be wrapped: tables, code blocks (fenced and
indented), HTML comments, link definitions, and lines that are one link or one word. In sources
(C++, C, Fortran, Python, CMake, shell), lines that are only comment are checked, and docstrings; a
comment beside code belongs to the line of code, and one word cannot be wrapped.

Fragments. A comment beside code may not begin with "of": not `///< of the file`, but what the field
is, `///< size of the file`. Sentences may not begin with "Of" or "Nor", and may not be "Likewise.":
put the subject first. Exempt are code, quotations, generated pages (correct their source) and
design records, which keep their text.

`check_prose.py [FILE...]`; without files: all of the project's.
"""
import ast
import io
import pathlib
import re
import subprocess
import sys
import tokenize

COLUMNS = 100
PATTERNS = ["*.md", "*.cpp", "*.hpp", "*.c", "*.h", "*.f90", "*.F90", "*.py", "*.cmake", "CMakeLists.txt", "*.sh", "dev"]
FENCE = re.compile(r"^\s*(?:>\s*)*(`{3,}|~{3,})")
LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
DEFINITION = re.compile(r"^\s*\[[^\]]+\]:\s")
ONE_LINK = re.compile(r"^!?\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])[.,;:)]*$")
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.S)
LINE_COMMENT = {".f90": re.compile(r"^\s*!(?!\$)"), ".F90": re.compile(r"^\s*!(?!\$)")}
C_COMMENT = re.compile(r"^\s*//")
HASH_COMMENT = re.compile(r"^\s*#")
C_FIELD = re.compile(r"(?://[/!]<|/\*[*!]<|\S\s+//|\S\s+/\*)\s*of\b")
FORTRAN_FIELD = re.compile(r"\S\s+!<?\s*of\b")
FIELD_FRAGMENT = {".cpp": C_FIELD, ".hpp": C_FIELD, ".c": C_FIELD, ".h": C_FIELD, ".f90": FORTRAN_FIELD, ".F90": FORTRAN_FIELD}
FRAGMENT = re.compile(r"""(?:^|[.!?][)"'*_]*\s+)[*_(]*((?:Of|Nor)\b|Likewise(?=\.))""")
QUOTATION = re.compile(r'"[^"]*"|`[^`]*`')
GENERATED = re.compile(r"^<!-- Made by ", re.M)
RECORDS = "design/"
PARAGRAPH = re.compile(r"^\s*(?:[-*+]\s|\d+[.)]\s|#|\||@)")
MARK = re.compile(r"^\s*(?://[/!]?<?|/\*\*?|\*/?|![<>]?|#:?)?\s*")


def cannot_be_wrapped(line):
    if line.lstrip().startswith("|") or DEFINITION.match(line):
        return True
    text = LIST_ITEM.sub("", line).strip()
    return " " not in text or ONE_LINK.match(text) is not None


def prose(text):
    """The lines of a Markdown text that are neither code nor HTML comments, with their numbers."""
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


def comments_of_c(text):
    """The lines of C or C++ that are only comment, with their numbers."""
    text = RAW_STRING.sub(lambda raw: "\n" * raw[0].count("\n"), text)
    in_block = False
    for number, line in enumerate(text.splitlines(), 1):
        if in_block or line.lstrip().startswith("/*"):
            end = line.find("*/", 0 if in_block else line.find("/*") + 2)
            in_block = end < 0
            if in_block or not line[end + 2 :].strip():
                yield number, line
        elif C_COMMENT.match(line):
            yield number, line


def comments_of_python(text):
    """The lines of comments and docstrings of a Python text, with their numbers."""
    lines = text.splitlines()
    numbers = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.line[: token.start[1]].strip():
            numbers.add(token.start[0])
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            numbers.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return ((number, lines[number - 1]) for number in sorted(numbers))


def comments(name, text):
    """The lines of a source that are only comment, with their numbers."""
    suffix = pathlib.PurePath(name).suffix
    if suffix in (".cpp", ".hpp", ".c", ".h"):
        return comments_of_c(text)
    if suffix == ".py":
        return comments_of_python(text)
    mark = LINE_COMMENT.get(suffix, HASH_COMMENT)
    return ((number, line) for number, line in enumerate(text.splitlines(), 1) if mark.match(line))


def long_lines(text, name="page.md"):
    """(number, columns) of the lines that are too long."""
    in_page = name.endswith(".md")
    for number, line in prose(text) if in_page else comments(name, text):
        rest = line if in_page else MARK.sub("", line)
        if len(line) > COLUMNS and not cannot_be_wrapped(rest):
            yield number, len(line)


def paragraphs(lines, in_page):
    """Lists of (number, text) of the lines that belong together, without comment marks."""
    part, last = [], 0
    for number, line in lines:
        text = line.strip() if in_page else MARK.sub("", line).replace('"""', "").strip()
        if part and (number != last + 1 or not text or PARAGRAPH.match(text)):
            yield part
            part = []
        if text:
            part.append((number, text))
        last = number
    if part:
        yield part


def fragments(text, name="page.md"):
    """(number, beginning) of the fragments."""
    in_page = name.endswith(".md")
    if name.startswith(RECORDS) or (in_page and GENERATED.search(text)):
        return
    if fragment := FIELD_FRAGMENT.get(pathlib.PurePath(name).suffix):
        for number, line in enumerate(text.splitlines(), 1):
            if fragment.search(line):
                yield number, "of"
    for part in paragraphs(prose(text) if in_page else comments(name, text), in_page):
        if in_page and part[0][1].startswith(">"):
            continue
        whole = "\n".join(LIST_ITEM.sub("", line) for _, line in part)
        whole = QUOTATION.sub(lambda found: re.sub(r"[^\n]", "x", found[0]), whole)
        for found in FRAGMENT.finditer(whole):
            yield part[whole.count("\n", 0, found.start(1))][0], found[1]


def checked_files(root):
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *PATTERNS],
                            cwd=root, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.splitlines() if (root / name).is_file()]


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    names = sys.argv[1:] or checked_files(root)
    failed = False
    for name in names:
        text = (root / name).read_text()
        for number, columns in long_lines(text, name):
            print(f"{name}:{number}: {columns} columns; wrap prose at {COLUMNS}", file=sys.stderr)
            failed = True
        for number, beginning in fragments(text, name):
            print(f"{name}:{number}: begins with '{beginning}'; put the subject first", file=sys.stderr)
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
