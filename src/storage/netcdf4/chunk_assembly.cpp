// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/chunk_assembly.hpp"

#include <cstring>
#include <utility>

namespace afterbay::storage {

std::optional<AssembledChunk> ChunkAssembly::add(const model::Piece& piece, std::uint64_t record,
                                                 std::uint64_t span, std::span<const std::byte> bytes,
                                                 const FillPattern& fill) {
  const ChunkKey key{piece.variable, piece.number, record / span * span};
  std::shared_ptr<Open> chunk;
  {
    const std::lock_guard lock(mutex_);
    auto& entry = open_[key];
    if (!entry) {
      entry = std::make_shared<Open>();
      entry->bytes = codec::AlignedBuffer(span * piece.bytes);
      fill.apply(entry->bytes.bytes());
      entry->present.resize(span);
      entry->missing = span;
    }
    chunk = entry;
    ++chunk->copying;
    if (!chunk->present[record - key.first_record]) {
      chunk->present[record - key.first_record] = true;
      --chunk->missing;
    }
  }
  // Records have places of their own, so that threads copy side by side.
  std::memcpy(chunk->bytes.data() + (record - key.first_record) * piece.bytes, bytes.data(), bytes.size());
  const std::lock_guard lock(mutex_);
  if (--chunk->copying > 0 || chunk->missing > 0) return std::nullopt;
  open_.erase(key);
  return AssembledChunk{key, std::move(chunk->bytes)};
}

std::vector<AssembledChunk> ChunkAssembly::take_rest() {
  const std::lock_guard lock(mutex_);
  std::vector<AssembledChunk> rest;
  for (auto& [key, chunk] : open_) rest.push_back({key, std::move(chunk->bytes)});
  open_.clear();
  return rest;
}

}  // namespace afterbay::storage
