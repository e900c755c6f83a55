// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <type_traits>

#include "packing/wgdos_kernels.hpp"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#endif

namespace afterbay::packing::wgdos {
namespace {

constexpr std::size_t vector_bytes = 64;
#include "packing/wgdos_kernels.inc"

}  // namespace

const KernelSet avx512{kernels<float>, kernels<double>};

}  // namespace afterbay::packing::wgdos

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
