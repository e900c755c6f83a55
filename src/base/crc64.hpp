// SPDX-License-Identifier: Apache-2.0
// CRC-64/XZ of bytes, and of parts that are joined without looking at them again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace afterbay {

/// The check sum that xz (`--check=crc64`) and 7-Zip (`7z h -scrcCRC64`) compute: ECMA-182's polynomial,
/// reflected, start and end inverted. Of bytes that follow others whose checksum is `before`.
std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t before = 0) noexcept;

/// Of bytes with checksum `first`, followed by `second_bytes` bytes with checksum `second`. About a
/// microsecond, whatever the number of bytes.
std::uint64_t joined_crc64(std::uint64_t first, std::uint64_t second, std::uint64_t second_bytes) noexcept;

}  // namespace afterbay
