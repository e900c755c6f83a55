// SPDX-License-Identifier: Apache-2.0
// How a session starts from an MPI communicator. The only public header that needs mpi.h.
#pragma once

#include <mpi.h>

#include "afterbay/session.hpp"

namespace afterbay {

/// Opens a session over `comm` (all its ranks call it: model ranks and I/O servers). The
/// communicator is duplicated; the caller keeps its own. MPI must have been initialised, at least
/// MPI_THREAD_FUNNELED (inline topology with a background thread over several nodes: MULTIPLE).
Session open_session(MPI_Comm comm, const SessionOptions& options = {});

/// The model ranks' own communicator, owned by the session; MPI_COMM_NULL on servers.
MPI_Comm model_comm(const Session& session);

}  // namespace afterbay
