/* SPDX-License-Identifier: Apache-2.0
   forgotten.cpp in C. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
static struct timespec opened;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)(now.tv_sec - opened.tv_sec) + (double)(now.tv_nsec - opened.tv_nsec) * 1e-9;
}

static void keep_outcome(int code) {
  char name[32];
  snprintf(name, sizeof name, "outcome.%d", world);
  FILE* const file = fopen(name, "w");
  if (file == NULL) return;
  fprintf(file, "%s\n%f\n%s\n", afterbay_error_name(code), seconds(), afterbay_last_error());
  fclose(file);
}

static void run_model(afterbay_session* session, const char* scenario, int forgets) {
  if (forgets && strcmp(scenario, "unused") == 0) return;
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

static void take_part(afterbay_session* session, const char* scenario, int forgets) {
  const int blocked = strcmp(scenario, "blocked") == 0;
  const int of_servers = blocked || strcmp(scenario, "serve") == 0;
  int server = 0;
  TRY(afterbay_session_is_server(session, &server));
  if (!server)
    run_model(session, scenario, forgets && !of_servers);
  else if (!forgets || !(of_servers || strcmp(scenario, "exit") == 0))
    TRY(afterbay_session_serve(session));
  else if (blocked)
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run(int argc, char** argv, const char* scenario, int kept, int forgets) {
  afterbay_options* options = NULL;
  afterbay_session* session = NULL;
  TRY(afterbay_options_create(&options));
  TRY(afterbay_options_set_name(options, "forgetful"));
  TRY(afterbay_options_set_arguments(options, argc, (const char* const*)argv));
  TRY(afterbay_session_open(MPI_COMM_WORLD, options, &session));
  clock_gettime(CLOCK_MONOTONIC, &opened);
  afterbay_options_free(options);
  take_part(session, scenario, forgets);
  if (!kept) afterbay_session_free(session);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  char* const suffix = strchr(argv[1], ':');
  if (suffix != NULL) *suffix = '\0';
  const int forgets = argc < 3 || argv[2][0] == '-' || atoi(argv[2]) == world;
  run(argc, argv, argv[1], suffix != NULL, forgets);
  if (strcmp(argv[1], "blocked") == 0 && !forgets) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(argv[1], "exit") == 0 && forgets) exit(3);
  MPI_Finalize();
  char name[32];
  snprintf(name, sizeof name, "ended.%d", world);
  FILE* const file = fopen(name, "w");
  if (file == NULL) return 1;
  fprintf(file, "%f\n", seconds());
  fclose(file);
  return 0;
}
