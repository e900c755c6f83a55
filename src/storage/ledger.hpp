// SPDX-License-Identifier: Apache-2.0
// Ledger: which pieces of which records were written, so that publishing fills only what was not.
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

/// Compact: records one after the other of which the same pieces were written are one stretch, with one
/// bit a piece. So a file written in order takes the memory of one record, and one more for each record in
/// the making, whether this process writes all pieces or only some. Any thread may call it.
class Ledger {
 public:
  /// `present` records, and the fixed pieces if `fixed_present`, are there already (append). `epochs`: the
  /// number of the last epoch that was called before the file was opened.
  Ledger(const model::FileLayout& layout, std::uint64_t present, bool fixed_present,
         std::uint64_t epochs = 0);

  /// The piece is written. `epochs`: the number of the last epoch that was called before it was put; 0: none.
  void mark(const model::Piece& piece, std::uint64_t record, std::uint64_t epochs = 0);
  [[nodiscard]] bool has(const model::Piece& piece, std::uint64_t record) const;
  /// One more than the highest record marked, or the records present.
  [[nodiscard]] std::uint64_t records() const;
  /// A record exists though no piece of it was written (a string variable's, for example).
  void reach(std::uint64_t records);

  using Visit = std::function<Result<>(const model::Piece&, std::uint64_t record)>;
  using VisitRecords = std::function<Result<>(std::uint64_t first, std::uint64_t count)>;
  /// Calls `visit` for each missing piece of records [0, records()) in file order, and with record 0
  /// for each missing fixed piece; stops at the first failure. Runs of records of which nothing was
  /// written go to `visit_absent` instead, if it is given. Neither may call the ledger.
  Result<> for_each_missing(const Visit& visit, const VisitRecords& visit_absent = {}) const;

  /// Of the stretches of `span` records that begin at `begin`, which is a multiple of it, and later: the
  /// first records of those of which some records of `piece`, but not all, were written.
  [[nodiscard]] std::vector<std::uint64_t> partly_written(const model::Piece& piece, std::uint64_t begin,
                                                          std::uint64_t span) const;

  /// All that it holds, for `take` of another process's ledger of the same layout (see sealed.hpp).
  [[nodiscard]] std::vector<std::byte> account() const;
  /// What it holds now of the fixed pieces and of records [0, records), with as many records.
  [[nodiscard]] std::unique_ptr<Ledger> copy(std::uint64_t records) const;
  /// Takes out what was put after the epoch was called: a rank may be ahead of the others.
  void leave_out(std::uint64_t epoch);
  /// The epoch has been copied: forgets what only `leave_out` of it and earlier ones needs.
  void settle(std::uint64_t epoch);
  /// The number of the last epoch that was settled.
  [[nodiscard]] std::uint64_t settled() const;
  /// The same account, cut to as many records as this ledger has: those past them are left out.
  Result<> take_first_records(std::span<const std::byte> account);
  /// Adds what another process wrote. Fails, and adds nothing, with format when it is no account, and with
  /// conflict when it is of another layout or names a piece that was written here, or taken, already.
  Result<> take(std::span<const std::byte> account);

 private:
  /// Records from its key in the map to `end` (exclusive), all with these pieces.
  struct Stretch {
    std::uint64_t end = 0;
    PieceSet written;
  };
  using Stretches = std::map<std::uint64_t, Stretch>;
  /// A piece that was put after an epoch which has not been settled.
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
  [[nodiscard]] Result<Taken> parse(std::span<const std::byte> account) const;
  [[nodiscard]] Result<> check_new(const Taken& taken) const AFTERBAY_REQUIRES(mutex_);

  const model::FileLayout& layout_;
  std::size_t record_pieces_ = 0;
  mutable Mutex mutex_;
  PieceSet fixed_ AFTERBAY_GUARDED_BY(mutex_);
  std::uint64_t records_ AFTERBAY_GUARDED_BY(mutex_) = 0;
  Stretches stretches_ AFTERBAY_GUARDED_BY(mutex_);  ///< no two overlap; neighbours differ
  std::uint64_t settled_ AFTERBAY_GUARDED_BY(mutex_) = 0;
  std::vector<Later> later_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::storage
