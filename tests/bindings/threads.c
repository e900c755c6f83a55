/* SPDX-License-Identifier: Apache-2.0
   Threads that put through endpoints of their own: threads_c THREADS FILE. With 0 threads the
   session puts everything, whole parts at a time; with -1 it puts sections where the threads do.
   threads.py compares the files. The Fortran twin is threads_fortran.f90. With
   THREAD_LEVEL=serialized in the environment all threads end steps of the session, one at a time;
   with THREAD_LEVEL=multiple each of them also calls MPI meanwhile. With TEAMS_DIFFER rank r has r
   threads more. OVER_MPI names a rank that shares no memory with a server: there calls of the
   session are refused in other threads than the main one.
 */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include <afterbay/mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NL = 3, NY = 26, NX = 10, HALO = 1, RECORDS = 3, MOST = 2 * NY * NX };

static void fail(const char* what, int line) {
  fprintf(stderr, "threads.c:%d: %s\n  last error: %s\n", line, what, afterbay_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#define HOLDS(condition)                          \
  do {                                            \
    if (!(condition)) fail(#condition, __LINE__); \
  } while (0)
#define OK(call) HOLDS((call) == AFTERBAY_OK)
#define FAILS(call, expected, part)                                        \
  do {                                                                     \
    HOLDS((call) == (expected));                                           \
    if (strstr(afterbay_last_error(), part) == NULL) fail(part, __LINE__); \
  } while (0)

static int rank, ranks, threads, mpi_level = MPI_THREAD_FUNNELED;
static pthread_mutex_t of_session = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_opened = PTHREAD_COND_INITIALIZER;
static int opened, running;
static afterbay_session* session;
static afterbay_file* file;
static afterbay_input* input;

static int value(int record, int level, int y, int x) { return record * 10000 + level * 1000 + y * NX + x; }

/* Rows of a rank, or of one of its threads. */
struct band {
  int first, count;
};
static struct band part_of(struct band all, int parts, int number) {
  const int first = all.count * number / parts;
  return (struct band){all.first + first, all.count * (number + 1) / parts - first};
}
static struct band rows_of_rank(void) { return part_of((struct band){0, NY}, ranks, rank); }

/* The points of the rank, cyclic and descending, and of those every parts-th; a hole after every
   fifth. */
static size_t list_points(int parts, int number, int64_t* indices) {
  size_t count = 0;
  int64_t element = 0;
  for (int64_t p = NY * NX - 1; p >= 0; --p) {
    if (p % ranks != rank || element++ % parts != number) continue;
    indices[count++] = p;
    if (count % 5 == 0) indices[count++] = -1;
  }
  return count;
}

static afterbay_map map_of(const int64_t* indices, size_t count) {
  static const uint64_t global[] = {NY, NX};
  return (afterbay_map){.rank = 2, .global = global, .indices = indices, .index_count = count, .hole = -1};
}

/* ---- Definitions ---- */

static const struct {
  const char* name;
  int type;
} plane[] = {{"i1", AFTERBAY_INT8},  {"i2", AFTERBAY_INT16},   {"i4", AFTERBAY_INT32},
             {"i8", AFTERBAY_INT64}, {"r4", AFTERBAY_FLOAT32}, {"r8", AFTERBAY_FLOAT64},
             {"c", AFTERBAY_TEXT}};
enum { PLANES = sizeof plane / sizeof *plane };

static void add(afterbay_schema* schema, const char* name, int type, int dimensions, const char* const* names,
                const char* decomposition) {
  OK(afterbay_schema_add_variable(schema, name, type, dimensions, names));
  if (decomposition != NULL) OK(afterbay_schema_set_decomposition(schema, name, decomposition));
}

static void define(const char* path) {
  const char *flat[] = {"time", "y", "x"}, *deep[] = {"time", "level", "y", "x"};
  const struct band rows = rows_of_rank();
  const uint64_t global[] = {NY, NX}, start[] = {(uint64_t)rows.first, 0},
                 count[] = {(uint64_t)rows.count, NX};
  int64_t indices[MOST];
  afterbay_map map = map_of(indices, list_points(1, 0, indices));
  map.gaps = AFTERBAY_GAPS_REFUSED;
  OK(afterbay_decomposition_define(session, "grid", 2, global, start, count, AFTERBAY_GAPS_REFUSED));
  OK(afterbay_decomposition_define_map(session, "cells", &map));
  afterbay_schema* schema;
  OK(afterbay_schema_create(&schema));
  OK(afterbay_schema_add_dimension(schema, "time", AFTERBAY_UNLIMITED));
  OK(afterbay_schema_add_dimension(schema, "level", NL));
  OK(afterbay_schema_add_dimension(schema, "y", NY));
  OK(afterbay_schema_add_dimension(schema, "x", NX));
  add(schema, "n", AFTERBAY_INT32, 1, flat, NULL);
  for (int i = 0; i < PLANES; ++i) add(schema, plane[i].name, plane[i].type, 3, flat, "grid");
  add(schema, "halo", AFTERBAY_FLOAT64, 3, flat, "grid");
  add(schema, "slot", AFTERBAY_FLOAT64, 3, flat, "grid");
  add(schema, "t", AFTERBAY_FLOAT32, 4, deep, "grid");
  add(schema, "q", AFTERBAY_FLOAT64, 4, deep, "cells");
  afterbay_collection* collection;
  OK(afterbay_collection_define(session, "threads", schema, NULL, &collection));
  const afterbay_file_name name = {.name = path};
  OK(afterbay_collection_open(collection, &name, NULL, &file));
  afterbay_collection_free(collection);
  afterbay_schema_free(schema);
}

/* ---- Puts: by an endpoint, or by the session (NULL) ---- */

static void put(afterbay_endpoint* endpoint, const char* variable, int record, int type, const void* data,
                const afterbay_memory* memory, const afterbay_section* section) {
  if (endpoint != NULL)
    OK(afterbay_endpoint_put(endpoint, file, variable, (uint64_t)record, type, data, memory, section));
  else if (section != NULL)
    OK(afterbay_file_put_section(file, variable, (uint64_t)record, type, data, memory, section));
  else
    OK(afterbay_file_put(file, variable, (uint64_t)record, type, data, memory));
}

static void put_plane(afterbay_endpoint* endpoint, int which, int record, struct band rows) {
  union {
    int8_t i1[NY * NX];
    int16_t i2[NY * NX];
    int32_t i4[NY * NX];
    int64_t i8[NY * NX];
    float r4[NY * NX];
    double r8[NY * NX];
    char c[NY * NX];
  } data;
  for (int i = 0; i < rows.count * NX; ++i) {
    const int v = value(record, 0, rows.first, 0) + i;
    switch (plane[which].type) {
      case AFTERBAY_INT8: data.i1[i] = (int8_t)(v % 100); break;
      case AFTERBAY_INT16: data.i2[i] = (int16_t)v; break;
      case AFTERBAY_INT32: data.i4[i] = v; break;
      case AFTERBAY_INT64: data.i8[i] = v; break;
      case AFTERBAY_FLOAT32: data.r4[i] = (float)v; break;
      case AFTERBAY_TEXT: data.c[i] = (char)('a' + v % 26); break;
      default: data.r8[i] = v;
    }
  }
  if (endpoint == NULL || which % 2 == 0) {
    put(endpoint, plane[which].name, record, plane[which].type, &data, NULL, NULL);
    return;
  }
  int code;
  do {
    code = afterbay_endpoint_try_put(endpoint, file, plane[which].name, (uint64_t)record, plane[which].type,
                                     &data, NULL, NULL);
  } while (code == AFTERBAY_WOULD_BLOCK);
  OK(code);
}

static void put_halo(afterbay_endpoint* endpoint, int record, struct band rows) {
  float data[(NY + 2 * HALO) * (NX + 2 * HALO)];
  const uint64_t shape[] = {(uint64_t)rows.count + 2 * HALO, NX + 2 * HALO}, offset[] = {HALO, HALO};
  const afterbay_memory inside = {.rank = 2, .shape = shape, .offset = offset};
  for (int i = 0; i < (NY + 2 * HALO) * (NX + 2 * HALO); ++i) data[i] = -1;
  for (int y = 0; y < rows.count; ++y)
    for (int x = 0; x < NX; ++x)
      data[(y + HALO) * (NX + 2 * HALO) + x + HALO] = (float)value(record, 0, rows.first + y, x);
  put(endpoint, "halo", record, AFTERBAY_FLOAT32, data, &inside, NULL);
}

static void put_slot(afterbay_endpoint* endpoint, int record) {
  afterbay_slot* slot;
  afterbay_slot_part part;
  size_t parts;
  OK(endpoint == NULL
         ? afterbay_file_acquire(file, "slot", (uint64_t)record, AFTERBAY_FLOAT64, &slot)
         : afterbay_endpoint_acquire(endpoint, file, "slot", (uint64_t)record, AFTERBAY_FLOAT64, &slot));
  if (endpoint != NULL)
    FAILS(afterbay_endpoint_end_step(endpoint), AFTERBAY_BAD_STATE, "before 1 of its slots is committed");
  OK(afterbay_slot_part_count(slot, &parts));
  for (size_t p = 0; p < parts; ++p) {
    OK(afterbay_slot_get_part(slot, p, &part));
    for (uint64_t y = 0; y < part.count[0]; ++y)
      for (uint64_t x = 0; x < part.count[1]; ++x)
        ((double*)part.data)[(int64_t)y * part.strides[0] + (int64_t)x * part.strides[1]] =
            value(record, 0, (int)(part.start[0] + y), (int)(part.start[1] + x));
  }
  OK(afterbay_slot_commit(slot));
  afterbay_slot_free(slot);
}

/* One level at a time, the highest first. */
static void put_levels(afterbay_endpoint* endpoint, int record, struct band rows) {
  double data[NL][NY * NX];
  for (int level = 0; level < NL; ++level)
    for (int i = 0; i < rows.count * NX; ++i) data[level][i] = value(record, level, rows.first, 0) + i;
  if (threads == 0) {
    const uint64_t shape[] = {NL, NY, NX}, offset[] = {0, 0, 0};
    const afterbay_memory inside = {.rank = 3, .shape = shape, .offset = offset};
    put(endpoint, "t", record, AFTERBAY_FLOAT64, data, &inside, NULL);
    return;
  }
  for (int level = NL - 1; level >= 0; --level) {
    const uint64_t start[] = {(uint64_t)level, 0, 0}, count[] = {1, (uint64_t)rows.count, NX};
    const afterbay_section section = {.rank = 3, .start = start, .count = count};
    put(endpoint, "t", record, AFTERBAY_FLOAT64, data[level], NULL, &section);
    if (endpoint == NULL && level == 1) {
      FAILS(afterbay_session_end_step(session), AFTERBAY_BAD_STATE, "put the other sections first");
      FAILS(afterbay_file_put_section(file, "t", (uint64_t)record, AFTERBAY_FLOAT64, data[level], NULL,
                                      &section),
            AFTERBAY_CONFLICT, "was put already");
    } else if (level == 1 && rows.count > 0) {
      FAILS(afterbay_endpoint_end_step(endpoint), AFTERBAY_BAD_STATE, "put the other sections first");
      FAILS(afterbay_endpoint_put(endpoint, file, "t", (uint64_t)record, AFTERBAY_FLOAT64, data[level], NULL,
                                  &section),
            AFTERBAY_CONFLICT, "was put already");
    }
  }
}

/* The second half of the list before the first. */
static void put_list(afterbay_endpoint* endpoint, int record, const int64_t* indices, size_t points) {
  double data[NL * MOST];
  for (int half = 1; half >= 0; --half) {
    const size_t cut = threads == 0 ? 0 : points / 2;
    const size_t first = half == 1 ? cut : 0, most = half == 1 ? points - cut : cut;
    const uint64_t start[] = {0, first}, count[] = {NL, most};
    const afterbay_section section = {.rank = 2, .start = start, .count = count};
    for (int level = 0; level < NL; ++level)
      for (size_t i = 0; i < most; ++i)
        data[(size_t)level * most + i] = value(record, level, 0, (int)indices[first + i]);
    put(endpoint, "q", record, AFTERBAY_FLOAT64, data, NULL, threads == 0 ? NULL : &section);
    if (threads == 0) return;
  }
}

static void put_record(afterbay_endpoint* endpoint, int record, struct band rows, const int64_t* indices,
                       size_t points, int first) {
  const int32_t n = record;
  if (first) put(endpoint, "n", record, AFTERBAY_INT32, &n, NULL, NULL);
  for (int i = 0; i < PLANES; ++i) put_plane(endpoint, i, record, rows);
  put_halo(endpoint, record, rows);
  put_slot(endpoint, record);
  put_levels(endpoint, record, rows);
  put_list(endpoint, record, indices, points);
}

/* ---- Threads ---- */

/* Without a higher level of MPI_Init_thread, this thread must not make calls that use MPI. */
static void call_in_wrong_thread(void) {
  const char* const over_mpi = getenv("OVER_MPI");
  if (mpi_level >= MPI_THREAD_SERIALIZED) return;
  FAILS(afterbay_session_finalize(session), AFTERBAY_BAD_STATE,
        "finalize uses MPI, and was called by another thread than the main one: MPI was initialised with "
        "MPI_THREAD_FUNNELED");
  if (over_mpi == NULL || atoi(over_mpi) != rank) return;
  FAILS(afterbay_session_end_step(session), AFTERBAY_BAD_STATE,
        "end_step uses MPI, and was called by another");
  const double zero = 0;
  FAILS(afterbay_file_put(file, "r8", 0, AFTERBAY_FLOAT64, &zero, NULL), AFTERBAY_BAD_STATE,
        "put uses MPI, and was called by another");
}

/* Calls that are refused, before the endpoint has a part. */
static void make_mistakes(afterbay_endpoint* endpoint) {
  const uint64_t global[] = {NY, NX}, start[] = {NY - 1, 1}, count[] = {1, NX};
  const double zero = 0;
  const int64_t foreign[] = {(rank + 1) % ranks};
  const afterbay_map map = map_of(foreign, 1);
  size_t number = 0;
  OK(afterbay_endpoint_number(endpoint, &number));
  HOLDS(number >= 1 && number <= (size_t)threads);
  FAILS(afterbay_endpoint_put(endpoint, file, "r8", 0, AFTERBAY_FLOAT64, &zero, NULL, NULL),
        AFTERBAY_BAD_STATE, "has no part of decomposition 'grid'");
  FAILS(afterbay_endpoint_put(endpoint, NULL, "r8", 0, AFTERBAY_FLOAT64, &zero, NULL, NULL),
        AFTERBAY_INVALID_ARGUMENT, "`file`");
  FAILS(afterbay_endpoint_put(NULL, file, "r8", 0, AFTERBAY_FLOAT64, &zero, NULL, NULL),
        AFTERBAY_INVALID_ARGUMENT, "`endpoint`");
  FAILS(afterbay_endpoint_part(endpoint, "grid", 2, global, start, count), AFTERBAY_INVALID_ARGUMENT, "grid");
  FAILS(afterbay_endpoint_part(endpoint, "grit", 2, global, start, count), AFTERBAY_UNKNOWN_NAME, "grid");
  FAILS(afterbay_endpoint_part(endpoint, "cells", 2, global, start, count), AFTERBAY_WRONG_TYPE, "is a map");
  FAILS(afterbay_endpoint_part_map(endpoint, "grid", &map), AFTERBAY_WRONG_TYPE, "is a block");
  if (ranks > 1)
    FAILS(afterbay_endpoint_part_map(endpoint, "cells", &map), AFTERBAY_INVALID_ARGUMENT,
          "points that its rank does not have");
  FAILS(afterbay_endpoint_part_map(endpoint, "cells", NULL), AFTERBAY_INVALID_ARGUMENT, "`map`");
  FAILS(afterbay_endpoint_open(session, "spare", NULL), AFTERBAY_INVALID_ARGUMENT, "`endpoint`");
}

/* After the parts are registered. */
static void make_more_mistakes(afterbay_endpoint* endpoint, struct band rows) {
  const uint64_t start[] = {0, 0, 0}, count[] = {1, (uint64_t)rows.count + 1, NX};
  const afterbay_section large = {.rank = 3, .start = start, .count = count};
  const afterbay_section flat = {.rank = 2, .start = start, .count = count};
  const afterbay_section incomplete = {.rank = 3, .start = start};
  const double zero = 0;
  FAILS(afterbay_endpoint_put(endpoint, file, "t", 0, AFTERBAY_FLOAT64, &zero, NULL, &large),
        AFTERBAY_INVALID_ARGUMENT, "leaves this caller's array");
  FAILS(afterbay_endpoint_put(endpoint, file, "t", 0, AFTERBAY_FLOAT64, &zero, NULL, &flat),
        AFTERBAY_INVALID_ARGUMENT, "dimensions");
  FAILS(afterbay_endpoint_put(endpoint, file, "t", 0, AFTERBAY_FLOAT64, &zero, NULL, &incomplete),
        AFTERBAY_INVALID_ARGUMENT, "`section->count`");
}

/* Endpoints take part in the steps from that on in which they were opened. */
static void wait_until_all_have_opened(void) {
  if (mpi_level < MPI_THREAD_SERIALIZED) return; /* the session's steps end later */
  pthread_mutex_lock(&of_session);
  if (++opened == threads) pthread_cond_broadcast(&all_opened);
  while (opened < threads) pthread_cond_wait(&all_opened, &of_session);
  pthread_mutex_unlock(&of_session);
}

/* What the level of MPI_Init_thread allows a thread to do with the session and MPI during a
   step. */
static void end_step_of_session(int thread, int record) {
  if (mpi_level >= MPI_THREAD_SERIALIZED && record % threads == thread) {
    pthread_mutex_lock(&of_session);
    OK(afterbay_session_end_step(session));
    pthread_mutex_unlock(&of_session);
  }
  if (mpi_level < MPI_THREAD_MULTIPLE) return;
  MPI_Comm model;
  OK(afterbay_session_model_comm(session, &model));
  int sent = rank * 1000 + record, received = -1;
  MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % ranks, thread, &received, 1, MPI_INT,
               (rank + ranks - 1) % ranks, thread, model, MPI_STATUS_IGNORE);
  HOLDS(received == (rank + ranks - 1) % ranks * 1000 + record);
}

static void end_thread(void) {
  pthread_mutex_lock(&of_session);
  --running;
  pthread_mutex_unlock(&of_session);
}

static void* run_thread(void* argument) {
  const int thread = *(const int*)argument;
  const struct band rows = part_of(rows_of_rank(), threads, thread);
  const uint64_t global[] = {NY, NX}, start[] = {(uint64_t)rows.first, 0},
                 count[] = {(uint64_t)rows.count, NX};
  int64_t indices[MOST];
  const size_t points = list_points(threads, thread, indices);
  const afterbay_map map = map_of(indices, points);
  afterbay_endpoint* endpoint;
  char name[20];
  snprintf(name, sizeof name, "band %d", thread);
  OK(afterbay_endpoint_open(session, thread % 2 == 0 ? name : NULL, &endpoint));
  if (thread == 0) make_mistakes(endpoint);
  if (thread == 0) call_in_wrong_thread();
  OK(afterbay_endpoint_part(endpoint, "grid", 2, global, start, count));
  OK(afterbay_endpoint_part_map(endpoint, "cells", &map));
  if (thread == 0) {
    OK(afterbay_endpoint_whole(endpoint, NULL));
    FAILS(afterbay_endpoint_whole(endpoint, "grid"), AFTERBAY_CONFLICT, "decomposition 'grid'");
    make_more_mistakes(endpoint, rows);
  }
  wait_until_all_have_opened();
  for (int record = 0; record < RECORDS; ++record) {
    put_record(endpoint, record, rows, indices, points, thread == 0);
    OK(afterbay_endpoint_end_step(endpoint));
    end_step_of_session(thread, record);
  }
  OK(afterbay_endpoint_close(endpoint));
  OK(afterbay_endpoint_close(endpoint));
  FAILS(afterbay_endpoint_end_step(endpoint), AFTERBAY_BAD_STATE, "has been closed");
  afterbay_endpoint_free(endpoint);
  afterbay_endpoint_free(NULL);
  end_thread();
  return NULL;
}

/* Each thread reads its part of what all have written. */
static void* read_thread(void* argument) {
  const int thread = *(const int*)argument;
  const struct band rows = part_of(rows_of_rank(), threads, thread);
  const uint64_t global[] = {NY, NX}, start[] = {(uint64_t)rows.first, 0},
                 count[] = {(uint64_t)rows.count, NX};
  int64_t indices[MOST];
  const size_t points = list_points(threads, thread, indices);
  const afterbay_map map = map_of(indices, points);
  double t[NL * NY * NX], q[NL * MOST];
  afterbay_endpoint* endpoint;
  OK(afterbay_endpoint_open(session, "reader", &endpoint));
  const afterbay_selection none = {.decomposition = "grid"};
  FAILS(afterbay_endpoint_get(endpoint, input, "t", &none, AFTERBAY_FLOAT64, t, NULL), AFTERBAY_BAD_STATE,
        "grid");
  FAILS(afterbay_endpoint_get(endpoint, NULL, "t", &none, AFTERBAY_FLOAT64, t, NULL),
        AFTERBAY_INVALID_ARGUMENT, "`input`");
  OK(afterbay_endpoint_part(endpoint, "grid", 2, global, start, count));
  OK(afterbay_endpoint_part_map(endpoint, "cells", &map));
  for (int record = 0; record < RECORDS; ++record) {
    const afterbay_selection band = {.record = (uint64_t)record, .decomposition = "grid"};
    const afterbay_selection list = {.record = (uint64_t)record, .decomposition = "cells"};
    for (size_t i = 0; i < NL * points; ++i) q[i] = -5;
    OK(afterbay_endpoint_get(endpoint, input, "t", &band, AFTERBAY_FLOAT64, t, NULL));
    OK(afterbay_endpoint_get(endpoint, input, "q", &list, AFTERBAY_FLOAT64, q, NULL));
    for (int level = 0; level < NL; ++level) {
      for (int i = 0; i < rows.count * NX; ++i)
        HOLDS(t[level * rows.count * NX + i] == value(record, level, rows.first, 0) + i);
      for (size_t i = 0; i < points; ++i)
        HOLDS(q[(size_t)level * points + i] ==
              (indices[i] < 0 ? -5 : value(record, level, 0, (int)indices[i])));
    }
  }
  OK(afterbay_endpoint_close(endpoint));
  afterbay_endpoint_free(endpoint);
  end_thread();
  return NULL;
}

/* Pools lend endpoints; here one at a time, in one thread. */
static void use_pool(void) {
  afterbay_endpoint* all[3];
  afterbay_endpoint_pool* pool;
  size_t lent[3], none = 7;
  for (int i = 0; i < 3; ++i) OK(afterbay_endpoint_open(session, "lent", &all[i]));
  OK(afterbay_endpoint_pool_open(all, 3, &pool));
  for (int i = 0; i < 3; ++i) OK(afterbay_endpoint_pool_take(pool, &lent[i]));
  HOLDS(lent[0] == 0 && lent[1] == 1 && lent[2] == 2);
  FAILS(afterbay_endpoint_pool_try_take(pool, &none), AFTERBAY_WOULD_BLOCK, "no endpoint of the pool");
  HOLDS(none == 7);
  OK(afterbay_endpoint_pool_give_back(pool, 1));
  FAILS(afterbay_endpoint_pool_give_back(pool, 1), AFTERBAY_BAD_STATE, "is not lent");
  FAILS(afterbay_endpoint_pool_give_back(pool, 3), AFTERBAY_BAD_STATE, "a pool of 3 endpoints");
  OK(afterbay_endpoint_pool_try_take(pool, &none));
  HOLDS(none == 1);
  FAILS(afterbay_endpoint_pool_take(pool, NULL), AFTERBAY_INVALID_ARGUMENT, "`index`");
  FAILS(afterbay_endpoint_pool_take(NULL, &none), AFTERBAY_INVALID_ARGUMENT, "`pool`");
  afterbay_endpoint_pool_free(pool);
  afterbay_endpoint_pool_free(NULL);
  FAILS(afterbay_endpoint_pool_open(all, 0, &pool), AFTERBAY_INVALID_ARGUMENT, "at least one endpoint");
  all[1] = all[0];
  FAILS(afterbay_endpoint_pool_open(all, 2, &pool), AFTERBAY_INVALID_ARGUMENT, "twice");
  all[1] = NULL;
  FAILS(afterbay_endpoint_pool_open(all, 2, &pool), AFTERBAY_INVALID_ARGUMENT, "`endpoint`");
  afterbay_endpoint_free(all[0]);
  afterbay_endpoint_free(all[2]);
}

static void run_threads(void* (*function)(void*)) {
  pthread_t* const all = malloc((size_t)threads * sizeof *all);
  int* const numbers = malloc((size_t)threads * sizeof *numbers);
  running = threads;
  for (int i = 0; i < threads; ++i) {
    numbers[i] = i;
    HOLDS(pthread_create(&all[i], NULL, function, &numbers[i]) == 0);
  }
  for (int left = threads; left > 0;) { /* on other nodes than the servers they need this thread */
    pthread_mutex_lock(&of_session);
    OK(afterbay_session_progress(session));
    left = running;
    pthread_mutex_unlock(&of_session);
    if (left > 0) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  for (int i = 0; i < threads; ++i) HOLDS(pthread_join(all[i], NULL) == 0);
  free(numbers);
  free(all);
}

static void run_model(const char* path) {
  OK(afterbay_session_model_rank(session, &rank));
  OK(afterbay_session_model_size(session, &ranks));
  if (getenv("TEAMS_DIFFER") != NULL) threads += rank;
  define(path);
  if (threads > 0) run_threads(run_thread);
  for (int record = 0; record < RECORDS; ++record) {
    int64_t indices[MOST];
    if (threads <= 0) put_record(NULL, record, rows_of_rank(), indices, list_points(1, 0, indices), 1);
    if (threads <= 0 || mpi_level < MPI_THREAD_SERIALIZED) OK(afterbay_session_end_step(session));
  }
  OK(afterbay_file_close(file, NULL));
  afterbay_file_free(file);
  if (threads > 0) {
    OK(afterbay_session_open_input(session, path, AFTERBAY_AS_OF_CLOSED, &input));
    run_threads(read_thread);
    afterbay_input_free(input);
    use_pool();
  }
  OK(afterbay_session_finalize(session));
}

int main(int argc, char** argv) {
  int provided = 0, server = 0;
  const char* const wanted = getenv("THREAD_LEVEL");
  if (wanted != NULL && strcmp(wanted, "serialized") == 0) mpi_level = MPI_THREAD_SERIALIZED;
  if (wanted != NULL && strcmp(wanted, "multiple") == 0) mpi_level = MPI_THREAD_MULTIPLE;
  MPI_Init_thread(&argc, &argv, mpi_level, &provided);
  HOLDS(provided >= mpi_level);
  if (argc < 3) fail("usage: threads_c THREADS FILE", __LINE__);
  threads = atoi(argv[1]);
  afterbay_options* options;
  OK(afterbay_options_create(&options));
  OK(afterbay_options_set_arguments(options, argc - 1, (const char* const*)argv + 1));
  OK(afterbay_session_open(MPI_COMM_WORLD, options, &session));
  afterbay_options_free(options);
  OK(afterbay_session_is_server(session, &server));
  if (server)
    OK(afterbay_session_serve(session));
  else
    run_model(argv[2]);
  afterbay_session_free(session);
  MPI_Finalize();
  return 0;
}
