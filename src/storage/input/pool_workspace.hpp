// SPDX-License-Identifier: Apache-2.0
// PoolWorkspace: what a codec needs between two filters, borrowed from a BufferPool.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "codec/chunk_codec.hpp"
#include "storage/input/buffer_pool.hpp"

namespace afterbay::storage {

/// For one chunk; the pool outlives it.
class PoolWorkspace : public codec::Workspace {
 public:
  explicit PoolWorkspace(BufferPool& pool) noexcept : pool_(&pool) {}
  std::span<std::byte> take(std::size_t slot, std::size_t size_bytes) override {
    loans_[slot] = {};
    loans_[slot] = pool_->borrow(size_bytes);
    return loans_[slot].bytes().first(size_bytes);
  }

 private:
  BufferPool* pool_;
  std::array<BufferPool::Loan, 2> loans_;
};

}  // namespace afterbay::storage
