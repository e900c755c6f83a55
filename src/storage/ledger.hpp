// SPDX-License-Identifier: Apache-2.0
// Ledger: which pieces of which records were written, so that publishing fills only what was not.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "model/layout.hpp"
#include "model/record_set.hpp"

namespace afterbay::storage {

/// Compact: complete records are kept as intervals, one bit a piece only for records in the making.
/// Any thread may call it.
class Ledger {
 public:
  /// `present` records, and the fixed pieces if `fixed_present`, are there already (append).
  Ledger(const model::FileLayout& layout, std::uint64_t present, bool fixed_present);

  void mark(const model::Piece& piece, std::uint64_t record);
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

 private:
  [[nodiscard]] bool written(const model::Piece& piece, std::uint64_t record) const AFTERBAY_REQUIRES(mutex_);
  using Bits = std::vector<bool>;
  [[nodiscard]] std::size_t index_of(const model::Piece& piece) const;

  struct Partial {
    Bits written;
    std::size_t count = 0;
  };

  const model::FileLayout& layout_;
  std::size_t record_pieces_ = 0;
  mutable Mutex mutex_;
  Bits fixed_ AFTERBAY_GUARDED_BY(mutex_);
  std::uint64_t records_ AFTERBAY_GUARDED_BY(mutex_) = 0;
  model::RecordSet complete_ AFTERBAY_GUARDED_BY(mutex_);
  std::map<std::uint64_t, Partial> partial_ AFTERBAY_GUARDED_BY(mutex_);
};

}  // namespace afterbay::storage
