// SPDX-License-Identifier: Apache-2.0
#include "storage/ledger.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "base/caller_terms.hpp"
#include "storage/sealed.hpp"

namespace afterbay::storage {

Ledger::Ledger(const model::FileLayout& layout, std::uint64_t present, bool fixed_present,
               std::uint64_t epochs)
    : layout_(layout), fixed_(layout.pieces.size()), records_(present), settled_(epochs) {
  for (const model::PieceGrid& grid : layout.cutting->grids())
    (grid.record ? record_pieces_ : fixed_pieces_) += grid.count;
  Stretch all{present, PieceSet(layout.pieces.size())};
  for (std::size_t p = 0; fixed_present && p < fixed_pieces_; ++p) fixed_.insert(p);
  for (std::size_t p = fixed_pieces_; present > 0 && p < layout.pieces.size(); ++p) all.written.insert(p);
  if (present > 0 && record_pieces_ > 0) stretches_.emplace(0, std::move(all));
}

std::size_t Ledger::index_of(const model::Piece& piece) const {
  return layout_.variables[piece.variable].first_piece + piece.number;
}

/// The stretch that contains the record, or the end.
Ledger::Stretches::const_iterator Ledger::find(std::uint64_t record) const {
  const auto after = stretches_.upper_bound(record);
  if (after == stretches_.begin() || std::prev(after)->second.end <= record) return stretches_.end();
  return std::prev(after);
}

/// Makes a stretch begin at `record`, if one extends across it.
void Ledger::split(std::uint64_t record) {
  const auto after = stretches_.upper_bound(record);
  if (after == stretches_.begin()) return;
  const auto before = std::prev(after);
  if (before->first == record || before->second.end <= record) return;
  stretches_.emplace_hint(after, record, before->second);
  before->second.end = record;
}

/// Merges the two stretches that meet at `record`, if they are equal.
void Ledger::join(std::uint64_t record) {
  const auto second = stretches_.find(record);
  if (second == stretches_.end() || second == stretches_.begin()) return;
  const auto first = std::prev(second);
  if (first->second.end != record || first->second.written != second->second.written) return;
  first->second.end = second->second.end;
  stretches_.erase(second);
}

void Ledger::mark(const model::Piece& piece, std::uint64_t record, std::uint64_t epochs) {
  const MutexLock lock(mutex_);
  const bool has_records = layout_.variables[piece.variable].record;
  if (has_records) records_ = std::max(records_, record + 1);
  if (written(piece, record)) return;
  if (epochs > settled_) later_.push_back({index_of(piece), has_records ? record : 0, epochs});
  if (!has_records) return fixed_.insert(index_of(piece));
  split(record);
  split(record + 1);
  const auto [at, added] = stretches_.try_emplace(record);
  if (added) at->second = {record + 1, PieceSet(layout_.pieces.size())};
  at->second.written.insert(index_of(piece));
  join(record + 1);
  join(record);
}

bool Ledger::has(const model::Piece& piece, std::uint64_t record) const {
  const MutexLock lock(mutex_);
  return written(piece, record);
}

bool Ledger::written(const model::Piece& piece, std::uint64_t record) const {
  if (!layout_.variables[piece.variable].record) return fixed_.contains(index_of(piece));
  const auto found = find(record);
  return found != stretches_.end() && found->second.written.contains(index_of(piece));
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
  for (std::size_t p = 0; p < fixed_pieces_; ++p)
    if (!fixed_.contains(p)) AFTERBAY_TRY(visit(layout_.pieces[p], 0));
  if (record_pieces_ == 0) return {};
  const PieceSet nothing(layout_.pieces.size());
  for (std::uint64_t record = 0; record < records_;) {
    const auto next = stretches_.lower_bound(record);
    const auto stretch = find(record);
    const bool absent = stretch == stretches_.end();
    const std::uint64_t end = !absent                    ? stretch->second.end
                              : next == stretches_.end() ? records_
                                                         : std::min(records_, next->first);
    if (absent && visit_absent) {
      AFTERBAY_TRY(visit_absent(record, end - record));
      record = end;
      continue;
    }
    const PieceSet& written = absent ? nothing : stretch->second.written;
    for (; record < end && written.count() < record_pieces_; ++record)
      for (std::size_t p = fixed_pieces_; p < layout_.pieces.size(); ++p)
        if (!written.contains(p)) AFTERBAY_TRY(visit(layout_.pieces[p], record));
    record = end;
  }
  return {};
}

std::vector<std::uint64_t> Ledger::partly_written(const model::Piece& piece, std::uint64_t begin,
                                                  std::uint64_t span) const {
  const MutexLock lock(mutex_);
  // Only these can be missing: within a stretch everything is written.
  std::set<std::uint64_t> firsts;
  for (const auto& [first, stretch] : stretches_) {
    if (!stretch.written.contains(index_of(piece))) continue;
    firsts.insert(first / span * span);
    firsts.insert((stretch.end - 1) / span * span);
  }
  std::vector<std::uint64_t> found;
  for (auto first = firsts.lower_bound(begin); first != firsts.end(); ++first)
    for (std::uint64_t record = *first; record < *first + span; ++record)
      if (!written(piece, record)) {
        found.push_back(*first);
        break;
      }
  return found;
}

/// The contents of another ledger.
struct Ledger::Taken {
  PieceSet fixed;
  Stretches stretches;
  std::vector<Later> later;
  std::uint64_t records = 0;
};

namespace {

/// The lengths of runs of pieces that are alternately absent from and present in the set, beginning
/// with absent ones.
void seal_pieces(SealedWriter& writer, const PieceSet& set, std::size_t pieces) {
  bool inside = false;
  for (std::size_t begin = 0; begin < pieces; inside = !inside) {
    std::size_t end = begin;
    while (end < pieces && set.contains(end) == inside) ++end;
    writer.number(end - begin);
    begin = end;
  }
}

Result<PieceSet> unseal_pieces(SealedReader& reader, std::size_t pieces) {
  PieceSet set(pieces);
  bool inside = false;
  for (std::size_t begin = 0; begin < pieces; inside = !inside) {
    AFTERBAY_TRY_ASSIGN(const std::uint64_t count, reader.number(pieces - begin));
    for (std::size_t i = 0; inside && i < count; ++i) set.insert(begin + i);
    begin += count;
  }
  return set;
}

}  // namespace

std::vector<std::byte> Ledger::sealed() const {
  const MutexLock lock(mutex_);
  SealedWriter writer(SealedKind::pieces, digest_of(layout_));
  writer.number(records_);
  seal_pieces(writer, fixed_, layout_.pieces.size());
  writer.number(stretches_.size());
  std::uint64_t end = 0;
  for (const auto& [first, stretch] : stretches_) {
    writer.number(first - end);
    writer.number(stretch.end - first);
    seal_pieces(writer, stretch.written, layout_.pieces.size());
    end = stretch.end;
  }
  writer.number(later_.size());
  for (const Later& it : later_) {
    writer.number(it.piece);
    writer.number(it.record);
    writer.number(it.epochs);
  }
  return std::move(writer).finish();
}

Result<Ledger::Taken> Ledger::parse(std::span<const std::byte> sealed) const {
  AFTERBAY_TRY_ASSIGN(SealedReader reader,
                      SealedReader::open(sealed, SealedKind::pieces, digest_of(layout_)));
  Taken taken;
  AFTERBAY_TRY_ASSIGN(taken.records, reader.number());
  AFTERBAY_TRY_ASSIGN(taken.fixed, unseal_pieces(reader, layout_.pieces.size()));
  AFTERBAY_TRY_ASSIGN(const std::uint64_t count, reader.number());
  std::uint64_t end = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    AFTERBAY_TRY_ASSIGN(const std::uint64_t gap, reader.number(taken.records - end));
    AFTERBAY_TRY_ASSIGN(const std::uint64_t length, reader.number(taken.records - end - gap));
    AFTERBAY_TRY_ASSIGN(PieceSet pieces, unseal_pieces(reader, layout_.pieces.size()));
    const std::uint64_t first = end + gap;
    end = first + length;
    if (length > 0) taken.stretches.emplace(first, Stretch{end, std::move(pieces)});
  }
  AFTERBAY_TRY_ASSIGN(const std::uint64_t later,
                      reader.number(layout_.pieces.empty() ? 0 : std::numeric_limits<std::uint64_t>::max()));
  for (std::uint64_t i = 0; i < later; ++i) {
    Later it;
    AFTERBAY_TRY_ASSIGN(it.piece, reader.number(layout_.pieces.size() - 1));
    AFTERBAY_TRY_ASSIGN(it.record, reader.number());
    AFTERBAY_TRY_ASSIGN(it.epochs, reader.number());
    taken.later.push_back(it);
  }
  AFTERBAY_TRY(reader.end());
  return taken;
}

