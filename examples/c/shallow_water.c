/* SPDX-License-Identifier: Apache-2.0
   The shallow-water model in C with its output through Afterbay:
     mpirun -np 6 shallow_water_c --afterbay.servers=2
   Described output:
     mpirun -np 3 shallow_water_c --output described --afterbay.output=output.yaml */
#include <afterbay/mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "described.h"
#include "model.h"

struct settings {
  int nx, ny, steps, fields_every, surface_every;
  int described; /* 1: a description says what is written; 0: this program does */
  const char* directory;
};

struct output {
  afterbay_session* session;
  afterbay_collection *fields, *surface;
  afterbay_file *fields_file, *surface_file;
  uint64_t fields_record, surface_record;
  double* work;
};

static int read_settings(int argc, char** argv, struct settings* s) {
  for (int i = 1; i < argc; ++i) {
    if (strncmp(argv[i], "--afterbay.", 11) == 0) {
      if (strchr(argv[i], '=') == NULL) ++i;
      continue;
    }
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--grid") == 0) {
      if (sscanf(value, "%dx%d", &s->nx, &s->ny) != 2) return 0;
    } else if (strcmp(argv[i], "--steps") == 0) {
      s->steps = atoi(value);
    } else if (strcmp(argv[i], "--fields-every") == 0) {
      s->fields_every = atoi(value);
    } else if (strcmp(argv[i], "--surface-every") == 0) {
      s->surface_every = atoi(value);
    } else if (strcmp(argv[i], "--directory") == 0) {
      s->directory = value;
    } else if (strcmp(argv[i], "--output") == 0) {
      s->described = strcmp(value, "described") == 0;
      if (!s->described && strcmp(value, "afterbay") != 0) return 0;
    } else {
      return 0;
    }
    ++i;
  }
  return s->nx >= 8 && s->ny >= 8 && s->fields_every > 0 && s->surface_every > 0;
}

static void add_coordinate(afterbay_schema* schema, const char* name, const char* long_name, int n,
                           double first) {
  double* values = malloc((size_t)n * sizeof *values);
  for (int i = 0; i < n; ++i) values[i] = (i + first) * CELL;
  check(afterbay_schema_add_dimension(schema, name, (uint64_t)n));
  check(afterbay_schema_add_variable(schema, name, AFTERBAY_FLOAT64, 1, &name));
  check(afterbay_schema_set_text(schema, name, "units", "m"));
  check(afterbay_schema_set_text(schema, name, "long_name", long_name));
  check(afterbay_schema_set_constant(schema, name, AFTERBAY_FLOAT64, (size_t)n, values));
  free(values);
}

static void add_field(afterbay_schema* schema, const char* name, const char* y, const char* x,
                      const char* units, const char* long_name) {
  const char* dimensions[3] = {"time", y, x};
  check(afterbay_schema_add_variable(schema, name, AFTERBAY_FLOAT32, 3, dimensions));
  check(afterbay_schema_set_decomposition(schema, name, "cells"));
  check(afterbay_schema_set_text(schema, name, "units", units));
  check(afterbay_schema_set_text(schema, name, "long_name", long_name));
}

