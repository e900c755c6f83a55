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
namespace {

/// What this server and the members have written up to the epoch.
Result<std::unique_ptr<Ledger>> written_by(const Ledger& own, const Epoch& epoch,
                                           std::span<const MemberEpoch> members) {
  auto written = own.copy(epoch.records);
  for (const MemberEpoch& member : members) AFTERBAY_TRY(take_member_epoch(member.account, *written));
  written->leave_out(epoch.number);
  return written;
}

}  // namespace

Result<WriteCost> Netcdf4File::mark_epoch(const Epoch& epoch, std::span<const MemberEpoch> members) {
  if (!writer_) return fail(closed_error(part_.path()));
  return in_file(mark(epoch, members), part_.path());
}

/// First copies the ledger. Pieces that are written meanwhile, or were put after the epoch, are not
/// part of the epoch but may be in the file.
Result<WriteCost> Netcdf4File::mark(const Epoch& epoch, std::span<const MemberEpoch> members) {
  WriteCost cost;
  const PlacedChunks::Marking marking(*placed_);
  std::unique_lock<std::shared_mutex> alone(writes_, std::defer_lock);
  if (readable_) alone.lock();  // the shown state must contain no partial writes
  const auto own = ledger_.copy(epoch.records);
  own->leave_out(epoch.number);
  AFTERBAY_TRY_ASSIGN(const auto written, written_by(*own, epoch, members));
  ledger_.settle(epoch.number);
  if (readable_) AFTERBAY_TRY(unwritten_->fill(ledger_, *writer_, cost));
  AFTERBAY_TRY_ASSIGN(LoggedEpoch marked, flush_structure(epoch));
  if (readable_) AFTERBAY_TRY(make_readable(cost));
  if (alone) alone.unlock();
  for (const MemberEpoch& member : members)
    if (member.logged) marked.members.push_back(member.server);
  AFTERBAY_TRY(unwritten_->log(*written, epoch.records, *placed_, *pieces_, *log_));
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
  AFTERBAY_TRY(strings_.fill(epoch.records, datasets_));
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

}  // namespace afterbay::storage
