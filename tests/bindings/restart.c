/* SPDX-License-Identifier: Apache-2.0
   restart_c write FILE: writes a restart. restart_c copy FILE COPY: reads one, with another
   decomposition and in every way there is, checks each value and writes it again. restart_c errors
   FILE: what reading refuses. Its Fortran twin is restart_fortran.f90; reading.py runs both. */
#include <afterbay/mpi.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 7, NY = 5, NLEV = 3, NCELL = 20, RECORDS = 3, HALO = 2, UNTOUCHED = -77 };

static int rank, size;           /* among the model ranks */
static int x0, nx, y0, ny;       /* this rank's part of the plane */
static int64_t cells[2 * NCELL]; /* this rank's list, holes: -1 */
static int listed;

static void fail(const char* what, int line) {
  fprintf(stderr, "restart.c:%d: %s\n  last error: %s\n", line, what, afterbay_last_error());
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

/* All bits of a number matter: kinds of fields, records and points have different roots. */
static double value(int kind, int record, int point) {
  return sqrt(1.0 + kind * 1000 + record * 200 + point);
}
static double of_h(int record, int y, int x) { return value(1, record, y * NX + x); }
static float of_t(int level, int y, int x) { return (float)value(2, 0, (level * NY + y) * NX + x); }
static double of_v(int record, int level, int64_t cell) {
  return value(3, record, level * NCELL + (int)cell);
}

/* ---- The file ---- */

static void add_attributes(afterbay_schema* schema) {
  const double dt = 0.1;
  const int32_t version[] = {3, 1, 4};
  const char* sources[] = {"one", "", "twenty two"};
  const uint8_t flags[] = {200, 1};
  const float fill = -999;
  OK(afterbay_schema_set_text(schema, NULL, "title", "a restart"));
  OK(afterbay_schema_set_attribute(schema, NULL, "dt", AFTERBAY_FLOAT64, 1, &dt));
  OK(afterbay_schema_set_attribute(schema, NULL, "version", AFTERBAY_INT32, 3, version));
  OK(afterbay_schema_set_attribute(schema, NULL, "sources", AFTERBAY_STRING, 3, sources));
  OK(afterbay_schema_set_text(schema, "t", "units", "K"));
  OK(afterbay_schema_set_attribute(schema, "t", "flags", AFTERBAY_UINT8, 2, flags));
  OK(afterbay_schema_set_fill(schema, "t", AFTERBAY_FLOAT32, &fill));
}

static afterbay_schema* make_schema(void) {
  static const char *h[] = {"time", "y", "x"}, *t[] = {"lev", "y", "x"}, *v[] = {"time", "lev", "cell"},
                    *label[] = {"n", "length"};
  afterbay_schema* schema;
  OK(afterbay_schema_create(&schema));
  OK(afterbay_schema_add_dimension(schema, "time", AFTERBAY_UNLIMITED));
  OK(afterbay_schema_add_dimension(schema, "lev", NLEV));
  OK(afterbay_schema_add_dimension(schema, "y", NY));
  OK(afterbay_schema_add_dimension(schema, "x", NX));
  OK(afterbay_schema_add_dimension(schema, "cell", NCELL));
  OK(afterbay_schema_add_dimension(schema, "n", 3));
  OK(afterbay_schema_add_dimension(schema, "length", 5));
  OK(afterbay_schema_add_variable(schema, "h", AFTERBAY_FLOAT64, 3, h));
  OK(afterbay_schema_set_decomposition(schema, "h", "grid"));
  OK(afterbay_schema_add_variable(schema, "t", AFTERBAY_FLOAT32, 3, t));
  OK(afterbay_schema_set_decomposition(schema, "t", "grid"));
  OK(afterbay_schema_add_variable(schema, "v", AFTERBAY_FLOAT64, 3, v));
  OK(afterbay_schema_set_decomposition(schema, "v", "cells"));
  OK(afterbay_schema_add_variable(schema, "clock", AFTERBAY_FLOAT64, 1, h));
  OK(afterbay_schema_add_variable(schema, "mask", AFTERBAY_INT8, 2, &h[1]));
  OK(afterbay_schema_add_variable(schema, "count", AFTERBAY_INT64, 0, NULL));
  OK(afterbay_schema_add_variable(schema, "names", AFTERBAY_STRING, 1, label));
  OK(afterbay_schema_add_variable(schema, "remark", AFTERBAY_STRING, 1, h));
  OK(afterbay_schema_add_variable(schema, "label", AFTERBAY_TEXT, 2, label));
  add_attributes(schema);
  return schema;
}

/* Bands of rows and cells distributed in turn, or bands of columns and cells in pieces; no rank
   holds the last cell. */
static void decompose(afterbay_session* session, int by_rows) {
  const uint64_t plane[] = {NY, NX}, all[] = {NCELL};
  x0 = by_rows ? 0 : rank * NX / size;
  nx = by_rows ? NX : (rank + 1) * NX / size - x0;
  y0 = by_rows ? rank * NY / size : 0;
  ny = by_rows ? (rank + 1) * NY / size - y0 : NY;
  const uint64_t start[] = {(uint64_t)y0, (uint64_t)x0}, count[] = {(uint64_t)ny, (uint64_t)nx};
  OK(afterbay_decomposition_define(session, "grid", 2, plane, start, count, AFTERBAY_GAPS_REFUSED));
  listed = 0;
  for (int64_t c = NCELL - 2; c >= 0; --c) {
    if ((by_rows ? c % size : c * size / NCELL) != rank) continue;
    cells[listed++] = c;
    if (by_rows || c % 3 == 0) cells[listed++] = -1;
  }
  const afterbay_map map = {.rank = 1,
                            .global = all,
                            .indices = cells,
                            .index_count = (size_t)listed,
                            .gaps = AFTERBAY_GAPS_ALLOWED};
  OK(afterbay_decomposition_define_map(session, "cells", &map));
}

static void open_output(afterbay_session* session, const char* path, afterbay_file** file) {
  afterbay_schema* schema = make_schema();
  afterbay_collection* collection;
  const afterbay_collection_options where = {.file = path, .existing = "replace"};
  OK(afterbay_collection_define(session, path, schema, &where, &collection));
  OK(afterbay_collection_open(collection, NULL, NULL, file));
  afterbay_collection_free(collection);
  afterbay_schema_free(schema);
}

/* What a rank holds of everything. */
static struct {
  double h[RECORDS][NY + 2 * HALO][NX + 2 * HALO]; /* used from the beginning, with the size of the part */
  float t[NLEV * NY * NX];
  double v[RECORDS][NLEV * 2 * NCELL];
  double clock[RECORDS];
  int8_t mask[NY * NX];
  int64_t count;
  const char* names[3];
  const char* remark[RECORDS];
  char label[15];
} held;

/* The part of h lies within halos. */
static double* h_at(int record, int y, int x) {
  return (double*)held.h + ((record * (ny + 2 * HALO) + y + HALO) * (nx + 2 * HALO) + x + HALO);
}

static void compute(void) {
  for (int r = 0; r < RECORDS; ++r) {
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) *h_at(r, y, x) = of_h(r, y0 + y, x0 + x);
    for (int l = 0; l < NLEV; ++l)
      for (int i = 0; i < listed; ++i) held.v[r][l * listed + i] = of_v(r, l, cells[i]);
    held.clock[r] = value(4, r, 0);
    held.remark[r] = r == 1 ? "" : "as it was";
  }
  for (int l = 0, k = 0; l < NLEV; ++l)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) held.t[k++] = of_t(l, y0 + y, x0 + x);
  for (int i = 0; i < NY * NX; ++i) held.mask[i] = (int8_t)(i % 3 - 1);
  held.count = 5000000000;
  held.names[0] = "north";
  held.names[1] = "";
  held.names[2] = "far south";
  memcpy(held.label, "aaaaabbb   c   ", sizeof held.label);
}

