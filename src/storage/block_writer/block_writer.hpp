// SPDX-License-Identifier: Apache-2.0
// BlockWriter: the engine that puts bytes at their place in a file, in parallel and without copies.
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

/// Writes through two descriptors of one file: whole pages of large pieces with O_DIRECT where memory
/// and file are congruent modulo a page, all else through the page cache, with write-back started at
/// once. It writes the given bytes and nothing around them. Any number of threads may write at once,
/// as long as their extents do not overlap; also threads of other processes, through writers of their own.
///
/// Why neighbours inside one page do not harm each other: direct writes are of whole pages of one extent,
/// and so of no page that another writer has a byte of. The rest of an extent, at its edges, goes through
/// the page cache as exactly those bytes. On one node that is one cache, in which partial writes of a page
/// take turns. Lustre and GPFS lock pages between nodes: before a node changes a part of a page it gets what
/// the others changed. NFS does not, see `share`.
class BlockWriter {
 public:
  ~BlockWriter() { forget_room(); }
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  /// `descriptor` is the file opened for reading and writing, and outlives the writer. `path` is
  /// opened a second time for direct I/O. With DirectIo::on a file system that refuses is an error.
  static Result<std::unique_ptr<BlockWriter>> open(int descriptor, std::string path, DirectIo direct_io,
                                                   std::shared_ptr<Disk> disk);

  /// Writes the extents in order; those that follow each other both in memory and in the file go as one.
  /// Adds to the cost's write time and bytes.
  Result<> write(std::span<const Extent> extents, WriteCost& cost);

  /// Other processes, perhaps on other nodes, will write to this file. Where nodes do not share their cached
  /// pages (NFS), what does not go by O_DIRECT is written through from now on (O_DSYNC): the server then
  /// gets exactly the bytes written, and not the whole page with what its other bytes once were; and no byte
  /// stays behind that could later overwrite what another process put there. While no write runs.
  Result<> share();

  /// From now on the checksum of all that is written is kept. Before the first write. What the file holds
  /// already is not known, and so is read at the end.
  void keep_checksum() { checksum_ = std::make_unique<FileChecksum>(); }
  /// What is kept of it; null: nothing.
  [[nodiscard]] FileChecksum* checksum() const noexcept { return checksum_.get(); }
  /// Of the whole file; nothing when none is kept. While no write runs.
  Result<std::optional<std::uint64_t>> finish_checksum();

  /// Bytes of structure, of which some may be written again: through the page cache. Their checksum waits for
  /// the end; were it joined to that of the data behind them, those would have to be read again, too.
  Result<> write_structure(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Reads exactly `bytes.size()` bytes; those past the end of the file read as 0.
  Result<> read(std::uint64_t offset, std::span<std::byte> bytes);

  Result<std::uint64_t> size_bytes() const;
  /// The same without room that this writer gave the file and that nothing was written in.
  [[nodiscard]] std::uint64_t used_bytes() const;
  Result<> truncate(std::uint64_t size_bytes);
  /// Makes durable what was written (fsync).
  Result<> sync();
  /// Bytes that the file system still has for us; nothing when it does not say.
  [[nodiscard]] std::optional<std::uint64_t> free_bytes() const;

  /// Whether large pieces go by O_DIRECT.
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
  Descriptor through_descriptor_;  ///< where it is open, buffered bytes go by it
  std::unique_ptr<FileChecksum> checksum_;
  SideSum side_sum_;
  Mutex direct_turn_;  ///< one direct write of a file at a time: see write_direct
  Mutex growth_;
  bool grows_ AFTERBAY_GUARDED_BY(growth_) = false;             ///< it is worth giving the file room
  std::uint64_t given_bytes_ AFTERBAY_GUARDED_BY(growth_) = 0;  ///< as its last room
  std::atomic<std::uint64_t> written_end_{0};
  std::atomic<std::uint64_t> room_bytes_{0};  ///< direct writes up to here need take no turns
  std::atomic<bool> direct_{false};
};

}  // namespace afterbay::storage
