#!/usr/bin/env python3
"""Checks the links of a finished site: the files exist, and so do the anchors in them.
check_site.py FOLDER"""
import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The links of a page, and its anchors."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        for name in ("id", "name"):
            if values.get(name):
                self.places.add(values[name])
        if tag != "base":
            self.links += [(values[name], self.getpos()[0]) for name in ("href", "src") if values.get(name)]


def broken_links(folder):
    """"page:line: link: error" for each broken link within the site."""
    folder = folder.resolve()
    pages = {path: Page(path.read_text(errors="replace")) for path in sorted(folder.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        for link, line in page.links:
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            where = f"{path.relative_to(folder)}:{line}: {link}"
            file = path.parent.joinpath(urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if path.name == "404.html" and parts.path.startswith("/"):
                file = folder / parts.path.lstrip("/")
            if file.is_dir():
                file /= "index.html"
            if not file.is_file():
                found.append(f"{where}: there is no such file")
            elif parts.fragment and file in pages and urllib.parse.unquote(parts.fragment) not in pages[file].places:
                if not parts.fragment.startswith("__"):
                    found.append(f"{where}: there is no such place")
    return found


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = broken_links(pathlib.Path(sys.argv[1]))
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
