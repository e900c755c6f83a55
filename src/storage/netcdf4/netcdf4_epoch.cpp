// SPDX-License-Identifier: Apache-2.0
// Epochs of an unfinished netCDF-4 file; see design/0015-epochs.md.
#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "storage/library_lock.hpp"
#include "storage/member_file.hpp"
#include "storage/netcdf4/netcdf4_file.hpp"
#include "storage/stopwatch.hpp"

namespace afterbay::storage {

Result<WriteCost> Netcdf4File::mark_epoch(const Epoch& epoch, std::span<const MemberEpoch> members) {
  if (!writer_) return fail(closed_error(part_.path()));
  return in_file(mark(epoch, members), part_.path());
}

/// First copies the ledger. Pieces that are written meanwhile, or were put after the epoch, are not
/// part of the epoch but may be in the file.
Result<WriteCost> Netcdf4File::mark(const Epoch& epoch, std::span<const MemberEpoch> members) {
  WriteCost cost;
  const Marking marking(*this);
  std::unique_lock<std::shared_mutex> alone(writes_, std::defer_lock);
  if (readable_) alone.lock();  // the shown state must contain no partial writes
  const auto own = ledger_.copy(epoch.records);
  own->leave_out(epoch.number);
  AFTERBAY_TRY_ASSIGN(const auto written, written_by(*own, epoch, members));
  ledger_.settle(epoch.number);
  if (readable_) AFTERBAY_TRY(fill_missing(cost));
  AFTERBAY_TRY_ASSIGN(LoggedEpoch marked, flush_structure(epoch));
  if (readable_) AFTERBAY_TRY(make_readable(cost));
  if (alone) alone.unlock();
  for (const MemberEpoch& member : members)
    if (member.logged) marked.members.push_back(member.server);
  AFTERBAY_TRY(log_fills(*written, epoch.records));
  AFTERBAY_TRY(pieces_->log_chunks(*own, present_, [this]() -> Result<EpochLog*> { return log_.get(); }));
  {
    const Stopwatch watch(cost.write_ns);
    AFTERBAY_TRY(writer_->sync());
    AFTERBAY_TRY(log_->commit(marked));
  }
  AFTERBAY_TRY(settle(marked.cut));
  return cost;
}

/// Chunks that are encoded again with each record move within the file: the positions in its
/// structure would be outdated until the next epoch.
Result<> Netcdf4File::check_readable() const {
  for (std::size_t v = 0; readable_ && v < datasets_.size(); ++v) {
    if (!datasets_[v].storage().assembles()) continue;
    const std::string& name = schema_.variables[v].name;
    return fail(
        make_error(ErrorCode::invalid_argument,
                   "the file is to be readable while it is written, but chunks of variable '{}' are "
                   "compressed and span {} records: let them have one record, or leave 'readable' off",
                   name, datasets_[v].storage().span)
            .in_variable(name));
  }
  return {};
}

/// Extends the file so that all positions in the structure lie within it.
Result<> Netcdf4File::make_readable(WriteCost& cost) {
  const Stopwatch watch(cost.place_ns);
  AFTERBAY_TRY_ASSIGN(const std::uint64_t size, writer_->size_bytes());
  const std::uint64_t named = driver_->end_of_allocation;
  if (size < named) AFTERBAY_TRY(writer_->truncate(named));
  return {};
}

/// A reader that has the file open keeps the structure that it has read: then the new structure
/// waits for the next epoch.
Result<> Netcdf4File::settle(std::uint64_t cut) {
  std::optional<Descriptor> turn;
  if (readable_) {
    AFTERBAY_TRY_ASSIGN(turn, part_.keep_readers_out());
    if (!turn) return {};
  }
  const LibraryLock lock;
  return driver_->settle(cut);
}

Result<std::unique_ptr<Ledger>> Netcdf4File::written_by(const Ledger& own, const Epoch& epoch,
                                                        std::span<const MemberEpoch> members) {
  auto written = own.copy(epoch.records);
  for (const MemberEpoch& member : members) AFTERBAY_TRY(take_member_epoch(member.account, *written));
  written->leave_out(epoch.number);
  return written;
}

/// Writes the current structure to the log.
Result<LoggedEpoch> Netcdf4File::flush_structure(const Epoch& epoch) {
  LoggedEpoch marked;
  marked.epoch = epoch;
  if (!log_) {
    AFTERBAY_TRY_ASSIGN(
        log_, EpochLog::create(part_.part_path(), std::nullopt, part_.shared_disk(), part_.descriptor()));
  }
  const LibraryLock lock;
  ledger_.reach(epoch.records);
  AFTERBAY_TRY(fill_strings(epoch.records));
  for (std::uint64_t v = 0; v < datasets_.size(); ++v) {
    AFTERBAY_TRY(datasets_[v].extend(epoch.records));
    marked.datasets.push_back(datasets_[v].facts().name);
    if (layout_->variables[v].record) marked.with_records.push_back(v);
  }
  if (H5Fflush(file_.get(), H5F_SCOPE_LOCAL) < 0) return fail(driver_->error("flush the file"));
  AFTERBAY_TRY(driver_->check("flush the file"));
  if (!driver_->logs()) AFTERBAY_TRY(driver_->begin_log(*log_));
  marked.cut = log_->end();
  marked.size_bytes = driver_->end_of_allocation;
  return marked;
}

/// Logs positions in the structure that hold no values of the epoch.
Result<> Netcdf4File::log_fills(const Ledger& written, std::uint64_t records) {
  for (std::uint32_t v = 0; v < datasets_.size(); ++v) {
    const VariableStorage& storage = datasets_[v].storage();
    if (storage.kind == StorageKind::dense) AFTERBAY_TRY(log_dense_fills(written, v));
    if (storage.kind == StorageKind::chunks && storage.span > 1 && !storage.encodes())
      for (const model::Piece& piece : layout_->pieces_of_variable(v))
        AFTERBAY_TRY(log_span_fills(written, piece));
  }
  return log_placed(written, records);
}

Result<> Netcdf4File::log_fill(std::uint32_t variable, std::uint64_t offset, std::uint64_t size_bytes) {
  // In the byte order of the file: HDF5's is little-endian.
  const Values fill = fill_of(schema_.variables[variable]);
  std::vector<std::byte> element = fill.bytes;
  to_file_order(element, element.size(), false);
  return log_->add(LoggedFill{offset, size_bytes, std::move(element)});
}

Result<> Netcdf4File::log_dense_fills(const Ledger& written, std::uint32_t variable) {
  const model::Pieces pieces = layout_->pieces_of_variable(variable);
  const auto has = [&](const model::Piece& piece) { return written.has(piece, 0); };
  if (std::all_of(pieces.begin(), pieces.end(), has)) return {};
  bool placed = std::any_of(pieces.begin(), pieces.end(), has);
  if (!placed) {
    const MutexLock lock(placed_mutex_);
    const std::uint32_t first = layout_->variables[variable].first_piece;
    const auto at = placed_.lower_bound({first, 0});
    placed = at != placed_.end() && at->first.first < first + pieces.size();
  }
  if (!placed) return {};
  for (const model::Piece& piece : pieces) {
    if (has(piece)) continue;
    AFTERBAY_TRY_ASSIGN(const std::uint64_t offset, place_plain(piece, 0));
    AFTERBAY_TRY(log_fill(variable, offset, piece.bytes));
  }
  return {};
}

/// Plain chunks of several records, of which some are written.
Result<> Netcdf4File::log_span_fills(const Ledger& written, const model::Piece& piece) {
  const std::uint64_t span = datasets_[piece.variable].storage().span;
  const std::uint64_t begin = appended_ ? (present_ + span - 1) / span * span : 0;
  for (const std::uint64_t first : written.partly_written(piece, begin, span)) {
    AFTERBAY_TRY_ASSIGN(const std::uint64_t chunk, place_plain(piece, first));
    for (std::uint64_t record = first; record < first + span; ++record)
      if (!written.has(piece, record))
        AFTERBAY_TRY(log_fill(piece.variable, chunk + (record - first) * piece.bytes, piece.bytes));
  }
  return {};
}

/// Pieces, or chunks of which nothing is written, that already have a position.
Result<> Netcdf4File::log_placed(const Ledger& written, std::uint64_t records) {
  std::vector<std::pair<model::Piece, std::pair<std::uint64_t, StoredRange>>> empty;
  {
    const MutexLock lock(placed_mutex_);
    for (auto at = placed_.begin(); at != placed_.end();) {
      const model::Piece piece = layout_->pieces[at->first.first];
      const VariableStorage& storage = datasets_[piece.variable].storage();
      const std::uint64_t first = at->first.second;
      bool any = false;
      for (std::uint64_t r = first; !any && r < first + storage.span; ++r) any = written.has(piece, r);
      if (!any && first < records && storage.kind == StorageKind::chunks)
        empty.push_back({piece, {first, at->second}});
      at = any ? placed_.erase(at) : std::next(at);
    }
  }
  for (const auto& [piece, place] : empty) {
    if (!datasets_[piece.variable].storage().encodes()) {
      AFTERBAY_TRY(log_fill(piece.variable, place.second.offset, place.second.size_bytes));
      continue;
    }
    AFTERBAY_TRY_ASSIGN(const codec::EncodedChunk chunk, pieces_->chunk_of_fill(piece));
    AFTERBAY_TRY(
        log_->add(LoggedChunk{piece.variable, pieces_->first_element(piece, place.first), chunk.skipped},
                  std::as_const(chunk.bytes).bytes()));
  }
  return {};
}

std::uint64_t Netcdf4File::first_of_chunk(std::uint32_t variable, std::uint64_t record) const {
  const std::uint64_t span = datasets_[variable].storage().span;
  return layout_->variables[variable].record ? record / span * span : 0;
}

/// Called with the LibraryLock under which the positions were assigned, so that no epoch's
/// structure has a position that is not recorded.
void Netcdf4File::note_placed(std::span<const PlaceRequest> requests,
                              std::span<const std::uint64_t> offsets) {
  const MutexLock lock(placed_mutex_);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const model::Piece& piece = layout_->pieces[requests[i].piece];
    const VariableStorage& storage = datasets_[piece.variable].storage();
    const std::uint64_t first = first_of_chunk(piece.variable, requests[i].record);
    StoredRange place{offsets[i], requests[i].bytes > 0 ? requests[i].bytes : piece.bytes};
    if (storage.kind == StorageKind::chunks && requests[i].bytes == 0) {
      place.offset -= (requests[i].record - first) * piece.bytes;
      place.size_bytes = storage.span * piece.bytes;
    }
    placed_[{requests[i].piece, first}] = place;
  }
}

/// Once one of its records is written, a chunk is in the ledger. An epoch that is being marked has
/// copied the ledger earlier, and an epoch that is marked later leaves out pieces that were put
/// after it: these still need the position, which `log_placed` removes later.
void Netcdf4File::forget_placed(std::span<const PieceWrite> written) {
  const std::uint64_t settled = ledger_.settled();
  const MutexLock lock(placed_mutex_);
  if (marking_) return;
  for (const PieceWrite& write : written) {
    if (write.epochs > settled) continue;
    const std::uint32_t index = layout_->variables[write.piece.variable].first_piece + write.piece.number;
    placed_.erase({index, first_of_chunk(write.piece.variable, write.record)});
  }
}

}  // namespace afterbay::storage
