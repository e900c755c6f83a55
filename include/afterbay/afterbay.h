/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Afterbay for C (C99 and later). afterbay/mpi.h opens a session from an MPI communicator.

   @code
   afterbay_session* session;
   afterbay_session_open(MPI_COMM_WORLD, options, &session);
   int server;
   afterbay_session_is_server(session, &server);
   if (server) { afterbay_session_serve(session); afterbay_session_free(session); return; }
   afterbay_decomposition_define(session, "grid", 2, global, start, count, AFTERBAY_GAPS_REFUSED);
   afterbay_collection_define(session, "history", schema, &where, &history);
   for (name.step = 0; name.step < steps; ++name.step) {
     afterbay_collection_open(history, &name, NULL, &file);
     afterbay_file_put(file, "temperature", record, AFTERBAY_FLOAT64, temperature, NULL);
     afterbay_session_end_step(session);
     afterbay_file_close(file, NULL);
     afterbay_file_free(file);
   }
   afterbay_session_finalize(session);
   @endcode

   Rules that hold for every function:
   - Errors: a function returns an error code, AFTERBAY_OK (0) or one of enum afterbay_error;
     afterbay_last_error() returns the message. If a call fails, its output arguments are unchanged.
     Every function returns AFTERBAY_INVALID_ARGUMENT for a NULL pointer that must not be NULL, and
     AFTERBAY_RESOURCES if memory cannot be allocated. Functions that define, put, read or wait
     return AFTERBAY_BAD_STATE after afterbay_session_finalize, and on a server. Descriptions name
     the other errors. A call that is refused because of its arguments or its order leaves the
     session usable. An error that a server or another rank reports ends the session: every later
     call returns that error. Files are written in the background, so an error in a file may be
     returned by any later call.
   - Order: every model rank makes the same calls in the same order: definitions, open, put,
     end_step, close.
   - Waits: a function waits only if its description says so, and returns AFTERBAY_TIMED_OUT if what
     it waits for makes no progress within the setting `deadline`. "Collective" means that it waits
     for the other ranks. With inline servers in synchronous mode afterbay_session_start, _end_step,
     _open_input, afterbay_collection_open, afterbay_file_records, afterbay_input_get and
     _get_strings also wait for all model ranks.
   - Threads: a session and the handles obtained from it must be used by one thread at a time; two
     calls at once are refused (AFTERBAY_BAD_STATE). A call may use MPI, so the thread must be
     allowed to call MPI: with MPI_THREAD_SINGLE and MPI_THREAD_FUNNELED the thread that initialised
     MPI, with MPI_THREAD_SERIALIZED and MPI_THREAD_MULTIPLE any thread, one at a time. Other
     threads are refused (AFTERBAY_BAD_STATE) in calls that may use MPI. These are
     afterbay_session_open, _serve, _finalize and afterbay_output_open, and on ranks that reach a
     server over MPI, or with synchronous inline servers, all others. With SERIALIZED, no other
     thread may call MPI while a thread is in a call of the session, or while the thread of its last
     call is in a call of an endpoint or a pool. Other threads put through an afterbay_endpoint of
     their own. Any thread may call the functions of options, schemas and changes, one at a time for
     the same object. The last error is kept per thread.
   - Values: lists of dimensions and indices are in C order (slowest first) and start from 0. Text
     is UTF-8 and ends with NUL. Arguments are copied; the caller keeps ownership.
   - Handles: release a handle with the _free function of its type, which accepts NULL. */
#ifndef AFTERBAY_AFTERBAY_H
#define AFTERBAY_AFTERBAY_H

#include "afterbay/calendar.h" /* calendars, dates, periods, time axes */
#include "afterbay/endpoint.h" /* further callers of put in a rank */
#include "afterbay/error.h"    /* error codes and messages */
#include "afterbay/file.h"     /* collections, files, slots */
#include "afterbay/input.h"    /* files open for input */
#include "afterbay/output.h"   /* described output */
#include "afterbay/schema.h"   /* types of values, schemas */
#include "afterbay/session.h"  /* options, sessions, decompositions */
#include "afterbay/version.h"

#endif
