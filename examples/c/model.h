/* SPDX-License-Identifier: Apache-2.0
   The shallow-water model of examples/shallow_water in C: the same numbers, bit for bit. */
#ifndef SHALLOW_WATER_MODEL_H
#define SHALLOW_WATER_MODEL_H

#include <mpi.h>

#define GRAVITY 0.05     /* reduced gravity, m s-2 */
#define CORIOLIS 1.0e-4  /* s-1 */
#define REST_DEPTH 500.0 /* m */
#define CELL 2000.0      /* width of a cell, m */
#define TIME_STEP 200.0  /* s */

/* This rank's part. Arrays have (nj + 2) rows of ni + 2 values: the part and a halo of one. Cell
   (i, j) has its depth h in the centre, u on its west edge, v on its south edge. */
struct model {
  MPI_Comm comm;
  int nx, ny;                   /* the whole grid */
  int ni, nj;                   /* this rank's part */
  int i0, j0;                   /* its first point in the whole grid, from 0 */
  int west, east, south, north; /* the neighbours' ranks */
  int step;
  double *h, *u, *v;       /* the state */
  double *h1, *u1, *v1;    /* within a time step */
  double *fx, *fy, *q, *b; /* fluxes, potential vorticity, Bernoulli function */
  double *to, *from;       /* halo messages */
};

/* Collective over comm. */
void model_create(struct model* m, MPI_Comm comm, int nx, int ny);
void model_free(struct model* m);
void model_step(struct model* m);

/* ni x nj values without halo: relative vorticity (s-1) on the south-west corners, speed (m s-1) in
 * the centres. */
void model_vorticity(const struct model* m, double* vorticity);
void model_speed(const struct model* m, double* speed);

/* Index of (i, j), both from 0 for the halo, in an array of the model. */
static inline int at(const struct model* m, int i, int j) { return j * (m->ni + 2) + i; }

#endif
