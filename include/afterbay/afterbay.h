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

#include <stddef.h>
#include <stdint.h>

#include "afterbay/export.h"
#include "afterbay/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct afterbay_options afterbay_options; /**< how a session is opened */
typedef struct afterbay_session afterbay_session; /**< a run's output and input, from open to finalize */
typedef struct afterbay_schema afterbay_schema;   /**< dimensions, variables, attributes */
typedef struct afterbay_changes afterbay_changes; /**< changes to a schema for one file */
typedef struct afterbay_collection afterbay_collection;       /**< a kind of file */
typedef struct afterbay_file afterbay_file;                   /**< a file open for output */
typedef struct afterbay_slot afterbay_slot;                   /**< room in the server's own buffer */
typedef struct afterbay_endpoint afterbay_endpoint;           /**< a further caller of put in this rank */
typedef struct afterbay_endpoint_pool afterbay_endpoint_pool; /**< lends endpoints to tasks */
typedef struct afterbay_input afterbay_input;                 /**< a file open for input */

/* ---- Errors ------------------------------------------------------------------------------- */

/** The kinds of errors. */
enum afterbay_error {
  AFTERBAY_OK = 0,               /**< no error */
  AFTERBAY_INVALID_ARGUMENT = 1, /**< an invalid value: shape, index, option, NULL */
  AFTERBAY_UNKNOWN_NAME = 2,     /**< no variable, dimension, setting, ... with that name */
  AFTERBAY_WRONG_TYPE = 3,       /**< a type that does not fit */
  AFTERBAY_CONFLICT = 4,         /**< contradicts an earlier call or another rank */
  AFTERBAY_BAD_STATE = 5,        /**< call out of order (after close, before definition) */
  AFTERBAY_WOULD_BLOCK = 6,      /**< afterbay_file_try_put: no room now */
  AFTERBAY_TIMED_OUT = 7,        /**< a wait exceeded its deadline */
  AFTERBAY_PEER_LOST = 8,        /**< a model rank or an I/O server was lost */
  AFTERBAY_EXISTS = 9,           /**< the file exists and `existing` is "refuse" */
  AFTERBAY_NO_SPACE = 10,        /**< disk, quota or shared memory full */
  AFTERBAY_IO = 11,              /**< the operating system refused a read or write */
  AFTERBAY_FORMAT = 12,          /**< a file is damaged or not of the expected format */
  AFTERBAY_RESOURCES = 13,       /**< a limit was exceeded: memory budget, layout, open files */
  AFTERBAY_MPI = 14,             /**< MPI returned an error */
  AFTERBAY_INTERNAL = 15,        /**< a defect of Afterbay */
  AFTERBAY_STOPPED = 16          /**< the run stopped cleanly on request (a signal, the walltime) */
};

/** An error: what failed and where. Strings are never NULL; empty: unknown. */
typedef struct afterbay_error_info {
  int code;             /**< enum afterbay_error */
  int rank;             /**< rank in the session's communicator; -1: unknown */
  int native;           /**< errno, or the code of MPI, netCDF or HDF5; 0: none */
  const char* message;  /**< what happened and what to do */
  const char* file;     /**< empty: unknown */
  const char* variable; /**< empty: unknown */
  const char* text;     /**< complete text: place, message, code, context */
} afterbay_error_info;

/** The text of this thread's last error; "" if no call has failed. Valid until the thread's next
   failing call. Successful calls do not change it. */
AFTERBAY_API const char* afterbay_last_error(void);

/** The same error, as a struct that is valid for as long. `info` must not be NULL. */
AFTERBAY_API void afterbay_last_error_info(afterbay_error_info* info);

/** Returns a code's name: "no_space", ...; "unknown" for other numbers. Static storage. */
AFTERBAY_API const char* afterbay_error_name(int code);

/** Ends the process with exit status 1 because of the thread's last error; does not return. The
   open sessions of the process fail with this error as the reason: those that this thread opened
   or, if it has none, those of other threads (docs/reference/api.md, Errors). The error is printed
   on stderr once per job, not once per rank. Takes a few seconds at most. */
AFTERBAY_API void afterbay_stop(void);

/** For bindings to other languages: sets this thread's last error and returns `code`. `variable`
   may be NULL; AFTERBAY_INVALID_ARGUMENT if `message` is. */
AFTERBAY_API int afterbay_error_set(int code, const char* message, const char* variable);

/* ---- Types and values --------------------------------------------------------------------- */

/** The atomic types of netCDF-4, and the C types of the elements in lists of values. */
enum afterbay_type {
  AFTERBAY_INT8 = 1,    /**< int8_t */
  AFTERBAY_TEXT = 2,    /**< char; NC_CHAR */
  AFTERBAY_INT16 = 3,   /**< int16_t */
  AFTERBAY_INT32 = 4,   /**< int32_t */
  AFTERBAY_FLOAT32 = 5, /**< float */
  AFTERBAY_FLOAT64 = 6, /**< double */
  AFTERBAY_UINT8 = 7,   /**< uint8_t */
  AFTERBAY_UINT16 = 8,  /**< uint16_t */
  AFTERBAY_UINT32 = 9,  /**< uint32_t */
  AFTERBAY_INT64 = 10,  /**< int64_t */
  AFTERBAY_UINT64 = 11, /**< uint64_t */
  AFTERBAY_STRING = 12  /**< const char*; NC_STRING */
};

