// SPDX-License-Identifier: Apache-2.0
// Deflate: zlib streams, as HDF5's filter 1.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.hpp"

namespace afterbay::codec {

/// Compresses `input` into `output` as one zlib stream of `level` 1 to 9; gives its bytes, or 0
/// when the stream does not fit `output` (data that deflate does not make smaller). Fails with
/// invalid_argument on a wrong level, resources when there is no memory. libdeflate does it if the
/// build has it, else zlib: the bytes differ, what they expand to does not.
Result<std::size_t> deflate(std::span<const std::byte> input, int level, std::span<std::byte> output);

/// Expands one zlib stream that must give exactly `output.size()` bytes; fails with format
/// otherwise.
Result<> inflate(std::span<const std::byte> input, std::span<std::byte> output);

}  // namespace afterbay::codec
