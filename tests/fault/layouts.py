#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The faults of disks and processes on other layouts: over MPI, on two servers, and with inline
servers."""
from _faults import MODELS, check, failing_writes, play, run_scenarios

LOST = ["peer_lost", "timed_out", "mpi"]
INLINE = {"inline_synchronous": ("topology=inline", "inline.mode=synchronous"),
          "inline_thread": ("topology=inline", "inline.mode=thread")}


def lost_rank(name, processes=(), **layout):
    check(f"{name}: killed model rank", play("kill_model", **layout), code="peer_lost", ranks=[0, 2, 3], rank="rank 1",
          servers=processes, cause=["model rank 1", "not complete: out/out.nc"])


def full_disk(name, ranks=range(MODELS), **layout):
    check(f"{name}: full disk", failing_writes(28, **layout), code="no_space", ranks=ranks, cause="No space left")


def over_mpi():
    layout = {"settings": ("transport=mpi",)}
    lost_rank("mpi", **layout)
    full_disk("mpi", ranks=range(MODELS + 1), **layout)
    check("mpi: killed server", play("kill_server", **layout), code=LOST, cause="I/O server 0")


def two_servers():
    """The second server writes no part of the file; it still ends with the first one's error and
    code."""
    lost_rank("4 + 2", processes=[4, 5], servers=2)
    full_disk("4 + 2", ranks=range(MODELS + 2), servers=2)
    full_disk("4 + 2 over mpi", ranks=range(MODELS + 2), servers=2, settings=("transport=mpi",))


def split_files():
    """Both servers write the file; the failure of one is also reported by the other."""
    for store, transport in (("netcdf4", "auto"), ("cdf5", "auto"), ("netcdf4", "mpi")):
        name = f"4 + 2 slab {store} {transport}"
        layout = {"servers": 2, "store": store, "settings": ("placement=slab", f"transport={transport}")}
        lost_rank(name, processes=[4, 5], **layout)
        full_disk(name, ranks=range(MODELS + 2), **layout)
        check(f"{name}: killed member", play("kill_last_server", **layout), code=LOST, cause="I/O server 1", servers=[4])


def server_lost_at_the_end():
    """Over MPI, the server that publishes the file dies when the other one has said farewell: that
    is not an orderly end, though the file is complete."""
    last_line = "ops=write path=*server-0.jsonl from=5"  # the run's end, after the file was published
    for late, rules in (("at once", [last_line + " kill"]), ("later", [last_line + " ms=1000", last_line + " kill"])):
        check(f"4 + 2 slab mpi: server lost after the other's farewell, {late}",
              play("plain", servers=2, settings=("placement=slab", "transport=mpi"), rules=rules, victims=1),
              code="peer_lost", cause="I/O server 0", published=["out.nc"])


def serving_programs():
    """Both programs exit with 3 (input and output), also the one that writes no part of the
    file."""
    check("4 + 2 serve: full disk", failing_writes(28, servers=2, serve=True), code="no_space", cause="No space left", servers=[4, 5],
          server_code="exit 3")


def inline(name):
    lost_rank(name, servers=0, settings=INLINE[name])
    full_disk(name, servers=0, settings=INLINE[name])


run_scenarios({"over_mpi": over_mpi, "two_servers": two_servers, "split_files": split_files,
               "server_lost_at_the_end": server_lost_at_the_end, "serving_programs": serving_programs,
               **{name: lambda name=name: inline(name) for name in INLINE}})
