// SPDX-License-Identifier: Apache-2.0
// ChunkAssembly: compressed chunks that span several records, collected until they are whole.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "codec/aligned_buffer.hpp"
#include "model/layout.hpp"
#include "storage/fill.hpp"

namespace afterbay::storage {

/// A chunk by its piece and its first record.
struct ChunkKey {
  std::uint32_t variable = 0;
  std::uint32_t piece = 0;
  std::uint64_t first_record = 0;
  friend auto operator<=>(const ChunkKey&, const ChunkKey&) = default;
};

/// A chunk's bytes, its records one after the other; those never given hold the fill value.
struct AssembledChunk {
  ChunkKey key;
  codec::AlignedBuffer bytes;
};

/// Any number of threads may add pieces. Holds at most one chunk for each piece whose records arrive
/// in order.
class ChunkAssembly {
 public:
  /// Copies a record's piece into its chunk of `span` records; gives the chunk when it has all of them.
  std::optional<AssembledChunk> add(const model::Piece& piece, std::uint64_t record, std::uint64_t span,
                                    std::span<const std::byte> bytes, const FillPattern& fill);
  /// Takes all chunks that are not whole, in the order of their keys.
  std::vector<AssembledChunk> take_rest();

 private:
  struct Open {
    codec::AlignedBuffer bytes;
    std::vector<bool> present;
    std::uint64_t missing = 0;
    std::uint64_t copying = 0;  ///< threads that copy into it just now
  };

  std::mutex mutex_;
  std::map<ChunkKey, std::shared_ptr<Open>> open_;
};

}  // namespace afterbay::storage