static void put_all(afterbay_session* session, afterbay_file* file) {
  const uint64_t shape[] = {(uint64_t)ny + 2 * HALO, (uint64_t)nx + 2 * HALO}, offset[] = {HALO, HALO};
  const afterbay_memory inside = {.rank = 2, .shape = shape, .offset = offset};
  OK(afterbay_file_put(file, "t", AFTERBAY_NO_RECORD, AFTERBAY_FLOAT32, held.t, NULL));
  OK(afterbay_file_put(file, "mask", AFTERBAY_NO_RECORD, AFTERBAY_INT8, held.mask, NULL));
  OK(afterbay_file_put(file, "count", AFTERBAY_NO_RECORD, AFTERBAY_INT64, &held.count, NULL));
  OK(afterbay_file_put(file, "label", AFTERBAY_NO_RECORD, AFTERBAY_TEXT, held.label, NULL));
  OK(afterbay_file_put_strings(file, "names", AFTERBAY_NO_RECORD, 3, held.names));
  for (int r = 0; r < RECORDS; ++r) {
    OK(afterbay_file_put(file, "h", (uint64_t)r, AFTERBAY_FLOAT64, h_at(r, -HALO, -HALO), &inside));
    OK(afterbay_file_put(file, "v", (uint64_t)r, AFTERBAY_FLOAT64, held.v[r], NULL));
    OK(afterbay_file_put(file, "clock", (uint64_t)r, AFTERBAY_FLOAT64, &held.clock[r], NULL));
    OK(afterbay_file_put_strings(file, "remark", (uint64_t)r, 1, &held.remark[r]));
    OK(afterbay_session_end_step(session));
  }
}