/** Bytes per element in memory; 0 for AFTERBAY_STRING and for other numbers. */
AFTERBAY_API size_t afterbay_type_bytes(int type);

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

/* ---- Schema ------------------------------------------------------------------------------- */
/* Errors of all functions in this section: AFTERBAY_INVALID_ARGUMENT for NULL and for a negative
   rank, AFTERBAY_WRONG_TYPE for a `type` that is none of enum afterbay_type, AFTERBAY_UNKNOWN_NAME,
   with a suggestion for a mistyped name, for a `variable` that was not added. */

/** The length of a dimension that grows with the records. */
#define AFTERBAY_UNLIMITED 0

/** Creates an empty schema. afterbay_collection_define checks it against the rules of netCDF and
   of the format, and reports all problems at once. */
AFTERBAY_API int afterbay_schema_create(afterbay_schema** schema);
/** Releases the schema; a collection that was defined with it has its own copy. */
AFTERBAY_API void afterbay_schema_free(afterbay_schema* schema);

/** Adds a dimension; AFTERBAY_UNLIMITED: it grows with the records. */
AFTERBAY_API int afterbay_schema_add_dimension(afterbay_schema* schema, const char* name, uint64_t length);
/** Adds a variable with `rank` dimensions, slowest first; the unlimited one, if any, comes
   first. */
AFTERBAY_API int afterbay_schema_add_variable(afterbay_schema* schema, const char* name, int type, int rank,
                                              const char* const* dimensions);

/** Sets an attribute to `count` values of `type`. `variable` NULL: a global attribute. For
   AFTERBAY_TEXT `values` points to `count` characters, for AFTERBAY_STRING to `count` pointers. */
AFTERBAY_API int afterbay_schema_set_attribute(afterbay_schema* schema, const char* variable,
                                               const char* name, int type, size_t count, const void* values);
/** Sets an attribute to text that ends with NUL. */
AFTERBAY_API int afterbay_schema_set_text(afterbay_schema* schema, const char* variable, const char* name,
                                          const char* text);
/** Sets the fill value: one value of `type`, converted to the type of the variable. Default:
   netCDF's fill value for that type. */
AFTERBAY_API int afterbay_schema_set_fill(afterbay_schema* schema, const char* variable, int type,
                                          const void* value);
/** Sets the chunk lengths, one per dimension; the unit of the unlimited dimension is records.
   netCDF-4 only. Default: chosen from the setting `access`, see docs/how-to/chunks.md. */
AFTERBAY_API int afterbay_schema_set_chunk(afterbay_schema* schema, const char* variable, int rank,
                                           const uint64_t* lengths);
/** Sets zlib level 0 (off) to 9, with or without byte shuffle; netCDF-4 only. */
AFTERBAY_API int afterbay_schema_set_deflate(afterbay_schema* schema, const char* variable, int level,
                                             int shuffle);
/** Sets a filter by its name ("zstd", see docs/how-to/chunks.md): to a level, or with level 1 on
   for a filter without levels; 0 removes it; netCDF-4 only. Returns AFTERBAY_UNKNOWN_NAME, with a
   suggestion, if there is no such filter. Wrong levels, and filters that this build lacks, are
   reported by afterbay_collection_define. */
AFTERBAY_API int afterbay_schema_set_filter(afterbay_schema* schema, const char* variable, const char* filter,
                                            int level);
/** Packs a variable of type float32 or float64 as integers of packed_type ("int8", "int16",
   "int32", or "auto": the smallest of them that absolute_error allows) for numbers in [low, high],
   in the units of the file; readers unpack them with the attributes scale_factor and add_offset.
   The error is at most absolute_error; 0: as small as the type allows. Ranges and errors that the
   type cannot hold are refused when a collection is defined, and so are errors that are negative or
   not finite. See docs/how-to/which-codec.md. */
AFTERBAY_API int afterbay_schema_set_packing(afterbay_schema* schema, const char* variable,
                                             const char* packed_type, double low, double high,
                                             double absolute_error);
/** Sets the variable's decomposition. A block covers the trailing dimensions of the variable. A
   map covers the trailing dimensions if they have its lengths, else the only other dimensions
   that have them. Default: every rank holds the whole variable. */
AFTERBAY_API int afterbay_schema_set_decomposition(afterbay_schema* schema, const char* variable,
                                                   const char* decomposition);
/** Sets values that are written once when a file is created (coordinates): `count` values of the
   variable's type. Such a variable is never put. */
