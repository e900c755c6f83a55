// SPDX-License-Identifier: Apache-2.0
// ChunkAssembly: compressed chunks that span several records, collected until they are complete.
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

/// A chunk, identified by its piece and its first record.
struct ChunkKey {
  std::uint32_t variable = 0;
  std::uint32_t piece = 0;
  std::uint64_t first_record = 0;
  friend auto operator<=>(const ChunkKey&, const ChunkKey&) = default;
};

/// The storage of finished chunks: the file. Called by the threads that add, never by two threads
/// for the same chunk.
class ChunkHome {
 public:
  virtual ~ChunkHome() = default;
  /// Reads a chunk that was stored before.
  virtual Result<> load(const ChunkKey& key, std::span<std::byte> chunk) = 0;
  /// Writes a chunk, and replaces its earlier contents.
  virtual Result<> store(const ChunkKey& key, std::span<const std::byte> chunk) = 0;
};

/// Any number of threads may add records, in any order. In memory the records of a chunk are
/// consecutive; missing ones hold the fill value. A chunk is stored when it has all its records. A
/// chunk that was stored and gets another record is loaded first, so that no records are lost.
///
/// The memory that it holds between calls counts against the allowance, which other files share. If
/// the allowance is used up, the oldest chunk with records before the new one's is stored
/// incomplete; if there is none, the new record is merged into its chunk in the file at once (with
/// the memory of one chunk during the call).
class ChunkAssembly {
 public:
  explicit ChunkAssembly(std::shared_ptr<ByteAllowance> allowance) : allowance_(std::move(allowance)) {}
  ChunkAssembly(const ChunkAssembly&) = delete;
  ChunkAssembly& operator=(const ChunkAssembly&) = delete;
  ~ChunkAssembly();

  /// Copies a record's piece into its chunk of `span` records. This chunk, or another one, may be
  /// stored before this returns. May wait for a thread that works on the same chunk.
  Result<> add(const model::Piece& piece, std::uint64_t record, std::uint64_t span,
               std::span<const std::byte> bytes, const FillPattern& fill, ChunkHome& home);
  /// Copies the current contents of a chunk, with fill values for missing records. May wait like
  /// `add`.
  Result<> copy(const ChunkKey& key, std::uint64_t span, const FillPattern& fill, ChunkHome& home,
                std::span<std::byte> chunk);
  /// Stores all incomplete chunks, in the order of their keys. No thread may add meanwhile.
  Result<> store_rest(ChunkHome& home);

 private:
  struct Chunk {
    codec::AlignedBuffer bytes;
    std::vector<bool> present;  ///< records added since the chunk is in memory
    std::uint64_t missing = 0;
    /// Counted against the allowance; 0: it is released as soon as the record was added.
    std::uint64_t counted_bytes = 0;
    bool stored = false;   ///< it was stored before it was loaded into memory
    bool claimed = false;  ///< a thread loads, changes or stores it; others wait
  };
  using Chunks = std::map<ChunkKey, Chunk>;

  /// The exclusive right to work on a chunk. When the claim ends, the chunk is released unless it
  /// must be kept.
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
  /// Numbers of stored chunks along the records, by variable and piece.
  std::map<std::pair<std::uint32_t, std::uint32_t>, model::RecordSet> stored_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::storage
