// SPDX-License-Identifier: Apache-2.0
// ChunkAssembly: compressed chunks that span several records, collected until they are whole.
#pragma once

#include <compare>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "codec/aligned_buffer.hpp"
#include "model/layout.hpp"
#include "model/record_set.hpp"
#include "storage/byte_allowance.hpp"
#include "storage/fill.hpp"

namespace afterbay::storage {

/// A chunk by its piece and its first record.
struct ChunkKey {
  std::uint32_t variable = 0;
  std::uint32_t piece = 0;
  std::uint64_t first_record = 0;
  friend auto operator<=>(const ChunkKey&, const ChunkKey&) = default;
};

/// Where finished chunks lie: the file. Called by the threads that add, never by two for one chunk.
class ChunkHome {
 public:
  virtual ~ChunkHome() = default;
  /// Reads a chunk that was stored before.
  virtual Result<> load(const ChunkKey& key, std::span<std::byte> chunk) = 0;
  /// Writes a chunk, in the place of what was stored of it before.
  virtual Result<> store(const ChunkKey& key, std::span<const std::byte> chunk) = 0;
};

/// Any number of threads may add records, in any order. In memory a chunk's records lie one after the
/// other; those never given hold the fill value. A chunk is stored when it has all its records. One that
/// was stored and gets another record is loaded first, so that nothing is ever lost.
///
/// What it holds between calls counts against the allowance, which other files share. When that is used
/// up, the oldest chunk of records before the new one's is stored as it is; if there is none, the new
/// record is merged into its chunk in the file at once (one chunk's memory for the time of the call).
class ChunkAssembly {
 public:
  explicit ChunkAssembly(std::shared_ptr<ByteAllowance> allowance) : allowance_(std::move(allowance)) {}
  ChunkAssembly(const ChunkAssembly&) = delete;
  ChunkAssembly& operator=(const ChunkAssembly&) = delete;
  ~ChunkAssembly();

  /// Copies a record's piece into its chunk of `span` records. The chunk, or another one, may be stored
  /// before this returns. May wait for a thread that works on the same chunk.
  Result<> add(const model::Piece& piece, std::uint64_t record, std::uint64_t span,
               std::span<const std::byte> bytes, const FillPattern& fill, ChunkHome& home);
  /// Gives a chunk as it is now, fill values where it has no record. May wait as `add` does.
  Result<> copy(const ChunkKey& key, std::uint64_t span, const FillPattern& fill, ChunkHome& home,
                std::span<std::byte> chunk);
  /// Stores all chunks that are not whole, in the order of their keys. No thread may add meanwhile.
  Result<> store_rest(ChunkHome& home);

 private:
  struct Chunk {
    codec::AlignedBuffer bytes;
    std::vector<bool> present;  ///< records given since it is in memory
    std::uint64_t missing = 0;
    std::uint64_t counted_bytes = 0;  ///< of the allowance; 0: it leaves as soon as it has been added to
    bool stored = false;              ///< before it came to memory
    bool claimed = false;             ///< one thread loads, changes or stores it; others wait
  };
  using Chunks = std::map<ChunkKey, Chunk>;

  /// The right to work on a chunk. At its end the chunk is dropped, unless it was to be kept.
  class Claim;
  Result<Claim> open(const ChunkKey& key, std::uint64_t span, std::uint64_t size_bytes,
                     const FillPattern& fill, ChunkHome& home);
  Claim claim(const ChunkKey& key, std::uint64_t span, std::uint64_t size_bytes);
  std::optional<Claim> claim_first();
  Result<> store(const Claim& claimed, ChunkHome& home);
  Chunks::iterator oldest_before(std::uint64_t first_record) AFTERBAY_REQUIRES(mutex_);

  std::shared_ptr<ByteAllowance> allowance_;
  Mutex mutex_;
  std::condition_variable_any released_;
  Chunks chunks_ AFTERBAY_GUARDED_BY(mutex_);
  /// Numbers of chunks along the records, by variable and piece.
  std::map<std::pair<std::uint32_t, std::uint32_t>, model::RecordSet> stored_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::storage
