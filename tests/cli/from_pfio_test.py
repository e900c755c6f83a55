# SPDX-License-Identifier: Apache-2.0
"""docs/how-to/from-pfio.md: every row of its table gives the ranks that PFIO's option gives; its
example prints the text on the page."""
import os
import pathlib
import re
import unittest

from _cli import OK, WRONG, CommandTest

PAGE = pathlib.Path(os.environ["AFTERBAY_SOURCE"], "docs", "how-to", "from-pfio.md")
# PFIO's option as in the table: settings, ranks, ranks per node, expected output.
ROWS = {
    "no option (MpiServer on the model's own processes)": (["topology=inline"], 4, 2, ["4 model ranks that write themselves"]),
    "`--npes_model n1`": (["model_ranks=3", "servers=1"], 6, 6, ["model: ranks 0-2\n", "servers: rank 5\n", "spare: ranks 3-4\n"]),
    "`--npes_output_server n2`": (["servers=2"], 6, 6, ["model: ranks 0-3\nservers: ranks 4-5\n"]),
    "`--nodes_output_server n2`": (["server_nodes=2", "isolate_nodes=on"], 8, 2, ["model: ranks 0-3\nservers: ranks 4-7\n"]),
    "`--oserver_type single` (PFIO's default)": (["topology=dedicated"], 3, 3, ["model: ranks 0-1\nservers: rank 2\n"]),
    "`--oserver_type multigroup`": (["topology=tiered"], 4, 4, ["model: ranks 0-1\nfrontends: rank 2\nservers: rank 3\n"]),
    "`--npes_backend_pernode n3`": (["topology=tiered", "isolate_nodes=on", "server_nodes=1", "servers_per_node=2"], 8, 4,
                                    ["model: ranks 0-3\nfrontends: ranks 4-5\nservers: ranks 6-7\n"]),
    "`--isolate_nodes true` (PFIO's default)": (["isolate_nodes=on", "servers=3"], 8, 4,
                                               ["model: ranks 0-3\nservers: ranks 5-7\nspare: rank 4\n"]),
    "`--isolate_nodes false`": (["isolate_nodes=off", "servers=3"], 8, 4, ["model: ranks 0-4\nservers: ranks 5-7\n"]),
    "`--one_node_output true`": (["isolate_nodes=on", "server_nodes=1", "placement=slab", "pools.a.writers=2", "pools.b.writers=2"], 6, 2,
                                 ["model: ranks 0-1\nservers of the pool 'a': ranks 2-3\nservers of the pool 'b': ranks 4-5\n"]),
    "`--npes_output_server n2 n3 n4`": (["pools.a.servers=1", "pools.b.servers=2", "pools.c.servers=1"], 6, 6,
                                        ["pool 'a': rank 2\n", "pool 'b': ranks 3-4\n", "pool 'c': rank 5\n"]),
    "`--fast_oclient true`": ([], 2, 2, []),  # no setting: tests/unit/session/put_cost_test.cpp
                                              # verifies that put makes one copy
    "`--with_io_profiler`": (["report.table=on"], 2, 2, []),
}


def without_pairs(output: str) -> str:
    """Without the memory of pairs, which follows from the sizes of classes, so that each change of
    one would change the page."""
    return re.sub(r"pairs [\d.]+ KiB", "pairs", output)


class FromPfio(CommandTest):
    def test_every_row_has_an_equivalent(self):
        table = PAGE.read_text().split("\n\n## ")[0]
        rows = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")][1:]
        self.assertEqual(sorted(rows), sorted(ROWS))
        for row, (settings, ranks, per_node, expected) in ROWS.items():
            with self.subTest(row):
                flags = [f"--afterbay.{setting}" for setting in settings]
                done = self.expect(OK, "check", "--ranks", str(ranks), "--ranks-per-node", str(per_node), *flags)
                for text in expected:
                    self.assertIn(text, done.stdout)

    def test_one_server_a_node_leaves_the_others_spare(self):
        flags = ("--afterbay.isolate_nodes=on", "--afterbay.server_nodes=2", "--afterbay.servers_per_node=1")
        done = self.expect(OK, "check", "--ranks", "9", "--ranks-per-node", "3", *flags)
        self.assertIn("model: ranks 0-2\nservers: ranks 5, 8\nspare: ranks 3-4, 6-7\n", done.stdout)

    def test_the_example_prints_what_the_page_says(self):
        text = PAGE.read_text()
        yaml = re.search(r"```yaml\n(afterbay:.*?)```", text, re.S)[1]
        path = self.write("run.yaml", yaml)
        printed = re.search(r"\$ afterbay check run.yaml --model-ranks 28 --ranks-per-node 28\n(.*?)```", text, re.S)[1]
        output = self.expect(OK, "check", path, "--model-ranks", "28", "--ranks-per-node", "28").stdout
        self.assertEqual(without_pairs(output), without_pairs(printed))
        done = self.expect(OK, "check", path, "--ranks", "56", "--ranks-per-node", "28")
        self.assertEqual(without_pairs("start 56 ranks, on 2 nodes\n" + done.stdout), without_pairs(printed))

    def test_a_last_node_that_the_model_does_not_fill_is_spare_as_the_page_says(self):
        yaml = re.search(r"```yaml\n(afterbay:.*?)```", PAGE.read_text(), re.S)[1]
        done = self.expect(OK, "check", self.write("run.yaml", yaml), "--model-ranks", "40", "--ranks-per-node", "28")
        self.assertIn("start 84 ranks, on 3 nodes\nset model_ranks: 40, so that the 16 ranks left over are spare\n", done.stdout)

    def test_the_vector_of_servers_is_three_pools(self):
        yaml = re.search(r"```yaml\n(pools:.*?)```", PAGE.read_text(), re.S)[1]
        done = self.expect(OK, "check", self.write("pools.yaml", yaml), "--ranks", "12")
        self.assertIn("pool 'first': ranks 4-5\n", done.stdout)
        self.assertIn("pool 'large': ranks 8-11\n", done.stdout)

    def test_what_cannot_work_is_refused_with_the_arithmetic(self):
        done = self.expect(WRONG, "check", "--ranks", "56", "--ranks-per-node", "28", "--afterbay.isolate_nodes=on",
                           "--afterbay.server_nodes=2")
        self.assertIn("2 nodes of their own are requested, but there are 56 ranks on 2 nodes (28 + 28)", done.stderr)


if __name__ == "__main__":
    unittest.main()
