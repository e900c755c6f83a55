// SPDX-License-Identifier: Apache-2.0
#include "packing/wgdos_kernels.hpp"

namespace afterbay::packing {
namespace {

const wgdos::KernelSet& fastest_set() noexcept {
#if defined(__x86_64__)
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (has_avx512) return wgdos::avx512;
  if (__builtin_cpu_supports("avx2")) return wgdos::avx2;
#endif
  return wgdos::baseline;
}

}  // namespace

template <>
const RowKernels<float>& row_kernels() noexcept {
  return fastest_set().float32;
}

template <>
const RowKernels<double>& row_kernels() noexcept {
  return fastest_set().float64;
}

}  // namespace afterbay::packing
