// SPDX-License-Identifier: Apache-2.0
/// @file
/// Opens a session from an MPI communicator. The only public C++ header that needs mpi.h.
#pragma once

#include <mpi.h>

#include "afterbay/export.h"
#include "afterbay/session.hpp"

namespace afterbay {

/// Opens a session over `comm`; all its ranks call it, model ranks and I/O servers. The
/// communicator is duplicated; the caller keeps its own. MPI must have been initialised with at
/// least MPI_THREAD_FUNNELED (inline topology with a background thread over several nodes:
/// MPI_THREAD_MULTIPLE). Waits for all ranks. Throws the same error on every rank if settings are
/// invalid, differ between ranks, or cannot work on this machine: invalid_argument, unknown_name,
/// wrong_type, conflict, no_space, resources, io, mpi; timed_out with the ranks that have not
/// called it. Throws, on this rank, bad_state if MPI is not initialised or the thread must not call
/// MPI, and invalid_argument for MPI_COMM_NULL. If a thread that must not call MPI destroys the
/// session before finalize, this is reported on stderr, and the session ends in MPI_Finalize.
AFTERBAY_API Session open_session(MPI_Comm comm, const SessionOptions& options = {});

/// The model ranks' own communicator, owned by the session; MPI_COMM_NULL on servers. Does not
/// wait. Throws bad_state on an empty handle.
AFTERBAY_API MPI_Comm model_comm(const Session& session);

}  // namespace afterbay
