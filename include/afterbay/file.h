/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Collections, files open for output and slots, for C; part of afterbay/afterbay.h, whose rules
   hold. */
#ifndef AFTERBAY_FILE_H
#define AFTERBAY_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "afterbay/export.h"
#include "afterbay/schema.h"
#include "afterbay/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct afterbay_collection afterbay_collection; /**< a kind of file */
typedef struct afterbay_file afterbay_file;             /**< a file open for output */
typedef struct afterbay_slot afterbay_slot;             /**< room in the server's own buffer */

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
   its part has been put; until then afterbay_session_end_step is refused (AFTERBAY_BAD_STATE).
   Waits and fails as afterbay_file_put does; AFTERBAY_CONFLICT if a value was put before,
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

#ifdef __cplusplus
}
#endif

#endif