static void write_file(afterbay_session* session, const char* path) {
  afterbay_file* file;
  decompose(session, 1);
  open_output(session, path, &file);
  compute();
  put_all(session, file);
  OK(afterbay_file_close(file, NULL));
  afterbay_file_free(file);
}

/* ---- The contents of the file ---- */

static void check_attributes(const afterbay_schema* schema) {
  int type = 0, there = -1;
  size_t count = 0;
  const void* values = NULL;
  const char* text = NULL;
  double number = 0;
  float version[3], fill = 0;
  OK(afterbay_schema_get_text(schema, NULL, "title", &text));
  HOLDS(strcmp(text, "a restart") == 0);
  OK(afterbay_schema_get_text(schema, "t", "units", &text));
  HOLDS(strcmp(text, "K") == 0);
  OK(afterbay_schema_get_attribute(schema, NULL, "dt", &type, &count, &values));
  HOLDS(type == AFTERBAY_FLOAT64 && count == 1 && *(const double*)values == 0.1);
  OK(afterbay_schema_get_numbers(schema, NULL, "dt", AFTERBAY_FLOAT64, 1, &number));
  HOLDS(number == 0.1);
  OK(afterbay_schema_get_numbers(schema, NULL, "version", AFTERBAY_FLOAT32, 3, version));
  HOLDS(version[0] == 3 && version[1] == 1 && version[2] == 4);
  OK(afterbay_schema_get_attribute(schema, NULL, "sources", &type, &count, &values));
  HOLDS(type == AFTERBAY_STRING && count == 3 && strcmp(((const char* const*)values)[2], "twenty two") == 0);
  OK(afterbay_schema_get_attribute(schema, NULL, "title", &type, &count, &values));
  HOLDS(type == AFTERBAY_TEXT && count == 9 && strcmp(values, "a restart") == 0);
  OK(afterbay_schema_get_attribute(schema, "t", "flags", &type, NULL, NULL));
  HOLDS(type == AFTERBAY_UINT8);
  OK(afterbay_schema_get_numbers(schema, "t", "_FillValue", AFTERBAY_FLOAT32, 1, &fill));
  HOLDS(fill == -999);
  OK(afterbay_schema_has_attribute(schema, "t", "_FillValue", &there));
  HOLDS(there == 1);
  OK(afterbay_schema_has_attribute(schema, "t", "title", &there));
  HOLDS(there == 0);
}

