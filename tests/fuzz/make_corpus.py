#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes tests/fuzz/corpus anew, from real files: AFTERBAY_BUILD=build/dev tests/fuzz/make_corpus.py
(MPI, netCDF4, numpy).

Needed when a format has changed. Host and user names in journals and statistics pages are
replaced."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import netCDF4
import numpy

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("AFTERBAY_BUILD", SOURCE / "build" / "dev")).resolve()
COMMAND = BUILD / "apps" / "afterbay" / "afterbay"
CORPUS = SOURCE / "tests" / "fuzz" / "corpus"
LOG_BYTES = 24 << 10  # the beginning of a log: a reader stops where it is torn
CONFIGURATION = """\
afterbay:
  topology: dedicated
  servers: 2
  memory.server: 256MiB
  deadline: 5min
  journal: {directory: journal, required: on}
pools:
  fast: {servers: 1}
  slow: {servers: 1, memory.server: 1GiB}
collections:
  "history.*":
    store: netcdf4
    existing: append
    file: "{collection}_{date}.nc"
    deflate: 4
    pool: [fast, slow]
    variables:
      T: {deflate: 1, shuffle: true, chunk: [1, 20, 30]}
  restart: {store: cdf5, stripe: {count: 4, size: 1MiB}, priority: 2}
triggers:
  plot: {on: published, collection: restart, command: "plot {path}"}
"""
CALENDAR_TEXT = """\
2000-01-31T06:30:15.25Z
-0044-03-15 6:30 UTC
20000131T063015
+12345-01-01 00:00:00,000000001 +01:00
1582-10-10
1y2mo3d4h5min6.5s7ts
-1d6h+0.25ms
36h
9223372036854775807mo
days since 2000-01-01 00:00:00
hours since 1850-1-1
ns since -100000000000-01-01T00:00:00.5
months since 2000-01-01
mean_%Y%m%d-%H%M%S_%j_%y%%
proleptic_gregorian
noleap
"""

EXPRESSIONS = """\
sqrt(uas^2 + vas^2)
mean(toce*e3t) / mean(e3t)
mean(max(tas - 273.15, 1d), 1mo) - min(q.850, 12h)
swdown > 0 && !(lat <= -60) || a != b ? -tas**2 : NO == 1e-5 ? .5 : 2.
min(a, b, 3) + max(-x, +y) - atan2(v, u)^-n^2 * pow(x, 1.5E+3)
stddev(rate(difference(once(pr), 1y6mo), 6h), 1ts)
sin(2*pi*phase) * exp(-depth) - log10(abs(round(w))) * tanh(floor(k))
a/b/c - (d - (e - f)) * sqr(g)^4
kg m-2 s-1
100 hPa
0.5 µm/(W m^-2)2
lg(re 1 mW)
days since 1850-01-01 00:00:00
"""

# No format of today writes directories: lines as of the store of the tests.
DIRECTORY_LINES = """\
{"journal":1,"at":"2026-11-25T15:00:00.000Z","run":"run-1","server":0,"sequence":1,"event":"file_ready","path":"/out/a.zz",\
"number":1,"collection":"a","format":"two_files","bytes":65562,"records":4,"checksum":"crc64-xz:6ba6b74d05a43e76",\
"file_count":2,"files":[{"name":"structure","bytes":26,"checksum":"crc64-xz:995dc9bbdf1939fa"},\
{"name":"values/data","bytes":65536,"checksum":"crc64-xz:0f3e5a7c9b1d2e4f"}],"inode":7,"born_ns":8}
{"journal":1,"at":"2026-11-25T15:00:01.000Z","run":"run-1","server":0,"sequence":1,"event":"file_published","path":"/out/b.zz",\
"number":2,"collection":"b","format":"two_files","bytes":0,"records":0,"file_count":1,"files":[{"name":"x\\\\xff","bytes":0}]}
"""


def directory(name):
    path = CORPUS / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def call(*words, **how):
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL, timeout=120, **how)


def anonymous(text, work):
    text = re.sub(r'("host": ?)"[^"]*"', r'\1"node"', text).replace(str(work), "/scratch/run")
    return re.sub(r"Z-[\w.]+-(\d+)", r"Z-node-\1", text)


