/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Options, sessions and decompositions, for C; part of afterbay/afterbay.h, whose rules hold.
   afterbay/mpi.h opens a session. */
#ifndef AFTERBAY_SESSION_H
#define AFTERBAY_SESSION_H

#include <stddef.h>
#include <stdint.h>

#include "afterbay/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct afterbay_options afterbay_options; /**< how a session is opened */
typedef struct afterbay_session afterbay_session; /**< a run's output and input, from open to finalize */

/* ---- Options ------------------------------------------------------------------------------ */
/* Errors of all functions in this section: AFTERBAY_INVALID_ARGUMENT for NULL. */

/** The role of this process. */
enum afterbay_role {
  AFTERBAY_ROLE_AUTOMATIC = 0, /**< from the configuration: the last `servers` ranks serve */
  AFTERBAY_ROLE_MODEL = 1,     /**< a model rank */
  AFTERBAY_ROLE_SERVER = 2     /**< an I/O server */
};

/** Creates options with the default values. */
AFTERBAY_API int afterbay_options_create(afterbay_options** options);
/** Releases the options; a session that was opened with them does not need them. */
AFTERBAY_API void afterbay_options_free(afterbay_options* options);
/** Sets a setting by its dotted name ("servers", "memory.server"). Precedence, lowest first:
   defaults, settings from code, the YAML file, the environment, the command line. Names and
   values are checked when the session is opened. */
AFTERBAY_API int afterbay_options_set(afterbay_options* options, const char* setting, const char* value);
/** Sets the session's name in messages, segments and reports; default "afterbay". */
AFTERBAY_API int afterbay_options_set_name(afterbay_options* options, const char* name);
/** Sets the role: one of enum afterbay_role; AFTERBAY_INVALID_ARGUMENT for other numbers. */
AFTERBAY_API int afterbay_options_set_role(afterbay_options* options, int role);
/** Sets the YAML file; default: the environment variable AFTERBAY_CONFIG, else none. */
AFTERBAY_API int afterbay_options_set_config_file(afterbay_options* options, const char* path);
/** Gives an output description in YAML, which is joined with the files of the setting "output" as
   if one of them included it. All ranks and servers of the session must give the same. It is
   checked when the session is opened; messages name it "text of the program". */
AFTERBAY_API int afterbay_options_set_output_text(afterbay_options* options, const char* text);
/** Passes the arguments of main; only those that begin with --afterbay. are used. */
AFTERBAY_API int afterbay_options_set_arguments(afterbay_options* options, int argc, const char* const* argv);

/* ---- Session ------------------------------------------------------------------------------ */

/** Releases a session that afterbay_session_open (afterbay/mpi.h) opened. If it was not finalized,
   the servers are told that this rank gave up, and files stay unpublished: waits for servers and
   endpoints, for each at most the setting `deadline` and a few seconds. Otherwise waits a few
   seconds at most for the other ranks. Collections and files may be freed before or after it. */
AFTERBAY_API void afterbay_session_free(afterbay_session* session);

/** *server = 1: call afterbay_session_serve and nothing else. Fails only with
   AFTERBAY_INVALID_ARGUMENT, for NULL. */
AFTERBAY_API int afterbay_session_is_server(const afterbay_session* session, int* server);
/** Serves until every model rank has finalized, then returns the first error of the session, if
   any, or AFTERBAY_STOPPED after a signal. Sleeps while there is nothing to do. AFTERBAY_BAD_STATE
   on a model rank, and if the session was served already. */
AFTERBAY_API int afterbay_session_serve(afterbay_session* session);
/** Serves several sessions of this process side by side until all their model ranks have finalized,
   then returns their first error. Fails as afterbay_session_serve does. */
AFTERBAY_API int afterbay_sessions_serve(afterbay_session* const* sessions, size_t count);
/** Returns the number of this rank among the model ranks, from 0. AFTERBAY_BAD_STATE on a
   server. */
AFTERBAY_API int afterbay_session_model_rank(const afterbay_session* session, int* rank);
/** Returns the number of model ranks. AFTERBAY_BAD_STATE on a server. */
AFTERBAY_API int afterbay_session_model_size(const afterbay_session* session, int* size);

/** Collective. Sends new definitions to the servers and waits for their answer. AFTERBAY_CONFLICT
   for decompositions that overlap or have gaps, and for definitions that differ between ranks,
   AFTERBAY_RESOURCES if they need more memory than settings allow; these end the session. Does
   nothing without new definitions. The first afterbay_collection_open after them implies it. */
AFTERBAY_API int afterbay_session_start(afterbay_session* session);

/** A point in the order of the data that this rank has put; see afterbay_session_wait. */
typedef struct afterbay_ticket {
  uint64_t number; /**< tickets of this rank are numbered in order; 0: none */
} afterbay_ticket;

/** Does what endpoints leave to the thread that uses the session: if the rank shares no memory with
   a server, their data and requests go through it. Other functions do the same; call this one now
   and then if the thread makes no other call for a long time. Does not wait for endpoints.
   AFTERBAY_BAD_STATE after afterbay_session_finalize. */
AFTERBAY_API int afterbay_session_progress(afterbay_session* session);
/** Marks everything put since the last end_step as a complete step. With inline servers in
   synchronous mode it is collective and returns when the step is written; otherwise it does not
   wait. AFTERBAY_BAD_STATE while a slot is not committed, or sections are missing. */
