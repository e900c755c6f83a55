// SPDX-License-Identifier: Apache-2.0
#include "pipeline/rounding_loops.hpp"

namespace afterbay::pipeline {

const RoundingLoops& rounding_loops() noexcept {
#if defined(__x86_64__)
  static const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx512) return rounding::avx512;
  if (has_avx2) return rounding::avx2;
#endif
  return rounding::baseline;
}

}  // namespace afterbay::pipeline
