// SPDX-License-Identifier: Apache-2.0
// PlacedChunks: positions in the structure of a netCDF-4 file of which nothing may be written yet.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/thread_safety.hpp"
#include "model/layout.hpp"
#include "storage/ledger.hpp"
#include "storage/netcdf4/variable_storage.hpp"
#include "storage/store.hpp"

namespace afterbay::storage {

/// An epoch logs them as holding no values. Any thread; the layout must outlive it.
class PlacedChunks {
 public:
  struct Unwritten {
    model::Piece piece;
    std::uint64_t first_record = 0;
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
  };
  /// While this object exists, no position is removed: an epoch that is being marked has copied the
  /// ledger.
  class Marking {
   public:
    explicit Marking(PlacedChunks& chunks) : chunks_(chunks) { set(true); }
    Marking(const Marking&) = delete;
    Marking& operator=(const Marking&) = delete;
    ~Marking() { set(false); }

   private:
    void set(bool marking) {
      const MutexLock lock(chunks_.mutex_);
      chunks_.marking_ = marking;
    }
    PlacedChunks& chunks_;
  };

  PlacedChunks(const model::FileLayout& layout, std::vector<VariableStorage> storage)
      : layout_(layout), storage_(std::move(storage)) {}

  /// Called with the LibraryLock under which the positions were assigned, so that no epoch's
  /// structure has a position that is not recorded.
  void note(std::span<const PlaceRequest> requests, std::span<const std::uint64_t> offsets);
  /// `settled`: number of the last epoch that the ledger has settled.
  void forget(std::span<const PieceWrite> written, std::uint64_t settled);
  [[nodiscard]] bool has_any_of(std::uint32_t variable) const;
  /// Pieces, or chunks, that begin before `records` and of which `written` has nothing. Removes the
  /// positions of which it has something.
  std::vector<Unwritten> unwritten(const Ledger& written, std::uint64_t records);

 private:
  struct StoredRange {
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
  };

  [[nodiscard]] std::uint64_t first_of_chunk(std::uint32_t variable, std::uint64_t record) const;

  const model::FileLayout& layout_;
  std::vector<VariableStorage> storage_;  ///< by variable
  mutable Mutex mutex_;
  /// By (piece, first record).
  std::map<std::pair<std::uint32_t, std::uint64_t>, StoredRange> chunks_ AFTERBAY_GUARDED_BY(mutex_);
  bool marking_ AFTERBAY_GUARDED_BY(mutex_) = false;
};

}  // namespace afterbay::storage
