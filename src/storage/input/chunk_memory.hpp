// SPDX-License-Identifier: Apache-2.0
// ChunkMemory: decoded chunks that are kept because further parts of them will be requested.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <utility>

#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "storage/input/buffer_pool.hpp"

namespace afterbay::storage {

/// A decoded chunk, filled by the first thread that needs it while others wait.
class KeptChunk {
 public:
  /// Calls `decode(buffer)` unless it has already succeeded; returns the bytes, which do not change
  /// afterwards.
  template <class Decode>
  Result<std::span<const std::byte>> get(Decode&& decode) AFTERBAY_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    if (!ready_) AFTERBAY_TRY(decode(buffer_));
    ready_ = true;
    return std::span<const std::byte>(buffer_.bytes());
  }

 private:
  Mutex mutex_;
  bool ready_ AFTERBAY_GUARDED_BY(mutex_) = false;
  BufferPool::Loan buffer_ AFTERBAY_GUARDED_BY(mutex_);
};

/// The chunks of all variables of a file. Any thread. The pool of the chunks must outlive it.
class ChunkMemory {
 public:
  explicit ChunkMemory(std::uint64_t most_bytes) noexcept : most_bytes_(most_bytes) {}

  /// The chunk with that number, which may not be decoded yet; removes the least recently used
  /// ones.
  std::shared_ptr<KeptChunk> chunk(std::uint32_t variable, std::uint64_t number, std::uint64_t bytes)
      AFTERBAY_EXCLUDES(mutex_);

 private:
  using Key = std::pair<std::uint32_t, std::uint64_t>;
  struct Entry {
    Key key;
    std::uint64_t bytes;
    std::shared_ptr<KeptChunk> chunk;
  };

  const std::uint64_t most_bytes_;
  Mutex mutex_;
  std::list<Entry> entries_ AFTERBAY_GUARDED_BY(mutex_);  ///< most recently used first
  std::map<Key, std::list<Entry>::iterator> by_key_ AFTERBAY_GUARDED_BY(mutex_);
  std::uint64_t bytes_ AFTERBAY_GUARDED_BY(mutex_) = 0;
};

}  // namespace afterbay::storage
