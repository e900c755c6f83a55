// SPDX-License-Identifier: Apache-2.0
#include "common/timing.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <string>
#include <system_error>

namespace bench {
namespace {

void one_round() {
  static volatile double sink = 1.0;
  double value = sink;
  for (int i = 0; i < 2000; ++i) value = value * 0.999999 + 1e-6;
  sink = value;
}

double seconds_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

double now_s() { return seconds_of(CLOCK_MONOTONIC); }

double process_cpu_s() { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

double process_cpu_s(int pid) {
  clockid_t clock{};
  if (const int error = clock_getcpuclockid(pid, &clock); error != 0)
    throw std::system_error(error, std::generic_category(),
                            "processor time of process " + std::to_string(pid));
  return seconds_of(clock);
}

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
  while (now_s() < end) one_round();
}

FixedWork::FixedWork(double ms) {
  constexpr int trials = 20;
  constexpr long rounds = 500;
  double fastest_s = 1e9;
  for (int trial = 0; trial < trials; ++trial) {
    const double start = now_s();
    for (long i = 0; i < rounds; ++i) one_round();
    fastest_s = std::min(fastest_s, now_s() - start);
  }
  rounds_ = std::lround(ms * 1e-3 / fastest_s * static_cast<double>(rounds));
}

void FixedWork::run() const {
  for (long i = 0; i < rounds_; ++i) one_round();
}

}  // namespace bench
