# SPDX-License-Identifier: Apache-2.0
"""docs/how-to/from-um.md, from-xios.md and others: the settings and the keys of descriptions that
they name exist, and their configurations are correct."""
import os
import pathlib
import re
import unittest

from _cli import OK, CommandTest

DOCS = pathlib.Path(os.environ["AFTERBAY_SOURCE"], "docs")
KNOWN = set(re.findall(r"^### `(?:collections\.NAME\.(?:variables\.VARIABLE\.)?|pools\.NAME\.)?([^`]+)`", (DOCS / "reference" / "configuration.md").read_text(), re.M))
DESCRIPTION = (DOCS / "reference" / "description.md").read_text()
KEYS = set(re.findall(r"^### `(?:(?:files|fields|grids)\.NAME\.|FIELD\.)?([^`]+)`", DESCRIPTION, re.M))
PAGES = ("from-um.md", "from-xios.md", "from-mapl-history.md", "from-multio.md", "from-cam-history.md")
# What the Unified Model's namelist ioscntl has.
IOSCNTL = {"ios_" + name for name in (
    "spacing offset interleave together_end tasks_per_server unit_alloc_policy buffer_size concurrency concurrency_max_mem as_concurrency "
    "async_levs_per_pack async_send_null async_stats use_async_stash use_async_dump use_helpers force_threading_mode serialise_mpi_calls "
    "thread_0_calls_mpi num_threads backoff_interval timeout lock_meter local_ro_files relaytoslaves decomp_model verbosity").split()}
# What its STASH profiles and output streams have.
STASH = set("iopl imn imsk iwt iopa levb levt plt pslist ityp intv isam ioff ifre istr iend iopt lts0 unt1 unt2 unt3 tim_name dom_name use_name locn iunt m01s03i236 "
            "macrotag filename_base reinit_unit reinit_step reinit_start reinit_end packing reserved_headers pp0 pp9".split())
SECTIONS = {"pools", "triggers", "collections.NAME.pool"}


class FromOthers(CommandTest):
    def test_configurations_are_correct(self):
        for page, servers in (("from-um.md", "servers: ranks 2-3, 6-7\n"), ("from-xios.md", "servers: ranks 6-7\n")):
            with self.subTest(page):
                yaml = re.search(r"<!-- test: (?:um|xios)\.yaml -->\n```yaml\n(.*?)```", (DOCS / "how-to" / page).read_text(), re.S)[1]
                done = self.expect(OK, "check", self.write("run.yaml", yaml), "--ranks", "8", "--ranks-per-node", "4")
                self.assertIn(servers, done.stdout)

    def test_names_of_the_um_are_those_of_its_namelist(self):
        page = (DOCS / "how-to" / "from-um.md").read_text()
        rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| ")][1:]
        named = {name for row in rows for name in re.findall(r"`([a-z][a-z0-9_]*)`", row)}
        self.assertLessEqual({"ios_tasks_per_server", "ios_use_async_stash", "ios_timeout"}, named)
        self.assertEqual(named - IOSCNTL - STASH, set())

    def test_settings_exist(self):
        for page in PAGES:
            rows = [line.split("|")[2] for line in (DOCS / "how-to" / page).read_text().splitlines() if line.startswith("| ")]
            named = {name.split(":")[0] for row in rows[1:] for name in re.findall(r"`([a-z][a-zA-Z_.]*(?:: [^`]*)?)`", row)}
            calls = {"prefetch", "get", "open_input", "open_session"}
            unknown = {name for name in named - calls - SECTIONS - KNOWN - KEYS if not re.match(r"(session|input|file|collection|schema|output)\.", name)}
            self.assertEqual(unknown - {"file", "cdf5", "cdf2", "variable"}, set(), page)


if __name__ == "__main__":
    unittest.main()
