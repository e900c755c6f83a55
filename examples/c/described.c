/* SPDX-License-Identifier: Apache-2.0 */
#include "described.h"

#include <stdlib.h>

#include "check.h"

static void define_dimension(afterbay_output* output, const char* name, const char* long_name, int n,
                             double first) {
  double* places = malloc((size_t)n * sizeof *places);
  for (int i = 0; i < n; ++i) places[i] = (i + first) * CELL;
  const afterbay_values values = {.type = AFTERBAY_FLOAT64, .count = (size_t)n, .data = places};
  const afterbay_coordinate_options options = {.units = "m", .long_name = long_name};
  check(afterbay_output_dimension_values(output, name, &values, &options));
  free(places);
}

static void define_grid(afterbay_output* output, const char* name, const char* y, const char* x) {
  const char* const dimensions[2] = {y, x};
  check(afterbay_output_grid(output, name, 2, dimensions, "cells"));
}

static void define_field(afterbay_output* output, const char* name, const char* grid, const char* units,
                         const char* long_name) {
  const afterbay_field_options options = {
      .grid = grid, .type = AFTERBAY_FLOAT64, .units = units, .long_name = long_name};
  check(afterbay_output_field(output, name, &options));
}

/* The points of the cells at which the model has values. */
static void define_grids(afterbay_output* output, const struct model* m) {
  define_dimension(output, "x", "eastward distance of cell centres", m->nx, 0.5);
  define_dimension(output, "y", "northward distance of cell centres", m->ny, 0.5);
  define_dimension(output, "x_edge", "eastward distance of west edges", m->nx, 0.0);
  define_dimension(output, "y_edge", "northward distance of south edges", m->ny, 0.0);
  define_grid(output, "centres", "y", "x");
  define_grid(output, "west_edges", "y", "x_edge");
  define_grid(output, "south_edges", "y_edge", "x");
  define_grid(output, "corners", "y_edge", "x_edge");
}

void described_start(struct described* d, afterbay_session* session, const struct model* m) {
  const uint64_t global[2] = {(uint64_t)m->ny, (uint64_t)m->nx};
  const uint64_t start[2] = {(uint64_t)m->j0, (uint64_t)m->i0};
  const uint64_t count[2] = {(uint64_t)m->nj, (uint64_t)m->ni};
  const afterbay_date begin = {.year = 2000, .month = 1, .day = 1};
  const afterbay_period step = {.seconds = (int64_t)TIME_STEP};
  const afterbay_output_options options = {.start = &begin, .step = &step};
  d->work = malloc((size_t)m->ni * (size_t)m->nj * sizeof(double));
  check(afterbay_decomposition_define(session, "cells", 2, global, start, count, AFTERBAY_GAPS_REFUSED));
  check(afterbay_output_open(session, &options, &d->output));
  define_grids(d->output, m);
  define_field(d->output, "h", "centres", "m", "depth of the layer");
  define_field(d->output, "u", "west_edges", "m s-1", "velocity to the east");
  define_field(d->output, "v", "south_edges", "m s-1", "velocity to the north");
  define_field(d->output, "vorticity", "corners", "s-1", "relative vorticity");
  define_field(d->output, "elevation", "centres", "m", "depth of the layer less its depth at rest");
  define_field(d->output, "speed", "centres", "m s-1", "speed");
  check(afterbay_output_start(d->output));
}

static int is_wanted(const struct described* d, const char* field) {
  int wanted;
  check(afterbay_output_wants(d->output, field, &wanted));
  return wanted;
}

static void compute_elevation(const struct model* m, double* elevation) {
  for (int j = 1; j <= m->nj; ++j)
    for (int i = 1; i <= m->ni; ++i) *elevation++ = m->h[at(m, i, j)] - REST_DEPTH;
}

void described_write_step(struct described* d, const struct model* m) {
  /* The model's arrays have a halo of one point: described by the layout, not removed by a copy. */
  const uint64_t shape[2] = {(uint64_t)m->nj + 2, (uint64_t)m->ni + 2}, offset[2] = {1, 1};
  const afterbay_memory inside = {.rank = 2, .shape = shape, .offset = offset};
  check(afterbay_output_step(d->output, m->step));
  check(afterbay_output_put(d->output, "h", AFTERBAY_FLOAT64, m->h, &inside));
  check(afterbay_output_put(d->output, "u", AFTERBAY_FLOAT64, m->u, &inside));
  check(afterbay_output_put(d->output, "v", AFTERBAY_FLOAT64, m->v, &inside));
  if (is_wanted(d, "vorticity")) {
    model_vorticity(m, d->work);
    check(afterbay_output_put(d->output, "vorticity", AFTERBAY_FLOAT64, d->work, NULL));
  }
  if (is_wanted(d, "elevation")) {
    compute_elevation(m, d->work);
    check(afterbay_output_put(d->output, "elevation", AFTERBAY_FLOAT64, d->work, NULL));
  }
  if (is_wanted(d, "speed")) {
    model_speed(m, d->work);
    check(afterbay_output_put(d->output, "speed", AFTERBAY_FLOAT64, d->work, NULL));
  }
}

void described_finish(struct described* d) {
  check(afterbay_output_finalize(d->output, NULL));
  afterbay_output_free(d->output);
  free(d->work);
}
