// SPDX-License-Identifier: Apache-2.0
#include "common/timing.hpp"

#include <ctime>

namespace bench {
namespace {

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

double now_s() { return seconds_of(CLOCK_MONOTONIC); }

double process_cpu_s() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

void compute_for(double ms) {
  const double end = now_s() + ms * 1e-3;
  volatile double sink = 1.0;
  while (now_s() < end) {
    double value = sink;
    for (int i = 0; i < 2000; ++i) value = value * 0.999999 + 1e-6;
    sink = value;
  }
}

}  // namespace bench