AFTERBAY_API int afterbay_schema_set_constant(afterbay_schema* schema, const char* variable, int type,
                                              size_t count, const void* values);

/* ---- What is in a schema ------------------------------------------------------------------ */

/* For schemas that the caller created and for those of input files (afterbay_input_schema).
   Names and values that these functions return are valid until the schema is changed or freed.
   If a function has several output arguments, those that are not needed may be NULL.
   Errors of all functions in this section: AFTERBAY_INVALID_ARGUMENT for NULL and for an invalid
   index, AFTERBAY_UNKNOWN_NAME, with a suggestion, for a variable, dimension or attribute that does
   not exist. */

/** Returns the length of a dimension; AFTERBAY_UNLIMITED if it grows with the records. */
AFTERBAY_API int afterbay_schema_get_dimension(const afterbay_schema* schema, const char* dimension,
                                               uint64_t* length);
/** Returns the number of variables. */
AFTERBAY_API int afterbay_schema_variable_count(const afterbay_schema* schema, size_t* count);
/** Returns the name of variable number `index`, counted from 0. */
AFTERBAY_API int afterbay_schema_get_variable_name(const afterbay_schema* schema, size_t index,
                                                   const char** name);
/** *there = 1: the schema has this variable; 0: it does not, which is not an error. */
AFTERBAY_API int afterbay_schema_has_variable(const afterbay_schema* schema, const char* variable,
                                              int* there);
/** `type`: one of enum afterbay_type. `rank`: the number of dimensions, including the unlimited
   one. */
AFTERBAY_API int afterbay_schema_get_variable(const afterbay_schema* schema, const char* variable, int* type,
                                              int* rank);
/** Returns dimension number `index` of the variable, counted from 0, slowest first. */
AFTERBAY_API int afterbay_schema_get_variable_dimension(const afterbay_schema* schema, const char* variable,
                                                        int index, const char** name, uint64_t* length);

/** *there = 1: the attribute exists; 0: it does not. `variable` NULL: a global attribute, also
   in the functions below. "_FillValue" is an attribute of the variables that have one. */
AFTERBAY_API int afterbay_schema_has_attribute(const afterbay_schema* schema, const char* variable,
                                               const char* name, int* there);
/** Returns the values in the form that afterbay_schema_set_attribute takes; text is also
   NUL-terminated. */
AFTERBAY_API int afterbay_schema_get_attribute(const afterbay_schema* schema, const char* variable,
                                               const char* name, int* type, size_t* count,
                                               const void** values);
/** Returns text: AFTERBAY_TEXT, or a single AFTERBAY_STRING. AFTERBAY_WRONG_TYPE for others. */
AFTERBAY_API int afterbay_schema_get_text(const afterbay_schema* schema, const char* variable,
                                          const char* name, const char** text);
/** Copies numbers of any numeric type into an array of `count` elements of `type`.
   AFTERBAY_INVALID_ARGUMENT if `count` is not the number of the attribute's values,
   AFTERBAY_WRONG_TYPE if they or `type` are not numeric, or `type` cannot represent them. */
AFTERBAY_API int afterbay_schema_get_numbers(const afterbay_schema* schema, const char* variable,
                                             const char* name, int type, size_t count, void* values);

/* ---- Changes to a schema for one file ----------------------------------------------------- */
/* Errors of all functions in this section: AFTERBAY_INVALID_ARGUMENT for NULL, AFTERBAY_WRONG_TYPE
   for a `type` that is none of enum afterbay_type. afterbay_collection_open checks the rest. */

/** Creates an empty list of changes. */
AFTERBAY_API int afterbay_changes_create(afterbay_changes** changes);
/** Releases the changes; a file that was opened with them does not need them. */
AFTERBAY_API void afterbay_changes_free(afterbay_changes* changes);
/** Sets or replaces an attribute in one file. `variable` NULL: a global attribute. */
AFTERBAY_API int afterbay_changes_set_attribute(afterbay_changes* changes, const char* variable,
                                                const char* name, int type, size_t count, const void* values);
/** Sets or replaces an attribute with text that ends with NUL. */
AFTERBAY_API int afterbay_changes_set_text(afterbay_changes* changes, const char* variable, const char* name,
                                           const char* text);
/** Removes an attribute in one file. `variable` NULL: a global attribute. */
AFTERBAY_API int afterbay_changes_remove_attribute(afterbay_changes* changes, const char* variable,
                                                   const char* name);
/** Replaces constant values: as many as in the schema, converted to the type of the variable. */
AFTERBAY_API int afterbay_changes_set_constant(afterbay_changes* changes, const char* variable, int type,
                                               size_t count, const void* values);

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

/* ---- Collection --------------------------------------------------------------------------- */