/// If two processes wrote a piece, it would contain the bytes of the later write, and it is unknown
/// which that is.
Result<> Ledger::check_new(const Taken& taken) const {
  const auto check = [this](const PieceSet& ours, const PieceSet& theirs, std::uint64_t record) -> Result<> {
    const std::size_t piece = ours.first_common(theirs);
    if (piece >= layout_.pieces.size()) return {};
    return fail(ErrorCode::conflict,
                "piece {} of variable number {}, record {}, was written by two servers: each piece of a "
                "shared file belongs to one",
                layout_.pieces[piece].number, layout_.pieces[piece].variable, said_index(record));
  };
  AFTERBAY_TRY(check(fixed_, taken.fixed, 0));
  for (const auto& [first, theirs] : taken.stretches) {
    auto ours = stretches_.upper_bound(first);
    if (ours != stretches_.begin() && std::prev(ours)->second.end > first) --ours;
    for (; ours != stretches_.end() && ours->first < theirs.end; ++ours)
      AFTERBAY_TRY(check(ours->second.written, theirs.written, std::max(first, ours->first)));
  }
  return {};
}

Result<> Ledger::take(std::span<const std::byte> sealed) {
  AFTERBAY_TRY_ASSIGN(const Taken taken, parse(sealed));
  const MutexLock lock(mutex_);
  AFTERBAY_TRY(check_new(taken));
  fixed_.insert(taken.fixed);
  for (const auto& [first, stretch] : taken.stretches) add(first, stretch);
  records_ = std::max(records_, taken.records);
  take_later(taken);
  return {};
}

