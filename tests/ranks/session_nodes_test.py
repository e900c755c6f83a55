#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole sessions on emulated nodes write the same files as on one: servers on other nodes than the
model ranks, inline servers on every node, `afterbay serve` on a separate node; replay on two and
three nodes."""
import filecmp
import pathlib
import subprocess
import sys

import _nodes

try:
    import _replay_check as check
    import _replay_files as files
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

RUN = ("--grid", "61x43", "--steps", "12", "--fields-every", "4", "--surface-every", "3")
FILES = ("fields.nc", "surface.nc")
SETTINGS = ("--afterbay.memory.server=16MiB", "--afterbay.memory.block=1MiB", "--afterbay.deadline=15s", "--afterbay.report.table=off")
CDF5 = "--afterbay.collections.*.store=cdf5"
SYNCHRONOUS = ("--afterbay.topology=inline", "--afterbay.inline.mode=synchronous")
THREAD = ("--afterbay.topology=inline", "--afterbay.inline.mode=thread")


def expect_places(output, expected):
    """`expected` is the node number of each rank: a job that Open MPI placed on one node would
    prove nothing."""
    found = _nodes.places(output)
    wanted = [f"node{number}" for number in expected]
    if found != wanted:
        sys.exit(f"the ranks are on {found}, expected {wanted}")


def model(directory, *settings):
    pathlib.Path(directory).mkdir()
    return (_nodes.MODEL, *RUN, "--directory", directory, CDF5, *SETTINGS, *settings)


def expect_same_files(directory):
    for name in FILES:
        if not filecmp.cmp(pathlib.Path("one_node", name), pathlib.Path(directory, name), shallow=False):
            sys.exit(f"{directory}/{name} differs from what one node writes")
    left = sorted(path.name for path in pathlib.Path(directory).iterdir())
    if left != sorted(FILES):
        sys.exit(f"{directory} holds {left}")


def on_one_node():
    subprocess.run(["mpirun", "--oversubscribe", "-np", "4", *model("one_node")], check=True, timeout=60)
    for name in FILES:
        subprocess.run(["ncdump", "-h", f"one_node/{name}"], check=True, stdout=subprocess.DEVNULL)


def model_on_nodes(directory, layout, expected, *settings):
    output = _nodes.run(layout, *model(directory, *settings))
    expect_places(output, expected)
    expect_same_files(directory)


def servers_on_other_nodes():
    model_on_nodes("server_alone", "3,1", [1, 1, 1, 2])
    model_on_nodes("server_beside_a_rank", "2,2", [1, 1, 2, 2])
    model_on_nodes("a_server_on_each", "2,2,2", [1, 1, 2, 2, 3, 3], "--afterbay.servers=3", "--afterbay.placement=file")


def all_servers_write_the_same_file():
    for placement in ("slab", "variable"):
        split = f"--afterbay.placement={placement}"
        model_on_nodes(f"{placement}_dedicated", "2,2,2", [1, 1, 2, 2, 3, 3], "--afterbay.servers=3", split)
        model_on_nodes(f"{placement}_inline", "1,2,1", [1, 2, 2, 3], *SYNCHRONOUS, split)


def inline_servers_on_every_node():
    model_on_nodes("synchronous", "2,2", [1, 1, 2, 2], *SYNCHRONOUS, "--afterbay.placement=file")
    model_on_nodes("synchronous_three", "1,2,1", [1, 2, 2, 3], *SYNCHRONOUS, "--afterbay.placement=file")


def serve_on_its_own_node():
    servers = ("-np", "2", "--host", "node3:2", _nodes.AFTERBAY, "serve", *SETTINGS)
    output = _nodes.run("2,1,2", "-np", "3", "--host", "node1:2,node2:1", *model("serve"), ":", *servers)
    expect_places(output, [1, 1, 2, 3, 3])
    expect_same_files("serve")


def replayed(source, store, layout, expected, *options):
    output = pathlib.Path(f"{source.stem}.{store}.{'_'.join(map(str, expected))}.nc")
    said = _nodes.run(layout, _nodes.AFTERBAY, "replay", source, output, "--store", store, "--verify",
                      "--afterbay.collections.*.existing=replace", *SETTINGS, *options)
    expect_places(said, expected)
    for copy in (output, output.with_suffix(".2.nc")):
        if copy is output or "--repeat" in options:
            if found := check.difference(source, copy):
                sys.exit(found)


def replay():
    folder = pathlib.Path("inputs")
    folder.mkdir()
    every = folder / "every.nc"
    files.every_type(every, "NETCDF4", files.NETCDF4_TYPES, True)
    numbers = folder / "numbers.nc"
    files.every_type(numbers, "NETCDF3_64BIT_DATA", files.CDF5_TYPES)
    files_in_turn = ("--afterbay.placement=file", "--repeat", "2")
    for source, store in ((every, "netcdf4"), (numbers, "cdf5")):
        replayed(source, store, "3,1", [1, 1, 1, 2])
        replayed(source, store, "2,2,2", [1, 1, 2, 2, 3, 3], "--servers", "2", *files_in_turn)
        replayed(source, store, "1,2", [1, 2, 2], *THREAD, *files_in_turn)
        replayed(source, store, "2,1", [1, 1, 2], *SYNCHRONOUS, *files_in_turn)


if __name__ == "__main__":
    _nodes.need(_nodes.AFTERBAY, _nodes.MODEL)
    on_one_node()
    servers_on_other_nodes()
    inline_servers_on_every_node()
    all_servers_write_the_same_file()
    serve_on_its_own_node()
    replay()