/** How the files of a collection are stored; NULL: the default. Set unused members to zero. */
typedef struct afterbay_collection_options {
  const char* file;      /**< name template: {collection}, {step}, {step:06}, {member:03}, {date:%Y%m%d_%H};
                            default: {collection} with the ending of the store, such as
                            "{collection}.nc" or "{collection}.grib2" */
  const char* directory; /**< prepended to the name; default: the working directory */
  const char* store;     /**< "netcdf4" (default), "cdf5", "cdf2", "grib2", "pp", "fieldsfile",
                            "memory" */
  const char* existing;  /**< what happens if a file exists: "refuse" (default), "replace", "append" */
} afterbay_collection_options;

/** Defines a kind of file. `where` NULL: all defaults. The schema is copied and checked; all its
   problems are reported at once. Does not wait. AFTERBAY_CONFLICT if the name is taken,
   AFTERBAY_INVALID_ARGUMENT for an invalid value in `where`; for problems of the schema also
   AFTERBAY_UNKNOWN_NAME, AFTERBAY_WRONG_TYPE and AFTERBAY_RESOURCES. */
AFTERBAY_API int afterbay_collection_define(afterbay_session* session, const char* name,
                                            const afterbay_schema* schema,
                                            const afterbay_collection_options* where,
                                            afterbay_collection** collection);
/** Releases the handle only. */
AFTERBAY_API void afterbay_collection_free(afterbay_collection* collection);
/** Returns the collection's name, valid as long as the handle. Does not wait. AFTERBAY_BAD_STATE
   after afterbay_session_free. */
AFTERBAY_API int afterbay_collection_name(const afterbay_collection* collection, const char** name);

/** The name of a file: `name` as it is, or the template with step, member and date filled in. */
typedef struct afterbay_file_name {
  const char* name; /**< the whole name; NULL: the template is filled in */
  const char* date; /**< ISO 8601: "2026-11-21", "2026-11-21T06:00:00"; NULL: none */
  int has_step;     /**< 1: `step` is set */
  int has_member;   /**< 1: `member` is set */
  int64_t step;     /**< for {step} */
  int64_t member;   /**< for {member}: number of an ensemble member */
} afterbay_file_name;

/** Opens a file. `name` NULL: the template without values. `changes` NULL: none; those of the
   lowest model rank are applied. Each rank checks those that it gives: give the same ones on all,
   so that all refuse. Every model rank calls it. The server creates the file in the background; a
   later call reports that the file exists already or cannot be created. Waits as
   afterbay_session_start does if there are new definitions; with the placement or pool choice
   `least`, until a server is chosen; for all model ranks, if the server gets the collection's maps
   now (setting `memory.maps`); on the lowest model rank, until an older file of the same path is
   published, if another server wrote it. AFTERBAY_CONFLICT if this session has the path open, or if
   `changes` contradict how values are rounded or packed for all files of the collection;
   AFTERBAY_INVALID_ARGUMENT, AFTERBAY_UNKNOWN_NAME and AFTERBAY_WRONG_TYPE for `name` and
   `changes`. What the server finds ends the session, and a later call returns it: AFTERBAY_EXISTS,
   AFTERBAY_CONFLICT, AFTERBAY_IO, AFTERBAY_FORMAT. */
AFTERBAY_API int afterbay_collection_open(afterbay_collection* collection, const afterbay_file_name* name,
                                          const afterbay_changes* changes, afterbay_file** file);

/* ---- File --------------------------------------------------------------------------------- */

/** Where a rank's part lies in its memory, in elements: lists of `rank` lengths, each of which
   may be NULL. With `shape` and `offset` the part starts at `offset` inside an array of `shape`
   (halos); `shape` without `offset` must be the shape of the part. With `strides`, neighbours
   along dimension i are strides[i] elements apart. All NULL: dense. */
typedef struct afterbay_memory {
  int rank;               /**< length of the lists */
  const uint64_t* shape;  /**< lengths of the whole array */
  const uint64_t* offset; /**< where the part begins in it */
  const int64_t* strides; /**< elements between neighbours */
} afterbay_memory;

/** The record of a variable without the unlimited dimension (0 is accepted too). */
#define AFTERBAY_NO_RECORD UINT64_MAX

/** Puts this rank's part of `variable` for `record`. Returns when `data` has been copied and
   converted from `type` to the type in the file. Waits only while the server has no room. `memory`
   NULL: dense. A record of a variable can be put once while the file is open. Every model rank
   calls it, also those that hold nothing; their `data` may be NULL. Not for AFTERBAY_STRING.
   AFTERBAY_UNKNOWN_NAME; AFTERBAY_WRONG_TYPE if the type does not fit or a value is out of range of
   the type in the file; AFTERBAY_INVALID_ARGUMENT for an invalid record or layout, or NULL;
   AFTERBAY_CONFLICT if the record was put before; AFTERBAY_BAD_STATE after close. In these cases no
   data were taken. */
AFTERBAY_API int afterbay_file_put(afterbay_file* file, const char* variable, uint64_t record, int type,
                                   const void* data, const afterbay_memory* memory);
