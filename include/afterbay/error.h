/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Error codes and messages, for C; part of afterbay/afterbay.h, which says how functions return
   errors. */
#ifndef AFTERBAY_ERROR_H
#define AFTERBAY_ERROR_H

#include "afterbay/export.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif
