// SPDX-License-Identifier: Apache-2.0
#include "mpi/thread_level.hpp"

#include <mpi.h>

namespace afterbay::mpi {

ThreadLevel ThreadLevel::of_this_process() {
  ThreadLevel it;
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  switch (level) {
    case MPI_THREAD_MULTIPLE: it.name_ = "MPI_THREAD_MULTIPLE"; break;
    case MPI_THREAD_SERIALIZED: it.name_ = "MPI_THREAD_SERIALIZED"; break;
    case MPI_THREAD_FUNNELED: it.name_ = "MPI_THREAD_FUNNELED"; break;
    default: it.name_ = "MPI_THREAD_SINGLE";
  }
  it.is_main_only_ = level == MPI_THREAD_SINGLE || level == MPI_THREAD_FUNNELED;
  return it;
}

bool ThreadLevel::allows_this_thread() const {
  if (!is_main_only_) return true;
  int is_main = 0;
  MPI_Is_thread_main(&is_main);
  return is_main != 0;
}

Error wrong_thread(std::string_view call, std::string_view level, int rank) {
  return make_error(
             ErrorCode::bad_state,
             "{} uses MPI, and was called by another thread than the main one: MPI was initialised with "
             "{}. Call it in the thread that initialised MPI, or initialise MPI with "
             "MPI_THREAD_SERIALIZED; other threads put through endpoints of their own",
             call, level)
      .at_rank(rank);
}

}  // namespace afterbay::mpi
