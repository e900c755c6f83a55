# SPDX-License-Identifier: Apache-2.0
"""afterbay check: every class of error with its place, and the effective configuration."""
import os
import pathlib
import re
import unittest

from _cli import IO, OK, USAGE, WRONG, CommandTest, run

SOURCE = pathlib.Path(os.environ["AFTERBAY_SOURCE"])

RUN = """afterbay:
  servers: 2
  memory:
    server: 1GiB
collections:
  "hist*":
    store: cdf5
"""


class Check(CommandTest):
    def test_memory_of_stages(self):
        path = self.write("run.yaml", RUN + "    variables: {T: {multiply: 2}}\n")
        done = self.expect(OK, "check", path, "--ranks", "6")
        self.assertIn(
            "each server has 1GiB: 222 blocks of 4MiB and 507 of 256KiB, and 8200KiB for buffers of the writers", done.stdout)

    def test_what_crosses_the_network(self):
        """Nodes of 4 ranks, the last of 3, with a server each: 3 + 3 + 2 model ranks."""
        done = self.expect(OK, "check", "--ranks", "11", "--ranks-per-node", "4", "--afterbay.servers_per_node=1")
        self.assertIn("data to other nodes, if ranks hold equal parts of a field in rank order along its slowest dimension:\n"
                      "  0.0 % with placement slab, 66.7 % if one server writes a file or variable\n", done.stdout)
        done = self.expect(OK, "check", "--ranks", "8", "--ranks-per-node", "4", "--afterbay.isolate_nodes=on", "--afterbay.servers=2")
        self.assertIn("  100.0 % with placement slab, 100.0 % if one", done.stdout)
        done = self.expect(OK, "check", "--ranks", "8", "--ranks-per-node", "4", "--afterbay.pools.a.servers=1", "--afterbay.pools.b.servers=1")
        self.assertIn("  pool 'a': 66.7 % with placement slab", done.stdout)
        self.assertNotIn("data to other nodes", self.expect(OK, "check", "--ranks", "8").stdout)

    def test_correct(self):
        done = self.expect(OK, "check", self.write("run.yaml", RUN))
        self.assertEqual(done.stdout, "run.yaml: correct\n")
        self.assertEqual(done.stderr, "")

    def test_all_problems_with_their_places(self):
        path = self.write("bad.yaml", """afterbay:
  sevrers: 2
  memory:
    block: 3 bananas
  topology: inlin
""")
        done = self.expect(WRONG, "check", path)
        self.assertEqual(done.stdout, "")
        for part in (
            "afterbay check: bad.yaml: the configuration has 3 problems:",
            'bad.yaml:2:3: unknown setting "sevrers"; did you mean "servers"?',
            'bad.yaml:4:12: memory.block: expected a size from 16KiB to 4GiB, a multiple of 4KiB: "3 bananas" is not',
            'bad.yaml:5:13: topology: expected dedicated, inline or tiered, found "inlin"; did you mean "inline"?',
        ):
            self.assertIn(part, done.stderr)

    def test_run_with_obstacles(self):
        """On the real node: no disk has that much room, no node that much memory."""
        path = self.write("run.yaml", """afterbay:
  memory:
    server: 8TiB
collections:
  history:
    expected_size: 1TiB
    expected_files: 1000000
  restart:
    directory: run.yaml/below
""")
        done = self.expect(IO, "check", "--run", path)
        for part in ("3 problems would end this run", "history are declared to write 976.6 PiB", "collections.restart.directory",
                     "Not a directory", "memory.server 8TiB"):
            self.assertIn(part, done.stderr)
        self.expect(OK, "check", path)

    def test_run_without_obstacles(self):
        self.assertIn("correct", self.expect(OK, "check", "--run", "--ranks", "4", "--afterbay.memory.server=64MiB").stdout)

    def test_servers_here_choose_the_nodes_that_this_one_may_be(self):
        """One server of a large job: as much memory as its node needs, not as the whole job."""
        job = ["check", "--run", "--ranks", "101000", "--ranks-per-node", "101", "--afterbay.servers_per_node=1",
               "--afterbay.memory.server=64MiB", "--afterbay.memory.receive=8448KiB", "--afterbay.memory.link=8MiB",
               "--afterbay.report.table=off"]
        done = run(*job, "--servers-here", "1")
        self.assertNotIn("31.", done.stderr.split("of memory are free")[-1][:8])
        self.assertNotIn("100999 model ranks", done.stderr)
        done = self.expect(WRONG, *job, "--servers-here", "2")
        self.assertIn("--servers-here is 2, but the nodes of this job have 1 I/O servers", done.stderr)

    def test_memory_of_a_pool(self):
        path = self.write("run.yaml", """pools:
  small: {servers: 1}
  big: {servers: 1, memory.server: 8TiB}
""")
        done = self.expect(OK, "check", path, "--ranks", "4")
        self.assertIn("each server of pool 'small' has 512MiB: ", done.stdout)
        self.assertIn("each server of pool 'big' has 8TiB: ", done.stdout)
        self.assertIn("I/O server of pool 'small': at most ", done.stdout)
        self.assertIn("I/O server of pool 'big': at most 8", done.stdout)
        done = self.expect(WRONG, "check", "--run", path, "--ranks", "4")
        self.assertIn("1 I/O server of pool 'big': ", done.stderr)

    def test_contradiction(self):
        path = self.write("clash.yaml", "afterbay:\n  topology: inline\n  servers: 2\n")
        done = self.expect(WRONG, "check", path)
        self.assertIn("clash.yaml:3:12: servers is 2 (clash.yaml:3:12), but topology is inline (clash.yaml:2:13)",
                      done.stderr)

    def test_contradiction_of_two_sources(self):
        path = self.write("run.yaml", RUN)
        done = self.expect(WRONG, "check", path, "--afterbay.collections.history.deflate=4",
                           settings={"AFTERBAY_CHUNK": "64MiB"})
        self.assertIn("AFTERBAY_CHUNK: chunk is 64MiB (AFTERBAY_CHUNK), but memory.block is 4MiB (default)", done.stderr)
        self.assertIn("collections.history.deflate is 4 (--afterbay.collections.history.deflate), but "
                      "collections.hist*.store is cdf5 (run.yaml:7:12)", done.stderr)

    def test_environment(self):
        path = self.write("run.yaml", RUN)
        wrong = {"AFTERBAY_WRITER": "2"}
        done = self.expect(WRONG, "check", path, settings=wrong)
        self.assertIn('AFTERBAY_WRITER: no setting has this environment variable; did you mean "AFTERBAY_WRITERS"?',
                      done.stderr)
        self.expect(OK, "check", path, "--no-environment", settings=wrong)

    def test_no_file(self):
        self.assertEqual(self.expect(OK, "check").stdout, "environment and flags: correct\n")
        self.expect(WRONG, "check", "--afterbay.servers", "none")

    def test_unreadable_file(self):
        done = self.expect(IO, "check", "nowhere.yaml")
        self.assertIn("nowhere.yaml: cannot read it: No such file or directory", done.stderr)

    def test_no_yaml(self):
        done = self.expect(WRONG, "check", self.write("broken.yaml", "afterbay: {servers: 2\nlog: info\n"))
        self.assertRegex(done.stderr, r"broken\.yaml:\d+:\d+: this is not YAML: ")

    def test_tab_in_the_indentation(self):
        done = self.expect(WRONG, "check", self.write("tab.yaml", "afterbay:\n\tservers: 2\n"))
        self.assertIn("tab.yaml:2: the line is indented with a tab, which YAML does not allow: use spaces", done.stderr)

    def test_show_gives_values_and_origins(self):
        done = self.expect(OK, "check", self.write("run.yaml", RUN), "--show", "--afterbay.log=debug",
                           settings={"AFTERBAY_DEADLINE": "5s"})
        for line in (
            r"^servers +2 +run\.yaml:2:12$",
            r"^memory\.server +1GiB +run\.yaml:4:13$",
            r"^memory\.block +4MiB +default$",
            r"^deadline +5s +AFTERBAY_DEADLINE$",
            r"^log +debug +--afterbay\.log$",
            r"^collections\.hist\*\.store +cdf5 +run\.yaml:7:12$",
        ):
            self.assertRegex(done.stdout, "(?m)" + line)

    def test_ranks(self):
        path = self.write("run.yaml", RUN)
        done = self.expect(OK, "check", path, "--ranks", "6")
        self.assertIn("4 model ranks and 2 servers; each server has 1GiB: 224 blocks of 4MiB and 512 of 256KiB",
                      done.stdout)
        done = self.expect(WRONG, "check", path, "--ranks", "2")
        self.assertIn("run.yaml:2:12: servers is 2, but the communicator has 2 ranks, which leaves 0 for the model; "
                      "start at least 3 ranks", done.stderr)
        self.expect(USAGE, "check", path, "--ranks", "none")