/** Like afterbay_file_put, but returns AFTERBAY_WOULD_BLOCK instead of waiting; no data were
   taken then. AFTERBAY_RESOURCES: the server's memory is too small for the rank's whole part at
   once; no data were taken, use afterbay_file_put. A put that has been refused for half the
   deadline waits as afterbay_file_put does. */
AFTERBAY_API int afterbay_file_try_put(afterbay_file* file, const char* variable, uint64_t record, int type,
                                       const void* data, const afterbay_memory* memory);

/** A section of a caller's part of a variable: a box in the indices of the caller's array, without
   the record dimension, counted from 0. On a map the array has one dimension, its list of points,
   instead of the map's. A NULL pointer to a section, or `rank` 0, stands for the whole part. */
typedef struct afterbay_section {
  int rank;              /**< length of the lists: the dimensions of the caller's array */
  const uint64_t* start; /**< the first index in each dimension */
  const uint64_t* count; /**< lengths of the box */
} afterbay_section;

/** Puts a section of this rank's part; further calls put the others, in any order, also between
   sections of other variables. `data` points to the values of the section, with the layout
   `memory`. Ranks may cut their parts differently. The record is complete on this rank when all of
   its part has been put; afterbay_session_end_step is refused before (AFTERBAY_BAD_STATE). Waits
   and fails as afterbay_file_put does; AFTERBAY_CONFLICT if a value was put before,
   AFTERBAY_INVALID_ARGUMENT for a section that leaves the part. */
AFTERBAY_API int afterbay_file_put_section(afterbay_file* file, const char* variable, uint64_t record,
                                           int type, const void* data, const afterbay_memory* memory,
                                           const afterbay_section* section);
/** Puts all values of a string variable. Every model rank calls it; the values of the lowest model
   rank are written. Waits only on that rank, and only while the server's memory for strings is
   full. Fails as afterbay_file_put does; AFTERBAY_INVALID_ARGUMENT for a wrong `count`. */
AFTERBAY_API int afterbay_file_put_strings(afterbay_file* file, const char* variable, uint64_t record,
                                           size_t count, const char* const* values);
/** Lends a slot: memory in the server's own buffer for this rank's part, to be computed in
   place, or a private array; see afterbay_slot_is_direct. Does not wait for room. From then on
   the record counts as put. Fails as afterbay_file_put does. */
AFTERBAY_API int afterbay_file_acquire(afterbay_file* file, const char* variable, uint64_t record, int type,
                                       afterbay_slot** slot);
/** Returns the number of records in the file when it was opened: 0, or with "append" the next
   record. Every model rank calls it. Waits until the server has opened the file.
   AFTERBAY_BAD_STATE after afterbay_file_close, unless it was called before. */
AFTERBAY_API int afterbay_file_records(afterbay_file* file, uint64_t* records);
/** Ends this rank's output to the file; it is published when all ranks have closed it. `ticket`
   may be NULL; otherwise it is complete when the file is durable under its final name. If
   called again it returns the same ticket. Does not wait, except for endpoints.
   AFTERBAY_BAD_STATE while a slot of the file is not committed, or sections are missing: the file
   stays open. AFTERBAY_TIMED_OUT as for afterbay_session_flush. */
AFTERBAY_API int afterbay_file_close(afterbay_file* file, afterbay_ticket* ticket);
/** Returns the final path, valid as long as the handle. Fails as afterbay_input_schema does. */
AFTERBAY_API int afterbay_file_path(const afterbay_file* file, const char** path);
/** Releases the handle only; a file that is not closed stays open until
   afterbay_session_finalize. */
AFTERBAY_API void afterbay_file_free(afterbay_file* file);

/* ---- Slot --------------------------------------------------------------------------------- */
/* Errors of all functions in this section: AFTERBAY_INVALID_ARGUMENT for NULL. */

/** A box of the rank's part, to be filled in. Its element (i, j, ...) is at data + i*strides[0]
   + j*strides[1] + ... elements. Valid until the slot is committed or freed. */
typedef struct afterbay_slot_part {
  void* data;             /**< the first element, of the slot's type */
  int rank;               /**< dimensions of the variable, without the record dimension */
  const uint64_t* start;  /**< in the variable's global index space */
  const uint64_t* count;  /**< lengths of the box */
  const int64_t* strides; /**< in elements */
} afterbay_slot_part;

/** Returns the number of parts. Large fields are cut into several, which together cover this
   rank's part; 0 if the rank holds nothing. */
AFTERBAY_API int afterbay_slot_part_count(const afterbay_slot* slot, size_t* count);
/** Returns part number `index`, counted from 0; AFTERBAY_INVALID_ARGUMENT if there is none. */
AFTERBAY_API int afterbay_slot_get_part(const afterbay_slot* slot, size_t index, afterbay_slot_part* part);
/** *direct = 1: the parts lie in the server's buffer; 0: in a private array that commit copies
   (type or byte order differs from that in the file, the server is on another node, or its
   memory had no room for all parts at the time of afterbay_file_acquire). */
