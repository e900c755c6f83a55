// SPDX-License-Identifier: Apache-2.0
#include "storage/input/chunk_memory.hpp"

namespace afterbay::storage {

std::shared_ptr<KeptChunk> ChunkMemory::chunk(std::uint32_t variable, std::uint64_t number,
                                              std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  const Key key{variable, number};
  if (const auto known = by_key_.find(key); known != by_key_.end()) {
    entries_.splice(entries_.begin(), entries_, known->second);
    return known->second->chunk;
  }
  entries_.push_front({key, bytes, std::make_shared<KeptChunk>()});
  by_key_[key] = entries_.begin();
  bytes_ += bytes;
  const std::shared_ptr<KeptChunk> chunk = entries_.front().chunk;
  // A chunk that is too large is shared, but not kept.
  while (bytes_ > most_bytes_ && !entries_.empty()) {
    bytes_ -= entries_.back().bytes;
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
  return chunk;
}

}  // namespace afterbay::storage
