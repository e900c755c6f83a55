// SPDX-License-Identifier: Apache-2.0
// Byte shuffle, as HDF5's filter 2: all first bytes of the elements, then all second bytes, ...
#pragma once

#include <cstddef>
#include <span>

#include "base/result.hpp"

namespace afterbay::codec {

/// Gathers the elements' bytes by significance. `output` has as many bytes as `input` and does not
/// overlap it. Bytes after the last whole element are copied as they are. Fails with
/// invalid_argument on sizes that do not fit.
Result<> shuffle(std::span<const std::byte> input, std::size_t element_bytes, std::span<std::byte> output);

/// The inverse of `shuffle`.
Result<> unshuffle(std::span<const std::byte> input, std::size_t element_bytes, std::span<std::byte> output);

}  // namespace afterbay::codec
