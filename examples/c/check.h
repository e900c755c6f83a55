/* SPDX-License-Identifier: Apache-2.0
   What the program does if a call has failed. */
#ifndef SHALLOW_WATER_CHECK_H
#define SHALLOW_WATER_CHECK_H

#include <afterbay/mpi.h>
#include <stdio.h>

/* Ends the program with Afterbay's message. */
static inline void check(int code) {
  if (code == AFTERBAY_OK) return;
  fprintf(stderr, "shallow_water_c: %s\n", afterbay_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

#endif