class AsOnThePage(CommandTest):
    def expect_printed(self, said, printed):
        """`...` on the page stands for what the processes need."""
        begin, end = printed.split("...\n")
        self.assertEqual(said[:len(begin)], begin)
        self.assertEqual(said[-len(end):], end)
        need = said[len(begin):-len(end)]
        self.assertRegex(need, r"^I/O server(?: of pool 'a')?: at most [0-9.]+ MiB of memory\n  memory\.server 512MiB, ")
        self.assertIn("\nmessages of a step", need)


class RanksToStart(AsOnThePage):
    def test_the_total_number_of_ranks_is_computed_as_the_page_says(self):
        page = (SOURCE / "docs" / "how-to" / "pools.md").read_text()
        for ranks in ("--ranks 8", "--model-ranks 96"):
            words, printed = re.search(rf"\$ afterbay check ({ranks} .*)\n((?:.*\n)*?)```", page).groups()
            self.expect_printed(self.expect(OK, "check", *words.split()).stdout, printed)

    def started(self, *words):
        return self.expect(OK, "check", "--model-ranks", *words).stdout

    def test_isolated_servers_take_whole_nodes_as_in_pfio(self):
        text = self.started("28", "--ranks-per-node", "28", "--afterbay.topology=tiered", "--afterbay.isolate_nodes=on",
                            "--afterbay.server_nodes=1", "--afterbay.servers_per_node=5")
        self.assertIn("start 56 ranks, on 2 nodes\n28 model ranks and 5 servers, 23 frontends;", text)
        self.assertNotIn("spare", text)

    def test_ranks_left_over_are_spare_and_model_ranks_is_to_be_set(self):
        layout = ("--ranks-per-node", "28", "--afterbay.isolate_nodes=on", "--afterbay.servers=2")
        text = self.started("20", *layout)
        self.assertIn("start 56 ranks, on 2 nodes\nset model_ranks: 20, so that the 8 ranks left over are spare\n"
                      "20 model ranks and 2 servers, 34 spare;", text)
        same = self.expect(OK, "check", "--ranks", "56", *layout, "--afterbay.model_ranks=20").stdout
        self.assertIn("model: ranks 0-19\n", same)
        self.assertEqual(text.split("\n", 2)[2], same)
        text = self.started("20", *layout, "--afterbay.model_ranks=20")
        self.assertIn("start 56 ranks, on 2 nodes\n8 ranks left over, spare by model_ranks (--afterbay.model_ranks)\n", text)
        text = self.started("7", "--ranks-per-node", "8", "--afterbay.isolate_nodes=on", "--afterbay.servers_per_node=8",
                            "--afterbay.server_nodes=1")
        self.assertIn("start 16 ranks, on 2 nodes\nset model_ranks: 7, so that the 1 rank left over is spare\n", text)

    def test_a_number_other_than_the_one_that_is_set_is_refused(self):
        path = self.write("run.yaml", "afterbay:\n  servers: 2\n  model_ranks: 10\n")
        done = self.expect(WRONG, "check", path, "--model-ranks", "20")
        self.assertEqual(done.stdout, "")
        self.assertIn("run.yaml:3:16: model_ranks is 10, but a number of ranks for 20 model ranks is requested", done.stderr)
        self.assertIn("start 12 ranks\n10 model ranks and 2 servers;", self.expect(OK, "check", path, "--model-ranks", "10").stdout)

    def test_isolated_servers_need_the_size_of_a_node(self):
        done = self.expect(WRONG, "check", "--model-ranks", "20", "--afterbay.isolate_nodes=on")
        self.assertIn("give the number of ranks per node (--ranks-per-node)", done.stderr)

    def test_numbers_that_no_job_has_are_refused_at_once(self):
        for words in (("--model-ranks", "2000000000"), ("--ranks", "2000000000"), ("--model-ranks", "1048577"),
                      ("--model-ranks", "20", "--ranks-per-node", "2000000000")):
            self.expect(USAGE, "check", *words)

    def test_ranks_and_model_ranks_exclude_each_other(self):
        self.expect(USAGE, "check", "--ranks", "8", "--model-ranks", "7")


