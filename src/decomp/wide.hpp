// SPDX-License-Identifier: Apache-2.0
// Products that need more than 64 bits.
#pragma once

#include <cstdint>

namespace afterbay::decomp {

__extension__ using Wide = unsigned __int128;

/// a b / c, rounded down; the result must fit into 64 bits.
inline std::uint64_t multiply_divide(std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept {
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b / c);
}

}  // namespace afterbay::decomp