AFTERBAY_API int afterbay_session_end_step(afterbay_session* session);
/** Returns a ticket that is complete when everything put before is durable or handed to the file
   system. Does not wait, except for endpoints. On a rank that has opened an endpoint, it covers the
   steps that the session has ended. AFTERBAY_BAD_STATE while a slot is not committed, or sections
   are missing; AFTERBAY_TIMED_OUT, which ends the session, with the endpoints that are late. */
AFTERBAY_API int afterbay_session_flush(afterbay_session* session, afterbay_ticket* ticket);
/** Marks an epoch in the output. The ticket is complete when everything that all ranks put
   before, in all files, is durable and can be recovered after any later crash; files that are
   still open then are recovered by `afterbay recover FILE`. Every model rank calls it. Does not
   wait, except for endpoints. On a rank that has opened an endpoint, it covers the steps that the
   session has ended. Fails as afterbay_session_flush does; AFTERBAY_INVALID_ARGUMENT for an empty
   name. */
AFTERBAY_API int afterbay_session_epoch(afterbay_session* session, const char* name, afterbay_ticket* ticket);
/** Calls `function(context)` once, in this thread, when the ticket is complete: from within
   afterbay_session_end_step, _wait, _is_complete or _finalize. It may call the session. Does
   not wait. AFTERBAY_INVALID_ARGUMENT for a ticket that does not belong to this session. */
AFTERBAY_API int afterbay_session_on_complete(afterbay_session* session, afterbay_ticket ticket,
                                              void (*function)(void* context), void* context);
/** Waits until a ticket is complete and returns the error that prevented it, if any.
   AFTERBAY_INVALID_ARGUMENT for a ticket that does not belong to this session. */
AFTERBAY_API int afterbay_session_wait(afterbay_session* session, afterbay_ticket ticket);
/** Returns whether a ticket is complete. Does not wait. Fails as afterbay_session_wait does. */
AFTERBAY_API int afterbay_session_is_complete(afterbay_session* session, afterbay_ticket ticket,
                                              int* complete);
/** Collective. Closes all files, waits until everything is published, or returns what prevented it,
   and prints the report. AFTERBAY_BAD_STATE while a slot is not committed, sections are missing or
   an output is not finalized: nothing is closed then. Does nothing if called again. */
AFTERBAY_API int afterbay_session_finalize(afterbay_session* session);

/* ---- Decomposition ------------------------------------------------------------------------ */

/** What happens to points that no rank holds. */
enum afterbay_gaps {
  AFTERBAY_GAPS_REFUSED = 0, /**< every point must be held by a rank */
  AFTERBAY_GAPS_ALLOWED = 1  /**< points that no rank holds get the fill value */
};

/** Defines this rank's part of a global index space of `rank` (1 to 7) dimensions, under a name:
   lists of `rank` lengths. A count of 0 in any dimension: this rank holds nothing. Overlaps and
   gaps between ranks are reported by afterbay_session_start. `gaps`: one of enum afterbay_gaps.
   Does not wait. AFTERBAY_CONFLICT if the name is taken, AFTERBAY_INVALID_ARGUMENT for an empty
   name, an invalid box or another number for `gaps`. */
AFTERBAY_API int afterbay_decomposition_define(afterbay_session* session, const char* name, int rank,
                                               const uint64_t* global, const uint64_t* start,
                                               const uint64_t* count, int gaps);

/** How a linear index counts the points of a global index space. */
enum afterbay_order {
  AFTERBAY_ROW_MAJOR = 0,   /**< the last dimension runs fastest (C) */
  AFTERBAY_COLUMN_MAJOR = 1 /**< the first dimension runs fastest */
};

/** What happens to a point that is listed more than once, by one rank or by several. */
enum afterbay_repeats {
  AFTERBAY_REPEATS_REFUSED = 0, /**< an error that names the point and the ranks */
  AFTERBAY_REPEATS_FIRST = 1,   /**< the first value of the lowest rank is written */
  AFTERBAY_REPEATS_LAST = 2     /**< the last value of the highest rank is written */
};

/** This rank's part of a global index space as a list of points in the order of the rank's
   array. Element k is the point indices[k]; with runs, the runs (offset, length) follow one
   another. Set unused members to zero: then points count from 0, row-major, -1 is a hole, and
   every point must be held by a rank. */
typedef struct afterbay_map {
  int rank;                    /**< 1 to 7 */
  const uint64_t* global;      /**< `rank` lengths, C order as in the variable, whatever `order` is */
  const int64_t* indices;      /**< linear indices into `global` */
  size_t index_count;          /**< 0 with runs, or when this rank holds nothing */
  const int64_t* run_offsets;  /**< linear index of each run's first point */
  const uint64_t* run_lengths; /**< points of each run */
  size_t run_count;            /**< 0 with indices */
  int64_t base;                /**< the linear index of the first point: 0 or 1 */
  int64_t hole; /**< marks elements of the array that belong to no point; in runs as the offset. 0 with base
                   0: -1 */
  int order;    /**< enum afterbay_order */
  int gaps;     /**< enum afterbay_gaps */
  int repeats;  /**< enum afterbay_repeats */
} afterbay_map;

/** Registers a list of points under a name. Any number of variables of any type may use it, with
   more dimensions before or after those of the map. Errors name the element and its value;
   points held by several ranks and gaps are reported by afterbay_session_start. The lists are
   copied. Does not wait. AFTERBAY_CONFLICT if the name is taken, or this rank lists a point twice
   and repeats are refused; AFTERBAY_INVALID_ARGUMENT for an empty name, an invalid list or a number
   that is none of the enumeration. */
AFTERBAY_API int afterbay_decomposition_define_map(afterbay_session* session, const char* name,
                                                   const afterbay_map* map);

#ifdef __cplusplus
}
#endif

#endif
