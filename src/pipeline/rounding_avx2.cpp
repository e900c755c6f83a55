// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <type_traits>
#include <utility>

#include "base/strict_floating_point.hpp"
#include "pipeline/rounding_loops.hpp"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

namespace afterbay::pipeline::rounding {
namespace {

constexpr std::size_t vector_bytes = 32;
#include "pipeline/rounding_loops.inc"

}  // namespace

const RoundingLoops avx2{&run_float, &run_double};

}  // namespace afterbay::pipeline::rounding

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
