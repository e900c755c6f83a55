// SPDX-License-Identifier: Apache-2.0
#include "storage/block_writer/block_writer.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/rounding.hpp"
#include "model/layout.hpp"
#include "storage/block_writer/system_error.hpp"

namespace afterbay::storage {
namespace {

using model::page_bytes;

/// For fewer bytes of whole pages, the page cache is faster than a write to the device.
constexpr std::uint64_t least_direct_bytes = 64u << 10;
/// From this size on, write-back of buffered bytes is started at once, so that fsync has little
/// left to do.
constexpr std::uint64_t least_write_back_bytes = 256u << 10;
/// From this size on, the checksum is computed by another thread during the write.
constexpr std::uint64_t least_side_bytes = 256u << 10;
/// Space is preallocated for files that reach this length: as much as they have, within the
/// following limits, and only if the file system has many times as much free. Preallocation waits
/// for all writes in progress, hence it is done in few steps.
constexpr std::uint64_t least_size_for_room = 4u << 20;
constexpr std::uint64_t least_room_bytes = 16u << 20;
constexpr std::uint64_t most_room_bytes = 1u << 30;
constexpr std::uint64_t min_free_space_ratio = 16;
/// A write that begins further beyond the end of the file leaves a hole.
constexpr std::uint64_t most_hole_bytes = 256u << 20;

/// Preallocated space of all files of this process that was neither used nor released.
std::atomic<std::uint64_t> all_rooms{0};

std::uint64_t round_down(std::uint64_t value) { return value / page_bytes * page_bytes; }

Extent part_of(const Extent& extent, std::uint64_t from, std::uint64_t to) {
  return {from, extent.bytes.subspan(from - extent.offset, to - from)};
}

bool congruent(const Extent& extent) {
  return reinterpret_cast<std::uintptr_t>(extent.bytes.data()) % page_bytes == extent.offset % page_bytes;
}

bool follows(const Extent& first, const Extent& second) {
  return first.offset + first.bytes.size() == second.offset &&
         first.bytes.data() + first.bytes.size() == second.bytes.data();
}

}  // namespace

Result<std::unique_ptr<BlockWriter>> BlockWriter::open(int descriptor, std::string path, DirectIo direct_io,
                                                       std::shared_ptr<Disk> disk) {
  std::unique_ptr<BlockWriter> writer(
      new BlockWriter(descriptor, std::move(path), direct_io, std::move(disk)));
  if (direct_io != DirectIo::off) AFTERBAY_TRY(writer->open_direct());
  return writer;
}

Result<> BlockWriter::open_direct() {
  direct_descriptor_ = Descriptor(disk_->open(path_.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC, 0));
  if (!direct_descriptor_.open()) return refused(errno);
  direct_ = true;
  const MutexLock lock(growth_);
  grows_ = disk_->writes_side_by_side(path_.c_str());
  return {};
}

Result<> BlockWriter::share() {
  if (disk_->shares_pages(path_.c_str()) || through_descriptor_.open()) return {};
  AFTERBAY_TRY(sync());
  through_descriptor_ = Descriptor(disk_->open(path_.c_str(), O_WRONLY | O_DSYNC | O_CLOEXEC, 0));
  if (!through_descriptor_.open()) return fail(system_error(errno, "open for shared writing", path_));
  return {};
}

/// The file system refuses direct I/O: continues without it, unless the user requires it.
Result<> BlockWriter::refused(int number) {
  direct_ = false;
  if (policy_ == DirectIo::automatic && (number == EINVAL || number == EOPNOTSUPP)) return {};
  return fail(system_error(number, "use direct I/O (O_DIRECT) on", path_)
                  .add("direct I/O was requested with 'on'; 'automatic' falls back to the page cache"));
}

Result<> BlockWriter::write(std::span<const Extent> extents, WriteCost& cost) {
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < extents.size();) {
    Extent joined = extents[i++];
    while (i < extents.size() && follows(joined, extents[i])) {
      joined.bytes = {joined.bytes.data(), joined.bytes.size() + extents[i].bytes.size()};
      ++i;
    }
    AFTERBAY_TRY(checksum_ ? write_summed(joined, cost) : write_one(joined, cost));
  }
  cost.write_ns += static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count());
  return {};
}

/// The checksum of a small extent is computed here: waking another thread would take longer.
Result<> BlockWriter::write_summed(const Extent& extent, WriteCost& cost) {
  if (extent.bytes.size() < least_side_bytes) {
    checksum_->written(extent.offset, extent.bytes);
    return write_one(extent, cost);
  }
  SideSum::Job job(extent.bytes);
  side_sum_.begin(job);
  auto written = write_one(extent, cost);
  checksum_->written(extent.offset, extent.bytes.size(), side_sum_.end(job));
  return written;
}

Result<> BlockWriter::write_one(const Extent& extent, WriteCost& cost) {
  if (extent.bytes.empty()) return {};
  const std::uint64_t end = extent.offset + extent.bytes.size();
  for (std::uint64_t seen = written_end_; seen < end && !written_end_.compare_exchange_weak(seen, end);) {
  }
  const std::uint64_t first_page = rounded_up(extent.offset, page_bytes);
  const std::uint64_t last_page = round_down(end);
  cost.bytes_out += extent.bytes.size();
  if (!direct() || !congruent(extent) || last_page < first_page + least_direct_bytes)
    return write_buffered(extent);
  AFTERBAY_TRY(write_buffered(part_of(extent, extent.offset, first_page)));
  AFTERBAY_TRY_ASSIGN(const std::uint64_t direct_bytes, write_direct(part_of(extent, first_page, last_page)));
  cost.direct_bytes += direct_bytes;
  return write_buffered(part_of(extent, first_page + direct_bytes, end));
}

