// SPDX-License-Identifier: Apache-2.0
// Buffers in which workers put packed frames in order: one per concurrent task, reused so that page
// faults occur only once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/thread_safety.hpp"
#include "codec/aligned_buffer.hpp"

namespace afterbay::server {

class ScratchBuffers {
 public:
  explicit ScratchBuffers(std::uint64_t bytes) : bytes_(bytes) {}

  /// Makes a buffer in advance and faults in its first bytes. Any thread.
  void fault_in(std::uint64_t bytes) AFTERBAY_EXCLUDES(mutex_) {
    codec::AlignedBuffer buffer(bytes_);
    std::memset(buffer.data(), 0, std::min(bytes, bytes_));
    give_back(std::move(buffer));
  }

  /// Borrows a buffer during its lifetime. Any thread.
  class Lease {
   public:
    explicit Lease(ScratchBuffers& from) : from_(from), buffer_(from.take()) {}
    ~Lease() { from_.give_back(std::move(buffer_)); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    [[nodiscard]] std::byte* data() noexcept { return buffer_.data(); }

   private:
    ScratchBuffers& from_;
    codec::AlignedBuffer buffer_;
  };

 private:
  codec::AlignedBuffer take() AFTERBAY_EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      if (!free_.empty()) {
        codec::AlignedBuffer buffer = std::move(free_.back());
        free_.pop_back();
        return buffer;
      }
    }
    return codec::AlignedBuffer(bytes_);
  }
  void give_back(codec::AlignedBuffer buffer) AFTERBAY_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    free_.push_back(std::move(buffer));
  }

  std::uint64_t bytes_;
  Mutex mutex_;
  std::vector<codec::AlignedBuffer> free_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::server
