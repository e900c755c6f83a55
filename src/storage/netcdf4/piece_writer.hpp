// SPDX-License-Identifier: Apache-2.0
// PieceWriter: encodes pieces of a netCDF-4 file and writes them at the positions that a placer
// assigns.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "storage/block_writer/block_writer.hpp"
#include "storage/epoch/epoch_log.hpp"
#include "storage/fill.hpp"
#include "storage/ledger.hpp"
#include "storage/netcdf4/chunk_assembly.hpp"
#include "storage/netcdf4/variable_storage.hpp"
#include "storage/store.hpp"

namespace afterbay::storage {

/// It does not call HDF5, so that the leader of a file and its members write in the same way: the
/// leader's placer asks HDF5, a member's asks the leader. It caches positions that it needs again:
/// dense variables and chunks of several records (about 100 bytes each). Any number of threads may
/// write. Referenced objects must outlive it.
class PieceWriter {
 public:
  PieceWriter(const Schema& schema, const model::FileLayout& layout, std::vector<VariableStorage> storage,
              BlockWriter& writer, Placer& placer, std::shared_ptr<ByteAllowance> chunk_memory);

  /// Refuses, before the first write, chunks that could never be held in memory.
  [[nodiscard]] Result<> check_memory() const;
  /// Writes pieces of variables that the library does not write. Pieces of compressed chunks of
  /// several records may be held back.
  Result<> write(std::span<const PieceWrite> pieces, WriteCost& cost);
  /// For the log of an epoch: logs chunks that will be written again, of which `written` has some
  /// records but not all, and that contain none of the first `present` records, which HDF5 writes.
  /// Returns whether there are any; writes may run meanwhile. `log` creates the log.
  Result<bool> log_chunks(const Ledger& written, std::uint64_t present,
                          const std::function<Result<EpochLog*>()>& log);
  /// An encoded chunk that contains only fill values.
  [[nodiscard]] Result<codec::EncodedChunk> chunk_of_fill(const model::Piece& piece) const;
  /// The start, in its dataset, of the chunk of a piece that contains a record.
  [[nodiscard]] std::vector<std::uint64_t> first_element(const model::Piece& piece,
                                                         std::uint64_t record) const;
  /// Writes pieces that are held back. No thread may write meanwhile.
  Result<> write_rest(WriteCost& cost);

 private:
  /// A piece, or a chunk of it of several records, that is being written.
  struct Job {
    PieceWrite piece;
    std::optional<codec::EncodedChunk> encoded;
  };
  /// The position of a chunk of several records.
  struct StoredChunk {
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
  };
  /// The file as the storage of assembled chunks.
  class Home;

  Result<bool> log_chunks_of(const model::Piece& piece, const Ledger& written, std::uint64_t present,
                             const std::function<Result<EpochLog*>()>& log, Home& home);
  Result<Job> encode(const PieceWrite& piece) const;
  Result<> write_jobs(std::span<const Job> jobs, WriteCost& cost);
  Result<std::vector<std::uint64_t>> place(std::span<const Job> jobs);
  [[nodiscard]] PlaceRequest request_of(const Job& job) const;
  [[nodiscard]] ChunkKey key_of(const PieceWrite& piece) const;
  /// For a plain chunk of several records: bytes from its first byte to the record's.
  [[nodiscard]] std::uint64_t bytes_before(const Job& job) const;
  [[nodiscard]] std::optional<std::uint64_t> known_place(const Job& job) const AFTERBAY_REQUIRES(mutex_);
  void remember(const Job& job, std::uint64_t offset) AFTERBAY_REQUIRES(mutex_);
  [[nodiscard]] const std::string& name_of(std::uint32_t variable) const {
    return schema_.variables[variable].name;
  }

  const Schema& schema_;
  const model::FileLayout& layout_;
  std::vector<VariableStorage> storage_;
  BlockWriter& writer_;
  Placer& placer_;
  std::shared_ptr<ByteAllowance> chunk_memory_;
  std::vector<FillPattern> fills_;
  ChunkAssembly assembly_;
  mutable Mutex mutex_;
  std::map<ChunkKey, StoredChunk> chunks_ AFTERBAY_GUARDED_BY(mutex_);
  std::vector<std::optional<std::uint64_t>> dense_ AFTERBAY_GUARDED_BY(mutex_);  ///< by variable
};

}  // namespace afterbay::storage
