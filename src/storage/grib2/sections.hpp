// SPDX-License-Identifier: Apache-2.0
// Sections of a GRIB2 message. Source: WMO Manual on Codes, FM 92 GRIB edition 2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace afterbay::storage::grib2 {

/// The bytes of a section, 1 to 7; empty if there is none. `Byte` is std::byte or const std::byte.
template <class Byte>
std::span<Byte> section_of(std::span<Byte> message, std::uint64_t wanted) {
  constexpr std::size_t indicator_octets = 16, head_octets = 5;
  for (std::size_t at = indicator_octets; at + head_octets <= message.size();) {
    std::uint64_t size = 0;
    for (std::size_t octet = 0; octet < head_octets - 1; ++octet)
      size = size << 8 | std::to_integer<std::uint64_t>(message[at + octet]);
    if (size < head_octets || size > message.size() - at) break;
    if (std::to_integer<std::uint64_t>(message[at + head_octets - 1]) == wanted)
      return message.subspan(at, size);
    at += size;
  }
  return {};
}

}  // namespace afterbay::storage::grib2
