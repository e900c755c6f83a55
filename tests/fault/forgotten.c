/* SPDX-License-Identifier: Apache-2.0
   forgotten.cpp in C. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "afterbay/afterbay.h"
#include "afterbay/mpi.h"

#define TRY(call)              \
  do {                         \
    const int code = (call);   \
    if (code != AFTERBAY_OK) { \
      keep_outcome(code);      \
      return;                  \
    }                          \
  } while (0)

static int world;

static void keep_outcome(int code) {
  char name[32];
  snprintf(name, sizeof name, "outcome.%d", world);
  FILE* const file = fopen(name, "w");
  if (file == NULL) return;
  fprintf(file, "%s\n%s\n", afterbay_error_name(code), afterbay_last_error());
  fclose(file);
}

static void run(afterbay_session* session, const char* scenario, int forgets) {
  const char* const dimensions[] = {"time", "x"};
  const uint64_t global = 16;
  int rank = 0, size = 0;
  TRY(afterbay_session_model_rank(session, &rank));
  TRY(afterbay_session_model_size(session, &size));
  const uint64_t count = global / (uint64_t)size, start = (uint64_t)rank * count;
  TRY(afterbay_decomposition_define(session, "grid", 1, &global, &start, &count, AFTERBAY_GAPS_REFUSED));
  afterbay_schema* schema = NULL;
  TRY(afterbay_schema_create(&schema));
  TRY(afterbay_schema_add_dimension(schema, "time", AFTERBAY_UNLIMITED));
  TRY(afterbay_schema_add_dimension(schema, "x", global));
  TRY(afterbay_schema_add_variable(schema, "height", AFTERBAY_FLOAT32, 2, dimensions));
  TRY(afterbay_schema_set_decomposition(schema, "height", "grid"));
  afterbay_collection* collection = NULL;
  const afterbay_collection_options options = {.file = "out.nc"};
  TRY(afterbay_collection_define(session, "history", schema, &options, &collection));
  afterbay_file* file = NULL;
  TRY(afterbay_collection_open(collection, NULL, NULL, &file));
  float values[16];
  for (int i = 0; i < 16; ++i) values[i] = 1.0F;
  TRY(afterbay_file_put(file, "height", 0, AFTERBAY_FLOAT32, values, NULL));
  TRY(afterbay_session_end_step(session));
  if (!forgets || strcmp(scenario, "finalize") == 0) {
    afterbay_ticket closed;
    TRY(afterbay_file_close(file, &closed));
    if (strcmp(scenario, "close") == 0) TRY(afterbay_session_wait(session, closed));
  }
  if (!forgets) TRY(afterbay_session_finalize(session));
}

static void take_part(int argc, char** argv, const char* scenario, int forgets) {
  afterbay_options* options = NULL;
  afterbay_session* session = NULL;
  int server = 0;
  TRY(afterbay_options_create(&options));
  TRY(afterbay_options_set_name(options, "forgetful"));
  TRY(afterbay_options_set_arguments(options, argc, (const char* const*)argv));
  TRY(afterbay_session_open(MPI_COMM_WORLD, options, &session));
  afterbay_options_free(options);
  TRY(afterbay_session_is_server(session, &server));
  if (!server)
    run(session, scenario, forgets && strcmp(scenario, "serve") != 0);
  else if (strcmp(scenario, "serve") != 0)
    TRY(afterbay_session_serve(session));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  const int forgets = argc < 3 || argv[2][0] == '-' || atoi(argv[2]) == world;
  take_part(argc, argv, argv[1], forgets);
  if (strcmp(argv[1], "exit") == 0 && forgets) exit(3);
  MPI_Finalize();
  return 0;
}
