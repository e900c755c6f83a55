#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/check_prose.py finds long lines and fragments in pages and comments, and no others;
tools/check_links.py finds links whose text goes over two lines, pages without a link to the
glossary, design records that are not listed, and comments that name files that do not exist."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(os.environ["AFTERBAY_SOURCE"]) / "tools"))
import check_links  # noqa: E402
import check_prose  # noqa: E402

LONG = "word " * 20 + "word"  # 104 columns
PAGE = f"""# Title

{LONG}

| {LONG} |
|---|

```
{LONG}
```

    {LONG}

- {LONG}

    {LONG}

<!-- {LONG} -->

[name]: https://example.org/{LONG}

[{LONG}](page.md).

https://example.org/{'x' * 100}

{LONG[:100].strip()}
"""


#: by name: a source, and the lines of it that are too long
SOURCES = {
    "one.cpp": (f"""// {LONG}
int x = 1;  // {LONG}
/* {LONG}
   {LONG} */ int y = 2;
/* short */
  /// https://example.org/{'x' * 100}
const char* const text = R"(
// {LONG}
)";
  ///< {LONG}
""", [1, 3, 10]),
    "two.f90": (f"""!> {LONG}
!$omp {LONG}
x = 1  ! {LONG}
""", [1]),
    "three.py": (f'''"""Short.

{LONG}
"""
TEXT = """
# {LONG}
"""
x = 1  # {LONG}
#: {LONG}
def one():
    """{LONG}"""
''', [3, 9, 11]),
    "CMakeLists.txt": (f"# {LONG}\nset(x 1) # {LONG}\n", [1]),
}

#: by name: a text, and the lines of it that begin a fragment
FRAGMENTS = {
    "page.md": ("""Of ranks, some. A mean
of all ranks. Nor of
servers. "Of these" and `Of x`.

- Of a list.

> Of a quotation.

```
Of code.
```

See [this](page.md). Of
course. Offers and Norway. Likewise. Likewise, this.
""", [1, 2, 5, 13, 14]),
    "generated.md": ("<!-- Made by a command. -->\n\nOf ranks.\n", []),
    "design/record.md": ("Of ranks.\n", []),
    "one.hpp": ("""/// Of a server.
int x = 1;  ///< of the file
int y = 2;  ///< size of the file
/* A rank. Likewise.
   Nor a server. */
// "Of these" is a quotation.
int z = 3;  /**< of the file */
const char* const text = "Of ranks. Nor of servers.";
/// One. Also
/// of two.
int w = 4;  // of the file
""", [1, 2, 4, 5, 7, 11]),
    "two.f90": ("!> Of ranks.\ninteger :: x !< of a calendar\n", [1, 2]),
    "three.py": ('"""Of ranks."""\nTEXT = "Of ranks."\n# Nor of servers.\n', [1, 3]),
}


def main():
    found = [number for number, _ in check_prose.long_lines(PAGE)]
    assert found == [3, 14, 16], found  # a paragraph, a list item, and the item's second paragraph
    for name, (text, expected) in SOURCES.items():
        found = [number for number, _ in check_prose.long_lines(text, name)]
        assert found == expected, (name, found)
    for name, (text, expected) in FRAGMENTS.items():
        found = sorted(number for number, _ in check_prose.fragments(text, name))
        assert found == expected, (name, found)
    page = pathlib.Path("page.md").resolve()
    page.write_text("# One\n\nSee [two\nlines](nowhere.md), [here](#one), `[code](gone.md)` and [there](#two).\n")
    broken = list(check_links.broken_links(page.parent, page))
    assert [line.split(": ")[:2] for line in broken] == [["page.md:4", "nowhere.md"], ["page.md:4", "#two"]], broken
    pages = {"docs/glossary.md": "# Glossary", "docs/how-to/one.md": "[Map](../glossary.md#map)", "docs/two.md": "[Map](#map)",
             "design/README.md": "[0001](0001-listed.md)", "design/0001-listed.md": "", "design/0002-forgotten.md": ""}
    for name, text in pages.items():
        pathlib.Path(name).parent.mkdir(parents=True, exist_ok=True)
        pathlib.Path(name).write_text(text)
    missing = list(check_links.missing_links(pathlib.Path().resolve(), list(pages)))
    assert [line.split(":")[0] for line in missing] == ["docs/two.md", "design/0002-forgotten.md"], missing
    pathlib.Path("src").mkdir()
    pathlib.Path("src/a.cpp").write_text('// See docs/two.md, src/b.hpp and tests/NAME_test.py.\n#include "src/c.hpp"\n')
    missing = list(check_links.missing_files(pathlib.Path().resolve(), ["src/a.cpp", "docs/two.md"]))
    assert missing == ["src/a.cpp:1: src/b.hpp: there is no such file"], missing


main()
