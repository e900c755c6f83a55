#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report.html of a real run, read by third-party parsers: well-formed, complete, with correct
figures."""
import html
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

import netCDF4
import numpy

from _cli import OK, CommandTest, run

CHROMIUM = shutil.which("chromium")
OS_RELEASE = pathlib.Path("/etc/os-release")
DEBIAN = OS_RELEASE.is_file() and "ID=debian" in OS_RELEASE.read_text().splitlines()
VOID = {"meta", "link", "br"}
LEFT_OPEN = {"td", "th", "tr", "p"}  # HTML allows their end tags to be omitted


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
            self.assertIn(f"<span>{row}</span>", text)

    @unittest.skipUnless(CHROMIUM or DEBIAN, "no chromium: only Debian has it as a package")
    def test_the_page_is_usable_at_420_pixels(self):
        self.assertTrue(CHROMIUM, "there is no chromium, which ./dev test installs (apt-get install chromium)")
        with netCDF4.Dataset("narrow.nc", "w") as data:
            data.createDimension("time", None)
            data.createDimension("x", 5000)
            data.createVariable("T", "f4", ("time", "x"))[:] = numpy.zeros((4, 5000), "f4")
        done = run("replay", "narrow.nc", "a file with a name as long as those of real runs.nc", "--servers", "2", "--repeat", "3",
                   "--afterbay.placement=file", "--afterbay.report.html=narrow.html",
                   launcher=("mpirun", "--oversubscribe", "-np", "4"))
        self.assertEqual(done.returncode, OK, done.stderr)
        text = pathlib.Path("narrow.html").read_text()
        for width in (420, 1200):
            measured = self.measure(text, width)
            self.assertLessEqual(measured["page"], width)  # wider tables scroll by themselves
            self.assertGreaterEqual(measured["drawing"], 0.7 * width)
            self.assertGreaterEqual(measured["label"], 10)
            self.assertEqual(measured["overlaps"], 0)

    def measure(self, text, width):
        """Measurements of the page in a browser window of that width, in pixels."""
        script = """<script>addEventListener("load", () => {
          const page = document.getElementById("page").contentDocument, labels = [...page.querySelectorAll(".x")].map(
            axis => [...axis.children].map(it => it.getBoundingClientRect()).filter(it => it.width > 0));
          document.title = JSON.stringify({page: page.documentElement.scrollWidth,
            drawing: Math.min(...[...page.querySelectorAll(".drawing svg")].map(it => it.getBoundingClientRect().width)),
            label: parseFloat(page.defaultView.getComputedStyle(page.querySelector(".y span")).fontSize),
            overlaps: labels.flatMap(row => row.slice(1).filter((it, i) => it.left < row[i].right)).length}); });</script>"""
        frame = f"<!doctype html><title></title>{script}<iframe id=page width={width} height=2000 style='border:0' srcdoc=\"{html.escape(text)}\"></iframe>"
        path = pathlib.Path(f"frame{width}.html")
        path.write_text(frame)
        done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1600,2400", "--dump-dom",
                               path.resolve().as_uri()], capture_output=True, text=True, timeout=60, check=True)
        return json.loads(html.unescape(re.search("<title>(.*?)</title>", done.stdout)[1]))

    def test_idle_servers_are_named_in_report_and_top(self):
        with netCDF4.Dataset("one.nc", "w") as data:
            data.createDimension("x", 10)
            data.createVariable("T", "f4", ("x",))[:] = 0
        done = run("replay", "one.nc", "copy.nc", "--servers", "2", "--afterbay.report.html=idle.html",
                   launcher=("mpirun", "--oversubscribe", "-np", "3"))
        self.assertEqual(done.returncode, OK, done.stderr)
        hint = "I/O server 1 had nothing to do: with placement=collection"
        self.assertIn(hint, done.stdout)
        self.assertIn(hint, pathlib.Path("idle.html").read_text())
        top = run("top", "--once", "--json")
        self.assertEqual(top.returncode, OK, top.stderr)
        self.assertEqual([it["server"] for it in json.loads(top.stdout)["sessions"][0]["servers"]], [0, 1])

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
