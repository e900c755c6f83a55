/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Afterbay for C (C99 and later). How a session starts from an MPI communicator: afterbay/mpi.h.

   @code
   afterbay_session* session;
   afterbay_session_open(MPI_COMM_WORLD, options, &session);
   int server;
   afterbay_session_is_server(session, &server);
   if (server) { afterbay_session_serve(session); afterbay_session_free(session); ... return; }
   afterbay_decomposition_define(session, "grid", 2, global, start, count, AFTERBAY_GAPS_REFUSED);
   afterbay_collection_define(session, "history", schema, &where, &history);
   for (...) {
     afterbay_collection_open(history, &name, NULL, &file);
     afterbay_file_put(file, "temperature", record, AFTERBAY_FLOAT64, temperature, NULL);
     afterbay_session_end_step(session);
     afterbay_file_close(file, NULL);
     afterbay_file_free(file);
   }
   afterbay_session_finalize(session);
   @endcode

   Rules that hold for every function:
   - Errors: it returns an error code, AFTERBAY_OK (0) or one of enum afterbay_error;
     afterbay_last_error() gives the message. When it fails, its output arguments are unchanged.
     Every function returns AFTERBAY_INVALID_ARGUMENT for a NULL pointer that must not be NULL. A
     call that is refused because of its arguments or its order leaves the session usable. An error
     that a server or another rank reports ends the session: from then on every call returns it.
     Since files are written in the background, an error in a file may be returned by any later
     call.
   - Order: every model rank makes the same calls in the same order: definitions, open, put,
     end_step, close.
   - Waits: a function waits only if its description says so, and returns AFTERBAY_TIMED_OUT if what
     it waits for makes no progress within the setting `deadline`. "Collective" means that it waits
     for the other ranks. With inline servers in synchronous mode afterbay_session_start, _end_step,
     _open_input, afterbay_collection_open, afterbay_file_records, afterbay_input_get and
     _get_strings also wait for all model ranks.
   - Threads: a session, and the handles that come from it, are used by one thread at a time. A call
     may use MPI, so the thread must be one that may: with MPI_THREAD_FUNNELED the main thread. The
     last error is kept for each thread.
   - Values: lists of dimensions and indices are in C order (slowest first) and start from 0. Text
     is UTF-8 and ends with NUL. What is passed in is copied; the caller keeps its own.
   - Handles: a handle that a function gives is released by its _free function, which accepts NULL. */
#ifndef AFTERBAY_AFTERBAY_H
#define AFTERBAY_AFTERBAY_H

#include <stddef.h>
#include <stdint.h>

#include "afterbay/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct afterbay_options afterbay_options; /**< how a session is opened */
typedef struct afterbay_session afterbay_session; /**< a run's output and input, from open to finalize */
typedef struct afterbay_schema afterbay_schema;   /**< dimensions, variables, attributes */
typedef struct afterbay_changes afterbay_changes; /**< changes to a schema for one file */
typedef struct afterbay_collection afterbay_collection; /**< a kind of file */
typedef struct afterbay_file afterbay_file;             /**< a file open for output */
typedef struct afterbay_slot afterbay_slot;             /**< room in the server's own buffer */
typedef struct afterbay_input afterbay_input;           /**< a file open for input */

/* ---- Errors ------------------------------------------------------------------------------- */

/** The kinds of errors. */
enum afterbay_error {
  AFTERBAY_OK = 0,               /**< no error */
  AFTERBAY_INVALID_ARGUMENT = 1, /**< a value that cannot be right: shape, index, option, NULL */
  AFTERBAY_UNKNOWN_NAME = 2,     /**< no variable, dimension, setting, ... of that name */
  AFTERBAY_WRONG_TYPE = 3,       /**< a type that does not fit */
  AFTERBAY_CONFLICT = 4,         /**< contradicts an earlier call, or another rank */
  AFTERBAY_BAD_STATE = 5,        /**< call out of order (after close, before definition) */
  AFTERBAY_WOULD_BLOCK = 6,      /**< afterbay_file_try_put: no room now */
  AFTERBAY_TIMED_OUT = 7,        /**< a wait reached its deadline */
  AFTERBAY_PEER_LOST = 8,        /**< a model rank or an I/O server died */
  AFTERBAY_EXISTS = 9,           /**< the file exists and the policy is to refuse */
  AFTERBAY_NO_SPACE = 10,        /**< disk, quota or shared memory full */
  AFTERBAY_IO = 11,              /**< the operating system refused a read or write */
  AFTERBAY_FORMAT = 12,          /**< a file is not what it should be */
  AFTERBAY_RESOURCES = 13,       /**< limits: memory budget, layout, open files */
  AFTERBAY_MPI = 14,             /**< MPI returned an error */
  AFTERBAY_INTERNAL = 15,        /**< a defect of Afterbay */
  AFTERBAY_STOPPED = 16 /**< the run was asked to stop (a signal, the walltime), and has stopped in order */
};