AFTERBAY_API int afterbay_slot_is_direct(const afterbay_slot* slot, int* direct);
/** Puts the data in the slot. Its parts must not be accessed afterwards. A private array is
   copied, which waits as afterbay_file_put does; otherwise it does not wait. AFTERBAY_BAD_STATE if
   the slot was committed before; AFTERBAY_WRONG_TYPE if a value is out of range of the type in the
   file: the slot stays uncommitted and can be committed again. */
AFTERBAY_API int afterbay_slot_commit(afterbay_slot* slot);
/** Releases the handle. Without a commit no data are put and the record stays incomplete. */
AFTERBAY_API void afterbay_slot_free(afterbay_slot* slot);

/* ---- Endpoint ----------------------------------------------------------------------------- */

/* A caller of put within a model rank, for example one of its threads. Endpoints of a rank hand
   over their parts at the same time and at their own pace, without a barrier and without gathering
   anything. See docs/how-to/threads.md.

   Rules:
   - An endpoint is used by one thread at a time; different endpoints by different threads at once.
     Any thread may make these calls, whatever the level of MPI_Init_thread: they use MPI only in
     the thread that made the last call of the session, while it waits.
   - Every point of the rank's part of a decomposition belongs to one endpoint, or to the session if
     no endpoint has a part of it.
   - All endpoints put the same records and variables in the same order. Endpoints that hold no
     point of a variable need not put it.
   - Each endpoint ends its steps with afterbay_endpoint_end_step. A record of the rank is complete
     when the session and all of its endpoints have ended the step.
   - Files are opened and closed by the session. afterbay_file_close, afterbay_session_flush, _epoch
     and _finalize wait until every endpoint has ended the steps that the session has ended. From
     the first endpoint that a rank opens, its calls of flush and epoch cover these steps and no
     others, whether it has open endpoints or none.
   Errors name rank and endpoint. A refused call leaves endpoint and session usable. All functions
   except afterbay_endpoint_number return AFTERBAY_BAD_STATE while another thread is in a call of
   the endpoint, and after afterbay_endpoint_close. */

/** Opens an endpoint: a further caller of put in this rank. Any thread may call it. `name` appears
   in messages; NULL: none. Ranks may open different numbers of endpoints, or none. Waits only for a
   call of the session that is in progress. AFTERBAY_BAD_STATE while a slot of the session is not
   committed, or it has put only sections of a variable. */
AFTERBAY_API int afterbay_endpoint_open(afterbay_session* session, const char* name,
                                        afterbay_endpoint** endpoint);
/** Registers this endpoint's part of a decomposition of the rank: a box inside that of the rank, as
   in afterbay_decomposition_define. Once per decomposition, before the first put of a variable on
   it. Does not wait. AFTERBAY_CONFLICT if it overlaps with that of another open endpoint,
   AFTERBAY_INVALID_ARGUMENT if it leaves the rank's part, AFTERBAY_UNKNOWN_NAME if there is no such
   decomposition, AFTERBAY_WRONG_TYPE if it is a map. */
AFTERBAY_API int afterbay_endpoint_part(afterbay_endpoint* endpoint, const char* decomposition, int rank,
                                        const uint64_t* global, const uint64_t* start, const uint64_t* count);
/** The same for a list of points that the rank has, as in afterbay_decomposition_define_map. The
   endpoint's array of a variable has the list's length. `gaps` and `repeats` are not used: those of
   the rank's decomposition hold. Fails as afterbay_endpoint_part does; AFTERBAY_WRONG_TYPE if the
   decomposition is a block. */
AFTERBAY_API int afterbay_endpoint_part_map(afterbay_endpoint* endpoint, const char* decomposition,
                                            const afterbay_map* map);
/** The same for all of the rank's part; with `decomposition` NULL for all variables without a
   decomposition. Fails as afterbay_endpoint_part does, whatever the kind of the decomposition. */
AFTERBAY_API int afterbay_endpoint_whole(afterbay_endpoint* endpoint, const char* decomposition);
/** As afterbay_file_put, for this endpoint's part, or a section of it (`section` NULL: all). `data`
   points to the start of its array, or of the values of the section, with the layout `memory`.
   Waits while the server has no room; if the rank shares no memory with the server, while
   `memory.endpoints` is full and the thread that uses the session makes no call. Fails as
   afterbay_file_put does; AFTERBAY_CONFLICT if a value was put before, AFTERBAY_BAD_STATE if this
   endpoint has no part of the variable's decomposition. */
AFTERBAY_API int afterbay_endpoint_put(afterbay_endpoint* endpoint, afterbay_file* file, const char* variable,
                                       uint64_t record, int type, const void* data,
                                       const afterbay_memory* memory, const afterbay_section* section);
/** Like afterbay_endpoint_put, but returns AFTERBAY_WOULD_BLOCK instead of waiting for room; no
   data were taken then. AFTERBAY_RESOURCES as for afterbay_file_try_put. */
