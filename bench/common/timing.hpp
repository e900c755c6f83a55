// SPDX-License-Identifier: Apache-2.0
// Clocks, and compute that keeps a core busy without touching memory.
#pragma once

namespace bench {

/// Seconds on the monotonic clock.
double now_s();

/// User and system time of this process and all its threads, in seconds.
double process_cpu_s();

/// Keeps the calling thread computing for `ms` of wall time.
void compute_for(double ms);

}  // namespace bench