/// Writes whole pages and returns the number of bytes written, which is smaller if direct I/O turns
/// out to be impossible. Direct writes that extend a file are serialized in the kernel, which spins
/// for the inode's lock. Here they sleep instead, but the disk is idle between them; writes into
/// preallocated space are not serialized.
Result<std::uint64_t> BlockWriter::write_direct(const Extent& pages) {
  if (has_room(pages.offset, pages.offset + pages.bytes.size())) return write_pages(pages);
  const MutexLock turn(direct_turn_);
  return write_pages(pages);
}

/// Preallocates space for files that are already large, in few steps, if the file system has enough
/// free space; the unused rest is released when the file is complete. Another server of the file
/// may also have preallocated space.
bool BlockWriter::has_room(std::uint64_t offset, std::uint64_t end) {
  if (end <= room_bytes_.load(std::memory_order_relaxed)) return true;
  if (end < least_size_for_room) return false;
  const MutexLock lock(growth_);
  if (!grows_) return false;
  std::uint64_t size = size_bytes().value_or(0);
  if (size < end) {
    // The space that this file got before is used up.
    const std::uint64_t others = all_rooms - given_bytes_;
    const std::uint64_t allowed = free_bytes().value_or(0) / min_free_space_ratio;
    if (offset > size + most_hole_bytes || allowed < others + least_room_bytes) return false;
    const std::uint64_t ahead =
        std::min(std::clamp(size, least_room_bytes, most_room_bytes), round_down(allowed - others));
    const std::uint64_t wanted = end - size + ahead;
    grows_ = disk_->allocate(descriptor_, static_cast<off_t>(size), static_cast<off_t>(wanted)) == 0;
    if (!grows_) return false;
    all_rooms += ahead;
    all_rooms -= std::exchange(given_bytes_, ahead);
    size += wanted;
  }
  room_bytes_ = size;
  return true;
}

void BlockWriter::forget_room() {
  const MutexLock lock(growth_);
  all_rooms -= std::exchange(given_bytes_, 0);
}

/// The size without the preallocated space that this writer has not used.
std::uint64_t BlockWriter::used_bytes() const {
  const std::uint64_t size = size_bytes().value_or(0);
  const std::uint64_t room = room_bytes_.load(std::memory_order_relaxed);
  return room == 0 || size > room ? size : std::min(size, written_end_.load(std::memory_order_relaxed));
}

Result<std::uint64_t> BlockWriter::write_pages(const Extent& pages) {
  std::uint64_t done = 0;
  while (done < pages.bytes.size()) {
    const ssize_t written = disk_->write(direct_descriptor_.get(), pages.bytes.data() + done,
                                         pages.bytes.size() - done, static_cast<off_t>(pages.offset + done));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && (errno == EINVAL || errno == EOPNOTSUPP)) {
      AFTERBAY_TRY(refused(errno));
      return done;
    }
    if (written <= 0) return fail(system_error(written < 0 ? errno : ENOSPC, "write to", path_));
    done += static_cast<std::uint64_t>(written);
    if (written % static_cast<ssize_t>(page_bytes) != 0)
      return done;  // a short write that ends within a page
  }
  return done;
}

Result<> BlockWriter::write_buffered(const Extent& extent) {
  const int descriptor = through_descriptor_.open() ? through_descriptor_.get() : descriptor_;
  std::uint64_t done = 0;
  while (done < extent.bytes.size()) {
    const ssize_t written = disk_->write(descriptor, extent.bytes.data() + done, extent.bytes.size() - done,
                                         static_cast<off_t>(extent.offset + done));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail(system_error(written < 0 ? errno : ENOSPC, "write to", path_));
    done += static_cast<std::uint64_t>(written);
  }
  // Only a hint: if it fails, fsync does the work later.
  if (done >= least_write_back_bytes)
    disk_->start_write_back(descriptor_, static_cast<off_t>(extent.offset), static_cast<off_t>(done));
  return {};
}

Result<> BlockWriter::write_structure(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (checksum_) checksum_->changed(offset, bytes.size());
  return write_buffered({offset, bytes});
}

Result<> BlockWriter::read(std::uint64_t offset, std::span<std::byte> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got =
        disk_->read(descriptor_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(system_error(errno, "read from", path_));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  std::memset(bytes.data() + done, 0, bytes.size() - done);
  return {};
}

Result<std::uint64_t> BlockWriter::size_bytes() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return fail(system_error(errno, "find the size of", path_));
  return static_cast<std::uint64_t>(status.st_size);
}

Result<> BlockWriter::truncate(std::uint64_t size_bytes) {
  if (disk_->truncate(descriptor_, static_cast<off_t>(size_bytes)) != 0)
    return fail(system_error(errno, "set the length of", path_));
  room_bytes_ = 0;
  forget_room();
  if (checksum_) checksum_->cut(size_bytes);
  return {};
}

Result<std::optional<std::uint64_t>> BlockWriter::finish_checksum() {
  if (!checksum_) return std::nullopt;
  AFTERBAY_TRY_ASSIGN(const std::uint64_t size, size_bytes());
  return checksum_->finish(
      size, [this](std::uint64_t offset, std::span<std::byte> bytes) { return read(offset, bytes); });
}

Result<> BlockWriter::sync() {
  if (disk_->sync(descriptor_) != 0) return fail(system_error(errno, "make durable (fsync)", path_));
  return {};
}

std::optional<std::uint64_t> BlockWriter::free_bytes() const {
  const std::int64_t bytes = disk_->free_bytes(descriptor_);
  if (bytes < 0) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace afterbay::storage
