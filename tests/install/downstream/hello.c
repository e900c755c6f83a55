/* SPDX-License-Identifier: Apache-2.0
   The same as hello.cpp, in C. */
#include <afterbay/mpi.h>
#include <stdio.h>

#define POINTS 8

static int check(int code, const char* what) {
  if (code != AFTERBAY_OK) fprintf(stderr, "hello: %s: %s\n", what, afterbay_last_error());
  return code;
}
#define TRY(call)                            \
  do {                                       \
    if (check((call), #call) != 0) return 1; \
  } while (0)

static int write_records(afterbay_session* session, afterbay_collection* collection, uint64_t start,
                         uint64_t count) {
  double signal[POINTS];
  afterbay_file* file = NULL;
  TRY(afterbay_collection_open(collection, NULL, NULL, &file));
  for (uint64_t record = 0; record < 2; ++record) {
    for (uint64_t i = 0; i < count; ++i) signal[i] = (double)(10 * record + start + i);
    TRY(afterbay_file_put(file, "signal", record, AFTERBAY_FLOAT64, signal, NULL));
    TRY(afterbay_session_end_step(session));
  }
  TRY(afterbay_file_close(file, NULL));
  afterbay_file_free(file);
  return 0;
}

static int write_hello(afterbay_session* session) {
  int server = 0, rank = 0, size = 1;
  TRY(afterbay_session_is_server(session, &server));
  if (server) return check(afterbay_session_serve(session), "serve") != 0;
  TRY(afterbay_session_model_rank(session, &rank));
  TRY(afterbay_session_model_size(session, &size));

  const uint64_t points = POINTS, count = points / (uint64_t)size, start = count * (uint64_t)rank;
  TRY(afterbay_decomposition_define(session, "line", 1, &points, &start, &count, AFTERBAY_GAPS_REFUSED));
  afterbay_schema* schema = NULL;
  const char* const dimensions[] = {"time", "x"};
  TRY(afterbay_schema_create(&schema));
  TRY(afterbay_schema_add_dimension(schema, "time", AFTERBAY_UNLIMITED));
  TRY(afterbay_schema_add_dimension(schema, "x", points));
  TRY(afterbay_schema_add_variable(schema, "signal", AFTERBAY_FLOAT64, 2, dimensions));
  TRY(afterbay_schema_set_decomposition(schema, "signal", "line"));
  afterbay_collection* collection = NULL;
  TRY(afterbay_collection_define(session, "hello", schema, NULL, &collection));
  afterbay_schema_free(schema);
  if (write_records(session, collection, start, count) != 0) return 1;
  afterbay_collection_free(collection);
  return check(afterbay_session_finalize(session), "finalize") != 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  afterbay_options* options = NULL;
  afterbay_session* session = NULL;
  int failed = check(afterbay_options_create(&options), "options") != 0 ||
               check(afterbay_options_set(options, "servers", "1"), "servers") != 0 ||
               check(afterbay_session_open(MPI_COMM_WORLD, options, &session), "open") != 0 ||
               write_hello(session);
  afterbay_session_free(session);
  afterbay_options_free(options);
  MPI_Finalize();
  return failed;
}