def classic_files():
    to = directory("cdf_header")
    for kind in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"):
        with netCDF4.Dataset(to / f"{kind.lower()}.nc", "w", format=kind) as file:
            for name, length in (("time", None), ("y", 2), ("x", 3)):
                file.createDimension(name, length)
            file.setncatts({"title": "a file", "levels": numpy.arange(3.0)})
            file.createVariable("T", "f4", ("time", "y", "x")).units = "K"
            file.createVariable("mask", "i2", ("y", "x"))[:] = 1
            file["T"][:] = numpy.zeros((2, 2, 3))


def maps(work):
    to = directory("decomposition")
    for name, kind in (("map.dat", "pio"), ("map.e3sm.nc", "e3sm"), ("map.nc", "afterbay")):
        call(COMMAND, "decomp", "make", "mpas", work / name, "--cells", "40", "--ranks", "2", "--to", kind)
    for path in (work / "map.1.dat", work / "map.e3sm.nc", work / "map.nc"):
        shutil.copy(path, to)


def run_that_is_killed(work):
    """The journal, a page and a log of a run of two models and a server with epochs."""
    model = BUILD / "tests" / "fault" / "epoch_model"
    run = subprocess.Popen(["mpirun", "--oversubscribe", "-np", "3", model, work / "out", "3000", "--afterbay.servers=1",
                            "--afterbay.memory.server=16MiB", f"--afterbay.journal.directory={work}/journal",
                            f"--afterbay.statistics.directory={work}/statistics"], cwd=work, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    end = time.monotonic() + 30

    def ready():
        logs = (work / "out").glob("*.part.epochs")
        return any(log.stat().st_size > LOG_BYTES for log in logs) and any((work / "statistics").glob("**/statistics-*.json"))

    while not ready() and time.monotonic() < end:
        time.sleep(0.02)
    pages = {path.name: path.read_text(errors="replace") for path in (work / "statistics").glob("**/statistics-*.json")}
    for mark in work.glob("pid.*.[0-9]"):
        try:
            os.kill(int(mark.read_text()), signal.SIGKILL)
        except ProcessLookupError:  # it ended with the others
            pass
    run.wait(timeout=60)
    to = directory("statistics_page")
    for name, text in pages.items():
        (to / name).write_text(anonymous(text, work))
    to = directory("journal")
    for path in (work / "journal").glob("**/server-*.jsonl"):
        lines = path.read_text().splitlines(keepends=True)
        (to / path.name).write_text(anonymous("".join(lines[:24]), work))
    (to / "directories.jsonl").write_text(DIRECTORY_LINES)
    to = directory("epoch_log")
    for path in (work / "out").glob("*.part.epochs"):
        (to / path.name.replace(".nc.part", "")).write_bytes(path.read_bytes()[:LOG_BYTES])


def main():
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        classic_files()
        (directory("configuration") / "all.yaml").write_text(CONFIGURATION)
        (directory("calendar_text") / "all.txt").write_text(CALENDAR_TEXT)
        (directory("expression") / "all.txt").write_text(EXPRESSIONS)
        maps(work)
        run_that_is_killed(work)
        call(BUILD / "tests" / "fuzz" / "fuzz_parsers", "--write-messages", directory("messages"))
        call(BUILD / "tests" / "fuzz" / "fuzz_parsers", "--write-pp-file", directory("pp_file"))
        call(BUILD / "tests" / "fuzz" / "fuzz_parsers", "--write-fields-files", directory("fields_file"))
        call(BUILD / "tests" / "fuzz" / "fuzz_parsers", "--write-states", directory("statistics_state"))
        call(BUILD / "tests" / "fuzz" / "fuzz_parsers", "--write-chunks", directory("encoded_chunk"))
        call(BUILD / "tests" / "fuzz" / "fuzz_parsers", "--write-wgdos-fields", directory("wgdos_field"))
    for path in sorted(CORPUS.iterdir()):
        print(f"{path.name}: {len(list(path.iterdir()))} files, {sum(p.stat().st_size for p in path.iterdir())} bytes")


if __name__ == "__main__":
    main()