/** All that is known of an error. Text is never NULL; empty: not known. */
typedef struct afterbay_error_info {
  int code;             /**< enum afterbay_error */
  int rank;             /**< rank in the session's communicator; -1: not known */
  int native;           /**< errno, or the code of MPI, netCDF or HDF5; 0: none */
  const char* message;  /**< what happened and what to do */
  const char* file;     /**< empty: not known */
  const char* variable; /**< empty: not known */
  const char* text;     /**< all in one: place, message, code, and what was being done */
} afterbay_error_info;

/** The text of this thread's last error; "" when no call has failed. Holds until the thread's next
   failing call. Successful calls leave it as it is. */
const char* afterbay_last_error(void);

/** The same error in its fields, which hold as long. `info` must not be NULL. */
void afterbay_last_error_info(afterbay_error_info* info);

/** "no_space", "peer_lost", ...; "unknown" for other numbers. Static storage. */
const char* afterbay_error_name(int code);

/** Does not return: ends the process with exit status 1 because of the thread's last error. The sessions that
   it has open fail, with this error as the reason; it is printed on stderr once per job, not once per rank.
 */
void afterbay_stop(void);

/** For bindings to other languages: makes this the thread's last error and returns `code`.
   `variable` may be NULL. */
int afterbay_error_set(int code, const char* message, const char* variable);

/* ---- Types and values --------------------------------------------------------------------- */

/** The atomic types of netCDF-4. A list of values of a type is an array of the C type beside it. */
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

/** Bytes of an element in memory; 0 for AFTERBAY_STRING and for other numbers. */
size_t afterbay_type_bytes(int type);

/* ---- Options ------------------------------------------------------------------------------ */

/** What this process is; automatic: by the configuration (the last `servers` ranks serve). */
enum afterbay_role {
  AFTERBAY_ROLE_AUTOMATIC = 0, /**< by the configuration */
  AFTERBAY_ROLE_MODEL = 1,     /**< a model rank */
  AFTERBAY_ROLE_SERVER = 2     /**< an I/O server */
};

/** Options with the defaults. */
int afterbay_options_create(afterbay_options** options);
/** Releases the options; a session that was opened with them does not need them. */
void afterbay_options_free(afterbay_options* options);
/** A setting by its dotted name ("servers", "memory.server"). Code has the lowest precedence after
   the defaults; then the YAML file, the environment, the command line. Names and values are checked
   when the session opens. */
int afterbay_options_set(afterbay_options* options, const char* setting, const char* value);
/** The session's name in messages, segments and reports; default "afterbay". */
int afterbay_options_set_name(afterbay_options* options, const char* name);
/** One of enum afterbay_role. */
int afterbay_options_set_role(afterbay_options* options, int role);
/** A YAML file; default: the environment variable AFTERBAY_CONFIG, else none. */
int afterbay_options_set_config_file(afterbay_options* options, const char* path);
/** main's arguments; only those that begin with --afterbay. are looked at. */
int afterbay_options_set_arguments(afterbay_options* options, int argc, const char* const* argv);

/* ---- Schema ------------------------------------------------------------------------------- */

/** The length of a dimension that grows by records. */
#define AFTERBAY_UNLIMITED 0

/** An empty schema. What contradicts netCDF or the format is found by afterbay_collection_define,
   which lists all problems at once. */
int afterbay_schema_create(afterbay_schema** schema);
/** Releases the schema; a collection that was defined with it has its own copy. */
void afterbay_schema_free(afterbay_schema* schema);

/** A dimension; AFTERBAY_UNLIMITED: it grows by records. */
int afterbay_schema_add_dimension(afterbay_schema* schema, const char* name, uint64_t length);
/** A variable over `rank` dimensions, slowest first, the unlimited one (if any) first of all. */
int afterbay_schema_add_variable(afterbay_schema* schema, const char* name, int type, int rank,
                                 const char* const* dimensions);

