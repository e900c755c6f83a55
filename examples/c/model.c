/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include <math.h>
#include <stdlib.h>

#define PI 3.14159265358979323846
#define PER_CELL (1.0 / CELL)

/* The initial state: an eastward and a westward jet that meander. */
static const double jet_speed = 2.0;   /* m s-1 */
static const double jet_widths = 32.0; /* height of the domain */
static const int waves[4] = {2, 3, 5, 7};
static const double wave_height[4] = {1.2, 0.8, 0.9, 0.4}; /* jet widths */

/* The stream function (m2 s-1) at a position given in cells from the south-west corner. */
static double stream_function(const struct model* m, double x, double y) {
  const double width = fmax(3.0, m->ny / jet_widths);
  double south = (y - 0.28 * m->ny) / width;
  double north = (y - 0.72 * m->ny) / width;
  for (int k = 1; k <= 4; ++k) {
    south = south + wave_height[k - 1] * sin(2.0 * PI * waves[k - 1] * (x / m->nx) + k);
    north = north + wave_height[k - 1] * sin(2.0 * PI * waves[k - 1] * (x / m->nx) + 2 * k);
  }
  return jet_speed * width * CELL * (tanh(north) - tanh(south));
}

/* Velocities along the stream function, depth in geostrophic balance with them. */
static void initial_state(struct model* m) {
  for (int j = 1; j <= m->nj; ++j) {
    for (int i = 1; i <= m->ni; ++i) {
      const double x = i + m->i0 - 1, y = j + m->j0 - 1;
      const int p = at(m, i, j);
      m->u[p] = (stream_function(m, x, y) - stream_function(m, x, y + 1.0)) * PER_CELL;
      m->v[p] = (stream_function(m, x + 1.0, y) - stream_function(m, x, y)) * PER_CELL;
      m->h[p] = REST_DEPTH + CORIOLIS * stream_function(m, x + 0.5, y + 0.5) / GRAVITY;
    }
  }
}

/* Sends a line of each field to one neighbour and receives the same from the other. */
static void shift(struct model* m, double* const fields[3], int target, int source, int out, int in, int n,
                  int stride) {
  for (int f = 0; f < 3; ++f)
    for (int k = 0; k < n; ++k) m->to[f * n + k] = fields[f][out + k * stride];
  MPI_Sendrecv(m->to, 3 * n, MPI_DOUBLE, target, 0, m->from, 3 * n, MPI_DOUBLE, source, 0, m->comm,
               MPI_STATUS_IGNORE);
  for (int f = 0; f < 3; ++f)
    for (int k = 0; k < n; ++k) fields[f][in + k * stride] = m->from[f * n + k];
}

/* Fills the halos: west and east, then south and north with the corners. */
static void exchange_halos(struct model* m, double* h, double* u, double* v) {
  double* const fields[3] = {h, u, v};
  const int row = m->ni + 2;
  shift(m, fields, m->west, m->east, 1, m->ni + 1, m->nj + 2, row);
  shift(m, fields, m->east, m->west, m->ni, 0, m->nj + 2, row);
  shift(m, fields, m->south, m->north, row, (m->nj + 1) * row, row, 1);
  shift(m, fields, m->north, m->south, m->nj * row, 0, row, 1);
}

static void share(int n, int parts, int number, int* first, int* count) {
  *first = n * number / parts;
  *count = n * (number + 1) / parts - *first;
}

void model_create(struct model* m, MPI_Comm comm, int nx, int ny) {
  int ranks, rank, dims[2] = {0, 0}, place[2];
  const int periodic[2] = {1, 1};
  MPI_Comm_size(comm, &ranks);
  MPI_Dims_create(ranks, 2, dims);
  MPI_Cart_create(comm, 2, dims, periodic, 0, &m->comm);
  MPI_Comm_rank(m->comm, &rank);
  MPI_Cart_coords(m->comm, rank, 2, place);
  MPI_Cart_shift(m->comm, 0, 1, &m->south, &m->north);
  MPI_Cart_shift(m->comm, 1, 1, &m->west, &m->east);
  m->nx = nx;
  m->ny = ny;
  m->step = 0;
  share(ny, dims[0], place[0], &m->j0, &m->nj);
  share(nx, dims[1], place[1], &m->i0, &m->ni);
  const size_t points = (size_t)(m->ni + 2) * (size_t)(m->nj + 2);
  double** const arrays[] = {&m->h, &m->u, &m->v, &m->h1, &m->u1, &m->v1, &m->fx, &m->fy, &m->q, &m->b};
  for (int a = 0; a < 10; ++a) *arrays[a] = calloc(points, sizeof(double));
  const size_t longest = 3 * (size_t)((m->ni > m->nj ? m->ni : m->nj) + 2);
  m->to = calloc(longest, sizeof(double));
  m->from = calloc(longest, sizeof(double));
  initial_state(m);
  exchange_halos(m, m->h, m->u, m->v);
}

