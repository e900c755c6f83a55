/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Opens a session from an MPI communicator. The only C header that needs mpi.h. */
#ifndef AFTERBAY_MPI_H
#define AFTERBAY_MPI_H

#include <mpi.h>

#include "afterbay/afterbay.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Collective. Opens a session over `comm`; all its ranks call it, model ranks and I/O servers.
   The communicator is duplicated; the caller keeps its own. `options` may be NULL. MPI must
   have been initialised with at least MPI_THREAD_FUNNELED (inline topology with a background
   thread over several nodes: MPI_THREAD_MULTIPLE). Fails on every rank, with the same error, if
   settings are invalid, differ between ranks, or cannot work on this machine:
   AFTERBAY_INVALID_ARGUMENT, AFTERBAY_UNKNOWN_NAME, AFTERBAY_WRONG_TYPE, AFTERBAY_CONFLICT,
   AFTERBAY_NO_SPACE, AFTERBAY_RESOURCES, AFTERBAY_IO, AFTERBAY_MPI; AFTERBAY_TIMED_OUT with the
   ranks that have not called it. Fails on this rank with AFTERBAY_BAD_STATE if MPI is not
   initialised or the thread must not call MPI, AFTERBAY_INVALID_ARGUMENT for MPI_COMM_NULL. */
AFTERBAY_API int afterbay_session_open(MPI_Comm comm, const afterbay_options* options,
                                       afterbay_session** session);

/** Returns the model ranks' own communicator, owned by the session; MPI_COMM_NULL on servers.
   Does not wait; fails only with AFTERBAY_INVALID_ARGUMENT, for NULL. */
AFTERBAY_API int afterbay_session_model_comm(const afterbay_session* session, MPI_Comm* comm);

/** Like afterbay_session_open, with the communicator as a Fortran integer. Messages of such a
   session use Fortran's conventions: indices, dimensions and records from 1, the fastest
   dimension first. Fails as afterbay_session_open does. */
AFTERBAY_API int afterbay_session_open_fint(MPI_Fint comm, const afterbay_options* options,
                                            afterbay_session** session);
/** Like afterbay_session_model_comm, with the communicator as a Fortran integer. Fails as
   afterbay_session_model_comm does. */
AFTERBAY_API int afterbay_session_model_comm_fint(const afterbay_session* session, MPI_Fint* comm);

#ifdef __cplusplus
}
#endif

#endif
