// SPDX-License-Identifier: Apache-2.0
#include "model/convert/rows.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

namespace afterbay::model::convert {
namespace {

#include "model/convert/rows.inc"

using Lanes = __m256i;
inline Lanes load(const std::byte* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
inline void store(std::byte* to, Lanes value) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), value); }
inline void stream(std::byte* to, Lanes value) { _mm256_stream_si256(reinterpret_cast<__m256i*>(to), value); }

template <std::size_t size>
inline Lanes swapped(Lanes value) {
  alignas(32) std::uint8_t order[32];
  for (std::size_t i = 0; i < 32; ++i) order[i] = static_cast<std::uint8_t>((i % 16) ^ (size - 1));
  return _mm256_shuffle_epi8(value, _mm256_load_si256(reinterpret_cast<const __m256i*>(order)));
}

#include "model/convert/wide.inc"

}  // namespace

const KernelSet avx2{&convert, &copy};

}  // namespace afterbay::model::convert

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