static void check_schema(const afterbay_schema* schema) {
  static const char* dimensions[] = {"time", "lev", "cell"};
  static const uint64_t lengths[] = {AFTERBAY_UNLIMITED, NLEV, NCELL};
  size_t variables = 0;
  int type = 0, dims = 0, there = -1;
  uint64_t length = 9;
  const char* name = NULL;
  OK(afterbay_schema_variable_count(schema, &variables));
  HOLDS(variables == 9);
  OK(afterbay_schema_get_variable_name(schema, 3, &name));
  HOLDS(strcmp(name, "clock") == 0);
  OK(afterbay_schema_has_variable(schema, "mask", &there));
  HOLDS(there == 1);
  OK(afterbay_schema_has_variable(schema, "mas", &there));
  HOLDS(there == 0);
  OK(afterbay_schema_get_variable(schema, "v", &type, &dims));
  HOLDS(type == AFTERBAY_FLOAT64 && dims == 3);
  OK(afterbay_schema_get_variable(schema, "count", &type, &dims));
  HOLDS(type == AFTERBAY_INT64 && dims == 0);
  for (int i = 0; i < 3; ++i) {
    OK(afterbay_schema_get_variable_dimension(schema, "v", i, &name, &length));
    HOLDS(strcmp(name, dimensions[i]) == 0 && length == lengths[i]);
  }
  OK(afterbay_schema_get_dimension(schema, "cell", &length));
  HOLDS(length == NCELL);
  check_attributes(schema);
}

/* ---- Reading ---- */

static void get_h(afterbay_input* input) {
  const uint64_t shape[] = {(uint64_t)ny + 2 * HALO, (uint64_t)nx + 2 * HALO}, offset[] = {HALO, HALO};
  const afterbay_memory inside = {.rank = 2, .shape = shape, .offset = offset};
  const afterbay_selection all = {.records = RECORDS, .decomposition = "grid"};
  for (size_t i = 0; i < sizeof held.h / sizeof(double); ++i) ((double*)held.h)[i] = UNTOUCHED;
  OK(afterbay_input_get(input, "h", &all, AFTERBAY_FLOAT64, held.h, &inside));
  for (int r = 0; r < RECORDS; ++r)
    for (int y = -HALO; y < ny + HALO; ++y)
      for (int x = -HALO; x < nx + HALO; ++x) {
        const int mine = y >= 0 && y < ny && x >= 0 && x < nx;
        HOLDS(*h_at(r, y, x) == (mine ? of_h(r, y0 + y, x0 + x) : UNTOUCHED));
      }
}

/* A whole record on every rank, and a box of two records, as other types. */
static void get_whole_and_box(afterbay_input* input) {
  static double whole[NY * NX];
  float box[2][2][3];
  const uint64_t global[] = {NY, NX}, start[] = {1, 2}, count[] = {2, 3};
  const afterbay_selection record = {.record = 1};
  const afterbay_selection some = {.record = 1, .records = 2, .rank = 2, .start = start, .count = count};
  afterbay_selection checked = some;
  checked.global = global;
  OK(afterbay_input_get(input, "h", &record, AFTERBAY_FLOAT64, whole, NULL));
  for (int i = 0; i < NY * NX; ++i) HOLDS(whole[i] == of_h(1, i / NX, i % NX));
  for (int turn = 0; turn < 2; ++turn) {
    memset(box, 0, sizeof box);
    OK(afterbay_input_get(input, "h", turn == 0 ? &some : &checked, AFTERBAY_FLOAT32, box, NULL));
    for (int r = 0; r < 2; ++r)
      for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 3; ++x) HOLDS(box[r][y][x] == (float)of_h(1 + r, 1 + y, 2 + x));
  }
}

static void get_v(afterbay_input* input) {
  for (int r = 0; r < RECORDS; ++r) {
    const afterbay_selection mine = {.record = (uint64_t)r, .decomposition = "cells"};
    for (int i = 0; i < NLEV * listed; ++i) held.v[r][i] = UNTOUCHED;
    OK(afterbay_input_get(input, "v", &mine, AFTERBAY_FLOAT64, held.v[r], NULL));
    for (int l = 0; l < NLEV; ++l)
      for (int i = 0; i < listed; ++i)
        HOLDS(held.v[r][l * listed + i] == (cells[i] < 0 ? UNTOUCHED : of_v(r, l, cells[i])));
  }
}

