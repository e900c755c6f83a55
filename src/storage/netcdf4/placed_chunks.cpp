// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/placed_chunks.hpp"

namespace afterbay::storage {

std::uint64_t PlacedChunks::first_of_chunk(std::uint32_t variable, std::uint64_t record) const {
  const std::uint64_t span = storage_[variable].span;
  return layout_.variables[variable].record ? record / span * span : 0;
}

void PlacedChunks::note(std::span<const PlaceRequest> requests, std::span<const std::uint64_t> offsets) {
  const MutexLock lock(mutex_);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const model::Piece& piece = layout_.pieces[requests[i].piece];
    const VariableStorage& storage = storage_[piece.variable];
    const std::uint64_t first = first_of_chunk(piece.variable, requests[i].record);
    StoredRange place{offsets[i], requests[i].bytes > 0 ? requests[i].bytes : piece.bytes};
    if (storage.kind == StorageKind::chunks && requests[i].bytes == 0) {
      place.offset -= (requests[i].record - first) * piece.bytes;
      place.size_bytes = storage.span * piece.bytes;
    }
    chunks_[{requests[i].piece, first}] = place;
  }
}

/// Once one of its records is written, a chunk is in the ledger. An epoch that is being marked has
/// copied the ledger earlier, and an epoch that is marked later leaves out pieces that were put
/// after it: these still need the position, which `unwritten` removes later.
void PlacedChunks::forget(std::span<const PieceWrite> written, std::uint64_t settled) {
  const MutexLock lock(mutex_);
  if (marking_) return;
  for (const PieceWrite& write : written) {
    if (write.epochs > settled) continue;
    const std::uint32_t index = layout_.variables[write.piece.variable].first_piece + write.piece.number;
    chunks_.erase({index, first_of_chunk(write.piece.variable, write.record)});
  }
}

bool PlacedChunks::has_any_of(std::uint32_t variable) const {
  const std::uint32_t first = layout_.variables[variable].first_piece;
  const MutexLock lock(mutex_);
  const auto at = chunks_.lower_bound({first, 0});
  return at != chunks_.end() && at->first.first < first + layout_.pieces_of_variable(variable).size();
}

std::vector<PlacedChunks::Unwritten> PlacedChunks::unwritten(const Ledger& written, std::uint64_t records) {
  std::vector<Unwritten> found;
  const MutexLock lock(mutex_);
  for (auto at = chunks_.begin(); at != chunks_.end();) {
    const model::Piece piece = layout_.pieces[at->first.first];
    const VariableStorage& storage = storage_[piece.variable];
    const std::uint64_t first = at->first.second;
    bool any = false;
    for (std::uint64_t r = first; !any && r < first + storage.span; ++r) any = written.has(piece, r);
    if (!any && first < records && storage.kind == StorageKind::chunks)
      found.push_back({piece, first, at->second.offset, at->second.size_bytes});
    at = any ? chunks_.erase(at) : std::next(at);
  }
  return found;
}

}  // namespace afterbay::storage