/* Dimensions, coordinates, time and the global attributes. */
static afterbay_schema* describe_grid(const struct model* m, const char* title) {
  afterbay_schema* schema;
  const int32_t grid[2] = {m->nx, m->ny};
  const double coriolis = CORIOLIS, gravity = GRAVITY, rest_depth = REST_DEPTH;
  const char* time = "time";
  check(afterbay_schema_create(&schema));
  check(afterbay_schema_set_text(schema, NULL, "Conventions", "CF-1.10"));
  check(afterbay_schema_set_text(schema, NULL, "title", title));
  check(afterbay_schema_set_text(schema, NULL, "history", "written by a shallow-water model"));
  check(afterbay_schema_set_attribute(schema, NULL, "grid", AFTERBAY_INT32, 2, grid));
  check(afterbay_schema_set_attribute(schema, NULL, "coriolis", AFTERBAY_FLOAT64, 1, &coriolis));
  check(afterbay_schema_set_attribute(schema, NULL, "gravity", AFTERBAY_FLOAT64, 1, &gravity));
  check(afterbay_schema_set_attribute(schema, NULL, "rest_depth", AFTERBAY_FLOAT64, 1, &rest_depth));
  check(afterbay_schema_add_dimension(schema, "time", AFTERBAY_UNLIMITED));
  add_coordinate(schema, "x", "eastward distance of cell centres", m->nx, 0.5);
  add_coordinate(schema, "y", "northward distance of cell centres", m->ny, 0.5);
  add_coordinate(schema, "x_edge", "eastward distance of west edges", m->nx, 0.0);
  add_coordinate(schema, "y_edge", "northward distance of south edges", m->ny, 0.0);
  check(afterbay_schema_add_variable(schema, "time", AFTERBAY_FLOAT64, 1, &time));
  check(afterbay_schema_set_text(schema, "time", "units", "seconds since 2000-01-01"));
  check(afterbay_schema_set_text(schema, "time", "calendar", "standard"));
  check(afterbay_schema_set_text(schema, "time", "standard_name", "time"));
  check(afterbay_schema_add_variable(schema, "step", AFTERBAY_INT32, 1, &time));
  check(afterbay_schema_set_text(schema, "step", "units", "1"));
  check(afterbay_schema_set_text(schema, "step", "long_name", "steps done by the model"));
  return schema;
}

static void open_collection(struct output* out, const char* name, afterbay_schema* schema,
                            const char* directory, afterbay_collection** collection, afterbay_file** file) {
  const afterbay_collection_options where = {.directory = directory, .existing = "replace"};
  check(afterbay_collection_define(out->session, name, schema, &where, collection));
  afterbay_schema_free(schema);
  check(afterbay_collection_open(*collection, NULL, NULL, file));
}

static void start_output(struct output* out, const struct model* m, const char* directory) {
  const uint64_t global[2] = {(uint64_t)m->ny, (uint64_t)m->nx};
  const uint64_t start[2] = {(uint64_t)m->j0, (uint64_t)m->i0};
  const uint64_t count[2] = {(uint64_t)m->nj, (uint64_t)m->ni};
  out->work = malloc((size_t)m->ni * (size_t)m->nj * sizeof(double));
  check(afterbay_decomposition_define(out->session, "cells", 2, global, start, count, AFTERBAY_GAPS_REFUSED));

  afterbay_schema* schema = describe_grid(m, "the state of a shallow-water model");
  add_field(schema, "h", "y", "x", "m", "depth of the layer");
  add_field(schema, "u", "y", "x_edge", "m s-1", "velocity to the east");
  add_field(schema, "v", "y_edge", "x", "m s-1", "velocity to the north");
  add_field(schema, "vorticity", "y_edge", "x_edge", "s-1", "relative vorticity");
  open_collection(out, "fields", schema, directory, &out->fields, &out->fields_file);

  schema = describe_grid(m, "the surface of a shallow-water model");
  add_field(schema, "elevation", "y", "x", "m", "depth of the layer less its depth at rest");
  add_field(schema, "speed", "y", "x", "m s-1", "speed");
  open_collection(out, "surface", schema, directory, &out->surface, &out->surface_file);
}

static void put_time(afterbay_file* file, const struct model* m, uint64_t record) {
  const double time = m->step * TIME_STEP;
  const int32_t step = m->step;
  check(afterbay_file_put(file, "time", record, AFTERBAY_FLOAT64, &time, NULL));
  check(afterbay_file_put(file, "step", record, AFTERBAY_INT32, &step, NULL));
}

/* The model's arrays have a halo of one point: described by the layout, not removed by a copy. */
static void write_fields(struct output* out, const struct model* m) {
  const uint64_t shape[2] = {(uint64_t)m->nj + 2, (uint64_t)m->ni + 2}, offset[2] = {1, 1};
  const afterbay_memory inside = {.rank = 2, .shape = shape, .offset = offset};
  const uint64_t record = out->fields_record++;
  put_time(out->fields_file, m, record);
  check(afterbay_file_put(out->fields_file, "h", record, AFTERBAY_FLOAT64, m->h, &inside));
  check(afterbay_file_put(out->fields_file, "u", record, AFTERBAY_FLOAT64, m->u, &inside));
  check(afterbay_file_put(out->fields_file, "v", record, AFTERBAY_FLOAT64, m->v, &inside));
  model_vorticity(m, out->work);
  check(afterbay_file_put(out->fields_file, "vorticity", record, AFTERBAY_FLOAT64, out->work, NULL));
}

