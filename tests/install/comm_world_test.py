#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model that uses MPI_COMM_WORLD everywhere runs with a server after the recipe of docs/how-to/comm-world.md."""
from _follow import Newcomer


def main():
    user = Newcomer()
    user.read_settings()
    ran = []
    for kind, title, text in user.page("docs/how-to/comm-world.md"):
        if kind == "test":
            user.save(title, text)
        else:
            assert user.run(title, text) == "model ranks: 3\n", title
            ran.append(title)
    assert ran == ["Fortran", "C"], ran


main()
