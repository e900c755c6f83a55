// SPDX-License-Identifier: Apache-2.0
#include "storage/ledger.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace afterbay::storage {

Ledger::Ledger(const model::FileLayout& layout, std::uint64_t present, bool fixed_present)
    : layout_(layout), fixed_(layout.pieces.size(), fixed_present), records_(present) {
  for (const model::Piece& piece : layout.pieces)
    if (layout.variables[piece.variable].record) ++record_pieces_;
  complete_.insert(0, present);
}

std::size_t Ledger::index_of(const model::Piece& piece) const {
  return layout_.variables[piece.variable].first_piece + piece.number;
}

void Ledger::mark(const model::Piece& piece, std::uint64_t record) {
  const MutexLock lock(mutex_);
  if (!layout_.variables[piece.variable].record) {
    fixed_[index_of(piece)] = true;
    return;
  }
  records_ = std::max(records_, record + 1);
  if (complete_.contains(record)) return;
  Partial& partial = partial_[record];
  if (partial.written.empty()) partial.written.resize(layout_.pieces.size());
  if (partial.written[index_of(piece)]) return;
  partial.written[index_of(piece)] = true;
  if (++partial.count < record_pieces_) return;
  partial_.erase(record);
  complete_.insert(record);
}

bool Ledger::has(const model::Piece& piece, std::uint64_t record) const {
  const MutexLock lock(mutex_);
  return written(piece, record);
}

bool Ledger::written(const model::Piece& piece, std::uint64_t record) const {
  if (!layout_.variables[piece.variable].record) return fixed_[index_of(piece)];
  if (complete_.contains(record)) return true;
  const auto found = partial_.find(record);
  return found != partial_.end() && found->second.written[index_of(piece)];
}

std::uint64_t Ledger::records() const {
  const MutexLock lock(mutex_);
  return records_;
}

void Ledger::reach(std::uint64_t records) {
  const MutexLock lock(mutex_);
  records_ = std::max(records_, records);
}

Result<> Ledger::for_each_missing(const Visit& visit, const VisitRecords& visit_absent) const {
  const MutexLock lock(mutex_);
  for (const model::Piece& piece : layout_.pieces)
    if (!layout_.variables[piece.variable].record && !fixed_[index_of(piece)]) AFTERBAY_TRY(visit(piece, 0));
  if (record_pieces_ == 0) return {};
  for (std::uint64_t record = 0; record < records_;) {
    const auto after = complete_.runs().upper_bound(record);
    if (after != complete_.runs().begin() && std::prev(after)->second > record) {
      record = std::prev(after)->second;  // skip the whole interval
      continue;
    }
    const auto partial = partial_.lower_bound(record);
    const bool absent = partial == partial_.end() || partial->first != record;
    if (absent && visit_absent) {
      std::uint64_t end = records_;
      if (after != complete_.runs().end()) end = std::min(end, after->first);
      if (partial != partial_.end()) end = std::min(end, partial->first);
      AFTERBAY_TRY(visit_absent(record, end - record));
      record = end;
      continue;
    }
    for (const model::Piece& piece : layout_.pieces) {
      if (!layout_.variables[piece.variable].record) continue;
      if (!absent && partial->second.written[index_of(piece)]) continue;
      AFTERBAY_TRY(visit(piece, record));
    }
    ++record;
  }
  return {};
}

std::vector<std::uint64_t> Ledger::partly_written(const model::Piece& piece, std::uint64_t begin,
                                                  std::uint64_t span) const {
  const MutexLock lock(mutex_);
  std::set<std::uint64_t> stretches;  // only these can be: inside an interval all is written
  for (const auto& [first, end] : complete_.runs()) {
    stretches.insert(first / span * span);
    stretches.insert((end - 1) / span * span);
  }
  for (const auto& [record, partial] : partial_)
    if (partial.written[index_of(piece)]) stretches.insert(record / span * span);
  std::vector<std::uint64_t> found;
  for (auto first = stretches.lower_bound(begin); first != stretches.end(); ++first)
    for (std::uint64_t record = *first; record < *first + span; ++record)
      if (!written(piece, record)) {
        found.push_back(*first);
        break;
      }
  return found;
}

}  // namespace afterbay::storage