void Ledger::take_later(const Taken& taken) {
  for (const Later& it : taken.later)
    if (it.epochs > settled_) later_.push_back(it);
}

void Ledger::leave_out(std::uint64_t epoch) {
  const MutexLock lock(mutex_);
  for (const Later& it : later_) {
    if (it.epochs < epoch) continue;
    if (it.piece < fixed_pieces_) {
      fixed_.erase(it.piece);
      continue;
    }
    if (find(it.record) == stretches_.end()) continue;
    split(it.record);
    split(it.record + 1);
    const auto at = stretches_.find(it.record);
    at->second.written.erase(it.piece);
    if (at->second.written.count() == 0) {
      stretches_.erase(at);
      continue;
    }
    join(it.record + 1);
    join(it.record);
  }
}

void Ledger::settle(std::uint64_t epoch) {
  const MutexLock lock(mutex_);
  settled_ = std::max(settled_, epoch);
  std::erase_if(later_, [this](const Later& it) AFTERBAY_REQUIRES(mutex_) { return it.epochs <= settled_; });
}

std::uint64_t Ledger::settled() const {
  const MutexLock lock(mutex_);
  return settled_;
}

std::unique_ptr<Ledger> Ledger::copy(std::uint64_t records) const {
  auto copied = std::make_unique<Ledger>(layout_, 0, false);
  const MutexLock lock(mutex_);
  const MutexLock its_lock(copied->mutex_);
  copied->fixed_ = fixed_;
  copied->settled_ = settled_;
  copied->later_ = later_;
  copied->records_ = records;
  for (const auto& [first, stretch] : stretches_)
    if (first < records)
      copied->stretches_.emplace(first, Stretch{std::min(stretch.end, records), stretch.written});
  return copied;
}

Result<> Ledger::take_first_records(std::span<const std::byte> sealed) {
  AFTERBAY_TRY_ASSIGN(Taken taken, parse(sealed));
  const MutexLock lock(mutex_);
  taken.stretches.erase(taken.stretches.lower_bound(records_), taken.stretches.end());
  if (!taken.stretches.empty()) {
    Stretch& last = std::prev(taken.stretches.end())->second;
    last.end = std::min(last.end, records_);
  }
  AFTERBAY_TRY(check_new(taken));
  fixed_.insert(taken.fixed);
  for (const auto& [first, stretch] : taken.stretches) add(first, stretch);
  take_later(taken);
  return {};
}

/// Adds pieces, none of which was written before, to a stretch of records.
void Ledger::add(std::uint64_t first, const Stretch& stretch) {
  split(first);
  split(stretch.end);
  for (std::uint64_t record = first; record < stretch.end;) {
    auto at = stretches_.lower_bound(record);
    const std::uint64_t end = at == stretches_.end()
                                  ? stretch.end
                                  : std::min(stretch.end, at->first == record ? at->second.end : at->first);
    if (at != stretches_.end() && at->first == record)
      at->second.written.insert(stretch.written);
    else
      stretches_.emplace_hint(at, record, Stretch{end, stretch.written});
    join(record);
    record = end;
  }
  join(stretch.end);
}

}  // namespace afterbay::storage
