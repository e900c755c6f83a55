/* SPDX-License-Identifier: Apache-2.0
   Serial netCDF for output_serial.f90: the same dimensions, variables and attributes as in the
   Afterbay output. Any error ends the program: this is a comparison, not a library. */
#include <mpi.h>
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct serial_file {
  int id;
  int nx, ny;
  int time, step;
};

static void check(int status, const char* what) {
  if (status == NC_NOERR) return;
  fprintf(stderr, "shallow_water: netCDF: %s: %s\n", what, nc_strerror(status));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static int define(const struct serial_file* file, const char* name, nc_type type, int rank,
                  const int* dimensions, const char* units, const char* long_name) {
  int variable;
  check(nc_def_var(file->id, name, type, rank, dimensions, &variable), name);
  if (units != NULL) check(nc_put_att_text(file->id, variable, "units", strlen(units), units), name);
  if (long_name != NULL)
    check(nc_put_att_text(file->id, variable, "long_name", strlen(long_name), long_name), name);
  return variable;
}

static int dimension(const struct serial_file* file, const char* name) {
  int id;
  check(nc_inq_dimid(file->id, name, &id), name);
  return id;
}

static void coordinate(const struct serial_file* file, const char* name, const char* long_name, int n,
                       double first, double cell) {
  int id;
  check(nc_def_dim(file->id, name, (size_t)n, &id), name);
  const int variable = define(file, name, NC_DOUBLE, 1, &id, "m", long_name);
  double* values = malloc((size_t)n * sizeof *values);
  for (int i = 0; i < n; ++i) values[i] = (i + first) * cell;
  check(nc_put_var_double(file->id, variable, values), name);
  free(values);
}

void* serial_create(const char* path, const char* title, int nx, int ny, double coriolis, double gravity,
                    double rest_depth, double cell) {
  struct serial_file* file = malloc(sizeof *file);
  const int grid[2] = {nx, ny};
  int time;
  file->nx = nx;
  file->ny = ny;
  check(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &file->id), path);
  check(nc_set_fill(file->id, NC_NOFILL, NULL), path);
  check(nc_put_att_text(file->id, NC_GLOBAL, "Conventions", 7, "CF-1.10"), path);
  const char* const history = "written by a shallow-water model";
  check(nc_put_att_text(file->id, NC_GLOBAL, "title", strlen(title), title), path);
  check(nc_put_att_text(file->id, NC_GLOBAL, "history", strlen(history), history), path);
  check(nc_put_att_int(file->id, NC_GLOBAL, "grid", NC_INT, 2, grid), path);
  check(nc_put_att_double(file->id, NC_GLOBAL, "coriolis", NC_DOUBLE, 1, &coriolis), path);
  check(nc_put_att_double(file->id, NC_GLOBAL, "gravity", NC_DOUBLE, 1, &gravity), path);
  check(nc_put_att_double(file->id, NC_GLOBAL, "rest_depth", NC_DOUBLE, 1, &rest_depth), path);
  check(nc_def_dim(file->id, "time", NC_UNLIMITED, &time), path);
  coordinate(file, "x", "eastward distance of cell centres", nx, 0.5, cell);
  coordinate(file, "y", "northward distance of cell centres", ny, 0.5, cell);
  coordinate(file, "x_edge", "eastward distance of west edges", nx, 0.0, cell);
  coordinate(file, "y_edge", "northward distance of south edges", ny, 0.0, cell);
  file->time = define(file, "time", NC_DOUBLE, 1, &time, "seconds since 2000-01-01", NULL);
  check(nc_put_att_text(file->id, file->time, "calendar", 8, "standard"), path);
  check(nc_put_att_text(file->id, file->time, "standard_name", 4, "time"), path);
  file->step = define(file, "step", NC_INT, 1, &time, "1", "steps done by the model");
  return file;
}

void serial_define(void* handle, const char* name, const char* x, const char* y, const char* units,
                   const char* long_name) {
  const struct serial_file* file = handle;
  const int dimensions[3] = {dimension(file, "time"), dimension(file, y), dimension(file, x)};
  const size_t chunk[3] = {1, (size_t)file->ny, (size_t)file->nx};
  const int variable = define(file, name, NC_FLOAT, 3, dimensions, units, long_name);
  check(nc_def_var_chunking(file->id, variable, NC_CHUNKED, chunk), name);
}

void serial_put_time(void* handle, int record, double time, int step) {
  const struct serial_file* file = handle;
  const size_t at = (size_t)record;
  check(nc_put_var1_double(file->id, file->time, &at, &time), "time");
  check(nc_put_var1_int(file->id, file->step, &at, &step), "step");
}

void serial_put(void* handle, const char* name, int record, const float* values) {
  const struct serial_file* file = handle;
  const size_t start[3] = {(size_t)record, 0, 0}, count[3] = {1, (size_t)file->ny, (size_t)file->nx};
  int variable;
  check(nc_inq_varid(file->id, name, &variable), name);
  check(nc_put_vara_float(file->id, variable, start, count, values), name);
}

void serial_close(void* handle) {
  struct serial_file* file = handle;
  check(nc_close(file->id), "close");
  free(file);
}
