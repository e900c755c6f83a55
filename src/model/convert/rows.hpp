// SPDX-License-Identifier: Apache-2.0
// Shared parts of the kernels of all instruction sets. Private to convert/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/strict_floating_point.hpp"
#include "model/convert/kernels.hpp"

namespace afterbay::model::convert {

/// Number of values converted between two prefetches.
inline constexpr std::size_t block_values = 256;
inline constexpr std::size_t cache_line_bytes = 64;
inline constexpr std::size_t prefetch_ahead_bytes = 1024;

template <class T>
using BitsOf =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// Only a hint: the bytes may lie beyond the end of the source.
[[gnu::always_inline]] inline void prefetch(const std::byte* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += cache_line_bytes) __builtin_prefetch(from + i);
}

/// Lookups by types and by element size in one instruction set; empty if it has no better kernel.
struct KernelSet {
  Kernel (*convert)(Type from, Type to, bool swap_bytes) noexcept;
  Kernel (*copy)(std::size_t element_bytes, bool swap_bytes) noexcept;
};

extern const KernelSet baseline;  ///< has every pair
extern const KernelSet avx2;      ///< has the pairs that models use most
extern const KernelSet avx512;

}  // namespace afterbay::model::convert
