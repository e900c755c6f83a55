// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/chunk_assembly.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace afterbay::storage {

class ChunkAssembly::Claim {
 public:
  /// Constructed while the assembly's mutex is held. The destructor takes the mutex, so it must be
  /// released before.
  Claim(ChunkAssembly& assembly, Chunks::iterator at) : assembly_(&assembly), at_(at) {
    at_->second.claimed = true;
  }
  Claim(Claim&& other) noexcept
      : assembly_(std::exchange(other.assembly_, nullptr)), at_(other.at_), keep_(other.keep_) {}
  Claim& operator=(Claim&&) = delete;
  ~Claim() {
    if (assembly_ == nullptr) return;
    {
      const MutexLock lock(assembly_->mutex_);
      at_->second.claimed = false;
      if (!keep_) {
        assembly_->allowance_->give_back(at_->second.counted_bytes);
        assembly_->chunks_.erase(at_);
      }
    }
    assembly_->released_.notify_all();
  }

  [[nodiscard]] const ChunkKey& key() const { return at_->first; }
  [[nodiscard]] Chunk& chunk() const { return at_->second; }
  void keep() { keep_ = true; }

 private:
  ChunkAssembly* assembly_;
  Chunks::iterator at_;
  bool keep_ = false;
};

ChunkAssembly::~ChunkAssembly() {
  for (const auto& [key, chunk] : chunks_) allowance_->give_back(chunk.counted_bytes);
}

Result<> ChunkAssembly::add(const model::Piece& piece, std::uint64_t record, std::uint64_t span,
                            std::span<const std::byte> bytes, const FillPattern& fill, ChunkHome& home) {
  const ChunkKey key{piece.variable, piece.number, record / span * span};
  AFTERBAY_TRY_ASSIGN(Claim claimed, open(key, span, span * piece.bytes, fill, home));
  Chunk& chunk = claimed.chunk();
  const std::uint64_t at = record - key.first_record;
  std::memcpy(chunk.bytes.data() + at * piece.bytes, bytes.data(), bytes.size());
  if (!chunk.present[at]) --chunk.missing;
  chunk.present[at] = true;
  if (chunk.counted_bytes > 0 && chunk.missing > 0) {
    claimed.keep();
    return {};
  }
  return store(claimed, home);
}

/// Releases a chunk that was loaded only for this.
Result<> ChunkAssembly::copy(const ChunkKey& key, std::uint64_t span, const FillPattern& fill,
                             ChunkHome& home, std::span<std::byte> chunk) {
  AFTERBAY_TRY_ASSIGN(Claim claimed, open(key, span, chunk.size(), fill, home));
  std::memcpy(chunk.data(), std::as_const(claimed.chunk().bytes).bytes().data(), chunk.size());
  if (std::ranges::find(claimed.chunk().present, true) != claimed.chunk().present.end()) claimed.keep();
  return {};
}

/// Marks the chunk as stored once it is, before another thread can claim it.
Result<> ChunkAssembly::store(const Claim& claimed, ChunkHome& home) {
  const ChunkKey& key = claimed.key();
  const Chunk& chunk = claimed.chunk();
  AFTERBAY_TRY(home.store(key, chunk.bytes.bytes()));
  const MutexLock lock(mutex_);
  stored_[{key.variable, key.piece}].insert(key.first_record / chunk.present.size());
  return {};
}

/// A thread holds at most one claim, so that threads never wait for each other in a cycle.
Result<ChunkAssembly::Claim> ChunkAssembly::open(const ChunkKey& key, std::uint64_t span,
                                                 std::uint64_t size_bytes, const FillPattern& fill,
                                                 ChunkHome& home) {
  for (;;) {
    Claim claimed = claim(key, span, size_bytes);
    if (claimed.key() != key) {  // another chunk must make room
      AFTERBAY_TRY(store(claimed, home));
      continue;
    }
    Chunk& chunk = claimed.chunk();
    if (chunk.bytes.size() > 0) return claimed;
    chunk.bytes = codec::AlignedBuffer(size_bytes);
    chunk.present.resize(span);
    chunk.missing = span;
    if (chunk.stored)
      AFTERBAY_TRY(home.load(key, chunk.bytes.bytes()));
    else
      fill.apply(chunk.bytes.bytes());
    return claimed;
  }
}

/// The chunk with that key, empty if it is new; or an older one that must leave memory first.
ChunkAssembly::Claim ChunkAssembly::claim(const ChunkKey& key, std::uint64_t span, std::uint64_t size_bytes) {
  MutexLock lock(mutex_);
  auto at = chunks_.find(key);
  for (; at != chunks_.end() && at->second.claimed; at = chunks_.find(key)) released_.wait(lock);
  if (at != chunks_.end()) return Claim(*this, at);
  const bool counted = allowance_->take(size_bytes);
  if (!counted)
    if (const auto oldest = oldest_before(key.first_record); oldest != chunks_.end())
      return Claim(*this, oldest);
  at = chunks_.try_emplace(key).first;
  at->second.counted_bytes = counted ? size_bytes : 0;
  at->second.stored = stored_[{key.variable, key.piece}].contains(key.first_record / span);
  return Claim(*this, at);
}

std::optional<ChunkAssembly::Claim> ChunkAssembly::claim_first() {
  const MutexLock lock(mutex_);
  if (chunks_.empty()) return std::nullopt;
  return std::optional<Claim>(std::in_place, *this, chunks_.begin());
}

/// The oldest chunk that no thread has claimed.
ChunkAssembly::Chunks::iterator ChunkAssembly::oldest_before(std::uint64_t first_record) {
  auto oldest = chunks_.end();
  for (auto at = chunks_.begin(); at != chunks_.end(); ++at) {
    if (at->second.claimed || at->first.first_record >= first_record) continue;
    if (oldest == chunks_.end() || at->first.first_record < oldest->first.first_record) oldest = at;
  }
  return oldest;
}

Result<> ChunkAssembly::store_rest(ChunkHome& home) {
  while (const std::optional<Claim> leaving = claim_first()) AFTERBAY_TRY(store(*leaving, home));
  return {};
}

}  // namespace afterbay::storage
