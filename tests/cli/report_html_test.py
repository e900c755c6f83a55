#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report.html of a real run, read by parsers that are not ours: well-formed, complete, its figures right."""
import html.parser
import pathlib
import re
import unittest
import xml.etree.ElementTree

import netCDF4
import numpy

from _cli import OK, CommandTest, run

VOID = {"meta", "link", "br"}
LEFT_OPEN = {"td", "th", "tr", "p"}  # HTML lets their ends be left out


class Balance(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.outside = [], [], []

    def handle_starttag(self, tag, attrs):
        self.outside += [value for name, value in attrs if name in ("src", "href")]
        if tag not in VOID and tag not in LEFT_OPEN:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if tag in LEFT_OPEN:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append((tag, self.getpos()))


class ReportHtmlTest(CommandTest):
    def test_page(self):
        with netCDF4.Dataset("in.nc", "w") as data:
            data.createDimension("time", None)
            data.createDimension("x", 50000)
            data.createVariable("T", "f4", ("time", "x"))[:] = numpy.zeros((4, 50000), "f4")
        done = run("replay", "in.nc", "copy & <1>.nc", "--servers", "2", "--repeat", "5", "--afterbay.placement=file",
                   "--afterbay.report.html=page.html", launcher=("mpirun", "--oversubscribe", "-np", "4"))
        self.assertEqual(done.returncode, OK, done.stderr)
        text = pathlib.Path("page.html").read_text()
        page = Balance()
        page.feed(text)
        page.close()
        self.assertEqual((page.wrong, page.open, page.outside), ([], [], []))
        drawings = re.findall(r"<svg.*?</svg>", text, re.S)
        self.assertGreaterEqual(len(drawings), 4)
        for drawing in drawings:
            xml.etree.ElementTree.fromstring(drawing)
        self.assertIn("2 model ranks, 2 I/O servers", text)
        self.assertEqual(len(re.findall(r"<td title=\"[^\"]*copy &amp; &lt;1&gt;[^\"]*\">", text)), 5)
        self.assertIn("<b>5</b><span>files</span>", text)
        self.assertIn(f"<b>{5 * 4 * 50000 * 4 / 2**20:.2f} MiB</b><span>handed over</span>", text)
        for row in ("server 0", "server 1", "rank 0", "rank 1"):
            self.assertIn(f">{row}</text>", text)

    def test_a_page_that_could_not_be_written_is_refused_at_the_start(self):
        with netCDF4.Dataset("in2.nc", "w") as data:
            data.createDimension("x", 10)
            data.createVariable("T", "f4", ("x",))[:] = 0
        done = run("replay", "in2.nc", "copy2.nc", "--servers", "1", "--afterbay.report.html=/nowhere/page.html",
                   launcher=("mpirun", "--oversubscribe", "-np", "2"))
        self.assertNotEqual(done.returncode, OK)
        self.assertIn("report.html", done.stderr)


if __name__ == "__main__":
    unittest.main()
