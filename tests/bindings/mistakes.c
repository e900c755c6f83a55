/* SPDX-License-Identifier: Apache-2.0
 * A model that stops at the first error and makes the mistake named by its first argument. */
#include <mpi.h>
#include <string.h>

#include "afterbay/afterbay.h"
#include "afterbay/mpi.h"

enum { nx = 16, ny = 4 };

static void check(int code) {
  if (code != AFTERBAY_OK) afterbay_stop();
}

static void run(afterbay_session* session, const char* mistake) {
  const char *height[] = {"time", "y", "x"}, *depth[] = {"y", "x"};
  const uint64_t global[] = {ny, nx}, count[] = {ny, nx / 2}, part[] = {ny, nx / 2};
  const int fill = -999, levels[] = {1, 2, 3, 4};
  const afterbay_collection_options where = {.file = "out.nc"};
  const afterbay_memory memory = {.rank = 2, .shape = part};
  const afterbay_file_name other = {.name = "out.nc2"};
  float values[ny * nx / 2] = {0};
  char text[ny * nx / 2] = {0};
  int rank = 0;
  afterbay_schema* schema = NULL;
  afterbay_collection* collection = NULL;
  afterbay_file *file = NULL, *second = NULL;
  check(afterbay_session_model_rank(session, &rank));
  const uint64_t start[] = {0, (uint64_t)rank * nx / 2};
  check(afterbay_decomposition_define(session, "grid", 2, global, start, count, 0));
  check(afterbay_schema_create(&schema));
  check(afterbay_schema_add_dimension(schema, "time", AFTERBAY_UNLIMITED));
  check(afterbay_schema_add_dimension(schema, "y", ny));
  check(afterbay_schema_add_dimension(schema, "x", nx));
  check(afterbay_schema_add_variable(schema, "height", AFTERBAY_FLOAT32, 3, height));
  check(afterbay_schema_set_fill(schema, "height", AFTERBAY_INT32, &fill));
  if (strcmp(mistake, "nowhere") != 0) check(afterbay_schema_set_decomposition(schema, "height", "grid"));
  if (strcmp(mistake, "never_put") == 0) {
    check(afterbay_schema_add_variable(schema, "depth", AFTERBAY_FLOAT32, 2, depth));
    check(afterbay_schema_set_decomposition(schema, "depth", "grid"));
    check(afterbay_schema_add_variable(schema, "crs", AFTERBAY_INT32, 0, NULL));
    check(afterbay_schema_add_variable(schema, "y", AFTERBAY_FLOAT64, 1, depth));
    check(afterbay_schema_set_constant(schema, "y", AFTERBAY_INT32, ny, levels));
  }
  check(afterbay_collection_define(session, "history", schema, &where, &collection));
  check(afterbay_collection_open(collection, NULL, NULL, &file));
  if (strcmp(mistake, "never_put") == 0) check(afterbay_collection_open(collection, &other, NULL, &second));
  for (uint64_t record = 0; record < 2; ++record) {
    if (strcmp(mistake, "text") == 0)
      check(afterbay_file_put(file, "height", record, AFTERBAY_TEXT, text, NULL));
    check(afterbay_file_put(file, "height", record, AFTERBAY_FLOAT32, values, &memory));
    check(afterbay_session_end_step(session));
  }
  check(afterbay_file_close(file, NULL));
  check(afterbay_session_finalize(session));
  afterbay_file_free(second);
  afterbay_file_free(file);
  afterbay_collection_free(collection);
  afterbay_schema_free(schema);
}

int main(int argc, char** argv) {
  afterbay_options* options = NULL;
  afterbay_session* session = NULL;
  int server = 0;
  MPI_Init(&argc, &argv);
  check(afterbay_options_create(&options));
  check(afterbay_options_set_arguments(options, argc, (const char* const*)argv));
  check(afterbay_session_open(MPI_COMM_WORLD, options, &session));
  afterbay_options_free(options);
  check(afterbay_session_is_server(session, &server));
  if (server)
    check(afterbay_session_serve(session));
  else
    run(session, argv[1]);
  afterbay_session_free(session);
  MPI_Finalize();
  return 0;
}
