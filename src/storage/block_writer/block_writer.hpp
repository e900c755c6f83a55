// SPDX-License-Identifier: Apache-2.0
// BlockWriter: writes bytes at given positions of a file, in parallel and without copies.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "storage/block_writer/disk.hpp"
#include "storage/block_writer/file_checksum.hpp"
#include "storage/block_writer/side_sum.hpp"
#include "storage/store.hpp"

namespace afterbay::storage {

/// Bytes and their offset in the file.
struct Extent {
  std::uint64_t offset = 0;
  std::span<const std::byte> bytes;
};

/// Writes through two descriptors of one file: whole pages of large pieces with O_DIRECT if memory
/// and file are congruent modulo a page, everything else through the page cache, with write-back
/// started at once. It writes exactly the given bytes. Any number of threads may write at the same
/// time, as long as their extents do not overlap; also threads of other processes, through writers
/// of their own.
///
/// Why neighbours within a page do not corrupt each other: direct writes consist of whole pages of
/// one extent, and so never include a page with bytes of another writer. The bytes at the edges of
/// an extent go through the page cache, without their neighbours. On one node this is one cache, in
/// which partial writes of a page are serialized. Lustre and GPFS lock pages between nodes: before
/// a node changes a part of a page, it gets the changes of the others. NFS does not, see `share`.
class BlockWriter {
 public:
  ~BlockWriter() { forget_room(); }
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  /// `descriptor` is the file opened for reading and writing, and must outlive the writer. `path`
  /// is opened a second time for direct I/O. With DirectIo::on, a file system that refuses direct
  /// I/O is an error.
  static Result<std::unique_ptr<BlockWriter>> open(int descriptor, std::string path, DirectIo direct_io,
                                                   std::shared_ptr<Disk> disk);

  /// Writes the extents in order; extents that are consecutive both in memory and in the file are
  /// merged. Adds to the cost's write time and bytes.
  Result<> write(std::span<const Extent> extents, WriteCost& cost);

  /// Other processes, perhaps on other nodes, will write to this file. If nodes do not share their
  /// cached pages (NFS), bytes that are not written with O_DIRECT are written through from now on
  /// (O_DSYNC): then the server receives exactly the written bytes, not the whole page with
  /// outdated neighbours; and no byte remains in the cache that could later overwrite bytes of
  /// another process. Call it while no write runs.
  Result<> share();

  /// From now on, the checksum of everything that is written is kept. Call it before the first
  /// write. Bytes that the file already contains are unknown, and are read at the end.
  void keep_checksum() { checksum_ = std::make_unique<FileChecksum>(); }
  /// The checksum that is kept; null if none is.
  [[nodiscard]] FileChecksum* checksum() const noexcept { return checksum_.get(); }
  /// The checksum of the whole file; nullopt if none is kept. Call it while no write runs.
  Result<std::optional<std::uint64_t>> finish_checksum();

  /// Writes bytes of structure, some of which may be written again, through the page cache. Their
  /// checksum is computed at the end: if it were joined to that of the data after them, these would
  /// also have to be read again.
  Result<> write_structure(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Reads exactly `bytes.size()` bytes; bytes beyond the end of the file are 0.
  Result<> read(std::uint64_t offset, std::span<std::byte> bytes);

  Result<std::uint64_t> size_bytes() const;
  /// The same without preallocated space that this writer has not used.
  [[nodiscard]] std::uint64_t used_bytes() const;
  Result<> truncate(std::uint64_t size_bytes);
  /// Makes the written bytes durable (fsync).
  Result<> sync();
  /// Bytes that the file system has left for this process; nullopt if unknown.
  [[nodiscard]] std::optional<std::uint64_t> free_bytes() const;

  /// Whether large pieces are written with O_DIRECT.
  [[nodiscard]] bool direct() const noexcept { return direct_.load(std::memory_order_relaxed); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  BlockWriter(int descriptor, std::string path, DirectIo policy, std::shared_ptr<Disk> disk)
      : descriptor_(descriptor), path_(std::move(path)), policy_(policy), disk_(std::move(disk)) {}

  Result<> open_direct();
  Result<> write_one(const Extent& extent, WriteCost& cost);
  Result<> write_summed(const Extent& extent, WriteCost& cost);
  Result<std::uint64_t> write_direct(const Extent& pages);
  Result<std::uint64_t> write_pages(const Extent& pages);
  bool has_room(std::uint64_t offset, std::uint64_t end);
  void forget_room();
  Result<> write_buffered(const Extent& extent);
  Result<> refused(int number);

  int descriptor_;
  std::string path_;
  DirectIo policy_;
  std::shared_ptr<Disk> disk_;
  Descriptor direct_descriptor_;
  Descriptor through_descriptor_;  ///< if open, buffered bytes are written through it
  std::unique_ptr<FileChecksum> checksum_;
  SideSum side_sum_;
  Mutex direct_turn_;  ///< serializes direct writes to the file: see write_direct
  Mutex growth_;
  /// Preallocation is useful for the file.
  bool grows_ AFTERBAY_GUARDED_BY(growth_) = false;
  std::uint64_t given_bytes_ AFTERBAY_GUARDED_BY(growth_) = 0;  ///< size of its last preallocation
  std::atomic<std::uint64_t> written_end_{0};
  /// Direct writes below this offset need not be serialized.
  std::atomic<std::uint64_t> room_bytes_{0};
  std::atomic<bool> direct_{false};
};

}  // namespace afterbay::storage
