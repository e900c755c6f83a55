// SPDX-License-Identifier: Apache-2.0
// EpochLog: a file beside a part file, with the data that are needed to recover the part file's
// last epoch. For the format and why it suffices, see design/0015-epochs.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "base/thread_safety.hpp"
#include "model/format.hpp"
#include "storage/block_writer/disk.hpp"
#include "storage/epoch/epoch.hpp"
#include "storage/epoch/part_identity.hpp"

namespace afterbay::storage {

/// Bytes of structure (HDF5's own, or the number of records). Here only their position in the log.
struct LoggedStructure {
  std::uint64_t offset = 0;  ///< offset in the file
  std::uint64_t bytes_at = 0;
  std::uint64_t size_bytes = 0;
};

/// Bytes of a file that is appended to, before the run first overwrote them: every epoch up to then
/// needs them. Records are disjoint. Here only their position in the log.
struct LoggedBefore {
  std::uint64_t offset = 0;  ///< offset in the file
  std::uint64_t bytes_at = 0;
  std::uint64_t size_bytes = 0;
};

/// HDF5 assigned former space of structure to data: structure must not be written there any more.
struct LoggedData {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};

/// A range of the file that holds no value at the epoch, whatever is written there.
struct LoggedFill {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::vector<std::byte> element;  ///< in the byte order of the file
};

/// The state at the epoch of a chunk that is written again when it gets more records; or, for a
/// format of messages, a message of this and all later epochs.
struct LoggedChunk {
  std::uint64_t variable = 0;  ///< index into LoggedEpoch::datasets
  /// For a message: its record (2^64 - 1: none) and its number in the record, see MessageKey.
  std::vector<std::uint64_t> first_element;
  std::uint32_t skipped = 0;   ///< skipped filters, as in codec::EncodedChunk
  std::uint64_t bytes_at = 0;  ///< position in the log, set when it is read
  std::uint64_t size_bytes = 0;
};

/// The end of an epoch's records. Fills and chunks apply to one epoch, structure to all later ones.
struct LoggedEpoch {
  Epoch epoch;
  /// Structure after this position in the log belongs to the next epoch.
  std::uint64_t cut = 0;
  /// Size of the file; of a file of messages the part of it that contains all messages of the epoch
  /// before a key and no others.
  std::uint64_t size_bytes = 0;
  /// Size of the part file when the epoch completed; set by `commit`.
  std::uint64_t part_bytes = 0;
  Format format{};
  std::vector<std::string> datasets;        ///< for netCDF-4, by variable
  std::vector<std::uint64_t> with_records;  ///< indices of variables; for formats of messages that key
  std::vector<std::uint64_t> members;       ///< I/O servers whose own logs are part of it
};

class EpochLog {
 public:
  /// `part_path + ".epochs"`, for a member with its number appended.
  static std::string path_of(const std::string& part_path, std::optional<std::uint64_t> member = {});
  /// Begins an empty log for the part file that is open as `part`, and must remain open until the
  /// last `commit`. An older run's log with the name is removed. Fails with conflict if the part
  /// file has lost its name and another run's log may exist.
  static Result<std::unique_ptr<EpochLog>> create(const std::string& part_path,
                                                  std::optional<std::uint64_t> member,
                                                  std::shared_ptr<Disk> disk, int part);
  /// Opens a complete log for reading.
  static Result<std::unique_ptr<EpochLog>> open(std::string path, std::shared_ptr<Disk> disk);

  // Any thread. Nothing is durable before `commit`.
  /// Returns the position of the bytes in the log.
  Result<std::uint64_t> add_structure(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Adds a LoggedBefore.
  Result<> add_before(std::uint64_t offset, std::span<const std::byte> bytes);
  Result<> add(const LoggedData& data);
  Result<> add(const LoggedFill& fill);
  Result<> add(const LoggedChunk& chunk, std::span<const std::byte> bytes);
  /// The epoch is complete when this returns (fsync; the first time also of the directory). The
  /// data in the file itself must already be durable. Fails with conflict if the part file or the
  /// log has lost its name.
  Result<> commit(LoggedEpoch epoch);
  /// Makes durable everything that was added so far.
  Result<> sync() const;
  Result<> read(std::uint64_t at, std::span<std::byte> bytes) const;
  [[nodiscard]] std::uint64_t end() const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  EpochLog(std::string path, std::shared_ptr<Disk> disk, Descriptor file)
      : path_(std::move(path)), disk_(std::move(disk)), file_(std::move(file)) {}
  /// Appends a record of `head` followed by `bytes`, and returns the position of `bytes`.
  Result<std::uint64_t> append(std::uint32_t kind, std::span<const std::byte> head,
                               std::span<const std::byte> bytes);
  Result<> write(std::span<const std::byte> bytes, std::uint64_t at) const;

  std::string path_;
  std::shared_ptr<Disk> disk_;
  Descriptor file_;
  std::string part_path_;
  int part_ = -1;
  mutable Mutex mutex_;
  std::uint64_t end_ AFTERBAY_GUARDED_BY(mutex_) = 0;
  bool named_durably_ = false;
};

/// One record of a log.
struct LoggedRecord {
  std::variant<LoggedStructure, LoggedBefore, LoggedData, LoggedFill, LoggedChunk, LoggedEpoch> what;
  std::uint64_t end = 0;  ///< end position in the log
};
struct EpochLogContents {
  PartIdentity part;  ///< the file to which the log belongs
  std::vector<LoggedRecord> records;
};
/// Reads the records of a log up to the first incomplete one; the bytes of structure and chunks are
/// not read. Fails with io if the log cannot be read, with format if it is not a log of this
/// version.
Result<EpochLogContents> read_epoch_log(const std::string& path);

/// Removes the log of the file `of`, and the logs of its members, if any. Logs of another file with
/// that name are kept.
void remove_epoch_logs(const std::string& part_path, const PartIdentity& of) noexcept;
/// Removes, durably, the logs of an older file with that name before the new one contains any data,
/// and additional names of the older file. The caller has the new one's lock. `part_left`: an older
/// part file existed.
Result<> remove_stale_epoch_logs(Disk& disk, const std::string& part_path, bool part_left);

/// A file beside a part file: see RecoveryMark.
std::string recovery_mark_of(const std::string& part_path);
/// A file beside a part file: the copy that `recover_file` uses.
std::string recovery_copy_of(const std::string& part_path);

}  // namespace afterbay::storage