/** Sets an attribute to `count` values of `type`. `variable` NULL: of the file. For AFTERBAY_TEXT
   `values` points to `count` characters, for AFTERBAY_STRING to `count` pointers. All functions
   with a `variable` below: unknown_name (with the name that may have been meant) unless it was added. */
int afterbay_schema_set_attribute(afterbay_schema* schema, const char* variable, const char* name, int type,
                                  size_t count, const void* values);
/** The same for text that ends with NUL. */
int afterbay_schema_set_text(afterbay_schema* schema, const char* variable, const char* name,
                             const char* text);
/** The fill value: one value of `type`, converted to the variable's. Default: netCDF's own for the type. */
int afterbay_schema_set_fill(afterbay_schema* schema, const char* variable, int type, const void* value);
/** Chunk lengths, one per dimension, along the unlimited one in records; netCDF-4 only. Default: they follow
   the reader, see `access` in the settings and docs/how-to/chunks.md. */
int afterbay_schema_set_chunk(afterbay_schema* schema, const char* variable, int rank,
                              const uint64_t* lengths);
/** zlib level 0 (off) to 9, with or without byte shuffle before; netCDF-4 only. */
int afterbay_schema_set_deflate(afterbay_schema* schema, const char* variable, int level, int shuffle);
/** The variable's decomposition: a box of its trailing dimensions, or a map, whose dimensions are the
   trailing ones if these have its lengths, else the only others that do. Default: every rank holds
   everything. */
int afterbay_schema_set_decomposition(afterbay_schema* schema, const char* variable,
                                      const char* decomposition);
/** Values written once when a file is created (coordinates), `count` of the variable's type; such a
   variable is never put. */
int afterbay_schema_set_constant(afterbay_schema* schema, const char* variable, int type, size_t count,
                                 const void* values);

/* ---- What is in a schema ------------------------------------------------------------------ */

/* For a schema of one's own and for that of a file which is read (afterbay_input_schema). Names and values
   that are lent hold until the schema is changed or freed. Where a function has several output arguments,
   those that are not wanted may be NULL. */

/** The length of a dimension; AFTERBAY_UNLIMITED if it grows by records. */
int afterbay_schema_get_dimension(const afterbay_schema* schema, const char* dimension, uint64_t* length);
/** How many variables the schema has. */
int afterbay_schema_variable_count(const afterbay_schema* schema, size_t* count);
/** The variable number `index`, from 0. */
int afterbay_schema_get_variable_name(const afterbay_schema* schema, size_t index, const char** name);
/** *there = 1: the schema has that variable; 0: it has not, which is no error here. */
int afterbay_schema_has_variable(const afterbay_schema* schema, const char* variable, int* there);
/** `type`: one of enum afterbay_type. `rank`: its dimensions, the unlimited one counted. */
int afterbay_schema_get_variable(const afterbay_schema* schema, const char* variable, int* type, int* rank);
/** The variable's dimension number `index`, from 0, slowest first. */
int afterbay_schema_get_variable_dimension(const afterbay_schema* schema, const char* variable, int index,
                                           const char** name, uint64_t* length);

/** *there = 1: there is that attribute; 0: there is not. `variable` NULL: of the file, as in the functions
   below. "_FillValue" is an attribute of variables that have it. */
int afterbay_schema_has_attribute(const afterbay_schema* schema, const char* variable, const char* name,
                                  int* there);
/** Lends the values as afterbay_schema_set_attribute takes them; text is ended by NUL besides. */
int afterbay_schema_get_attribute(const afterbay_schema* schema, const char* variable, const char* name,
                                  int* type, size_t* count, const void** values);
/** Lends text: AFTERBAY_TEXT, or one AFTERBAY_STRING. */
int afterbay_schema_get_text(const afterbay_schema* schema, const char* variable, const char* name,
                             const char** text);
/** Copies numbers into an array of `count` elements of `type`, whatever numeric type they have; `count` must
   be the attribute's. wrong_type for values that `type` cannot hold. */
int afterbay_schema_get_numbers(const afterbay_schema* schema, const char* variable, const char* name,
                                int type, size_t count, void* values);

/* ---- Changes to a schema for one file ----------------------------------------------------- */