void model_free(struct model* m) {
  double* const arrays[] = {m->h, m->u, m->v, m->h1, m->u1, m->v1, m->fx, m->fy, m->q, m->b, m->to, m->from};
  for (int a = 0; a < 12; ++a) free(arrays[a]);
  MPI_Comm_free(&m->comm);
}

/* Mass fluxes, potential vorticity and Bernoulli function. */
static void fluxes(struct model* m, const double* h, const double* u, const double* v) {
  const int row = m->ni + 2;
  for (int j = 1; j <= m->nj + 1; ++j)
    for (int i = 1; i <= m->ni + 1; ++i) {
      const int p = at(m, i, j);
      m->q[p] = (CORIOLIS + (v[p] - v[p - 1] - (u[p] - u[p - row])) * PER_CELL) /
                (0.25 * (h[p] + h[p - 1] + (h[p - row] + h[p - row - 1])));
    }
  for (int j = 0; j <= m->nj; ++j)
    for (int i = 0; i <= m->ni; ++i) {
      const int p = at(m, i, j);
      m->b[p] = GRAVITY * h[p] +
                0.25 * (u[p] * u[p] + u[p + 1] * u[p + 1] + (v[p] * v[p] + v[p + row] * v[p + row]));
    }
  for (int j = 0; j <= m->nj; ++j)
    for (int i = 1; i <= m->ni + 1; ++i) {
      const int p = at(m, i, j);
      m->fx[p] = 0.5 * (h[p] + h[p - 1]) * u[p];
    }
  for (int j = 1; j <= m->nj + 1; ++j)
    for (int i = 0; i <= m->ni; ++i) {
      const int p = at(m, i, j);
      m->fy[p] = 0.5 * (h[p] + h[p - row]) * v[p];
    }
}

/* h1, u1, v1 = the state + dt * the tendencies computed from the fluxes. */
static void advance(struct model* m, double dt) {
  const int row = m->ni + 2;
  const double *fx = m->fx, *fy = m->fy, *q = m->q, *b = m->b;
  for (int j = 1; j <= m->nj; ++j)
    for (int i = 1; i <= m->ni; ++i) {
      const int p = at(m, i, j);
      m->u1[p] = m->u[p] +
                 dt * (0.125 * (q[p] + q[p + row]) * (fy[p] + fy[p - 1] + (fy[p + row] + fy[p + row - 1])) -
                       (b[p] - b[p - 1]) * PER_CELL);
      m->v1[p] =
          m->v[p] - dt * (0.125 * (q[p] + q[p + 1]) * (fx[p] + fx[p - row] + (fx[p + 1] + fx[p + 1 - row])) +
                          (b[p] - b[p - row]) * PER_CELL);
      m->h1[p] = m->h[p] - dt * ((fx[p + 1] - fx[p] + (fy[p + row] - fy[p])) * PER_CELL);
    }
  exchange_halos(m, m->h1, m->u1, m->v1);
}

static void swap(double** a, double** b) {
  double* const other = *a;
  *a = *b;
  *b = other;
}

void model_step(struct model* m) {
  fluxes(m, m->h, m->u, m->v);
  advance(m, TIME_STEP / 3.0);
  fluxes(m, m->h1, m->u1, m->v1);
  advance(m, TIME_STEP / 2.0);
  fluxes(m, m->h1, m->u1, m->v1);
  advance(m, TIME_STEP);
  swap(&m->h, &m->h1);
  swap(&m->u, &m->u1);
  swap(&m->v, &m->v1);
  ++m->step;
}

void model_vorticity(const struct model* m, double* vorticity) {
  const int row = m->ni + 2;
  for (int j = 1; j <= m->nj; ++j)
    for (int i = 1; i <= m->ni; ++i) {
      const int p = at(m, i, j);
      *vorticity++ = (m->v[p] - m->v[p - 1] - (m->u[p] - m->u[p - row])) * PER_CELL;
    }
}

void model_speed(const struct model* m, double* speed) {
  const int row = m->ni + 2;
  const double *u = m->u, *v = m->v;
  for (int j = 1; j <= m->nj; ++j)
    for (int i = 1; i <= m->ni; ++i) {
      const int p = at(m, i, j);
      *speed++ = sqrt(0.5 * (u[p] * u[p] + u[p + 1] * u[p + 1] + (v[p] * v[p] + v[p + row] * v[p + row])));
    }
}