AFTERBAY_API int afterbay_endpoint_try_put(afterbay_endpoint* endpoint, afterbay_file* file,
                                           const char* variable, uint64_t record, int type, const void* data,
                                           const afterbay_memory* memory, const afterbay_section* section);
/** As afterbay_file_acquire, for this endpoint's part. Waits only if it is 32 records ahead of
   others. The slot is used by this endpoint's thread. Fails as afterbay_endpoint_put does. */
AFTERBAY_API int afterbay_endpoint_acquire(afterbay_endpoint* endpoint, afterbay_file* file,
                                           const char* variable, uint64_t record, int type,
                                           afterbay_slot** slot);
/** Ends the step for this endpoint, which may go on to the next one at once. Does not wait.
   AFTERBAY_BAD_STATE while a slot is not committed, or if it has put only sections of its part of a
   variable. If this was the last endpoint to end the step, and a part of the rank was not put by
   any, that error ends the session. */
AFTERBAY_API int afterbay_endpoint_end_step(afterbay_endpoint* endpoint);
/** Ends the use of the endpoint. Others can take over its parts, from the next put on. Does not
   wait. AFTERBAY_BAD_STATE as for afterbay_endpoint_end_step. Does nothing if called again. */
AFTERBAY_API int afterbay_endpoint_close(afterbay_endpoint* endpoint);
/** Returns the endpoint's number within its rank, from 1, as in messages. Fails only with
   AFTERBAY_INVALID_ARGUMENT, for NULL. */
AFTERBAY_API int afterbay_endpoint_number(const afterbay_endpoint* endpoint, size_t* number);
/** Closes the endpoint if necessary, and releases the handle. */
AFTERBAY_API void afterbay_endpoint_free(afterbay_endpoint* endpoint);

/** Makes a pool that lends endpoints to tasks, which run on any thread: a part belongs to an
   endpoint, not to a thread. `endpoints`: `count` open ones of one session, whose parts are
   registered; they must outlive the pool. Each is lent to one task at a time. A task gets the free
   endpoint that has ended the fewest steps, and none that is more than a step ahead of another one:
   if each task ends one step of its endpoint, every endpoint is lent once per step, also while
   tasks of two steps run, provided that tasks begin in the order of their steps. Any thread may
   make all calls of a pool. Does not wait. AFTERBAY_INVALID_ARGUMENT if there are none, one is
   listed twice or closed, or they belong to several sessions. */
AFTERBAY_API int afterbay_endpoint_pool_open(afterbay_endpoint* const* endpoints, size_t count,
                                             afterbay_endpoint_pool** pool);
/** Borrows an endpoint and returns its index in the list. Waits until one is free; in the thread
   that uses the session, it does what afterbay_session_progress does meanwhile. AFTERBAY_TIMED_OUT
   if, for the time `deadline`, none is given back and the rank's endpoints make no progress,
   AFTERBAY_BAD_STATE if all have been closed: closed ones are not lent. The session stays
   usable. */
AFTERBAY_API int afterbay_endpoint_pool_take(afterbay_endpoint_pool* pool, size_t* index);
/** The same without waiting: AFTERBAY_WOULD_BLOCK if none is free. AFTERBAY_BAD_STATE if all have
   been closed. */
AFTERBAY_API int afterbay_endpoint_pool_try_take(afterbay_endpoint_pool* pool, size_t* index);
/** Ends the loan of an endpoint. Does not wait. AFTERBAY_BAD_STATE if it is not lent, or if it
   holds a slot that is not committed or has put only sections of its part of a variable: the
   endpoint is free nevertheless, and cannot end its step before the rest is put. */
AFTERBAY_API int afterbay_endpoint_pool_give_back(afterbay_endpoint_pool* pool, size_t index);
/** Releases the pool; its endpoints stay open. */
AFTERBAY_API void afterbay_endpoint_pool_free(afterbay_endpoint_pool* pool);

/* ---- Input -------------------------------------------------------------------------------- */

/** Which state of a file that this session itself writes is read. */
enum afterbay_as_of {
  /** After everything closed before under this name: waits until it is published. */
  AFTERBAY_AS_OF_CLOSED = 0,
  AFTERBAY_AS_OF_PUBLISHED = 1, /**< the file under its final name as it is now */
  /** For a file that is still open for output, in a collection with `readable: on`: the state of
     the session's last epoch, or a later one; waits until that epoch is complete. Other files: as
     AFTERBAY_AS_OF_CLOSED. */
  AFTERBAY_AS_OF_EPOCH = 2
};

/** Opens any netCDF file for input, whichever program wrote it. Every model rank calls it. Waits
   until the servers have opened it, and as `as_of` requires. AFTERBAY_IO if the file does not
   exist or cannot be read, AFTERBAY_FORMAT if it is not a netCDF file; AFTERBAY_BAD_STATE with
   AFTERBAY_AS_OF_CLOSED if this session has it open for output, and with AFTERBAY_AS_OF_EPOCH
   if it is not readable or has no epoch yet; AFTERBAY_INVALID_ARGUMENT for an empty path and for a
   number that is none of enum afterbay_as_of. An error in reading leaves the session usable. */