/** No changes. */
int afterbay_changes_create(afterbay_changes** changes);
/** Releases the changes; a file that was opened with them does not need them. */
void afterbay_changes_free(afterbay_changes* changes);
/** Sets or replaces an attribute in one file. `variable` NULL: of the file. */
int afterbay_changes_set_attribute(afterbay_changes* changes, const char* variable, const char* name,
                                   int type, size_t count, const void* values);
/** The same for text that ends with NUL. */
int afterbay_changes_set_text(afterbay_changes* changes, const char* variable, const char* name,
                              const char* text);
/** Removes an attribute in one file. `variable` NULL: of the file. */
int afterbay_changes_remove_attribute(afterbay_changes* changes, const char* variable, const char* name);
/** Replaces constant values: as many as the schema gave, converted. */
int afterbay_changes_set_constant(afterbay_changes* changes, const char* variable, int type, size_t count,
                                  const void* values);

/* ---- Session ------------------------------------------------------------------------------ */

/** Opened by afterbay_session_open (afterbay/mpi.h). Freeing a session that was not finalized tells the
   servers that this rank gave up: files stay unpublished. Collections and files may be freed before or after.
 */
void afterbay_session_free(afterbay_session* session);

/** *server = 1: call afterbay_session_serve and nothing else. */
int afterbay_session_is_server(const afterbay_session* session, int* server);
/** Serves until every model rank has finalized; the error is what went wrong in between. Sleeps while there
   is nothing to do. */
int afterbay_session_serve(afterbay_session* session);
/** Serves several sessions of this process side by side, until all their model ranks have finalized. */
int afterbay_sessions_serve(afterbay_session* const* sessions, size_t count);
/** This rank among the model ranks, from 0. AFTERBAY_BAD_STATE on a server. */
int afterbay_session_model_rank(const afterbay_session* session, int* rank);
/** The number of model ranks. AFTERBAY_BAD_STATE on a server. */
int afterbay_session_model_size(const afterbay_session* session, int* size);

/** Collective. Sends what has been defined to the servers and waits for their answer: overlap and gaps of
   decompositions and definitions that differ between ranks are AFTERBAY_CONFLICT. Implied by the first
   afterbay_collection_open after a definition. */
int afterbay_session_start(afterbay_session* session);

/** A point in the order of what this rank handed over. */
typedef struct afterbay_ticket {
  uint64_t number; /**< in the order in which this rank got its tickets; 0: none */
} afterbay_ticket;

/** Everything put since the last end_step is a complete step. With inline servers in synchronous
   mode it returns when the step is written (collective then); otherwise it does not wait. AFTERBAY_BAD_STATE
   while a slot is out. */
int afterbay_session_end_step(afterbay_session* session);
/** A ticket that is complete when everything put before is durable or handed to the file system. Does not
   wait. AFTERBAY_BAD_STATE while a slot is out. */
int afterbay_session_flush(afterbay_session* session, afterbay_ticket* ticket);
/** Marks a point in the output. The ticket is complete when everything that all ranks put before, in all
   files, is durable and can be recovered after a crash at any later time: files that are still open then by
   `afterbay recover FILE`. Every model rank calls it. Does not wait. AFTERBAY_BAD_STATE while a slot is out,
   AFTERBAY_INVALID_ARGUMENT for an empty name. */
int afterbay_session_epoch(afterbay_session* session, const char* name, afterbay_ticket* ticket);
/** `function(context)` is called once, in this thread, when the ticket is complete: from within
   afterbay_session_end_step, _wait, _is_complete or _finalize. It may call the session. */
int afterbay_session_on_complete(afterbay_session* session, afterbay_ticket ticket,
                                 void (*function)(void* context), void* context);
/** Waits until a ticket is complete; the error is what prevented it, or AFTERBAY_INVALID_ARGUMENT for a
   ticket that this session did not give. */
int afterbay_session_wait(afterbay_session* session, afterbay_ticket ticket);
/** Whether a ticket is complete. Does not wait. */
int afterbay_session_is_complete(afterbay_session* session, afterbay_ticket ticket, int* complete);
/** Collective. Closes all files, waits until everything is published, prints the report. AFTERBAY_BAD_STATE
   while a slot is out: nothing is closed then. Does nothing when called again. */
int afterbay_session_finalize(afterbay_session* session);

