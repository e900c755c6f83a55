// SPDX-License-Identifier: Apache-2.0
#include "model/convert/rows.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#endif

namespace afterbay::model::convert {
namespace {

#include "model/convert/rows.inc"

using Lanes = __m512i;
inline Lanes load(const std::byte* from) { return _mm512_loadu_si512(from); }
inline void store(std::byte* to, Lanes value) { _mm512_storeu_si512(to, value); }
inline void stream(std::byte* to, Lanes value) { _mm512_stream_si512(reinterpret_cast<__m512i*>(to), value); }

template <std::size_t size>
inline Lanes swapped(Lanes value) {
  alignas(64) std::uint8_t order[64];
  for (std::size_t i = 0; i < 64; ++i) order[i] = static_cast<std::uint8_t>((i % 16) ^ (size - 1));
  return _mm512_shuffle_epi8(value, _mm512_load_si512(order));
}

#include "model/convert/wide.inc"

}  // namespace

const KernelSet avx512{&convert, &copy};

}  // namespace afterbay::model::convert

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
