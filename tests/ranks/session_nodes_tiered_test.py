#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tiered sessions on emulated nodes: the same files as on one node, whether frontends run beside
the model ranks or on nodes of their own; a frontend, a server or a model rank that is killed and a
node that is cut off are named within the deadline."""
import os
import sys

import _nodes

try:
    import session_nodes_test as same
    import session_nodes_fault_test as fault
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

TIERED = ("--afterbay.topology=tiered", "--afterbay.memory.frontend=64MiB", "--afterbay.memory.link=8MiB")
OWN_NODE = ("--afterbay.isolate_nodes=on", "--afterbay.server_nodes=1", "--afterbay.servers_per_node=1")


def files_are_the_same():
    same.on_one_node()
    same.model_on_nodes("beside", "3,3,1", [1, 1, 1, 2, 2, 2, 3], *TIERED)
    same.model_on_nodes("slab", "2,2,2", [1, 1, 2, 2, 3, 3], *TIERED, "--afterbay.servers=2", "--afterbay.placement=slab")
    same.model_on_nodes("own", "2,1,3", [1, 1, 2, 3, 3, 3], *TIERED, *OWN_NODE)
    same.model_on_nodes("by_node", "3,3,1", [1, 1, 1, 2, 2, 2, 3], "--afterbay.servers_per_node=1", "--afterbay.server_nodes=2",
                        "--afterbay.placement=least")
    same.model_on_nodes("pools", "2,2,3", [1, 1, 2, 2, 3, 3, 3], "--afterbay.pools.near.servers=1", "--afterbay.pools.near.topology=tiered",
                        "--afterbay.memory.frontend=64MiB", "--afterbay.memory.link=8MiB", "--afterbay.pools.far.servers=2",
                        "--afterbay.collections.fields.pool=near", "--afterbay.pools.far.placement=slab")


def played(name, scenario, layout, struck, *settings, reports):
    """`struck`: the world rank that is killed, or whose node is cut off."""
    os.environ["AFTERBAY_TEST_FAULT_RANK"] = str(struck)
    small = ("--afterbay.topology=tiered", "--afterbay.memory.frontend=4MiB", "--afterbay.memory.link=2MiB")
    return fault.play(name, scenario, layout, *small, *settings, reports=reports)


def faults_are_named():
    """Nodes 3,3,1: models 0, 1 and the frontend 2; models 3, 4 and the frontend 5; the server 6."""
    fault.check("killed_frontend", played("killed_frontend", "kill_server", "3,3,1", 2, reports=(0, 1, 3, 4, 6)), (0, 1, 3, 4, 6),
                r"the frontend at rank 2|model ranks? [01]")
    fault.check("killed_server", played("killed_server", "kill_server", "3,3,1", 6, reports=range(5)), (0, 1, 3, 4), r"I/O server 0")
    fault.check("killed_model_rank", played("killed_model_rank", "kill_model", "3,3,1", 6, reports=(0, 3, 4, 6)), (0, 3, 4),
                r"model rank 1")
    cut = played("cut_off_frontend", "cut_server", "3,3,1", 5, reports=(0, 1, 3, 4, 6))
    if (cut[0] / "cut").read_text().strip() != "0":
        sys.exit(f"the link was not cut: {cut[2]}")
    fault.check("cut_off_frontend: ranks behind it", cut, (3, 4), r"I/O server 0")
    fault.check("cut_off_frontend: ranks elsewhere", cut, (0, 1), r"the frontend at rank 5|model ranks? [23]")
    fault.check("cut_off_frontend: the server", cut, (6,), r"the frontend at rank 5|model ranks? [23]", fault.MOST_OF_SERVER_S)


if __name__ == "__main__":
    _nodes.need(_nodes.AFTERBAY, _nodes.MODEL, fault.FAULT_MODEL)
    files_are_the_same()
    faults_are_named()