static void write_surface(struct output* out, const struct model* m) {
  const uint64_t record = out->surface_record++;
  double* elevation = out->work;
  put_time(out->surface_file, m, record);
  for (int j = 1; j <= m->nj; ++j)
    for (int i = 1; i <= m->ni; ++i) *elevation++ = m->h[at(m, i, j)] - REST_DEPTH;
  check(afterbay_file_put(out->surface_file, "elevation", record, AFTERBAY_FLOAT64, out->work, NULL));
  model_speed(m, out->work);
  check(afterbay_file_put(out->surface_file, "speed", record, AFTERBAY_FLOAT64, out->work, NULL));
}

static void finish_output(struct output* out) {
  check(afterbay_file_close(out->fields_file, NULL));
  check(afterbay_file_close(out->surface_file, NULL));
  check(afterbay_session_finalize(out->session));
  afterbay_file_free(out->fields_file);
  afterbay_file_free(out->surface_file);
  afterbay_collection_free(out->fields);
  afterbay_collection_free(out->surface);
  free(out->work);
}

static void run_model(afterbay_session* session, const struct settings* s, struct model* m) {
  struct output out = {.session = session};
  start_output(&out, m, s->directory);
  for (int n = 0; n <= s->steps; ++n) {
    if (n > 0) model_step(m);
    if (m->step % s->fields_every == 0) write_fields(&out, m);
    if (m->step % s->surface_every == 0) write_surface(&out, m);
    check(afterbay_session_end_step(session));
  }
  finish_output(&out);
}

/* The same with described output, which ends the session's steps. */
static void run_described(afterbay_session* session, const struct settings* s, struct model* m) {
  struct described out;
  described_start(&out, session, m);
  for (int n = 0; n <= s->steps; ++n) {
    if (n > 0) model_step(m);
    described_write_step(&out, m);
  }
  described_finish(&out);
  check(afterbay_session_finalize(session));
}

static void run(afterbay_session* session, const struct settings* s) {
  struct model m;
  MPI_Comm comm;
  check(afterbay_session_model_comm(session, &comm));
  model_create(&m, comm, s->nx, s->ny);
  if (s->described)
    run_described(session, s, &m);
  else
    run_model(session, s, &m);
  model_free(&m);
}

/* Defaults of the description and of the directory of its files; arguments precede them. */
static void choose_description(afterbay_options* options, const struct settings* s) {
  check(afterbay_options_set(options, "output", "output.yaml"));
  if (strcmp(s->directory, ".") != 0)
    check(afterbay_options_set(options, "collections.*.directory", s->directory));
}

int main(int argc, char** argv) {
  struct settings s = {480, 320, 600, 20, 10, 0, "."};
  afterbay_options* options;
  afterbay_session* session;
  int server;
  MPI_Init(&argc, &argv);
  if (!read_settings(argc, argv, &s)) {
    fprintf(stderr,
            "usage: shallow_water_c [--grid NXxNY] [--steps N] [--fields-every N] [--surface-every N] "
            "[--directory DIR] [--output afterbay|described] [--afterbay.NAME=VALUE]\n");
    MPI_Finalize();
    return 2;
  }
  check(afterbay_options_create(&options));
  if (s.described) choose_description(options, &s);
  check(afterbay_options_set_arguments(options, argc, (const char* const*)argv));
  check(afterbay_session_open(MPI_COMM_WORLD, options, &session));
  afterbay_options_free(options);
  check(afterbay_session_is_server(session, &server));
  if (server)
    check(afterbay_session_serve(session));
  else
    run(session, &s);
  afterbay_session_free(session);
  MPI_Finalize();
  return 0;
}