/* ---- Decomposition ------------------------------------------------------------------------ */

/** What becomes of points that no rank holds. */
enum afterbay_gaps {
  AFTERBAY_GAPS_REFUSED = 0, /**< every point must be held by a rank */
  AFTERBAY_GAPS_ALLOWED = 1  /**< points that no rank holds get the fill value */
};

/** This rank's part of a global index space of `rank` (1 to 7) dimensions, under a name: lists of
   `rank` lengths. A count of 0 in any dimension: this rank holds nothing. Overlap and gaps between
   ranks are reported by afterbay_session_start. Does not wait. AFTERBAY_CONFLICT if the name is taken. */
int afterbay_decomposition_define(afterbay_session* session, const char* name, int rank,
                                  const uint64_t* global, const uint64_t* start, const uint64_t* count,
                                  int gaps);

/** How a linear index counts the points of a global index space. */
enum afterbay_order {
  AFTERBAY_ROW_MAJOR = 0,   /**< the last dimension runs fastest (C) */
  AFTERBAY_COLUMN_MAJOR = 1 /**< the first dimension runs fastest */
};

/** What becomes of a point that is listed more than once, by one rank or by several. */
enum afterbay_repeats {
  AFTERBAY_REPEATS_REFUSED = 0, /**< an error that names the point and the ranks */
  AFTERBAY_REPEATS_FIRST = 1,   /**< the lowest rank's, and of these the first in its list, is written */
  AFTERBAY_REPEATS_LAST = 2     /**< the highest rank's, and of these the last in its list, is written */
};

/** This rank's part of a global index space as a list of points, in the order of the rank's array: element k
   is the point indices[k]; or the runs (offset, length) one after the other. Set unused members to zero:
   then points count from 0, row-major, -1 is a hole, and every point must be held by a rank. */
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

/** Registers a list of points under a name; any number of variables, of any type, may lie on it, with more
   dimensions before or after those of the map. Errors name the element and its value; points of two ranks
   and gaps are reported by afterbay_session_start. The lists are copied. Does not wait. */
int afterbay_decomposition_define_map(afterbay_session* session, const char* name, const afterbay_map* map);

/* ---- Collection --------------------------------------------------------------------------- */

/** Where and how a collection's files are stored; NULL: the default. Set unused members to zero. */
typedef struct afterbay_collection_options {
  const char* file;      /**< name template: {collection}, {step}, {step:06}, {member:03}, {date:%Y%m%d_%H};
                            default "{collection}.nc" */
  const char* directory; /**< put before the name; default: the working directory */
  const char* store;     /**< "netcdf4" (default), "cdf5", "cdf2", "memory" */
  const char* existing;  /**< what happens when a file exists: "refuse" (default), "replace", "append" */
} afterbay_collection_options;

/** Defines a kind of file. `where` may be NULL: all defaults. The schema is copied and checked: all its
   problems are reported at once. Does not wait. AFTERBAY_CONFLICT if the name is taken. */
int afterbay_collection_define(afterbay_session* session, const char* name, const afterbay_schema* schema,
                               const afterbay_collection_options* where, afterbay_collection** collection);
/** Releases the handle only. */
void afterbay_collection_free(afterbay_collection* collection);
/** Holds as long as the handle. */
int afterbay_collection_name(const afterbay_collection* collection, const char** name);

/** Names a file: `name` as it is, or (NULL) the template with step, member and date filled in. */
typedef struct afterbay_file_name {
  const char* name; /**< the whole name; NULL: the template is filled in */
  const char* date; /**< ISO 8601: "2026-11-21", "2026-11-21T06:00:00"; NULL: none */
  int has_step;     /**< 1: `step` counts */
  int has_member;   /**< 1: `member` counts */
  int64_t step;     /**< for {step} */
  int64_t member;   /**< for {member}: of an ensemble */
} afterbay_file_name;

/** Opens a file. `name` NULL: the template without values. `changes` NULL: none; those of the lowest
   model rank count. Every model rank calls it. The server creates the file in the background: that it exists,
   or cannot be created, is returned by a later call. Waits as afterbay_session_start if something was defined
   since; with `placement: least` until the server is chosen; and until an older file of the same path is
   published, if another server wrote that. AFTERBAY_CONFLICT if this session has the path open. */
int afterbay_collection_open(afterbay_collection* collection, const afterbay_file_name* name,
                             const afterbay_changes* changes, afterbay_file** file);

