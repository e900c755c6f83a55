/* SPDX-License-Identifier: Apache-2.0 */
/** @file
   Endpoints and pools of them, for C; part of afterbay/afterbay.h, whose rules hold. */
#ifndef AFTERBAY_ENDPOINT_H
#define AFTERBAY_ENDPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "afterbay/export.h"
#include "afterbay/file.h"
#include "afterbay/session.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct afterbay_endpoint afterbay_endpoint;           /**< a further caller of put in this rank */
typedef struct afterbay_endpoint_pool afterbay_endpoint_pool; /**< lends endpoints to tasks */

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

#ifdef __cplusplus
}
#endif

#endif
