#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the documentation site into build/site: the project's pages, and API references by
Doxygen.

The pages are staged under build/site-pages in the order of the source tree, so that their links are
valid there as in the repository. Any warning of MkDocs or Doxygen is an error, and so is a broken
link in the finished site.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
PAGES = BUILD / "site-pages"
SITE = BUILD / "site"
sys.path.insert(0, str(ROOT / "tools"))
import check_links  # noqa: E402
import check_site  # noqa: E402

#: folders and files of the repository that the site contains; all pages of folders
CONTENTS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "design", "bench", "examples")
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
#: language: (title, inputs, settings)
REFERENCES = {
    "cpp": ("C++", "include/afterbay", """
FILE_PATTERNS = *.hpp
EXCLUDE_SYMBOLS = operator== TypeOf* *::State State
STRIP_FROM_PATH = include
STRIP_FROM_INC_PATH = include
ENABLE_PREPROCESSING = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = AFTERBAY_API=
BUILTIN_STL_SUPPORT = YES
"""),
    "c": ("C", "include/afterbay", """
FILE_PATTERNS = *.h
OPTIMIZE_OUTPUT_FOR_C = YES
STRIP_FROM_PATH = include
STRIP_FROM_INC_PATH = include
ENABLE_PREPROCESSING = YES
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
PREDEFINED = AFTERBAY_API=
"""),
    "fortran": ("Fortran", "bindings/fortran/afterbay.f90", f"""
INPUT_FILTER = "{sys.executable} tools/site/fortran_interface.py"
EXTENSION_MAPPING = f90=C++
VERBATIM_HEADERS = NO
STRIP_FROM_PATH = bindings/fortran
ENABLE_PREPROCESSING = NO
"""),
}


def listed():
    """The files of CONTENTS that git knows or would add."""
    done = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", *CONTENTS],
                          cwd=ROOT, capture_output=True, text=True, check=True)
    return [pathlib.PurePosixPath(name) for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def title_of(path):
    for _, line in check_links.prose(ROOT / path):
        if line.startswith("# "):
            return line[2:].replace("`", "").strip()
    raise SystemExit(f"{path}: the page has no title (# ...)")


def record_title(path):
    """The title of a design record, with its number once."""
    title = title_of(path)
    number = path.stem[:4]
    return title if not number.isdigit() or title.startswith(number) else f"{number} {title}"


def staged_link(page, target):
    """The target of a link in the site. Sources become pages of the API reference, or text files
    beside the pages."""
    path, hash_, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:", target):
        return target
    file = (ROOT / page).parent.joinpath(path).resolve()
    if file == ROOT / "design" or (file.is_dir() and (file / "README.md").is_file()):
        return f"{path.rstrip('/')}/README.md{hash_}{anchor}"
    if file.suffix == ".md" or not file.is_file():
        return target
    name = file.relative_to(ROOT)
    if file.suffix in (".svg", ".png"):
        copy(name, name)
        return target
    if reference := page_of_header(name):
        return os.path.relpath(PAGES / "api" / reference, (PAGES / page).parent)
    copy(name, f"{name}.txt")
    return f"{path}.txt"


def page_of_header(name):
    """Doxygen's page of an installed header or of the Fortran module; it doubles underscores."""
    if name.parts[:2] == ("include", "afterbay"):
        stem = name.stem.replace("_", "__")
        return f"{'cpp' if name.suffix == '.hpp' else 'c'}/{stem}_8{name.suffix[1:]}.html"
    return "fortran/afterbay_8f90.html" if name.name == "afterbay.f90" else None


def copy(source, to):
    destination = PAGES / to
    destination.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / source, destination)


def stage():
    """Copies the pages; links to sources and folders are replaced by the site's own pages."""
    names = [name for name in listed() if name.suffix == ".md"]
    records = [name for name in names if name.parts[0] == "design"]
    if not (ROOT / "design/README.md").is_file():
        rows = "".join(f"| {record.stem[:4]} | [{title_of(record)}]({record.name}) |\n" for record in records)
        (PAGES / "design").mkdir(parents=True)
        (PAGES / "design/README.md").write_text(
            f"# Design records\n\nWhat was decided, what the alternatives were, and what was measured.\n\n| | |\n|---|---|\n{rows}")
    for name in names:
        text = (ROOT / name).read_text()
        blocks = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
        for i in range(0, len(blocks), 2):
            blocks[i] = LINK.sub(lambda match: match[1] + staged_link(name, match[2]) + match[3], blocks[i])
        (PAGES / name).parent.mkdir(parents=True, exist_ok=True)
        (PAGES / name).write_text("".join(blocks))
    return names