static void get_texts(afterbay_input* input) {
  static char kept[3][16], remarks[RECORDS][16];
  const char* const* texts = NULL;
  size_t count = 0;
  OK(afterbay_input_get_strings(input, "names", AFTERBAY_NO_RECORD, &count, &texts));
  HOLDS(count == 3);
  for (int i = 0; i < 3; ++i) held.names[i] = strcpy(kept[i], texts[i]);
  for (int r = 0; r < RECORDS; ++r) {
    OK(afterbay_input_get_strings(input, "remark", (uint64_t)r, &count, &texts));
    HOLDS(count == 1);
    held.remark[r] = strcpy(remarks[r], texts[0]);
  }
  OK(afterbay_input_get(input, "label", NULL, AFTERBAY_TEXT, held.label, NULL));
}

static void get_rest(afterbay_input* input) {
  const afterbay_selection grid = {.decomposition = "grid"}, series = {.records = RECORDS};
  OK(afterbay_input_get(input, "t", &grid, AFTERBAY_FLOAT32, held.t, NULL));
  OK(afterbay_input_get(input, "clock", &series, AFTERBAY_FLOAT64, held.clock, NULL));
  OK(afterbay_input_get(input, "mask", NULL, AFTERBAY_INT8, held.mask, NULL));
  OK(afterbay_input_get(input, "count", NULL, AFTERBAY_INT64, &held.count, NULL));
}

static void copy_file(afterbay_session* session, const char* from, const char* to) {
  const afterbay_selection second = {.record = 1, .records = 2, .decomposition = "grid"};
  const afterbay_schema* schema = NULL;
  afterbay_input* input = NULL;
  afterbay_file* file;
  uint64_t records = 0;
  const char* path = NULL;
  OK(afterbay_session_open_input(session, from, AFTERBAY_AS_OF_CLOSED, &input));
  decompose(session, 0); /* after the file was opened */
  OK(afterbay_input_prefetch(input, "h", &second));
  OK(afterbay_input_records(input, &records));
  HOLDS(records == RECORDS);
  OK(afterbay_input_path(input, &path));
  HOLDS(strcmp(path, from) == 0);
  OK(afterbay_input_schema(input, &schema));
  check_schema(schema);
  get_h(input);
  get_whole_and_box(input);
  get_v(input);
  get_texts(input);
  get_rest(input);
  OK(afterbay_input_close(input));
  check_schema(schema); /* it belongs to the handle, not to the open file */
  afterbay_input_free(input);
  open_output(session, to, &file);
  put_all(session, file);
  OK(afterbay_file_close(file, NULL));
  afterbay_file_free(file);
}

/* ---- What is refused ---- */

