// SPDX-License-Identifier: Apache-2.0
// Integers of 1 to 31 bits each, packed one after the other into big-endian 32-bit words, highest
// bit first. The last word is filled with zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace afterbay::packing {

/// Arrays of integers are used in blocks of this many.
inline constexpr std::size_t block_integers = 32;

/// Bytes of `count` integers of `bits` bits: whole words.
constexpr std::size_t packed_integer_bytes(std::size_t count, unsigned bits) noexcept {
  return (count * bits + 31) / 32 * 4;
}

/// Packs the first `count` integers, which must fit into `bits` bits (1 to 31). The array must
/// extend to a multiple of `block_integers`: what follows `count` is overwritten with zeros.
/// `to` has packed_integer_bytes(count, bits) bytes and must not overlap the integers.
void pack_integers(unsigned bits, std::span<std::uint32_t> integers, std::size_t count,
                   std::byte* to) noexcept;

/// The reverse. `from` has packed_integer_bytes(count, bits) bytes. The array must extend to a
/// multiple of `block_integers`; what follows `count` is unspecified afterwards.
void unpack_integers(unsigned bits, const std::byte* from, std::size_t count,
                     std::span<std::uint32_t> integers) noexcept;

}  // namespace afterbay::packing
