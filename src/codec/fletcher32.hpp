// SPDX-License-Identifier: Apache-2.0
// Fletcher-32 checksums, as HDF5's filter 3 appends them to a chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.hpp"

namespace afterbay::codec {

/// HDF5's variant: 16-bit words, the first byte of each the higher one; an odd last byte counts as
/// a high one. Source: HDF5, H5checksum.c, H5_checksum_fletcher32.
std::uint32_t fletcher32(std::span<const std::byte> input) noexcept;

/// The bytes without the checksum of 4 bytes (little-endian) at their end. Fails with format when
/// it does not fit them.
Result<std::span<const std::byte>> check_fletcher32(std::span<const std::byte> input);

}  // namespace afterbay::codec
