// SPDX-License-Identifier: Apache-2.0
#include "base/strict_floating_point.hpp"
#include "model/convert/pack_rows.hpp"

#if defined(__x86_64__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

namespace afterbay::model::convert {
namespace {

constexpr std::size_t lanes = 4;
#include "model/convert/pack_rows.inc"

}  // namespace

const PackLoop pack_avx2 = &pack_block_values;

}  // namespace afterbay::model::convert

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
