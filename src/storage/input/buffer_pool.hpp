// SPDX-License-Identifier: Apache-2.0
// BufferPool: page-aligned memory that is faulted in once and reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/thread_safety.hpp"
#include "codec/aligned_buffer.hpp"

namespace afterbay::storage {

/// Any thread may borrow; the pool must outlive its loans. Returned buffers are kept, up to a
/// limit.
class BufferPool {
 public:
  explicit BufferPool(std::uint64_t most_kept_bytes) noexcept : most_kept_bytes_(most_kept_bytes) {}

  /// A buffer that is returned to the pool when this object is destroyed.
  class Loan {
   public:
    Loan() = default;
    Loan(Loan&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), buffer_(std::move(other.buffer_)) {}
    Loan& operator=(Loan&& other) noexcept {
      if (this != &other) {
        give_back();
        pool_ = std::exchange(other.pool_, nullptr);
        buffer_ = std::move(other.buffer_);
      }
      return *this;
    }
    ~Loan() { give_back(); }
    /// At least as many bytes as requested.
    [[nodiscard]] std::span<std::byte> bytes() noexcept { return buffer_.bytes(); }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return buffer_.bytes(); }

   private:
    friend class BufferPool;
    Loan(BufferPool& pool, codec::AlignedBuffer buffer) noexcept : pool_(&pool), buffer_(std::move(buffer)) {}
    void give_back() noexcept;

    BufferPool* pool_ = nullptr;
    codec::AlignedBuffer buffer_;
  };

  /// Lends the smallest kept buffer that is large enough, or a new one.
  Loan borrow(std::uint64_t size_bytes) AFTERBAY_EXCLUDES(mutex_);

 private:
  const std::uint64_t most_kept_bytes_;
  Mutex mutex_;
  std::vector<codec::AlignedBuffer> kept_ AFTERBAY_GUARDED_BY(mutex_);
  std::uint64_t kept_bytes_ AFTERBAY_GUARDED_BY(mutex_) = 0;
};

}  // namespace afterbay::storage
