// SPDX-License-Identifier: Apache-2.0
// CRC-64/XZ of bytes, and of concatenated parts without reading them again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace afterbay {

/// The checksum that xz (`--check=crc64`) and 7-Zip (`7z h -scrcCRC64`) compute: ECMA-182's
/// polynomial, reflected, with initial and final inversion. `before`: the checksum of the preceding
/// bytes.
std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t before = 0) noexcept;

/// The checksum of bytes with checksum `first`, followed by `second_bytes` bytes with checksum
/// `second`. Takes about a microsecond for any number of bytes.
std::uint64_t joined_crc64(std::uint64_t first, std::uint64_t second, std::uint64_t second_bytes) noexcept;

}  // namespace afterbay
