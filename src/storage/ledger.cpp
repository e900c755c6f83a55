// SPDX-License-Identifier: Apache-2.0
#include "storage/ledger.hpp"

#include <algorithm>
#include <iterator>

namespace afterbay::storage {

Ledger::Ledger(const model::FileLayout& layout, std::uint64_t present, bool fixed_present)
    : layout_(layout), fixed_(layout.pieces.size(), fixed_present), records_(present) {
  for (const model::Piece& piece : layout.pieces)
    if (layout.variables[piece.variable].record) ++record_pieces_;
  if (present > 0) complete_[0] = present;
}

std::size_t Ledger::index_of(const model::Piece& piece) const {
  return layout_.variables[piece.variable].first_piece + piece.number;
}

bool Ledger::complete(std::uint64_t record) const {
  auto after = complete_.upper_bound(record);
  return after != complete_.begin() && std::prev(after)->second > record;
}

void Ledger::add_complete(std::uint64_t record) {
  std::uint64_t first = record;
  std::uint64_t last = record + 1;
  auto after = complete_.upper_bound(record);
  if (after != complete_.end() && after->first == last) {
    last = after->second;
    after = complete_.erase(after);
  }
  if (after != complete_.begin() && std::prev(after)->second == first) {
    first = std::prev(after)->first;
    complete_.erase(std::prev(after));
  }
  complete_[first] = last;
}

void Ledger::mark(const model::Piece& piece, std::uint64_t record) {
  const std::lock_guard lock(mutex_);
  if (!layout_.variables[piece.variable].record) {
    fixed_[index_of(piece)] = true;
    return;
  }
  records_ = std::max(records_, record + 1);
  if (complete(record)) return;
  Partial& partial = partial_[record];
  if (partial.written.empty()) partial.written.resize(layout_.pieces.size());
  if (partial.written[index_of(piece)]) return;
  partial.written[index_of(piece)] = true;
  if (++partial.count < record_pieces_) return;
  partial_.erase(record);
  add_complete(record);
}

bool Ledger::has(const model::Piece& piece, std::uint64_t record) const {
  const std::lock_guard lock(mutex_);
  if (!layout_.variables[piece.variable].record) return fixed_[index_of(piece)];
  if (complete(record)) return true;
  const auto found = partial_.find(record);
  return found != partial_.end() && found->second.written[index_of(piece)];
}

std::uint64_t Ledger::records() const {
  const std::lock_guard lock(mutex_);
  return records_;
}

void Ledger::reach(std::uint64_t records) {
  const std::lock_guard lock(mutex_);
  records_ = std::max(records_, records);
}

Result<> Ledger::for_each_missing(const Visit& visit) const {
  const std::lock_guard lock(mutex_);
  for (const model::Piece& piece : layout_.pieces)
    if (!layout_.variables[piece.variable].record && !fixed_[index_of(piece)]) AFTERBAY_TRY(visit(piece, 0));
  if (record_pieces_ == 0) return {};
  for (std::uint64_t record = 0; record < records_; ++record) {
    auto after = complete_.upper_bound(record);
    if (after != complete_.begin() && std::prev(after)->second > record) {
      record = std::prev(after)->second - 1;  // skip the whole interval
      continue;
    }
    const auto partial = partial_.find(record);
    for (const model::Piece& piece : layout_.pieces) {
      if (!layout_.variables[piece.variable].record) continue;
      if (partial != partial_.end() && partial->second.written[index_of(piece)]) continue;
      AFTERBAY_TRY(visit(piece, record));
    }
  }
  return {};
}

}  // namespace afterbay::storage
