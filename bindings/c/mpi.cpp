// SPDX-License-Identifier: Apache-2.0
#include "afterbay/mpi.h"

#include "afterbay/mpi.hpp"
#include "handles.hpp"

using namespace afterbay;     // NOLINT: every function here is a line of the C++ interface
using namespace afterbay::c;  // NOLINT

int afterbay_session_open(MPI_Comm comm, const afterbay_options* options, afterbay_session** session) {
  return guarded([&] {
    afterbay_session*& result = need(session, "session");
    result =
        new afterbay_session{open_session(comm, options == nullptr ? SessionOptions{} : options->options)};
  });
}

int afterbay_session_model_comm(const afterbay_session* session, MPI_Comm* comm) {
  return guarded([&] { need(comm, "comm") = model_comm(need(session, "session").session); });
}

int afterbay_session_open_fint(MPI_Fint comm, const afterbay_options* options, afterbay_session** session) {
  return guarded([&] {
    afterbay_session*& result = need(session, "session");
    SessionOptions own = options == nullptr ? SessionOptions{} : options->options;
    own.language = Language::fortran;
    result = new afterbay_session{open_session(MPI_Comm_f2c(comm), own)};
  });
}

int afterbay_session_model_comm_fint(const afterbay_session* session, MPI_Fint* comm) {
  return guarded([&] { need(comm, "comm") = MPI_Comm_c2f(model_comm(need(session, "session").session)); });
}
