#!/usr/bin/env python3
"""Checks the links inside the project's Markdown files: files exist, headings exist, each page of
the documentation links the glossary, and design/README.md lists each record. Files that comments of
the sources and CONTRIBUTING.md name by their path must exist, too."""
import pathlib
import re
import subprocess
import sys
import unicodedata

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")
GLOSSARY = "docs/glossary.md"
#: a path from the root, or from src/, of a source or a page; NAME in it stands for any name
NAMED_FILE = re.compile(r"(?<![\w./<-])((?:src|tests|tools|bench|include|bindings|docs|design|cmake|examples|apps)/[\w./-]+"
                        r"\.(?:py|[ch]|[ch]pp|inc|sh|md|cmake|f90))\b")
COMMENT = re.compile(r"^\s*(?://|#(?!include)|!|\*)")
SOURCES = ("src/", "include/", "apps/", "bindings/", "cmake/", "tools/", "bench/", "tests/")
FENCE = re.compile(r"^\s*(```|~~~)")


def prose(path):
    """The lines outside fenced code blocks, with their numbers."""
    fenced = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(path):
    """The anchors of a page's headings, formed as by the usual renderers."""
    found, seen = set(), {}
    for _, line in prose(path):
        match = HEADING.match(line)
        if not match:
            continue
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1])
        kept = (c for c in text.lower() if c in " -_" or unicodedata.category(c)[0] in "LN")
        anchor = "".join(kept).replace(" ", "-")
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        found.add(anchor if count == 0 else f"{anchor}-{count}")
    return found


def linked(path):
    """(line number, target) of each link outside of code; the text of a link may go over several
    lines."""
    lines = dict(prose(path))
    text = "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))
    text = re.sub(r"`[^`\n]*`", lambda match: " " * len(match[0]), text)
    for match in LINK.finditer(text):
        yield text.count("\n", 0, match.start(1)) + 1, match[1]


def broken_links(root, page):
    for number, target in linked(page):
        if re.match(r"[a-z]+:", target):
            continue
        path_part, _, anchor = target.partition("#")
        file = (page.parent / path_part).resolve() if path_part else page
        place = f"{page.relative_to(root)}:{number}"
        if not file.exists():
            yield f"{place}: {target}: there is no such file"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"{place}: {target}: there is no such heading"


def missing_links(root, names):
    """Pages of the documentation without a link to the glossary, and design records that are not
    listed."""
    def targets(name):
        return {(root / name).parent.joinpath(target.partition("#")[0]).resolve() for _, target in linked(root / name)}
    for name in names:
        if name.startswith("docs/") and name not in (GLOSSARY, "docs/index.md") and (root / GLOSSARY).resolve() not in targets(name):
            yield f"{name}: links no term in {GLOSSARY}; link the first use of one"
    records = [name for name in names if re.match(r"design/\d{4}-", name)]
    listed = targets("design/README.md") if records else set()
    for name in records:
        if (root / name).resolve() not in listed:
            yield f"{name}: design/README.md does not list this record"


def missing_files(root, names):
    """Paths in comments, and in CONTRIBUTING.md, for which there is no file."""
    for name in names:
        if name != "CONTRIBUTING.md" and not (name.startswith(SOURCES) and re.search(r"\.(py|[ch]|[ch]pp|inc|sh|cmake|f90)$", name)):
            continue
        for number, line in enumerate((root / name).read_text(errors="replace").splitlines(), 1):
            if not name.endswith(".md") and not COMMENT.match(line):
                continue
            for match in NAMED_FILE.finditer(line):
                if "NAME" in match[1] or "SUBJECT" in match[1] or (root / match[1]).exists() or (root / "src" / match[1]).exists():
                    continue
                yield f"{name}:{number}: {match[1]}: there is no such file"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                            cwd=root, capture_output=True, text=True, check=True)
    files = [name for name in listed.stdout.splitlines() if (root / name).is_file()]
    pages = [root / name for name in files if name.endswith(".md")]
    found = [line for page in pages for line in broken_links(root, page)]
    found += missing_links(root, [str(page.relative_to(root)) for page in pages])
    found += missing_files(root, files)
    for line in found:
        print(line, file=sys.stderr)
    print(f"{len(pages)} pages, {len(found)} missing or broken links")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
