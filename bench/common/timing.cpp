// SPDX-License-Identifier: Apache-2.0
#include "common/timing.hpp"

#include <sys/resource.h>

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

ThreadUse& ThreadUse::operator+=(const ThreadUse& other) {
  waits += other.waits;
  preemptions += other.preemptions;
  cpu_s += other.cpu_s;
  return *this;
}

ThreadUse operator-(const ThreadUse& later, const ThreadUse& earlier) {
  return {later.waits - earlier.waits, later.preemptions - earlier.preemptions, later.cpu_s - earlier.cpu_s};
}

ThreadUse thread_use() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return {usage.ru_nvcsw, usage.ru_nivcsw, seconds_of(CLOCK_THREAD_CPUTIME_ID)};
}

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
