#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A model that uses MPI_COMM_WORLD everywhere runs with a server after the recipe of
docs/how-to/comm-world.md, however its sources spell the `use` statement."""
from _follow import Newcomer

SPELLINGS = ("use mpi", "USE MPI", "  use  mpi ! MPI's constants", "\tuse mpi", "use :: mpi", "use::mpi", "use, non_intrinsic :: mpi",
             "use mpi, only: MPI_COMM_WORLD", "use mpi,only:MPI_COMM_WORLD", "Use Mpi , Only : MPI_COMM_WORLD",
             "use mpi, &\n    only: MPI_COMM_WORLD", "use mpi; use iso_c_binding", "use iso_c_binding; use mpi")
OTHERS = ("use mpi_tools", "use tools  ! use mpi there", "mpi = mpi + 1")


def spelled():
    """A model with a different spelling in each subroutine, and other occurrences of the word."""
    calls, subroutines = [], []
    for number, spelling in enumerate(SPELLINGS):
        calls.append(f"  call count_{number}()")
        subroutines.append(f"""subroutine count_{number}()
{spelling}
  implicit none
  integer :: ranks, rank, ierr
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  if (rank == 0) print '(a, i0)', 'model ranks: ', ranks
end subroutine
""")
    return "\n".join(["subroutine run_model()", *calls, "end subroutine", "", *subroutines])


def other_words_stay(user, sed):
    user.save("model.f90", "\n".join(OTHERS) + "\n")
    user.run("other words", sed)
    assert (user.work / "model.f90").read_text() == "\n".join(OTHERS) + "\n", (user.work / "model.f90").read_text()


def main():
    user = Newcomer()
    user.read_settings()
    ran = {}
    for kind, title, text in user.page("docs/how-to/comm-world.md"):
        if kind == "test":
            user.save(title, text)
        else:
            assert user.run(title, text) == "model ranks: 3\n", title
            ran[title] = text
    assert list(ran) == ["Fortran", "C"], ran
    user.save("model.f90", spelled())
    said = user.run("every spelling of use", ran["Fortran"])
    assert said == len(SPELLINGS) * "model ranks: 3\n", said
    other_words_stay(user, ran["Fortran"].splitlines()[0])


main()
