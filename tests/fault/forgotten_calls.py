#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each omitted call in C++, C and Fortran, with two model ranks and one I/O server at rank 2; see
_forgotten.py."""
import sys

from _forgotten import AT_FINALIZE, CAME_BACK, DESTROYED, NEVER, check

LANGUAGES = ("cpp", "c", "fortran")

for language in sys.argv[1:] or LANGUAGES:
    # Fortran destroys no session; C and C++ programs may, or not.
    for suffix, text in (((":kept", AT_FINALIZE),) if language == "fortran" else (("", DESTROYED), (":kept", AT_FINALIZE))):
        # All ranks omit the call; the file that they closed is published.
        check(language, "finalize" + suffix, says=["model ranks 0 and 1", text["finalize"]], published=["out.nc"])
        # One rank omits it, the other finalizes and is informed.
        check(language, "finalize" + suffix, 1, says=["rank 1", "model rank 1 gave up: .*" + text["finalize"]], published=["out.nc"])
        # Neither close nor finalize: the file is not complete.
        check(language, "close" + suffix, says=[text["finalize"], "not complete: out.nc"])
        check(language, "close" + suffix, 1, says=["rank 1", "not complete: out.nc"], outcomes=[(0, ["peer_lost", "model rank 1", "out.nc"])])
        # Nothing is called after open_session: by all ranks, or by one while the other continues.
        check(language, "unused" + suffix, says=["model ranks 0 and 1", text["finalize"]])
        check(language, "unused" + suffix, 1, says=["model rank 1 gave up: .*" + text["finalize"]], outcomes=[(0, ["peer_lost", "model rank 1"])])
        # The I/O server's process continues without serve.
        check(language, "serve" + suffix, says=["rank 2", text["serve"], "I/O server 0"],
              outcomes=[(rank, ["bad_state", "rank 2", text["serve"], r"must call serve\(\)"]) for rank in (0, 1)])
    # It waits elsewhere instead. When it returns it prints what the ranks reported.
    # The ranks may end first, and say so themselves if it does not hear them in time.
    check(language, "blocked", 2, says=[CAME_BACK], held_up=True, errors=(1, 2),
          outcomes=[(rank, ["timed_out", r"I/O server 0 \(rank 2\) " + NEVER]) for rank in (0, 1)])
    # The process ends without MPI_Finalize.
    check(language, "exit:kept", 1, says=[r"model rank 1 gave up: the process ended without session.finalize\(\)"])
    check(language, "exit:kept", 2, says=["rank 2", r"the process ended without serve\(\)", "I/O server 0"])
    if language != "fortran":
        check(language, "exit", 1, says=[r"model rank 1 gave up: .*" + DESTROYED["finalize"]])
