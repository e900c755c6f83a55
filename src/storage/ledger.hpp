// SPDX-License-Identifier: Apache-2.0
// Ledger: which pieces of which records were written, so that publication fills only the missing
// ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "model/layout.hpp"
#include "storage/piece_set.hpp"

namespace afterbay::storage {

/// Compact: consecutive records of which the same pieces were written form one stretch, with one
/// bit per piece. So a file that is written in order takes the memory of one record, plus one per
/// incomplete record, whether this process writes all pieces or only some. Any thread may call it.
class Ledger {
 public:
  /// `present` records, and the fixed pieces if `fixed_present`, already exist (append). `epochs`:
  /// the number of the last epoch before the file was opened.
  Ledger(const model::FileLayout& layout, std::uint64_t present, bool fixed_present,
         std::uint64_t epochs = 0);

  /// Marks the piece as written. `epochs`: the number of the last epoch before it was put; 0: none.
  void mark(const model::Piece& piece, std::uint64_t record, std::uint64_t epochs = 0);
  [[nodiscard]] bool has(const model::Piece& piece, std::uint64_t record) const;
  /// One more than the highest marked record, or the number of records present.
  [[nodiscard]] std::uint64_t records() const;
  /// Makes a record exist even if no piece of it was written (for example with a string variable
  /// only).
  void reach(std::uint64_t records);

  using Visit = std::function<Result<>(const model::Piece&, std::uint64_t record)>;
  using VisitRecords = std::function<Result<>(std::uint64_t first, std::uint64_t count)>;
  /// Calls `visit` for each missing piece of records [0, records()) in file order, and with record
  /// 0 for each missing fixed piece; stops at the first failure. Runs of records of which nothing
  /// was written are passed to `visit_absent` instead, if it is given. Neither may call the ledger.
  Result<> for_each_missing(const Visit& visit, const VisitRecords& visit_absent = {}) const;

  /// Considers stretches of `span` records from `begin` on, which is a multiple of `span`: returns
  /// the first records of those in which some records of `piece`, but not all, were written.
  [[nodiscard]] std::vector<std::uint64_t> partly_written(const model::Piece& piece, std::uint64_t begin,
                                                          std::uint64_t span) const;

  /// Its whole contents, for `take` of another process's ledger with the same layout (see
  /// sealed.hpp).
  [[nodiscard]] std::vector<std::byte> sealed() const;
  /// Its current contents for the fixed pieces and for records [0, records), with `records`
  /// records.
  [[nodiscard]] std::unique_ptr<Ledger> copy(std::uint64_t records) const;
  /// Removes pieces that were put after the epoch was called: a rank may be ahead of the others.
  void leave_out(std::uint64_t epoch);
  /// The epoch has been copied: discards data that only `leave_out` of this epoch and earlier ones
  /// needs.
  void settle(std::uint64_t epoch);
  /// The number of the last epoch that was settled.
  [[nodiscard]] std::uint64_t settled() const;
  /// The same, limited to the number of records of this ledger.
  Result<> take_first_records(std::span<const std::byte> sealed);
  /// Adds pieces that another process wrote. Fails, and adds nothing, with format if it is not a
  /// ledger, and with conflict if it has another layout or contains a piece that was already
  /// written here, or taken.
  Result<> take(std::span<const std::byte> sealed);

 private:
  /// Records from its key in the map to `end` (exclusive), of which the same pieces were written.
  struct Stretch {
    std::uint64_t end = 0;
    PieceSet written;
  };
  using Stretches = std::map<std::uint64_t, Stretch>;
  /// A piece that was put after an epoch that has not been settled.
  struct Later {
    std::uint64_t piece = 0;
    std::uint64_t record = 0;
    std::uint64_t epochs = 0;
  };
  struct Taken;

  [[nodiscard]] std::size_t index_of(const model::Piece& piece) const;
  [[nodiscard]] Stretches::const_iterator find(std::uint64_t record) const AFTERBAY_REQUIRES(mutex_);
  [[nodiscard]] bool written(const model::Piece& piece, std::uint64_t record) const AFTERBAY_REQUIRES(mutex_);
  void split(std::uint64_t record) AFTERBAY_REQUIRES(mutex_);
  void join(std::uint64_t record) AFTERBAY_REQUIRES(mutex_);
  void add(std::uint64_t first, const Stretch& stretch) AFTERBAY_REQUIRES(mutex_);
  void take_later(const Taken& taken) AFTERBAY_REQUIRES(mutex_);
  [[nodiscard]] Result<Taken> parse(std::span<const std::byte> sealed) const;
  [[nodiscard]] Result<> check_new(const Taken& taken) const AFTERBAY_REQUIRES(mutex_);

  const model::FileLayout& layout_;
  std::size_t fixed_pieces_ = 0;  ///< they come before those of records
  std::size_t record_pieces_ = 0;
  mutable Mutex mutex_;
  PieceSet fixed_ AFTERBAY_GUARDED_BY(mutex_);
  std::uint64_t records_ AFTERBAY_GUARDED_BY(mutex_) = 0;
  Stretches stretches_ AFTERBAY_GUARDED_BY(mutex_);  ///< disjoint; neighbours differ
  std::uint64_t settled_ AFTERBAY_GUARDED_BY(mutex_) = 0;
  std::vector<Later> later_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::storage