/* ---- File --------------------------------------------------------------------------------- */

/** Where a rank's part lies in its memory, in elements: lists of `rank` lengths, each of which may be NULL.
   With `shape` and `offset` the part starts at `offset` inside an array of `shape` (halos); `shape`
   without `offset` must be the part's own. With `strides`, neighbours along dimension i are
   strides[i] elements apart. All NULL: dense. */
typedef struct afterbay_memory {
  int rank;               /**< how many dimensions the lists have */
  const uint64_t* shape;  /**< lengths of the whole array */
  const uint64_t* offset; /**< where the part begins in it */
  const int64_t* strides; /**< elements between neighbours */
} afterbay_memory;

/** The record of a variable without the unlimited dimension (0 does as well). */
#define AFTERBAY_NO_RECORD UINT64_MAX

/** Hands over this rank's part of `variable` for `record`; a record can be put once while a file is
   open. Returns when `data` has been copied, converted from `type` to the file's type on the way;
   waits only while the server has no room. `memory` NULL: dense. Ranks that hold nothing call it
   too; `data` may then be NULL. Not for AFTERBAY_STRING. AFTERBAY_WRONG_TYPE if the type does not fit or a
   value is out of range of the file's type, AFTERBAY_CONFLICT if the record was put before,
   AFTERBAY_BAD_STATE after close; nothing was taken then. */
int afterbay_file_put(afterbay_file* file, const char* variable, uint64_t record, int type, const void* data,
                      const afterbay_memory* memory);
/** As afterbay_file_put, but AFTERBAY_WOULD_BLOCK instead of waiting; nothing was then taken.
   AFTERBAY_RESOURCES: the server's memory is too small for the rank's whole part at once; nothing was taken,
   use afterbay_file_put. */
int afterbay_file_try_put(afterbay_file* file, const char* variable, uint64_t record, int type,
                          const void* data, const afterbay_memory* memory);
/** All values of a string variable. Every model rank calls it; those of the lowest model rank are written.
   Waits only on that rank, and only while the server's memory for strings is full. */
int afterbay_file_put_strings(afterbay_file* file, const char* variable, uint64_t record, size_t count,
                              const char* const* values);
/** Room in the server's own buffer for this rank's part, to be computed in place, or a private array; see
   afterbay_slot_is_direct. Does not wait for room. From then on the record counts as put. */
int afterbay_file_acquire(afterbay_file* file, const char* variable, uint64_t record, int type,
                          afterbay_slot** slot);
/** How many records the file held when it was opened: 0, or with "append" where to go on. Every model rank
   calls it; waits until the server has opened the file. */
int afterbay_file_records(afterbay_file* file, uint64_t* records);
/** Ends this rank's output to the file; it is published when all ranks have closed it. `ticket` may
   be NULL; else it is complete when the file is durable under its final name. Closing again gives
   the same ticket. Does not wait. AFTERBAY_BAD_STATE while a slot of the file is out; it stays open then. */
int afterbay_file_close(afterbay_file* file, afterbay_ticket* ticket);
/** Holds as long as the handle. */
int afterbay_file_path(const afterbay_file* file, const char** path);
/** Releases the handle only; a file not closed stays open until afterbay_session_finalize. */
void afterbay_file_free(afterbay_file* file);

/* ---- Slot --------------------------------------------------------------------------------- */

/** A box of the rank's part, to be filled in: element (i, j, ...) of it lies at
   data + i*strides[0] + j*strides[1] + ... elements. Holds until the slot is committed or freed. */
typedef struct afterbay_slot_part {
  void* data;             /**< the first element; of the slot's type */
  int rank;               /**< dimensions of the variable, without the record dimension */
  const uint64_t* start;  /**< in the variable's global index space */
  const uint64_t* count;  /**< lengths of the box */
  const int64_t* strides; /**< elements */
} afterbay_slot_part;

/** How many parts the slot has: large fields are cut into several, which together cover what the rank holds;
   0 if it holds nothing. */
int afterbay_slot_part_count(const afterbay_slot* slot, size_t* count);
/** Part number `index`, from 0. */
int afterbay_slot_get_part(const afterbay_slot* slot, size_t index, afterbay_slot_part* part);
/** *direct = 1: the parts lie in the server's buffer; 0: in a private one that commit copies (other
   type or byte order than the file's, a server on another node, or no room in its memory for all parts
   at the time of afterbay_file_acquire). */