AFTERBAY_API int afterbay_session_open_input(afterbay_session* session, const char* path, int as_of,
                                             afterbay_input** input);

/** The part of a variable that a rank reads; it may differ between ranks. Set unused members to
   zero: then it is all of record 0, or of a variable without the unlimited dimension. A map
   that is used for reading only, and whose lists overlap (halos) or leave points out, must be
   registered with AFTERBAY_REPEATS_FIRST (or LAST) and AFTERBAY_GAPS_ALLOWED, since it is
   checked like a map for writing. */
typedef struct afterbay_selection {
  uint64_t record;           /**< the first record, counted from 0 */
  uint64_t records;          /**< number of records, consecutive in the array; 0 means 1 */
  const char* decomposition; /**< this rank's part of that decomposition, or */
  int rank;                  /**< any box: `rank` starts and counts, in the trailing dimensions */
  const uint64_t* start;     /**< start of the box */
  const uint64_t* count;     /**< lengths of the box */
  const uint64_t* global;    /**< may be NULL; otherwise the expected lengths of these dimensions */
} afterbay_selection;

/** Reads into `data`, converted from the type in the file to `type`. `memory` NULL: dense;
   `what` NULL: all members zero. Elements of holes keep their values; a point that is listed
   more than once is read into each of its elements. Waits until the servers have read the data,
   and as afterbay_session_start does if a decomposition is named and there are new definitions.
   A rank that reads nothing may pass NULL for `data`. Not for AFTERBAY_STRING. With inline
   servers in synchronous mode every model rank calls it. AFTERBAY_UNKNOWN_NAME (variable,
   decomposition), AFTERBAY_INVALID_ARGUMENT (record, box, NULL), AFTERBAY_WRONG_TYPE (type; values
   out of its range, after all others have been read), AFTERBAY_BAD_STATE after close,
   AFTERBAY_FORMAT or AFTERBAY_IO if the file cannot be read. */
AFTERBAY_API int afterbay_input_get(afterbay_input* input, const char* variable,
                                    const afterbay_selection* what, int type, void* data,
                                    const afterbay_memory* memory);
/** Reads all values of a string variable, for `record` if it has the unlimited dimension. Waits
   and fails as afterbay_input_get does. The texts are valid until the next call of this
   function with the same handle, or until the handle is freed. */
AFTERBAY_API int afterbay_input_get_strings(afterbay_input* input, const char* variable, uint64_t record,
                                            size_t* count, const char* const** values);
/** Asks the servers to read and decode ahead; a later get of the same data, by any rank, costs
   one copy. The data are kept while the setting memory.input has room. Does not wait, except as
   afterbay_session_start does if a decomposition is named and there are new definitions. Fails
   as afterbay_input_get does for invalid requests; errors in reading are returned by
   afterbay_input_get. */
AFTERBAY_API int afterbay_input_prefetch(afterbay_input* input, const char* variable,
                                         const afterbay_selection* what);
/** Returns the dimensions, variables and attributes of the file. Groups and types that a schema
   cannot hold are left out. The schema belongs to the handle and is valid as long; it can be
   passed to afterbay_collection_define. Fails only with AFTERBAY_INVALID_ARGUMENT, for NULL. */
AFTERBAY_API int afterbay_input_schema(const afterbay_input* input, const afterbay_schema** schema);
/** Returns the number of records in the file. Fails as afterbay_input_schema does. */
AFTERBAY_API int afterbay_input_records(const afterbay_input* input, uint64_t* records);
/** Returns the file's path, valid as long as the handle. Fails as afterbay_input_schema does. */
AFTERBAY_API int afterbay_input_path(const afterbay_input* input, const char** path);
/** As afterbay_input_get, by an endpoint, whose thread may read at the same time as others.
   `what->decomposition` stands for this endpoint's part of the decomposition. Waits until the data
   have been read; if the rank shares no memory with the servers, also until the thread that uses
   the session calls it. Fails as afterbay_input_get does; AFTERBAY_BAD_STATE if the endpoint has no
   part of the decomposition, and with inline servers in synchronous mode. */
AFTERBAY_API int afterbay_endpoint_get(afterbay_endpoint* endpoint, afterbay_input* input,
                                       const char* variable, const afterbay_selection* what, int type,
                                       void* data, const afterbay_memory* memory);
/** Lets the servers close the file; requests made before are still served. Does not wait. Does
   nothing if called again. AFTERBAY_BAD_STATE after afterbay_session_free. */
AFTERBAY_API int afterbay_input_close(afterbay_input* input);
/** Closes the file if necessary, and releases the handle. */
AFTERBAY_API void afterbay_input_free(afterbay_input* input);

#ifdef __cplusplus
}
#endif

#include "afterbay/calendar.h" /* calendars, dates, periods, time axes */
#include "afterbay/output.h"   /* described output */

#endif
