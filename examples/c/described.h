/* SPDX-License-Identifier: Apache-2.0
   Described output: the model offers its fields and puts each of them once per step. What is
   written, the description says that the setting `output` names, such as
   shallow_water/output.yaml. */
#ifndef SHALLOW_WATER_DESCRIBED_H
#define SHALLOW_WATER_DESCRIBED_H

#include <afterbay/output.h>

#include "model.h"

struct described {
  afterbay_output* output;
  double* work;
};

/* Defines grids and fields of a session that is open on this model rank. */
void described_start(struct described* d, afterbay_session* session, const struct model* m);
/* Puts all fields. Those that nothing uses in this step are neither copied nor computed. */
void described_write_step(struct described* d, const struct model* m);
void described_finish(struct described* d);

#endif
