// SPDX-License-Identifier: Apache-2.0
#include "storage/input/buffer_pool.hpp"

#include <algorithm>
#include <bit>

namespace afterbay::storage {
namespace {

/// Few sizes, so that most buffers can be reused; untouched pages take no memory.
constexpr std::uint64_t least_buffer_bytes = 64u << 10;

}  // namespace

BufferPool::Loan BufferPool::borrow(std::uint64_t size_bytes) {
  size_bytes = std::max(least_buffer_bytes, std::bit_ceil(size_bytes));
  {
    const MutexLock lock(mutex_);
    auto best = kept_.end();
    for (auto kept = kept_.begin(); kept != kept_.end(); ++kept)
      if (kept->size() >= size_bytes && (best == kept_.end() || kept->size() < best->size())) best = kept;
    if (best != kept_.end()) {
      codec::AlignedBuffer buffer = std::move(*best);
      kept_.erase(best);
      kept_bytes_ -= buffer.size();
      return {*this, std::move(buffer)};
    }
  }
  return {*this, codec::AlignedBuffer(size_bytes)};
}

void BufferPool::Loan::give_back() noexcept {
  BufferPool* pool = std::exchange(pool_, nullptr);
  if (pool == nullptr) return;
  const MutexLock lock(pool->mutex_);
  if (pool->kept_bytes_ + buffer_.size() > pool->most_kept_bytes_) return;
  pool->kept_bytes_ += buffer_.size();
  pool->kept_.push_back(std::move(buffer_));
}

}  // namespace afterbay::storage
