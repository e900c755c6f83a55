/* SPDX-License-Identifier: Apache-2.0
   What models with endpoints do wrong, and what they are told: endpoint_mistakes HOW FILE, on two
   model ranks, the second of which makes the mistake. Messages name that rank and the endpoint,
   within the deadline. HOW: `refused`, what is refused, after which the run goes on; `at_once`, two
   threads use one endpoint (over MPI and with little memory.endpoints); `left_out`, a thread ends
   its step without its part; `silent`, a thread makes no more calls; `stops`, a thread that did not
   open the session ends the program; `stops_at_exit`, another one stops as well, and an exit
   handler waits for it. */
#define _POSIX_C_SOURCE 199309L /* nanosleep */
#include <afterbay/mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NY = 40, NX = 50, FIELDS = 30, DEADLINE_S = 10 };

static void fail(const char* what, int line) {
  fprintf(stderr, "endpoint_mistakes.c:%d: %s\n  last error: %s\n", line, what, afterbay_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#define HOLDS(condition)                          \
  do {                                            \
    if (!(condition)) fail(#condition, __LINE__); \
  } while (0)
#define OK(call) HOLDS((call) == AFTERBAY_OK)

static int rank;
static afterbay_session* session;
static afterbay_file* file;
static afterbay_endpoint *upper, *lower; /* the first quarter of the rank's rows, and the rest */
static double zeros[NY * NX];

/* The call failed with the code; the last error names this rank and all of `parts`, separated by
   '|'. */
static void told(int code, int expected, const char* parts, int line) {
  char all[300], of_rank[20];
  snprintf(all, sizeof all, "%s", parts);
  snprintf(of_rank, sizeof of_rank, "rank %d", rank);
  if (code != expected) fail(afterbay_error_name(code), line);
  if (strstr(afterbay_last_error(), of_rank) == NULL) fail(of_rank, line);
  for (char* part = strtok(all, "|"); part != NULL; part = strtok(NULL, "|"))
    if (strstr(afterbay_last_error(), part) == NULL) fail(part, line);
}
#define TOLD(call, expected, parts) told(call, expected, parts, __LINE__)

static uint64_t rows(void) { return NY / 2; }
static uint64_t first_row(void) { return (uint64_t)rank * rows(); }

static void open_part(afterbay_endpoint** endpoint, const char* name, uint64_t first, uint64_t count) {
  const uint64_t global[] = {NY, NX}, start[] = {first_row() + first, 0}, size[] = {count, NX};
  OK(afterbay_endpoint_open(session, name, endpoint));
  OK(afterbay_endpoint_part(*endpoint, "grid", 2, global, start, size));
}

static const char* field(int number) {
  static char names[FIELDS][8];
  snprintf(names[number], sizeof names[number], "v%d", number);
  return names[number];
}

static void define(const char* path) {
  const uint64_t global[] = {NY, NX}, start[] = {first_row(), 0}, count[] = {rows(), NX};
  const char* dimensions[] = {"time", "y", "x"};
  afterbay_schema* schema;
  afterbay_collection* collection;
  OK(afterbay_decomposition_define(session, "grid", 2, global, start, count, AFTERBAY_GAPS_REFUSED));
  OK(afterbay_schema_create(&schema));
  OK(afterbay_schema_add_dimension(schema, "time", AFTERBAY_UNLIMITED));
  OK(afterbay_schema_add_dimension(schema, "y", NY));
  OK(afterbay_schema_add_dimension(schema, "x", NX));
  for (int i = 0; i < FIELDS; ++i) {
    OK(afterbay_schema_add_variable(schema, field(i), AFTERBAY_FLOAT64, 3, dimensions));
    OK(afterbay_schema_set_decomposition(schema, field(i), "grid"));
  }
  OK(afterbay_collection_define(session, "c", schema, NULL, &collection));
  const afterbay_file_name name = {.name = path};
  OK(afterbay_collection_open(collection, &name, NULL, &file));
  afterbay_collection_free(collection);
  afterbay_schema_free(schema);
  open_part(&upper, "upper", 0, rows() / 4);
  open_part(&lower, "lower", rows() / 4, rows() - rows() / 4);
}

static int put(afterbay_endpoint* endpoint, int number, const afterbay_section* section) {
  return afterbay_endpoint_put(endpoint, file, field(number), 0, AFTERBAY_FLOAT64, zeros, NULL, section);
}

static void end_steps(void) {
  OK(afterbay_endpoint_end_step(upper));
  OK(afterbay_endpoint_end_step(lower));
  OK(afterbay_session_end_step(session));
}

/* ---- Overlaps and omissions */

static void be_refused(void) {
  const uint64_t global[] = {NY, NX}, start[] = {first_row() + rows() / 4, 0}, one[] = {1, 1};
  const uint64_t begin[] = {0, 0}, half[] = {5, NX}, rest[] = {rows() - rows() / 4 - 5, NX}, next[] = {5, 0};
  const afterbay_section above = {.rank = 2, .start = begin, .count = half};
  const afterbay_section below = {.rank = 2, .start = next, .count = rest};
  afterbay_endpoint* third;
  OK(afterbay_endpoint_open(session, "third", &third));
  TOLD(afterbay_endpoint_part(third, "grid", 2, global, start, one), AFTERBAY_CONFLICT,
       "endpoint 3 ('third')|endpoint 2 ('lower')|grid");
  OK(afterbay_endpoint_close(third));
  afterbay_endpoint_free(third);
  OK(put(upper, 0, NULL));
  TOLD(put(upper, 0, NULL), AFTERBAY_CONFLICT, "endpoint 1 ('upper')|variable v0");
  OK(put(lower, 0, &above));
  TOLD(put(lower, 0, &above), AFTERBAY_CONFLICT, "endpoint 2 ('lower')|variable v0|was put already");
  TOLD(afterbay_endpoint_end_step(lower), AFTERBAY_BAD_STATE,
       "endpoint 2 ('lower')|250 of the 750 elements|put the other sections first|variable v0");
  TOLD(afterbay_endpoint_close(lower), AFTERBAY_BAD_STATE, "endpoint 2 ('lower')|250 of the 750 elements");
  OK(put(lower, 0, &below));
  end_steps();
  OK(afterbay_file_close(file, NULL));
  OK(afterbay_session_finalize(session));
}

/* ---- Two threads */

static pthread_mutex_t of_done = PTHREAD_MUTEX_INITIALIZER;
static int done; /* the fields that the other thread has put */

static int fields_done(int more) {
  pthread_mutex_lock(&of_done);
  const int now = done += more;
  pthread_mutex_unlock(&of_done);
  return now;
}

static void* put_all(void* nothing) {
  for (int i = 0; i < FIELDS; ++i) {
    int code;
    do code = put(lower, i, NULL); /* the other thread may be in a call of the endpoint */
    while (code == AFTERBAY_BAD_STATE && strstr(afterbay_last_error(), "another thread") != NULL);
    OK(code);
    fields_done(1);
  }
  return nothing;
}

/* The first thread waits for the session's thread, because memory.endpoints is full. */
static void use_at_once(void) {
  pthread_t first;
  int code = AFTERBAY_CONFLICT;
  HOLDS(pthread_create(&first, NULL, put_all, NULL) == 0);
  while (fields_done(0) == 0 || code == AFTERBAY_CONFLICT) {
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (fields_done(0) > 0) code = put(lower, 0, NULL); /* a conflict if the first thread is not in a call */
  }
  TOLD(code, AFTERBAY_BAD_STATE,
       "put by endpoint 2 ('lower') while another thread is in a call of it|one thread");
  for (int i = 0; i < FIELDS; ++i) {
    OK(put(upper, i, NULL)); /* hands on what has been collected */
    OK(afterbay_session_progress(session));
  }
  HOLDS(pthread_join(first, NULL) == 0);
  end_steps();
  OK(afterbay_file_close(file, NULL));
  OK(afterbay_session_finalize(session));
}

/* ---- Left out: the session fails on both ranks */

static void* end_without_part(void* nothing) {
  OK(afterbay_endpoint_end_step(lower));
  return nothing;
}

static void leave_out(int silent) {
  const double begin = MPI_Wtime();
  int code = AFTERBAY_OK;
  OK(put(upper, 0, NULL));
  OK(afterbay_endpoint_end_step(upper));
  if (rank == 0) {
    OK(put(lower, 0, NULL));
    OK(afterbay_endpoint_end_step(lower));
    OK(afterbay_session_end_step(session));
    code = afterbay_file_close(file, NULL);
    if (code == AFTERBAY_OK) code = afterbay_session_finalize(session);
    HOLDS(code != AFTERBAY_OK); /* told by the other rank, or that it has given up */
    HOLDS(strstr(afterbay_last_error(), "rank 1") != NULL);
  } else {
    pthread_t other;
    if (!silent) {
      HOLDS(pthread_create(&other, NULL, end_without_part, NULL) == 0);
      HOLDS(pthread_join(other, NULL) == 0);
    }
    code = afterbay_session_end_step(session);
    if (silent) {
      OK(code);
      TOLD(afterbay_file_close(file, NULL), AFTERBAY_TIMED_OUT,
           "endpoint 2 ('lower') has ended 0 of 1 steps|750 of 1000 values of variable 'v0'");
    } else {
      TOLD(code, AFTERBAY_BAD_STATE,
           "750 of 1000 values of variable 'v0'|not handed over by endpoint 2 ('lower')");
    }
  }
  HOLDS(silent || MPI_Wtime() - begin < DEADLINE_S);
}

/* ---- Stops */

static void* stop_in_thread(void* nothing) {
  if (put(lower, 0, NULL) == AFTERBAY_OK) put(lower, 0, NULL);
  afterbay_stop();
  return nothing;
}

/* The session's thread waits for the other thread, as at the end of a parallel region. */
static void stop_program(void) {
  pthread_t other;
  OK(put(upper, 0, NULL));
  OK(afterbay_endpoint_end_step(upper));
  if (rank == 0) {
    HOLDS(put(lower, 0, NULL) == AFTERBAY_OK);
    OK(afterbay_endpoint_end_step(lower));
    OK(afterbay_session_end_step(session));
    if (afterbay_file_close(file, NULL) != AFTERBAY_OK || afterbay_session_finalize(session) != AFTERBAY_OK)
      afterbay_stop();
    fail("the other rank has stopped", __LINE__);
  }
  HOLDS(pthread_create(&other, NULL, stop_in_thread, NULL) == 0);
  pthread_join(other, NULL);
}

static pthread_t stops_later;
static atomic_int exits;

static void join_at_exit(void) {
  exits = 1;
  pthread_join(stops_later, NULL);
}

static void* stop_later(void* nothing) {
  while (!exits) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  afterbay_stop();
  return nothing;
}

/* The first thread ends the process, and waits for the second one, which waits for that. */
static void stop_at_exit(void) {
  OK(put(upper, 0, NULL));
  if (rank == 0) { /* mpirun ends all ranks when the first one ends with an error */
    const struct timespec pause = {90, 0};
    HOLDS(afterbay_session_finalize(session) != AFTERBAY_OK);
    nanosleep(&pause, NULL);
    fail("the other rank has stopped", __LINE__);
  }
  HOLDS(atexit(join_at_exit) == 0);
  HOLDS(pthread_create(&stops_later, NULL, stop_later, NULL) == 0);
  HOLDS(put(upper, 0, NULL) != AFTERBAY_OK);
  afterbay_stop();
}

int main(int argc, char** argv) {
  int provided = 0, server = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  if (argc < 3) fail("usage: endpoint_mistakes HOW FILE", __LINE__);
  const char* const how = argv[1];
  const int fails =
      strcmp(how, "left_out") == 0 || strcmp(how, "silent") == 0 || strncmp(how, "stops", 5) == 0;
  afterbay_options* options;
  OK(afterbay_options_create(&options));
  OK(afterbay_options_set_arguments(options, argc - 1, (const char* const*)argv + 1));
  OK(afterbay_session_open(MPI_COMM_WORLD, options, &session));
  afterbay_options_free(options);
  OK(afterbay_session_is_server(session, &server));
  if (server) {
    HOLDS((afterbay_session_serve(session) != AFTERBAY_OK) == fails);
  } else {
    OK(afterbay_session_model_rank(session, &rank));
    define(argv[2]);
    if (strcmp(how, "stops") == 0)
      stop_program();
    else if (strcmp(how, "stops_at_exit") == 0)
      stop_at_exit();
    else if (fails)
      leave_out(strcmp(how, "silent") == 0);
    else if (strcmp(how, "at_once") == 0)
      use_at_once();
    else
      be_refused();
    afterbay_endpoint_free(upper);
    afterbay_endpoint_free(lower);
    afterbay_file_free(file);
  }
  afterbay_session_free(session);
  MPI_Finalize();
  return 0;
}