static void try_gets(afterbay_input* input) {
  double data[NY * NX];
  const char* const* texts = NULL;
  size_t count = 7;
  const uint64_t start[] = {NY - 1, 0}, two[] = {2, NX}, lengths[] = {NY, NX + 1}, none[] = {0, 0};
  const afterbay_selection last = {.record = RECORDS}, many = {.record = 1, .records = RECORDS},
                           unknown = {.decomposition = "gird"}, negative = {.rank = -1},
                           beyond = {.rank = 2, .start = start, .count = two},
                           no_start = {.rank = 2, .count = two},
                           other = {.rank = 2, .start = none, .count = two, .global = lengths};
  FAILS(afterbay_input_get(input, "mas", NULL, AFTERBAY_FLOAT64, data, NULL), AFTERBAY_UNKNOWN_NAME,
        "did you mean \"mask\"");
  FAILS(afterbay_input_get(input, "h", NULL, AFTERBAY_FLOAT64, data, NULL), AFTERBAY_INVALID_ARGUMENT, "h");
  FAILS(afterbay_input_get(input, "h", &last, AFTERBAY_FLOAT64, data, NULL), AFTERBAY_INVALID_ARGUMENT,
        "the file has 3");
  FAILS(afterbay_input_get(input, "h", &many, AFTERBAY_FLOAT64, data, NULL), AFTERBAY_INVALID_ARGUMENT,
        "the file has 3");
  FAILS(afterbay_input_prefetch(input, "h", &last), AFTERBAY_INVALID_ARGUMENT, "the file has 3");
  FAILS(afterbay_input_get(input, "h", &unknown, AFTERBAY_FLOAT64, data, NULL), AFTERBAY_UNKNOWN_NAME,
        "did you mean \"grid\"");
  FAILS(afterbay_input_get(input, "h", &beyond, AFTERBAY_FLOAT64, data, NULL), AFTERBAY_INVALID_ARGUMENT,
        "h");
  FAILS(afterbay_input_get(input, "h", &other, AFTERBAY_FLOAT64, data, NULL), AFTERBAY_CONFLICT,
        "has length 7");
  FAILS(afterbay_input_get(input, "h", &no_start, AFTERBAY_FLOAT64, data, NULL), AFTERBAY_INVALID_ARGUMENT,
        "start");
  FAILS(afterbay_input_get(input, "h", &negative, AFTERBAY_FLOAT64, data, NULL), AFTERBAY_INVALID_ARGUMENT,
        "-1");
  FAILS(afterbay_input_get(input, "names", NULL, AFTERBAY_FLOAT64, data, NULL), AFTERBAY_WRONG_TYPE,
        "get_strings");
  FAILS(afterbay_input_get(input, "label", NULL, AFTERBAY_FLOAT64, data, NULL), AFTERBAY_WRONG_TYPE, "text");
  FAILS(afterbay_input_get(input, "count", NULL, AFTERBAY_INT32, data, NULL), AFTERBAY_WRONG_TYPE,
        "out of range");
  FAILS(afterbay_input_get(input, "mask", NULL, 99, data, NULL), AFTERBAY_WRONG_TYPE, "99");
  FAILS(afterbay_input_get(input, NULL, NULL, AFTERBAY_FLOAT64, data, NULL), AFTERBAY_INVALID_ARGUMENT,
        "variable");
  FAILS(afterbay_input_get(input, "mask", NULL, AFTERBAY_INT8, NULL, NULL), AFTERBAY_INVALID_ARGUMENT,
        "null");
  FAILS(afterbay_input_get_strings(input, "mask", 0, &count, &texts), AFTERBAY_WRONG_TYPE, "use get");
  HOLDS(count == 7 && texts == NULL);
  FAILS(afterbay_input_get_strings(input, "remark", RECORDS, &count, &texts), AFTERBAY_INVALID_ARGUMENT,
        "remark");
}

static void try_schema(const afterbay_schema* schema) {
  uint64_t length = 0;
  double numbers[3];
  int8_t narrow = 0;
  const char* text = NULL;
  FAILS(afterbay_schema_get_variable(schema, "mas", NULL, NULL), AFTERBAY_UNKNOWN_NAME, "\"mask\"");
  FAILS(afterbay_schema_get_dimension(schema, "cel", &length), AFTERBAY_UNKNOWN_NAME, "\"cell\"");
  FAILS(afterbay_schema_get_variable_dimension(schema, "h", 3, NULL, &length), AFTERBAY_INVALID_ARGUMENT,
        "numbered from 0");
  FAILS(afterbay_schema_get_variable_name(schema, 9, &text), AFTERBAY_INVALID_ARGUMENT, "the schema has 9");
  FAILS(afterbay_schema_get_text(schema, NULL, "titel", &text), AFTERBAY_UNKNOWN_NAME, "\"title\"");
  FAILS(afterbay_schema_get_text(schema, "t", "unit", &text), AFTERBAY_UNKNOWN_NAME, "\"units\"");
  FAILS(afterbay_schema_get_text(schema, NULL, "dt", &text), AFTERBAY_WRONG_TYPE, "float64");
  FAILS(afterbay_schema_get_numbers(schema, NULL, "title", AFTERBAY_FLOAT64, 9, numbers), AFTERBAY_WRONG_TYPE,
        "text");
  FAILS(afterbay_schema_get_numbers(schema, NULL, "version", AFTERBAY_FLOAT64, 2, numbers),
        AFTERBAY_INVALID_ARGUMENT, "has 3 values");
  FAILS(afterbay_schema_get_numbers(schema, "t", "_FillValue", AFTERBAY_INT8, 1, &narrow),
        AFTERBAY_WRONG_TYPE, "out of range");
}

