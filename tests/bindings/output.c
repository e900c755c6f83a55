/* SPDX-License-Identifier: Apache-2.0
   A model with described output, on 4 model ranks: output_c FIRST LAST RESUME SAVE MISTAKE puts the
   steps FIRST to LAST; RESUME and SAVE are paths of states. MISTAKE stops the program: "lengths" of
   the decomposition, or "left_out", a put of rank 1; "order": the session ends before the output;
   "text" and "wrong_text": the program gives a part of the description. "-": none. Its Fortran twin
   is output_fortran.f90; output.py gives the description and checks the files. On the way both make
   calls that are refused, which change nothing. */
#include <afterbay/mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NLAT = 6, NLON = 8, NLEV = 3, NI = NLON / 2, NJ = NLAT / 2, HALO = 1 };

static void fail(const char* what, int line) {
  fprintf(stderr, "output.c:%d: %s\n  last error: %s\n", line, what, afterbay_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int mistaken; /* errors stop the program, as they do in Fortran */
static void must(int code, const char* call, int line) {
  if (code == AFTERBAY_OK) return;
  if (mistaken) afterbay_stop();
  fail(call, line);
}

#define HOLDS(condition)                          \
  do {                                            \
    if (!(condition)) fail(#condition, __LINE__); \
  } while (0)
#define OK(call) must(call, #call, __LINE__)
#define FAILS(call, expected, part)                                        \
  do {                                                                     \
    HOLDS((call) == (expected));                                           \
    if (strstr(afterbay_last_error(), part) == NULL) fail(part, __LINE__); \
  } while (0)

static int lat0, lon0; /* this rank's first row and column */
static int leaves_out; /* a put, at step 3 */
static const double fill = -999;

/* ---- Definitions ---- */

static afterbay_calendar* noleap;

static void open_output(afterbay_session* session, const char* resume, afterbay_output** output) {
  afterbay_date start, reference, none = {2000, 2, 29, 0, 0, 0, 0};
  afterbay_period step, mixed;
  OK(afterbay_calendar_create("noleap", &noleap));
  OK(afterbay_calendar_parse(noleap, "2000-02-26", &start));
  OK(afterbay_calendar_parse(noleap, "1999-12-31", &reference));
  OK(afterbay_period_parse("6h", &step));
  OK(afterbay_period_parse("1mo6h", &mixed));
  afterbay_output_options how = {.calendar = noleap, .start = &none, .step = &step};
  FAILS(afterbay_output_open(session, &how, output), AFTERBAY_INVALID_ARGUMENT, "2000-02");
  how.start = NULL;
  FAILS(afterbay_output_open(session, &how, output), AFTERBAY_INVALID_ARGUMENT, "`options->start` is NULL");
  how.start = &start;
  how.step = &mixed;
  FAILS(afterbay_output_open(session, &how, output), AFTERBAY_INVALID_ARGUMENT, "1mo6h");
  how.step = &step;
  how.reference = &reference;
  how.has_member = 1;
  how.member = 7;
  how.resume = resume;
  OK(afterbay_output_open(session, &how, output));
  afterbay_output* second = NULL;
  HOLDS(afterbay_output_open(session, &how, &second) == AFTERBAY_BAD_STATE && second == NULL);
}

static void define_dimensions(afterbay_output* output) {
  double lat[NLAT], bounds[2 * NLAT], pole[NLAT];
  float lon[NLON];
  const int32_t lev[NLEV] = {1000, 850, 500}, up_and_down[] = {1, 3, 2};
  for (int y = 0; y < NLAT; ++y) {
    lat[y] = -75 + 30 * y;
    bounds[2 * y] = lat[y] - 15;
    bounds[2 * y + 1] = lat[y] + 15;
    pole[y] = 90 - lat[y];
  }
  for (int x = 0; x < NLON; ++x) lon[x] = 45.0F * (float)x;
  const afterbay_values rows = {AFTERBAY_FLOAT64, NLAT, lat}, columns = {AFTERBAY_FLOAT32, NLON, lon},
                        levels = {AFTERBAY_INT32, NLEV, lev}, unordered = {AFTERBAY_INT32, 3, up_and_down},
                        from_pole = {AFTERBAY_FLOAT64, NLAT, pole};
  const afterbay_coordinate_options north = {
      .units = "degrees_north",
      .standard_name = "latitude",
      .bounds = {AFTERBAY_FLOAT64, sizeof bounds / sizeof *bounds, bounds}};
  const afterbay_coordinate_options east = {
      .units = "degrees_east", .standard_name = "longitude", .long_name = "eastward"};
  afterbay_attributes* down;
  const double range[] = {500, 1000};
  OK(afterbay_attributes_create(&down));
  OK(afterbay_attributes_set_text(down, "positive", "up"));
  OK(afterbay_attributes_set_text(down, "positive", "down"));
  OK(afterbay_attributes_set(down, "valid_range", AFTERBAY_FLOAT64, 2, range));
  const afterbay_coordinate_options pressure = {
      .units = "hPa", .standard_name = "air_pressure", .attributes = down};
  OK(afterbay_output_dimension_values(output, "lev", &levels, &pressure));
  afterbay_attributes_free(down);
  OK(afterbay_output_dimension_values(output, "lat", &rows, &north));
  OK(afterbay_output_dimension_values(output, "lon", &columns, &east));
  OK(afterbay_output_dimension(output, "band", 2));
  FAILS(afterbay_output_dimension(output, "lat", 5), AFTERBAY_CONFLICT, "lat");
  FAILS(afterbay_output_dimension(output, NULL, 5), AFTERBAY_INVALID_ARGUMENT, "`name` is NULL");
  FAILS(afterbay_output_dimension_values(output, "z", &unordered, NULL), AFTERBAY_INVALID_ARGUMENT,
        "increase or decrease");
  FAILS(afterbay_output_dimension_values(output, "z", &rows, &(afterbay_coordinate_options){.bounds = rows}),
        AFTERBAY_INVALID_ARGUMENT, "two per value");
  const char* latitude = "lat";
  OK(afterbay_output_coordinate(output, "pole_distance", 1, &latitude, &from_pole,
                                &(afterbay_coordinate_options){.units = "degrees"}));
  FAILS(afterbay_output_coordinate(output, "other", 1, &latitude, &columns, NULL), AFTERBAY_INVALID_ARGUMENT,
        "other");
}

static void define_grid(afterbay_output* output) {
  const char *dimensions[] = {"lat", "lon"}, *mistyped[] = {"lat", "lom"};
  float depth[NJ * NI];
  OK(afterbay_output_grid(output, "atm", 2, dimensions, "blocks"));
  FAILS(afterbay_output_grid(output, "atm", 2, dimensions, "blocks"), AFTERBAY_CONFLICT, "atm");
  FAILS(afterbay_output_grid(output, "ocean", 2, mistyped, "blocks"), AFTERBAY_UNKNOWN_NAME, "lon");
  FAILS(afterbay_output_grid(output, "ocean", -1, mistyped, "blocks"), AFTERBAY_INVALID_ARGUMENT, "-1");
  for (int j = 0; j < NJ; ++j)
    for (int i = 0; i < NI; ++i) depth[j * NI + i] = (float)(10 * (lat0 + j) + lon0 + i);
  float range[NJ * NI][2];
  afterbay_attributes* bounds;
  for (int k = 0; k < NJ * NI; ++k)
    for (int v = 0; v < 2; ++v) range[k][v] = depth[k] + (float)v;
  OK(afterbay_attributes_create(&bounds));
  OK(afterbay_attributes_set_text(bounds, "bounds", "soil_range"));
  const afterbay_coordinate_options metres = {
      .units = "m", .long_name = "depth of the soil", .attributes = bounds};
  OK(afterbay_output_grid_coordinate(output, "soil", "atm", AFTERBAY_FLOAT32, depth, &metres));
  afterbay_attributes_free(bounds);
  OK(afterbay_output_grid_coordinate(output, "soil_range", "atm", AFTERBAY_FLOAT32, range,
                                     &(afterbay_coordinate_options){.vertices = "band"}));
  FAILS(afterbay_output_grid_coordinate(output, "soil2", "atn", AFTERBAY_FLOAT32, depth, NULL),
        AFTERBAY_UNKNOWN_NAME, "atm");
}

/* Their coordinates are computed; no file has fields on them. */
static void define_point_grids(afterbay_output* output) {
  const uint32_t rows[] = {4, 6, 6, 4}, without[] = {4, 0, 4};
  const afterbay_computed_coordinates named = {.latitude = "cell_lat", .longitude = "cell_lon", .bounds = 1};
  OK(afterbay_output_healpix_grid(output, "healpix", "cell", 2, 1, "", &named));
  FAILS(afterbay_output_healpix_grid(output, "healpix", "cell2", 2, 1, "", NULL), AFTERBAY_CONFLICT,
        "healpix");
  FAILS(afterbay_output_healpix_grid(output, "ring", "cell3", 3, 1, "", &named), AFTERBAY_INVALID_ARGUMENT,
        "power of two");
  FAILS(afterbay_output_healpix_grid(output, "ring", "cell3", 3, 0, "", NULL), AFTERBAY_CONFLICT, "lat");
  OK(afterbay_output_gaussian_grid(output, "gaussian", "point", 4, rows, "",
                                   &(afterbay_computed_coordinates){"point_lat", "point_lon", 0}));
  FAILS(afterbay_output_gaussian_grid(output, "gaps", "point2", 3, without, "", NULL),
        AFTERBAY_INVALID_ARGUMENT, "latitude number 2");
  FAILS(afterbay_output_gaussian_grid(output, "gaps", "point2", 3, NULL, "", NULL), AFTERBAY_INVALID_ARGUMENT,
        "points_of_latitudes");
  FAILS(afterbay_output_gaussian_grid(output, "gaps", "point2", -1, rows, "", NULL),
        AFTERBAY_INVALID_ARGUMENT, "-1");
}

static void define_fields(afterbay_output* output) {
  static const struct {
    const char* name;
    int type;
  } integers[] = {
      {"i1", AFTERBAY_INT8}, {"i2", AFTERBAY_INT16}, {"i4", AFTERBAY_INT32}, {"i8", AFTERBAY_INT64}};
  const char *level = "lev", *levels = "levels";
  afterbay_attributes* more;
  OK(afterbay_attributes_create(&more));
  const double two = 2;
  OK(afterbay_output_coordinate(output, "height", 0, NULL, &(afterbay_values){AFTERBAY_FLOAT64, 1, &two},
                                &(afterbay_coordinate_options){.units = "m"}));
  OK(afterbay_attributes_set_text(more, "comment", "at 2 m"));
  OK(afterbay_attributes_set_text(more, "coordinates", "height"));
  const afterbay_field_options tas = {.grid = "atm",
                                      .type = AFTERBAY_FLOAT64,
                                      .units = "K",
                                      .standard_name = "air_temperature",
                                      .long_name = "near-surface temperature",
                                      .fill = {AFTERBAY_FLOAT64, 1, &fill},
                                      .attributes = more};
  OK(afterbay_output_field(output, "tas", &tas));
  FAILS(afterbay_output_field(output, "tas", &tas), AFTERBAY_CONFLICT, "tas");
  afterbay_attributes_free(more);
  const afterbay_field_options ta = {.grid = "atm", .axis_count = 1, .axes = &level, .units = "K"};
  OK(afterbay_output_field(output, "ta", &ta));
  for (size_t i = 0; i < sizeof integers / sizeof *integers; ++i)
    OK(afterbay_output_field(output, integers[i].name,
                             &(afterbay_field_options){.grid = "atm", .type = integers[i].type}));
  OK(afterbay_output_field(output, "psl", &(afterbay_field_options){.grid = "atm", .units = "Pa"}));
  OK(afterbay_output_field(output, "orog", &(afterbay_field_options){.grid = "atm", .units = "m"}));
  OK(afterbay_output_field(output, "unused", &(afterbay_field_options){.grid = "atm"}));
  OK(afterbay_output_field(output, "co2",
                           &(afterbay_field_options){.type = AFTERBAY_FLOAT64, .units = "1e-6"}));
  FAILS(afterbay_output_field(output, "x", &(afterbay_field_options){.grid = "amt"}), AFTERBAY_UNKNOWN_NAME,
        "atm");
  FAILS(afterbay_output_field(output, "x", &(afterbay_field_options){.axis_count = 1, .axes = &levels}),
        AFTERBAY_UNKNOWN_NAME, "lev");
  FAILS(afterbay_output_field(output, "x", &(afterbay_field_options){.type = 99}), AFTERBAY_WRONG_TYPE, "99");
  FAILS(afterbay_output_field(output, "x",
                              &(afterbay_field_options){.grid = "atm", .fill = {AFTERBAY_FLOAT64, 1, &fill}}),
        AFTERBAY_WRONG_TYPE, "float64");
}

/* ---- Steps ---- */

static double tas_at(int n, int y, int x) {
  if ((y == 0 && x == 0) || (y == 1 && x == 1 && n % 2 == 1)) return fill;
  return 280 + y + 0.5 * x + 7 * n % 13;
}

static void put_tas(afterbay_output* output, int n) {
  double data[NJ + 2 * HALO][NI + 2 * HALO];
  const uint64_t shape[] = {NJ + 2 * HALO, NI + 2 * HALO}, offset[] = {HALO, HALO};
  const afterbay_memory inside = {.rank = 2, .shape = shape, .offset = offset};
  for (int j = -HALO; j < NJ + HALO; ++j)
    for (int i = -HALO; i < NI + HALO; ++i) {
      const int halo = j < 0 || j >= NJ || i < 0 || i >= NI;
      data[j + HALO][i + HALO] = halo ? 1e6 : tas_at(n, lat0 + j, lon0 + i);
    }
  OK(afterbay_output_put(output, "tas", AFTERBAY_FLOAT64, data, &inside));
}

static float ta_at(int n, int l, int y, int x) { return (float)(100 * l + 10 * y + x + n % 5); }

/* Level by level, the lowest two together and from one array. */
static void put_levels_of_ta(afterbay_output* output, int n) {
  float data[2][NJ][NI];
  const uint64_t start[] = {1, 0, 0}, two[] = {2, NJ, NI}, top[] = {0, 0, 0}, one[] = {1, NJ, NI};
  const uint64_t outside[] = {2, 0, 0};
  const afterbay_section lower = {3, start, two}, upper = {3, top, one}, beyond = {3, outside, two};
  for (int l = 0; l < 2; ++l)
    for (int j = 0; j < NJ; ++j)
      for (int i = 0; i < NI; ++i) data[l][j][i] = ta_at(n, l + 1, lat0 + j, lon0 + i);
  FAILS(afterbay_output_put_section(output, "ta", AFTERBAY_FLOAT32, data, NULL, &beyond),
        AFTERBAY_INVALID_ARGUMENT, "ta");
  OK(afterbay_output_put_section(output, "ta", AFTERBAY_FLOAT32, data, NULL, &lower));
  FAILS(afterbay_output_put_section(output, "ta", AFTERBAY_FLOAT32, data, NULL, &lower), AFTERBAY_CONFLICT,
        "overlaps");
  for (int j = 0; j < NJ; ++j)
    for (int i = 0; i < NI; ++i) data[0][j][i] = ta_at(n, 0, lat0 + j, lon0 + i);
  OK(afterbay_output_put_section(output, "ta", AFTERBAY_FLOAT32, data, NULL, &upper));
}

/* With the level as the fastest dimension of the model's array. */
static void put_ta(afterbay_output* output, int n) {
  float data[NJ][NI][NLEV];
  const int64_t strides[] = {1, NI * NLEV, NLEV};
  const afterbay_memory columns = {.rank = 3, .strides = strides};
  if (n % 3 == 1) {
    put_levels_of_ta(output, n);
    return;
  }
  for (int j = 0; j < NJ; ++j)
    for (int i = 0; i < NI; ++i)
      for (int l = 0; l < NLEV; ++l) data[j][i][l] = ta_at(n, l, lat0 + j, lon0 + i);
  if (n % 3 == 0)
    OK(afterbay_output_put(output, "ta", AFTERBAY_FLOAT32, data, &columns));
  else
    OK(afterbay_output_put_section(output, "ta", AFTERBAY_FLOAT32, data, &columns, NULL));
}

static void put_integers(afterbay_output* output, int n) {
  int8_t i1[NJ * NI];
  int16_t i2[NJ * NI];
  int32_t i4[NJ * NI];
  int64_t i8[NJ * NI];
  for (int k = 0; k < NJ * NI; ++k) {
    const int v = n + 10 * (lat0 + k / NI) + lon0 + k % NI;
    i1[k] = (int8_t)v;
    i2[k] = (int16_t)(100 * v);
    i4[k] = 1000000 * v;
    i8[k] = INT64_C(1000000000000) * v;
  }
  OK(afterbay_output_put(output, "i1", AFTERBAY_INT8, i1, NULL));
  OK(afterbay_output_put(output, "i2", AFTERBAY_INT16, i2, NULL));
  OK(afterbay_output_put(output, "i4", AFTERBAY_INT32, i4, NULL));
  OK(afterbay_output_put(output, "i8", AFTERBAY_INT64, i8, NULL));
}

static int wants(afterbay_output* output, const char* field) {
  int wanted = -1;
  OK(afterbay_output_wants(output, field, &wanted));
  HOLDS(wanted == 0 || wanted == 1);
  return wanted;
}

/* Only if it is wanted: `psl` at the end of each day, `orog` once. */
static void put_rare(afterbay_output* output, int n) {
  float data[NJ * NI];
  HOLDS(!wants(output, "unused"));
  HOLDS(wants(output, "psl") == (n > 0 && n % 4 == 0));
  if (wants(output, "psl")) {
    for (int k = 0; k < NJ * NI; ++k) data[k] = (float)(100000 + n);
    OK(afterbay_output_put(output, "psl", AFTERBAY_FLOAT32, data, NULL));
  }
  if (wants(output, "orog")) {
    for (int k = 0; k < NJ * NI; ++k) data[k] = (float)(100 * (lat0 + k / NI) + lon0 + k % NI);
    OK(afterbay_output_put(output, "orog", AFTERBAY_FLOAT32, data, NULL));
  }
}

static void put_all(afterbay_output* output, int n) {
  const double co2 = 400 + 0.125 * n;
  if (!leaves_out || n != 3) put_tas(output, n);
  put_ta(output, n);
  put_integers(output, n);
  put_rare(output, n);
  OK(afterbay_output_put(output, "co2", AFTERBAY_FLOAT64, &co2, NULL));
}

static void refused_between(afterbay_output* output, int n) {
  static const double data[NJ * NI];
  const uint64_t wide[] = {NJ, NI + 1};
  const afterbay_memory other_shape = {.rank = 2, .shape = wide};
  int wanted = 5;
  FAILS(afterbay_output_put(output, "tos", AFTERBAY_FLOAT64, data, NULL), AFTERBAY_UNKNOWN_NAME, "tas");
  FAILS(afterbay_output_wants(output, "tos", &wanted), AFTERBAY_UNKNOWN_NAME, "tas");
  HOLDS(wanted == 5);
  FAILS(afterbay_output_put(output, "tas", AFTERBAY_FLOAT32, data, NULL), AFTERBAY_WRONG_TYPE, "float64");
  FAILS(afterbay_output_put(output, "tas", AFTERBAY_FLOAT64, data, &other_shape), AFTERBAY_INVALID_ARGUMENT,
        "tas");
  put_all(output, n);
  FAILS(afterbay_output_put(output, "tas", AFTERBAY_FLOAT64, data, NULL), AFTERBAY_CONFLICT, "tas");
  FAILS(afterbay_output_step(output, n), AFTERBAY_INVALID_ARGUMENT, "step");
  FAILS(afterbay_output_step(output, n - 1), AFTERBAY_INVALID_ARGUMENT, "step");
  FAILS(afterbay_output_step(output, n + 2), AFTERBAY_INVALID_ARGUMENT, "step");
  FAILS(afterbay_output_dimension(output, "late", 5), AFTERBAY_BAD_STATE, "start");
}

static void run_steps(afterbay_output* output, int first, int last) {
  static const double data[NJ * NI];
  afterbay_date date, expected, start = {2000, 2, 26, 0, 0, 0, 0};
  afterbay_period step;
  int64_t number = -1;
  OK(afterbay_period_parse("6h", &step));
  OK(afterbay_output_current_step(output, &number));
  HOLDS(number == (first > 0 ? first - 1 : 0));
  FAILS(afterbay_output_put(output, "tas", AFTERBAY_FLOAT64, data, NULL), AFTERBAY_BAD_STATE, "step");
  for (int n = first; n <= last; ++n) {
    OK(afterbay_output_step(output, n));
    OK(afterbay_output_current_step(output, &number));
    HOLDS(number == n);
    OK(afterbay_output_date(output, &date));
    OK(afterbay_calendar_add(noleap, &start, &step, n, &expected));
    HOLDS(memcmp(&date, &expected, sizeof date) == 0);
    if (n == first + 1)
      refused_between(output, n);
    else
      put_all(output, n);
  }
}

static void refused_after_session(afterbay_session* session, afterbay_output* output, int last) {
  static const double data[NJ * NI];
  FAILS(afterbay_session_finalize(session), AFTERBAY_BAD_STATE, "the output has not been finalized");
  OK(afterbay_output_finalize(output, NULL));
  OK(afterbay_session_finalize(session));
  HOLDS(afterbay_output_step(output, last + 1) == AFTERBAY_BAD_STATE);
  afterbay_session_free(session);
  HOLDS(afterbay_output_step(output, last + 1) == AFTERBAY_BAD_STATE);
  HOLDS(afterbay_output_put(output, "tas", AFTERBAY_FLOAT64, data, NULL) == AFTERBAY_BAD_STATE);
  HOLDS(afterbay_output_save(output, "state.nc", NULL) == AFTERBAY_BAD_STATE);
  OK(afterbay_output_finalize(output, NULL));
  afterbay_output_free(output);
  afterbay_calendar_free(noleap);
}

/* Ends the session. */
static void run(afterbay_session* session, int first, int last, const char* resume, const char* save,
                const char* mistake) {
  int rank, size;
  OK(afterbay_session_model_rank(session, &rank));
  OK(afterbay_session_model_size(session, &size));
  HOLDS(size == 4);
  lat0 = rank / 2 * NJ;
  lon0 = rank % 2 * NI;
  leaves_out = strcmp(mistake, "left_out") == 0 && rank == 1;
  const uint64_t global[] = {NLAT, NLON}, start[] = {(uint64_t)lat0, (uint64_t)lon0}, count[] = {NJ, NI};
  const uint64_t other[] = {NLAT, NLON / 2}, column[] = {(uint64_t)lat0, (uint64_t)lon0 / 2},
                 half[] = {NJ, NI / 2};
  if (strcmp(mistake, "lengths") == 0)
    OK(afterbay_decomposition_define(session, "blocks", 2, other, column, half, AFTERBAY_GAPS_REFUSED));
  else
    OK(afterbay_decomposition_define(session, "blocks", 2, global, start, count, AFTERBAY_GAPS_REFUSED));
  afterbay_output* output = NULL;
  open_output(session, resume, &output);
  define_dimensions(output);
  define_grid(output);
  define_point_grids(output);
  define_fields(output);
  FAILS(afterbay_output_step(output, first), AFTERBAY_BAD_STATE, "start");
  OK(afterbay_output_start(output));
  run_steps(output, first, last);
  if (strcmp(mistake, "order") == 0) {
    refused_after_session(session, output, last);
    return;
  }
  OK(afterbay_output_finalize(output, save));
  OK(afterbay_output_finalize(output, save));
  HOLDS(afterbay_output_step(output, last + 1) == AFTERBAY_BAD_STATE);
  afterbay_output_free(output);
  afterbay_calendar_free(noleap);
  OK(afterbay_session_finalize(session));
  afterbay_session_free(session);
}

int main(int argc, char** argv) {
  afterbay_options* options = NULL;
  afterbay_session* session = NULL;
  int server = 0;
  MPI_Init(&argc, &argv);
  HOLDS(argc >= 6);
  const char* const mistake = argv[5];
  mistaken = strcmp(mistake, "-") != 0 && strcmp(mistake, "order") != 0 && strcmp(mistake, "text") != 0;
  OK(afterbay_options_create(&options));
  OK(afterbay_options_set_arguments(options, argc, (const char* const*)argv));
  FAILS(afterbay_options_set_output_text(options, NULL), AFTERBAY_INVALID_ARGUMENT, "text");
  if (strcmp(mistake, "text") == 0)
    OK(afterbay_options_set_output_text(options, "files:\n  fx: {once: orog}\n"));
  if (strcmp(mistake, "wrong_text") == 0)
    OK(afterbay_options_set_output_text(options, "files:\n  fx: {onec: orog}\n"));
  OK(afterbay_session_open(MPI_COMM_WORLD, options, &session));
  afterbay_options_free(options);
  OK(afterbay_session_is_server(session, &server));
  if (server) {
    OK(afterbay_session_serve(session));
    afterbay_session_free(session);
  } else {
    run(session, atoi(argv[1]), atoi(argv[2]), strcmp(argv[3], "-") == 0 ? NULL : argv[3],
        strcmp(argv[4], "-") == 0 ? NULL : argv[4], argv[5]);
  }
  MPI_Finalize();
  return 0;
}
