#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Documentation, examples, completion and manual page are installed; links between the installed
pages are valid."""
import os
import pathlib
import sys

from _follow import Newcomer

sys.path.insert(0, str(pathlib.Path(os.environ["AFTERBAY_SOURCE"]) / "tools"))
import check_links  # noqa: E402


def main():
    user = Newcomer()
    user.read_settings()
    pages = sorted(user.documents.rglob("*.md"))
    assert len(pages) > 20, pages
    root = user.documents.resolve()
    broken = [line for page in pages for line in check_links.broken_links(root, root / page.relative_to(user.documents))]
    assert not broken, "\n".join(broken)

    page = "afterbay/share/man/man1/afterbay.1"
    source = (user.home / page).read_text()
    for words in ("afterbay decomp convert", r"\-\-markdown", ".SH EXIT STATUS", "AFTERBAY_CONFIG"):
        assert words in source, f"{words} is missing from the manual page:\n{source}"
    manual = user.run("man", f"man --warnings -l ~/{page} 2>warnings | cat; cat warnings >&2; test ! -s warnings")
    assert "--markdown" in manual and "\\" not in manual, manual

    listed = user.run("completion", "source ~/afterbay/share/bash-completion/completions/afterbay\ncomplete -p afterbay")
    assert listed.strip().endswith("_afterbay afterbay"), listed


main()