def groups_of_index(names):
    """The navigation below docs/, as in docs/index.md: a heading is a group, a link an entry."""
    group, groups, seen = None, [], set()
    for _, line in check_links.prose(ROOT / "docs/index.md"):
        if line.startswith("## "):
            group = (line[3:].strip(), [])
            groups.append(group)
        for text, target in re.findall(r"\[([^\]]+)\]\(([\w/-]+\.md)\)", line):
            page = f"docs/{target}"
            if page not in seen:
                seen.add(page)
                text = text.replace("`", "")
                (group[1] if group else groups).append((text[0].upper() + text[1:], page))
    missing = {str(name) for name in names if name.parts[0] == "docs"} - seen - {"docs/index.md"}
    if missing:
        raise SystemExit(f"docs/index.md has no link to {', '.join(sorted(missing))}")
    return groups


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def navigation(names):
    lines = ["nav:", "  - Afterbay: README.md"]
    for entry in groups_of_index(names):
        if isinstance(entry[1], str):
            lines.append(f"  - {quoted(entry[0])}: {entry[1]}")
            continue
        lines.append(f"  - {quoted(entry[0])}:")
        lines += [f"      - {quoted(text)}: {page}" for text, page in entry[1]]
        if entry[0] == "Reference":
            lines.append("      - API reference: api/README.md")
    lines += ["  - Examples: examples/README.md", "  - Documentation by task: docs/index.md", "  - Project:"]
    lines += ["      - Changes: CHANGELOG.md", "      - Contributing: CONTRIBUTING.md", "      - Benchmarks: bench/README.md"]
    lines += ["  - Design records:", "      - design/README.md"]
    lines += [f"      - {quoted(record_title(name))}: {name}" for name in names if name.parts[0] == "design" and name.name != "README.md"]
    return "\n".join(lines) + "\n"


def run_doxygen():
    version = re.search(r"project\(Afterbay VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    base = (ROOT / "tools/site/Doxyfile").read_text()
    rows = ""
    for language, (title, inputs, settings) in REFERENCES.items():
        output = PAGES / "api" / language
        output.mkdir(parents=True)
        configuration = (f"{base}{settings}PROJECT_NAME = \"Afterbay for {title}\"\nPROJECT_NUMBER = {version}\nINPUT = {inputs}\n"
                         f"OUTPUT_DIRECTORY = {output.parent}\nHTML_OUTPUT = {language}\n")
        done = subprocess.run(["doxygen", "-"], input=configuration, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0 or done.stderr.strip():
            sys.exit(f"{done.stdout}{done.stderr}\nDoxygen has warnings about the interface for {title}")
        for page in output.glob("*.html"):  # a link back from Doxygen's pages
            text = page.read_text()
            page.write_text(text.replace('<div id="projectname">Afterbay', '<div id="projectname"><a href="../../index.html">Afterbay</a>'))
        rows += f"- [{title}]({language}/index.html)\n"
    (PAGES / "api/README.md").write_text(
        "# API reference\n\nEvery type and procedure of the interfaces, generated from the sources. A table of the calls in the three\n"
        f"languages is in [calls and errors](../docs/reference/api.md).\n\n{rows}")


def main():
    for folder in (PAGES, SITE):
        shutil.rmtree(folder, ignore_errors=True)
    PAGES.mkdir(parents=True)
    names = stage()
    run_doxygen()
    configuration = BUILD / "site-mkdocs.yml"
    configuration.write_text(f"INHERIT: ../tools/site/mkdocs.yml\ndocs_dir: {PAGES}\nsite_dir: {SITE}\n{navigation(names)}")
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(configuration)],
                          env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, check=False)
    if done.returncode != 0:
        return 1
    broken = check_site.broken_links(SITE)
    for line in broken:
        print(line, file=sys.stderr)
    print(f"{SITE.relative_to(ROOT)}: {len(list(SITE.rglob('*.html')))} pages, {len(broken)} broken links")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
