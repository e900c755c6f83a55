#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""afterbay status, verify and recover on artifacts that are directories. Journal and checksums are
written by this script, from their description in docs/reference/journal.md."""
import json
import os
import pathlib
import shutil
import socket
import unittest

from _cli import IO, LOST, OK, WRONG, CommandTest


def crc64(data):
    checksum = 0xFFFFFFFFFFFFFFFF
    for byte in data:
        checksum ^= byte
        for _ in range(8):
            checksum = checksum >> 1 ^ (0xC96C5795D7870F42 if checksum & 1 else 0)
    return f"{checksum ^ 0xFFFFFFFFFFFFFFFF:016x}"


FILES = {"structure": b"T float32 16\nrecords 1\n", "values/0": b"\0" * 16, "values/1": b"\1" * 16}


class DirectoryTest(CommandTest):
    def setUp(self):
        self.addCleanup(shutil.rmtree, pathlib.Path("out.zz"), True)
        self.addCleanup(shutil.rmtree, pathlib.Path("out.zz.part"), True)
        self.make("out.zz")

    @staticmethod
    def make(directory):
        for name, contents in FILES.items():
            path = pathlib.Path(directory, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents)

    @staticmethod
    def journal(*events, listed=True):
        """A run with one server that published out.zz; `events`: the last ones instead of its
        publication and end."""
        files = [{"name": name, "bytes": len(contents), "checksum": "crc64-xz:" + crc64(contents)} for name, contents in sorted(FILES.items())]
        text = b"".join(b"%s\0%d\0%s\n" % (name.encode(), len(contents), crc64(contents).encode()) for name, contents in sorted(FILES.items()))
        path = str(pathlib.Path("out.zz").resolve())
        opened = {"path": path, "number": 1, "collection": "out", "format": "two_files"}
        published = opened | {"event": "file_published", "bytes": sum(map(len, FILES.values())), "records": 1,
                              "checksum": "crc64-xz:" + crc64(text), "file_count": len(files)}
        if listed:
            published["files"] = files
        common = {"journal": 1, "at": "2026-11-22T07:15:03.123Z", "run": "r", "server": 0, "sequence": 1}
        lines = [{"event": "run_started", "session": "s", "host": socket.gethostname(), "pid": 1, "directory": "/m", "model_ranks": 1, "servers": 1},
                 opened | {"event": "file_opened", "inode": 7}, *(events or (published, {"event": "run_ended", "ok": True, "files": 1}))]
        pathlib.Path("afterbay-journal").mkdir(exist_ok=True)
        pathlib.Path("afterbay-journal/server-0.jsonl").write_text("".join(json.dumps(common | line) + "\n" for line in lines), encoding="utf-8")

    def test_a_whole_directory_is_one_row(self):
        for listed in (True, False):
            self.journal(listed=listed)
            self.assertIn("1 of 1 files are what the journal says\n", self.expect(OK, "verify").stdout)
            status = self.expect(OK, "status").stdout
            self.assertIn("1 file, 55 B", status)
            self.assertIn(f"out: {pathlib.Path('out.zz').resolve()}  (1 record, 55 B", status)
            self.assertIn("1 of 1 published files are there", status)

    def test_damaged_missing_and_extra_files_are_named(self):
        self.journal()
        pathlib.Path("out.zz/values/0").write_bytes(b"\2" * 16)
        pathlib.Path("out.zz/values/1").unlink()
        pathlib.Path("out.zz/values/2").write_bytes(b"")
        said = self.expect(WRONG, "verify").stdout
        self.assertIn(f"changed: {pathlib.Path('out.zz').resolve()}: file 'values/0' has crc64-xz:", said)
        self.assertIn("; file 'values/1' is missing; file 'values/2' does not belong to it\n", said)
        found = json.loads(self.expect(WRONG, "verify", "--quick", "--json").stdout)
        self.assertEqual([(it["finding"], it["detail"]) for it in found["wrong"]],
                         [("changed", "file 'values/1' is missing; file 'values/2' does not belong to it")])
        self.assertIn("file 'values/1' is missing", self.expect(WRONG, "status").stdout)

    def test_without_a_list_damage_is_found_too(self):
        self.journal(listed=False)
        pathlib.Path("out.zz/values/0").write_bytes(b"\2" * 16)
        self.assertIn("changed", self.expect(WRONG, "verify").stdout)
        self.expect(OK, "verify", "--quick")
        pathlib.Path("out.zz/values/1").unlink()
        self.assertIn("2 files with 39 bytes, published with 3 files and 55 bytes", self.expect(WRONG, "verify", "--quick").stdout)

    def test_a_missing_directory(self):
        self.journal()
        shutil.rmtree("out.zz")
        self.assertIn("missing: ", self.expect(WRONG, "verify").stdout)

    def test_what_a_killed_run_left_beside_a_published_one_is_listed(self):
        self.journal()
        part = pathlib.Path("out.zz.part").resolve()
        self.assertNotIn("left over", self.expect(OK, "status").stdout)
        self.make("out.zz.part")
        self.assertIn(f"left over: {part}: ", self.expect(OK, "status").stdout)
        self.assertEqual(json.loads(self.expect(OK, "status", "--json").stdout)["left_over"], [str(part)])

    def test_unreadable_lines_are_reported_and_torn_ones_do_no_harm(self):
        self.journal()
        file = pathlib.Path("afterbay-journal/server-0.jsonl")
        whole = file.read_text(encoding="utf-8")
        file.write_text(whole + '{"journal": 1, "at": "2026-11', encoding="utf-8")
        self.assertIn("1 line of the journal ended when the run was killed, and published nothing", self.expect(OK, "verify").stdout)
        file.write_text(whole.replace('"event": "file_published"', '"event": 7'), encoding="utf-8")
        self.assertIn("1 line of the journal cannot be read", self.expect(WRONG, "verify").stdout)
        found = json.loads(self.expect(WRONG, "verify", "--json").stdout)
        self.assertEqual((found["unreadable_lines"], found["torn_lines"], found["wrong"]), (1, 0, []))

    def test_a_malformed_list_costs_nothing_but_the_list(self):
        self.journal()
        file = pathlib.Path("afterbay-journal/server-0.jsonl")
        file.write_text(file.read_text(encoding="utf-8").replace('"name": "structure"', '"name": 7'), encoding="utf-8")
        self.assertIn("1 of 1 files are what the journal says\n", self.expect(OK, "verify").stdout)
        pathlib.Path("out.zz/values/0").write_bytes(b"\2" * 16)
        self.expect(WRONG, "verify")

    def test_an_unfinished_one_is_not_recovered(self):
        os.rename("out.zz", "out.zz.part")
        self.journal({"event": "warning", "text": "the last line before the kill"})
        self.assertIn("not published", self.expect(LOST, "status").stdout)
        for name in ("out.zz", "out.zz.part"):
            said = self.expect(IO, "recover", name).stderr
            self.assertIn("out.zz.part is a directory, and its format keeps no epochs: it cannot be recovered", said)
        self.assertTrue(pathlib.Path("out.zz.part/values/0").exists())


if __name__ == "__main__":
    unittest.main()