int afterbay_slot_is_direct(const afterbay_slot* slot, int* direct);
/** Hands the slot over. Its parts must not be touched afterwards. A private array is copied, which waits as
   afterbay_file_put does; otherwise it does not wait. AFTERBAY_WRONG_TYPE if a value is out of range of the
   file's type: the slot stays out and can be committed again. */
int afterbay_slot_commit(afterbay_slot* slot);
/** Releases the handle. Without a commit nothing is handed over and the record stays incomplete. */
void afterbay_slot_free(afterbay_slot* slot);

/* ---- Input -------------------------------------------------------------------------------- */

/** Which state of a file is read that this session itself writes. */
enum afterbay_as_of {
  AFTERBAY_AS_OF_CLOSED =
      0, /**< after all that was closed before under this name: waits until it is published */
  AFTERBAY_AS_OF_PUBLISHED = 1, /**< as it is under its final name now, whatever is on its way */
  AFTERBAY_AS_OF_EPOCH = 2 /**< of a file that is still open for output, in a collection with `readable: on`:
                              the state of the session's last epoch, or a later one, which is waited for */
};

/** Opens any netCDF file for input, whoever wrote it. Every model rank calls it. Fails when the file is not
   there or no netCDF file, and (AFTERBAY_AS_OF_CLOSED) when this session has it open for output. Waits until
   the servers have opened it, and as `as_of` says. An error in reading leaves the session usable. */
int afterbay_session_open_input(afterbay_session* session, const char* path, int as_of,
                                afterbay_input** input);

/** What of a variable a rank reads; every rank may ask for something else. Set unused members to zero: then
   it is all of record 0, or of a variable without the unlimited dimension. A map that serves for reading only
   and whose lists overlap (halos), or leave points out, is registered with AFTERBAY_REPEATS_FIRST (or LAST)
   and AFTERBAY_GAPS_ALLOWED: it is checked as one for writing is. */
typedef struct afterbay_selection {
  uint64_t record;           /**< the first, from 0 */
  uint64_t records;          /**< how many, one after the other in the rank's array; 0 is 1 */
  const char* decomposition; /**< this rank's part of that one, or */
  int rank;                  /**< any box: `rank` starts and counts, of the variable's trailing dimensions */
  const uint64_t* start;     /**< of the box */
  const uint64_t* count;     /**< lengths of the box */
  const uint64_t* global;    /**< may be NULL; else the lengths of these dimensions, to be checked */
} afterbay_selection;

/** Reads into `data`, converted from the file's type to `type` on the way; `memory` NULL: dense, `what` NULL:
   all zero. Elements of holes keep their values; a point that is listed more than once is read into each of
   its elements. Waits until the servers have read it. A rank that gets nothing may give NULL for `data`. Not
   for AFTERBAY_STRING. With inline servers in synchronous mode every model rank calls it. */
int afterbay_input_get(afterbay_input* input, const char* variable, const afterbay_selection* what, int type,
                       void* data, const afterbay_memory* memory);
/** All values of a string variable, of `record` if it has the unlimited dimension. The texts hold until the
   next call of this function with the same handle, or until the handle is freed. */
int afterbay_input_get_strings(afterbay_input* input, const char* variable, uint64_t record, size_t* count,
                               const char* const** values);
/** Has the servers read and decode ahead, and returns at once; a later get of the same, by any rank, costs
   one copy. It is kept while the setting memory.input has room. */
int afterbay_input_prefetch(afterbay_input* input, const char* variable, const afterbay_selection* what);
/** Dimensions, variables and attributes as the file has them. Groups and types that a schema cannot hold are
   left out. It belongs to the handle and holds as long; it can be given to afterbay_collection_define. */
int afterbay_input_schema(const afterbay_input* input, const afterbay_schema** schema);
/** How many records the file has. */
int afterbay_input_records(const afterbay_input* input, uint64_t* records);
/** Holds as long as the handle. */
int afterbay_input_path(const afterbay_input* input, const char** path);
/** Lets the servers close the file; what it was asked for before holds on. */
int afterbay_input_close(afterbay_input* input);
/** Closes the file if need be, and releases the handle. */
void afterbay_input_free(afterbay_input* input);

#ifdef __cplusplus
}
#endif

#endif
