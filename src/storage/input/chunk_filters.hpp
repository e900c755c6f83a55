// SPDX-License-Identifier: Apache-2.0
// ChunkFilters: what was done to a variable's chunks before they were written, and how it is undone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "storage/input/buffer_pool.hpp"

namespace afterbay::storage {

enum class ChunkFilter { shuffle, deflate, fletcher32 };

/// Filters in the order in which they were applied, each at most once, shuffle not behind deflate.
struct ChunkFilters {
  std::vector<ChunkFilter> order;
  std::size_t element_bytes = 1;

  [[nodiscard]] bool empty() const noexcept { return order.empty(); }
  /// Turns a chunk as it is stored into exactly `chunk.size()` bytes. Bit i of `skipped` is set when the
  /// i-th filter was not applied (HDF5's filter mask). Pure: any thread.
  Result<> decode(std::span<const std::byte> stored, std::uint32_t skipped, std::span<std::byte> chunk,
                  BufferPool& pool) const;
};

}  // namespace afterbay::storage
