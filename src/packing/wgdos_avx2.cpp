// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <type_traits>

#include "packing/wgdos_kernels.hpp"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

namespace afterbay::packing::wgdos {
namespace {

constexpr std::size_t vector_bytes = 32;
#include "packing/wgdos_kernels.inc"

}  // namespace

const KernelSet avx2{kernels<float>, kernels<double>};

}  // namespace afterbay::packing::wgdos

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
