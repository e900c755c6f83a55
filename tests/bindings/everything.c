/* SPDX-License-Identifier: Apache-2.0
   Calls every function of the C interface, except those of endpoints and sections (threads.c), on 2
   model ranks and 1 server; everything.py checks the file that comes out. Its Fortran twin is
   everything_fortran.f90. */
#include <afterbay/mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NY = 6, NX = 8, HALO = 2, RECORDS = 2 };

static int my_rank, i0, ni; /* this rank's columns */

static void fail(const char* what, int line) {
  fprintf(stderr, "everything.c:%d: %s\n  last error: %s\n", line, what, afterbay_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#define HOLDS(condition)                          \
  do {                                            \
    if (!(condition)) fail(#condition, __LINE__); \
  } while (0)
#define OK(call) HOLDS((call) == AFTERBAY_OK)

/* Expects that the call fails with `code`, and that the error's text contains `part`. */
#define FAILS(call, expected, part)                                        \
  do {                                                                     \
    HOLDS((call) == (expected));                                           \
    if (strstr(afterbay_last_error(), part) == NULL) fail(part, __LINE__); \
  } while (0)

static int value(int record, int y, int x) { return record * NY * NX + y * NX + x; }

/* ---- Schema ---- */

static const struct {
  const char* name;
  int type;
} numeric[] = {{"int8", AFTERBAY_INT8},      {"int16", AFTERBAY_INT16},   {"int32", AFTERBAY_INT32},
               {"int64", AFTERBAY_INT64},    {"uint8", AFTERBAY_UINT8},   {"uint16", AFTERBAY_UINT16},
               {"uint32", AFTERBAY_UINT32},  {"uint64", AFTERBAY_UINT64}, {"float32", AFTERBAY_FLOAT32},
               {"float64", AFTERBAY_FLOAT64}};
enum { NUMERIC = sizeof numeric / sizeof *numeric };

static void add(afterbay_schema* schema, const char* name, int type, int rank, const char* const* dimensions,
                const char* decomposition) {
  OK(afterbay_schema_add_variable(schema, name, type, rank, dimensions));
  if (decomposition != NULL) OK(afterbay_schema_set_decomposition(schema, name, decomposition));
}

static void add_dimensions(afterbay_schema* schema) {
  OK(afterbay_schema_add_dimension(schema, "time", AFTERBAY_UNLIMITED));
  OK(afterbay_schema_add_dimension(schema, "y", NY));
  OK(afterbay_schema_add_dimension(schema, "x", NX));
  OK(afterbay_schema_add_dimension(schema, "n", 3));
  OK(afterbay_schema_add_dimension(schema, "two", 2));
  OK(afterbay_schema_add_dimension(schema, "length", 5));
}

static void add_fields(afterbay_schema* schema) {
  const char* field[] = {"time", "y", "x"};
  const char* extra[] = {"halo", "strided", "slot", "tried", "packed"};
  const uint64_t chunk[] = {1, 3, 4};
  const double fill = -1.5;
  for (int i = 0; i < NUMERIC; ++i) add(schema, numeric[i].name, numeric[i].type, 3, field, "grid");
  for (int i = 0; i < 5; ++i) add(schema, extra[i], AFTERBAY_FLOAT64, 3, field, "grid");
  OK(afterbay_schema_set_chunk(schema, "packed", 3, chunk));
  OK(afterbay_schema_set_deflate(schema, "packed", 4, 1));
  OK(afterbay_schema_set_filter(schema, "packed", "fletcher32", 1));
  OK(afterbay_schema_set_filter(schema, "halo", "shuffle", 1));
  OK(afterbay_schema_set_filter(schema, "halo", "shuffle", 0));
  OK(afterbay_schema_set_fill(schema, "packed", AFTERBAY_FLOAT64, &fill));
  OK(afterbay_schema_set_packing(schema, "tried", "int16", 0, 65533, 0)); /* steps of 1 */
}

static void add_others(afterbay_schema* schema) {
  const char *label[] = {"n", "length"}, *five[] = {"two", "n", "two", "y", "x"}, *plane[] = {"y", "x"};
  const char *names[] = {"time", "n"}, *stations[] = {"north", "", "far south"};
  const int32_t hole = -9;
  double x[NX];
  int8_t mask[NY * NX];
  for (int i = 0; i < NX; ++i) x[i] = i * 0.5;
  for (int i = 0; i < NY * NX; ++i) mask[i] = (int8_t)(i % 3);
  add(schema, "label", AFTERBAY_TEXT, 2, label, NULL);
  add(schema, "names", AFTERBAY_STRING, 2, names, NULL);
  add(schema, "answer", AFTERBAY_INT32, 0, NULL, NULL);
  add(schema, "five", AFTERBAY_INT16, 5, five, "grid");
  add(schema, "holes", AFTERBAY_INT32, 2, plane, "part");
  OK(afterbay_schema_set_fill(schema, "holes", AFTERBAY_INT32, &hole));
  add(schema, "listed", AFTERBAY_INT32, 2, plane, "points");
  OK(afterbay_schema_set_fill(schema, "listed", AFTERBAY_INT32, &hole));
  add(schema, "runs", AFTERBAY_INT32, 2, plane, "runs");
  OK(afterbay_schema_set_fill(schema, "runs", AFTERBAY_INT32, &hole));
  add(schema, "x", AFTERBAY_FLOAT64, 1, &plane[1], NULL);
  OK(afterbay_schema_set_constant(schema, "x", AFTERBAY_FLOAT64, NX, x));
  add(schema, "mask", AFTERBAY_INT8, 2, plane, NULL);
  OK(afterbay_schema_set_constant(schema, "mask", AFTERBAY_INT8, NY * NX, mask));
  add(schema, "station", AFTERBAY_STRING, 1, &label[0], NULL);
  OK(afterbay_schema_set_constant(schema, "station", AFTERBAY_STRING, 3, stations));
}

static void add_attributes(afterbay_schema* schema) {
  const int8_t i1[] = {-1, 2};
  const int16_t i2[] = {-300, 4};
  const int32_t i4[] = {-70000, 6};
  const int64_t i8[] = {-5000000000, 8};
  const uint8_t u1[] = {200, 1};
  const uint16_t u2[] = {60000, 1};
  const uint32_t u4[] = {70000, 1};
  const uint64_t u8[] = {5000000000, 1};
  const float r4[] = {0.5f, -2.25f};
  const double r8[] = {0.1, 1e300};
  const void* values[NUMERIC] = {i1, i2, i4, i8, u1, u2, u4, u8, r4, r8};
  const char* strings[] = {"one", "twenty two", "\xc3\xa9t\xc3\xa9"};
  char name[40];
  for (int i = 0; i < NUMERIC; ++i) {
    snprintf(name, sizeof name, "some_%s", numeric[i].name);
    OK(afterbay_schema_set_attribute(schema, NULL, name, numeric[i].type, 2, values[i]));
    snprintf(name, sizeof name, "one_%s", numeric[i].name);
    OK(afterbay_schema_set_attribute(schema, "halo", name, numeric[i].type, 1, values[i]));
  }
  OK(afterbay_schema_set_attribute(schema, NULL, "strings", AFTERBAY_STRING, 3, strings));
  OK(afterbay_schema_set_attribute(schema, NULL, "text", AFTERBAY_TEXT, 4, "four and more"));
  OK(afterbay_schema_set_text(schema, NULL, "title", "before"));
  OK(afterbay_schema_set_text(schema, NULL, "draft", "to be removed"));
  OK(afterbay_schema_set_text(schema, "halo", "units", "m"));
  OK(afterbay_schema_set_text(schema, "halo", "draft", "to be removed"));
}

static afterbay_changes* make_changes(void) {
  afterbay_changes* changes;
  double x[NX];
  const int32_t version[] = {3, 1, 4};
  for (int i = 0; i < NX; ++i) x[i] = i * 0.25;
  OK(afterbay_changes_create(&changes));
  OK(afterbay_changes_set_text(changes, NULL, "title", "after"));
  OK(afterbay_changes_set_attribute(changes, "halo", "version", AFTERBAY_INT32, 3, version));
  OK(afterbay_changes_remove_attribute(changes, NULL, "draft"));
  OK(afterbay_changes_remove_attribute(changes, "halo", "draft"));
  OK(afterbay_changes_set_constant(changes, "x", AFTERBAY_FLOAT64, NX, x));
  return changes;
}

/* ---- Data ---- */

static void put_number(afterbay_file* file, int which, int record) {
  union {
    int8_t i1[NY * NX];
    int16_t i2[NY * NX];
    int32_t i4[NY * NX];
    int64_t i8[NY * NX];
    uint8_t u1[NY * NX];
    uint16_t u2[NY * NX];
    uint32_t u4[NY * NX];
    uint64_t u8[NY * NX];
    float r4[NY * NX];
    double r8[NY * NX];
  } data;
  for (int y = 0, k = 0; y < NY; ++y)
    for (int i = 0; i < ni; ++i, ++k) {
      const int v = value(record, y, i0 + i);
      switch (numeric[which].type) {
        case AFTERBAY_INT8: data.i1[k] = (int8_t)v; break;
        case AFTERBAY_INT16: data.i2[k] = (int16_t)v; break;
        case AFTERBAY_INT32: data.i4[k] = v; break;
        case AFTERBAY_INT64: data.i8[k] = v; break;
        case AFTERBAY_UINT8: data.u1[k] = (uint8_t)v; break;
        case AFTERBAY_UINT16: data.u2[k] = (uint16_t)v; break;
        case AFTERBAY_UINT32: data.u4[k] = (uint32_t)v; break;
        case AFTERBAY_UINT64: data.u8[k] = (uint64_t)v; break;
        case AFTERBAY_FLOAT32: data.r4[k] = (float)v; break;
        default: data.r8[k] = v;
      }
    }
  OK(afterbay_file_put(file, numeric[which].name, (uint64_t)record, numeric[which].type, &data, NULL));
}

/* The same values in an array with halos, and in one whose first index is the fastest. */
static void put_layouts(afterbay_file* file, int record) {
  float halo[(NY + 2 * HALO) * (NX + 2 * HALO)];
  int32_t transposed[NX * NY * 2];
  const uint64_t shape[] = {NY + 2 * HALO, (uint64_t)ni + 2 * HALO}, offset[] = {HALO, HALO};
  const int64_t strides[] = {2, 2 * NY};
  const afterbay_memory inside = {.rank = 2, .shape = shape, .offset = offset};
  const afterbay_memory strided = {.rank = 2, .strides = strides};
  for (int i = 0; i < (NY + 2 * HALO) * (NX + 2 * HALO); ++i) halo[i] = -1;
  for (int y = 0; y < NY; ++y)
    for (int i = 0; i < ni; ++i) {
      halo[(y + HALO) * (ni + 2 * HALO) + i + HALO] = (float)value(record, y, i0 + i);
      transposed[2 * (y + i * NY)] = value(record, y, i0 + i);
      transposed[2 * (y + i * NY) + 1] = -1;
    }
  OK(afterbay_file_put(file, "halo", (uint64_t)record, AFTERBAY_FLOAT32, halo, &inside));
  OK(afterbay_file_put(file, "strided", (uint64_t)record, AFTERBAY_INT32, transposed, &strided));
}

static void put_slot(afterbay_file* file, int record) {
  afterbay_slot* slot;
  afterbay_slot_part part;
  size_t parts, points = 0;
  int direct = -1;
  OK(afterbay_file_acquire(file, "slot", (uint64_t)record, AFTERBAY_FLOAT64, &slot));
  OK(afterbay_slot_is_direct(slot, &direct));
  HOLDS(direct == 0 || direct == 1);
  OK(afterbay_slot_part_count(slot, &parts));
  for (size_t p = 0; p < parts; ++p) {
    OK(afterbay_slot_get_part(slot, p, &part));
    HOLDS(part.rank == 2);
    for (uint64_t y = 0; y < part.count[0]; ++y)
      for (uint64_t x = 0; x < part.count[1]; ++x, ++points)
        ((double*)part.data)[(int64_t)y * part.strides[0] + (int64_t)x * part.strides[1]] =
            value(record, (int)(part.start[0] + y), (int)(part.start[1] + x));
  }
  HOLDS(points == (size_t)(NY * ni));
  FAILS(afterbay_slot_get_part(slot, parts, &part), AFTERBAY_INVALID_ARGUMENT, "numbered from 0");
  OK(afterbay_slot_commit(slot));
  afterbay_slot_free(slot);
}

static void put_record(afterbay_file* file, int record) {
  const char* names[] = {record == 0 ? "a" : "d", "bb", ""};
  double field[NY * NX];
  for (int y = 0; y < NY; ++y)
    for (int i = 0; i < ni; ++i) field[y * ni + i] = value(record, y, i0 + i);
  for (int i = 0; i < NUMERIC; ++i) put_number(file, i, record);
  put_layouts(file, record);
  put_slot(file, record);
  int code;
  do {
    code = afterbay_file_try_put(file, "tried", (uint64_t)record, AFTERBAY_FLOAT64, field, NULL);
  } while (code == AFTERBAY_WOULD_BLOCK);
  OK(code);
  OK(afterbay_file_put(file, "packed", (uint64_t)record, AFTERBAY_FLOAT64, field, NULL));
  OK(afterbay_file_put_strings(file, "names", (uint64_t)record, 3, names));
}

/* Every second point of the plane, descending, without every fifth, a hole after each. */
static size_t my_points(int64_t* indices) {
  size_t count = 0;
  for (int64_t p = NY * NX - 1; p >= 0; --p) {
    if (p % 2 != my_rank || p % 5 == 4) continue;
    indices[count++] = p;
    indices[count++] = -7;
  }
  return count;
}

static void put_maps(afterbay_file* file) {
  int64_t indices[2 * NY * NX];
  int32_t listed[2 * NY * NX], runs[2 * NX];
  const size_t count = my_points(indices);
  for (size_t i = 0; i < count; ++i) listed[i] = (int32_t)(100 + indices[i]);
  for (int i = 0; i < NX; ++i) { /* rows 2 and 0 on rank 0, 3 and 1 on rank 1 */
    runs[i] = 100 + (2 + my_rank) * NX + i;
    runs[NX + i] = 100 + my_rank * NX + i;
  }
  OK(afterbay_file_put(file, "listed", 0, AFTERBAY_INT32, listed, NULL));
  OK(afterbay_file_put(file, "runs", 0, AFTERBAY_INT32, runs, NULL));
}

static void define_maps(afterbay_session* session) {
  const uint64_t global[] = {NY, NX};
  int64_t indices[2 * NY * NX];
  const int64_t offsets[] = {1 + (2 + my_rank) * NX, 1 + my_rank * NX};
  const uint64_t lengths[] = {NX, NX};
  afterbay_map map = {
      .rank = 2, .global = global, .indices = indices, .hole = -7, .gaps = AFTERBAY_GAPS_ALLOWED};
  map.index_count = my_points(indices);
  OK(afterbay_decomposition_define_map(session, "points", &map));
  const afterbay_map runs = {.rank = 2,
                             .global = global,
                             .run_offsets = offsets,
                             .run_lengths = lengths,
                             .run_count = 2,
                             .base = 1,
                             .gaps = AFTERBAY_GAPS_ALLOWED};
  OK(afterbay_decomposition_define_map(session, "runs", &runs));
  indices[1] = NY * NX;
  FAILS(afterbay_decomposition_define_map(session, "bad", &map), AFTERBAY_INVALID_ARGUMENT,
        "element 1 is index 48");
  map.order = 2;
  FAILS(afterbay_decomposition_define_map(session, "bad", &map), AFTERBAY_INVALID_ARGUMENT, "order number 2");
  map.order = AFTERBAY_ROW_MAJOR;
  map.repeats = 3;
  FAILS(afterbay_decomposition_define_map(session, "bad", &map), AFTERBAY_INVALID_ARGUMENT, "for repeats");
  map.repeats = AFTERBAY_REPEATS_REFUSED;
  map.gaps = 2;
  FAILS(afterbay_decomposition_define_map(session, "bad", &map), AFTERBAY_INVALID_ARGUMENT,
        "no number 2 for gaps; use AFTERBAY_GAPS_REFUSED (0) or AFTERBAY_GAPS_ALLOWED (1)");
  FAILS(afterbay_decomposition_define(session, "bad", 2, global, global, global, -1),
        AFTERBAY_INVALID_ARGUMENT, "no number -1 for gaps");
  FAILS(afterbay_decomposition_define_map(session, "bad", NULL), AFTERBAY_INVALID_ARGUMENT, "map");
}

static void put_fixed(afterbay_file* file) {
  const int32_t answer = 42;
  int16_t five[12 * NY * NX];
  int32_t holes[NY * NX];
  for (int a = 0, k = 0; a < 12; ++a)
    for (int y = 0; y < NY; ++y)
      for (int i = 0; i < ni; ++i, ++k) five[k] = (int16_t)(a * NY * NX + value(0, y, i0 + i));
  for (int i = 0; i < NY * NX; ++i) holes[i] = i;
  OK(afterbay_file_put(file, "answer", 0, AFTERBAY_INT32, &answer, NULL));
  OK(afterbay_file_put(file, "label", 0, AFTERBAY_TEXT, "aaaaabbb   c   ", NULL));
  OK(afterbay_file_put(file, "five", 0, AFTERBAY_INT16, five, NULL));
  OK(afterbay_file_put(file, "holes", 0, AFTERBAY_INT32, my_rank == 0 ? holes : NULL, NULL));
  put_maps(file);
}

/* ---- Errors ---- */

static void try_schema_errors(afterbay_schema* schema) {
  const double one = 1;
  afterbay_error_info info;
  FAILS(afterbay_schema_set_text(schema, "hallo", "units", "m"), AFTERBAY_UNKNOWN_NAME,
        "did you mean \"halo\"");
  afterbay_last_error_info(&info);
  HOLDS(info.code == AFTERBAY_UNKNOWN_NAME && strcmp(info.variable, "hallo") == 0 && info.rank == -1 &&
        info.native == 0 && strlen(info.message) > 0 && strcmp(info.file, "") == 0 &&
        strcmp(info.text, afterbay_last_error()) == 0);
  FAILS(afterbay_schema_add_variable(schema, "bad", 99, 0, NULL), AFTERBAY_WRONG_TYPE, "99");
  FAILS(afterbay_schema_add_variable(schema, "bad", AFTERBAY_INT8, -1, NULL), AFTERBAY_INVALID_ARGUMENT,
        "-1");
  FAILS(afterbay_schema_add_variable(schema, "bad", AFTERBAY_INT8, 1, NULL), AFTERBAY_INVALID_ARGUMENT,
        "dimensions");
  FAILS(afterbay_schema_add_dimension(schema, NULL, 1), AFTERBAY_INVALID_ARGUMENT, "`name`");
  FAILS(afterbay_schema_set_fill(schema, "hallo", AFTERBAY_FLOAT64, &one), AFTERBAY_UNKNOWN_NAME, "halo");
  FAILS(afterbay_schema_set_constant(schema, "x", AFTERBAY_FLOAT64, 1, NULL), AFTERBAY_INVALID_ARGUMENT,
        "values");
  FAILS(afterbay_schema_create(NULL), AFTERBAY_INVALID_ARGUMENT, "schema");
  HOLDS(strcmp(afterbay_error_name(AFTERBAY_NO_SPACE), "no_space") == 0);
  HOLDS(strcmp(afterbay_error_name(12345), "unknown") == 0);
  HOLDS(afterbay_error_set(AFTERBAY_IO, "said so", "v") == AFTERBAY_IO);
  HOLDS(strstr(afterbay_last_error(), "said so") != NULL);
  HOLDS(afterbay_type_bytes(AFTERBAY_FLOAT64) == 8 && afterbay_type_bytes(AFTERBAY_STRING) == 0);
  HOLDS(strlen(afterbay_version()) >= 5);
}

static void try_put_errors(afterbay_file* file) {
  const double field[NY * NX] = {0};
  const uint64_t small[] = {1, 1}, offset[] = {0, 0};
  const afterbay_memory wrong = {.rank = 2, .shape = small, .offset = offset};
  afterbay_error_info info;
  FAILS(afterbay_file_put(file, "flaot64", 0, AFTERBAY_FLOAT64, field, NULL), AFTERBAY_UNKNOWN_NAME,
        "float64");
  FAILS(afterbay_file_put(file, "names", 0, AFTERBAY_FLOAT64, field, NULL), AFTERBAY_WRONG_TYPE, "names");
  FAILS(afterbay_file_put(file, "label", 0, AFTERBAY_FLOAT64, field, NULL), AFTERBAY_WRONG_TYPE, "label");
  afterbay_last_error_info(&info);
  HOLDS(strcmp(info.variable, "label") == 0);
  FAILS(afterbay_file_put(file, "float64", 0, AFTERBAY_FLOAT64, field, &wrong), AFTERBAY_INVALID_ARGUMENT,
        "float64");
  HOLDS(afterbay_file_put(file, "x", 0, AFTERBAY_FLOAT64, field, NULL) != AFTERBAY_OK); /* a constant */
  FAILS(afterbay_file_put(NULL, "x", 0, AFTERBAY_FLOAT64, field, NULL), AFTERBAY_INVALID_ARGUMENT, "`file`");
  FAILS(afterbay_file_put(file, NULL, 0, AFTERBAY_FLOAT64, field, NULL), AFTERBAY_INVALID_ARGUMENT,
        "`variable`");
}

/* The second session was not looked at: the first one was served twice. */
static void try_serving_errors(afterbay_session* session) {
  afterbay_session* const some[] = {session, NULL};
  FAILS(afterbay_sessions_serve(some, 2), AFTERBAY_INVALID_ARGUMENT, "`session`");
  FAILS(afterbay_sessions_serve(NULL, 2), AFTERBAY_INVALID_ARGUMENT, "`sessions`");
  FAILS(afterbay_sessions_serve(some, 1), AFTERBAY_BAD_STATE, "model rank");
}

static void try_option_errors(MPI_Comm comm) {
  afterbay_options* options;
  afterbay_session* session = NULL;
  OK(afterbay_options_create(&options));
  OK(afterbay_options_set(options, "serverss", "1"));
  FAILS(afterbay_session_open(comm, options, &session), AFTERBAY_UNKNOWN_NAME, "servers");
  HOLDS(session == NULL);
  FAILS(afterbay_options_set_role(options, 7), AFTERBAY_INVALID_ARGUMENT, "7");
  FAILS(afterbay_options_set(options, NULL, "1"), AFTERBAY_INVALID_ARGUMENT, "`setting`");
  afterbay_options_free(options);
}

static void count_call(void* context) { ++*(int*)context; }

/* An epoch, to which files that are not complete can be restored, and its callback. */
static void mark_epoch(afterbay_session* session) {
  afterbay_ticket epoch;
  int calls = 0;
  FAILS(afterbay_session_epoch(session, "", &epoch), AFTERBAY_INVALID_ARGUMENT, "needs a name");
  OK(afterbay_session_epoch(session, "middle", &epoch));
  OK(afterbay_session_on_complete(session, epoch, count_call, &calls));
  FAILS(afterbay_session_on_complete(session, epoch, NULL, NULL), AFTERBAY_INVALID_ARGUMENT, "no function");
  OK(afterbay_session_wait(session, epoch));
  HOLDS(calls == 1);
}

/* ---- The run ---- */

static void run_model(afterbay_session* session) {
  const uint64_t global[] = {NY, NX}, start[] = {0, (uint64_t)i0}, count[] = {NY, (uint64_t)ni};
  const uint64_t part_start[] = {2, 3}, part_count[] = {my_rank == 0 ? 2 : 0, my_rank == 0 ? 4 : 0};
  const afterbay_collection_options where = {.file = "{collection}_{step:04}_{member:02}_{date:%Y%m%d}.nc",
                                             .directory = "out",
                                             .store = "netcdf4",
                                             .existing = "refuse"};
  const afterbay_file_name name = {
      .date = "2001-02-03T04:05:06", .has_step = 1, .has_member = 1, .step = 12, .member = 3};
  const char* text;
  int complete = -1;
  afterbay_schema* schema;
  afterbay_collection* collection;
  afterbay_file* file;
  afterbay_ticket flushed, closed;

  OK(afterbay_decomposition_define(session, "grid", 2, global, start, count, AFTERBAY_GAPS_REFUSED));
  OK(afterbay_decomposition_define(session, "part", 2, global, part_start, part_count,
                                   AFTERBAY_GAPS_ALLOWED));
  define_maps(session);
  try_serving_errors(session);
  OK(afterbay_schema_create(&schema));
  add_dimensions(schema);
  add_fields(schema);
  add_others(schema);
  add_attributes(schema);
  try_schema_errors(schema);
  OK(afterbay_collection_define(session, "everything", schema, &where, &collection));
  afterbay_schema_free(schema);
  OK(afterbay_collection_name(collection, &text));
  HOLDS(strcmp(text, "everything") == 0);
  OK(afterbay_session_start(session));

  afterbay_changes* changes = make_changes();
  OK(afterbay_collection_open(collection, &name, changes, &file));
  afterbay_changes_free(changes);
  OK(afterbay_file_path(file, &text));
  HOLDS(strstr(text, "out/everything_0012_03_20010203.nc") != NULL);
  try_put_errors(file);
  put_fixed(file);
  for (int record = 0; record < RECORDS; ++record) {
    put_record(file, record);
    OK(afterbay_session_end_step(session));
  }
  OK(afterbay_session_flush(session, &flushed));
  OK(afterbay_session_wait(session, flushed));
  OK(afterbay_session_is_complete(session, flushed, &complete));
  HOLDS(complete == 1);
  mark_epoch(session);
  uint64_t before = 99;
  OK(afterbay_file_records(file, &before));
  HOLDS(before == 0);
  OK(afterbay_file_close(file, &closed));
  OK(afterbay_session_wait(session, closed));
  OK(afterbay_file_close(file, &flushed));
  HOLDS(flushed.number == closed.number);
  FAILS(afterbay_file_put(file, "answer", 0, AFTERBAY_INT32, &complete, NULL), AFTERBAY_BAD_STATE, "answer");
  afterbay_file_free(file);
  afterbay_collection_free(collection);
  OK(afterbay_session_finalize(session));
}

int main(int argc, char** argv) {
  afterbay_options* options;
  afterbay_session* session;
  MPI_Comm comm;
  MPI_Fint comm_fint;
  int server, rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try_option_errors(MPI_COMM_WORLD);

  OK(afterbay_options_create(&options));
  OK(afterbay_options_set(options, "servers", "1"));
  OK(afterbay_options_set_name(options, "test"));
  OK(afterbay_options_set_role(options, rank == 1 ? AFTERBAY_ROLE_SERVER : AFTERBAY_ROLE_MODEL));
  OK(afterbay_options_set_config_file(options, "run.yaml"));
  OK(afterbay_options_set_output_text(options, ""));
  OK(afterbay_options_set_arguments(options, argc, (const char* const*)argv));
  OK(afterbay_session_open_fint(MPI_Comm_c2f(MPI_COMM_WORLD), options, &session));
  afterbay_options_free(options);
  OK(afterbay_session_is_server(session, &server));
  HOLDS(server == (rank == 1));
  OK(afterbay_session_model_comm(session, &comm));
  OK(afterbay_session_model_comm_fint(session, &comm_fint));
  HOLDS(server ? comm == MPI_COMM_NULL : MPI_Comm_f2c(comm_fint) == comm);
  if (server) {
    OK(afterbay_session_serve(session));
  } else {
    OK(afterbay_session_model_rank(session, &my_rank));
    OK(afterbay_session_model_size(session, &size));
    HOLDS(size == 2 && my_rank == (rank == 0 ? 0 : 1));
    i0 = my_rank == 0 ? 0 : 5;
    ni = my_rank == 0 ? 5 : 3;
    run_model(session);
  }
  afterbay_session_free(session);
  MPI_Finalize();
  return 0;
}