class PoolsOfCollections(AsOnThePage):
    def test_collections_with_several_pools_are_printed_as_the_page_says(self):
        page = (SOURCE / "docs" / "how-to" / "pools.md").read_text()
        yaml = re.search(r"<!-- test: several-pools.yaml -->\n```yaml\n(.*?)```", page, re.S)[1]
        printed = re.search(r"\$ afterbay check run.yaml --ranks 12\n(.*?)```", page, re.S)[1]
        done = self.expect(OK, "check", self.write("run.yaml", yaml), "--ranks", "12")
        self.expect_printed(done.stdout, printed)

    def test_a_pool_that_does_not_exist_is_named_with_the_others(self):
        done = self.expect(WRONG, "check", "--afterbay.pools.a.servers=1", "--afterbay.collections.history.pool=a,c")
        self.assertIn('collections.history.pool: there is no pool "c"', done.stderr)

    def test_an_empty_list_of_pools_and_a_pool_named_twice_are_refused(self):
        pools = "pools:\n  a: {servers: 1}\n  b: {servers: 1}\ncollections:\n  history: {pool: %s}\n"
        for value in ("[]", '""', '","'):
            done = self.expect(WRONG, "check", self.write("empty.yaml", pools % value))
            self.assertIn("collections.history.pool: expected a pool's name, or several", done.stderr)
        done = self.expect(WRONG, "check", self.write("twice.yaml", pools % "[a, b, a]"))
        self.assertIn('collections.history.pool: the pool "a" is named twice', done.stderr)


if __name__ == "__main__":
    unittest.main()
