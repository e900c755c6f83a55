/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Files open for input, for C; part of afterbay/afterbay.h, whose rules hold. */
#ifndef AFTERBAY_INPUT_H
#define AFTERBAY_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "afterbay/endpoint.h"
#include "afterbay/export.h"
#include "afterbay/file.h"
#include "afterbay/schema.h"
#include "afterbay/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct afterbay_input afterbay_input; /**< a file open for input */

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

#endif