/* The session replaces the file that it is reading. */
static void try_rewriting(afterbay_session* session, const char* path) {
  const afterbay_selection first = {0};
  afterbay_input *before = NULL, *after = NULL;
  afterbay_file* file;
  double clock = 0;
  open_output(session, path, &file);
  FAILS(afterbay_session_open_input(session, path, AFTERBAY_AS_OF_CLOSED, &after), AFTERBAY_BAD_STATE,
        "open for output");
  HOLDS(after == NULL);
  compute();
  held.clock[0] = 12345;
  put_all(session, file);
  OK(afterbay_session_open_input(session, path, AFTERBAY_AS_OF_PUBLISHED, &before));
  OK(afterbay_input_get(before, "clock", &first, AFTERBAY_FLOAT64, &clock, NULL));
  HOLDS(clock == value(4, 0, 0));
  OK(afterbay_file_close(file, NULL));
  afterbay_file_free(file);
  OK(afterbay_session_open_input(session, path, AFTERBAY_AS_OF_CLOSED, &after));
  OK(afterbay_input_get(after, "clock", &first, AFTERBAY_FLOAT64, &clock, NULL));
  HOLDS(clock == 12345);
  afterbay_input_free(before); /* without a close */
  afterbay_input_free(after);
  afterbay_input_free(NULL);
}

static void try_errors(afterbay_session* session, const char* path) {
  int8_t mask[NY * NX];
  const afterbay_schema* schema;
  afterbay_input* input = NULL;
  afterbay_error_info info;
  decompose(session, 0);
  FAILS(afterbay_session_open_input(session, "not_there.nc", AFTERBAY_AS_OF_CLOSED, &input), AFTERBAY_IO,
        "not_there.nc");
  afterbay_last_error_info(&info);
  HOLDS(strstr(info.file, "not_there.nc") != NULL);
  FAILS(afterbay_session_open_input(session, "plain.txt", AFTERBAY_AS_OF_CLOSED, &input), AFTERBAY_FORMAT,
        "plain.txt");
  FAILS(afterbay_session_open_input(session, path, 7, &input), AFTERBAY_INVALID_ARGUMENT, "afterbay_as_of");
  FAILS(afterbay_session_open_input(session, NULL, 0, &input), AFTERBAY_INVALID_ARGUMENT, "path");
  FAILS(afterbay_session_open_input(session, path, 0, NULL), AFTERBAY_INVALID_ARGUMENT, "input");
  FAILS(afterbay_input_get(input, "h", NULL, AFTERBAY_FLOAT64, mask, NULL), AFTERBAY_INVALID_ARGUMENT,
        "input");
  HOLDS(input == NULL);
  OK(afterbay_session_open_input(session, path, AFTERBAY_AS_OF_CLOSED, &input));
  OK(afterbay_input_schema(input, &schema));
  try_gets(input);
  try_schema(schema);
  OK(afterbay_input_get(input, "mask", NULL, AFTERBAY_INT8, mask, NULL)); /* everything continues */
  HOLDS(mask[4] == 0 && mask[5] == 1);
  OK(afterbay_input_close(input));
  OK(afterbay_input_close(input));
  FAILS(afterbay_input_get(input, "mask", NULL, AFTERBAY_INT8, mask, NULL), AFTERBAY_BAD_STATE, "closed");
  afterbay_input_free(input);
  try_rewriting(session, path);
}

static void run_model(afterbay_session* session, char** argv) {
  OK(afterbay_session_model_rank(session, &rank));
  OK(afterbay_session_model_size(session, &size));
  if (strcmp(argv[1], "write") == 0) write_file(session, argv[2]);
  if (strcmp(argv[1], "copy") == 0) copy_file(session, argv[2], argv[3]);
  if (strcmp(argv[1], "errors") == 0) try_errors(session, argv[2]);
  OK(afterbay_session_finalize(session));
}

int main(int argc, char** argv) {
  afterbay_options* options;
  afterbay_session* session;
  int server = 0;
  MPI_Init(&argc, &argv);
  OK(afterbay_options_create(&options));
  OK(afterbay_options_set_arguments(options, argc, (const char* const*)argv));
  OK(afterbay_session_open(MPI_COMM_WORLD, options, &session));
  afterbay_options_free(options);
  OK(afterbay_session_is_server(session, &server));
  if (server)
    OK(afterbay_session_serve(session));
  else
    run_model(session, argv);
  afterbay_session_free(session);
  MPI_Finalize();
  return 0;
}
