// SPDX-License-Identifier: Apache-2.0
// EpochLog: a file beside one in the making, with what is needed to bring that one back to its last epoch.
// The format and why it is enough: design/0015-epochs.md.
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

/// Bytes of structure (HDF5's own, or the count of records): in the log only their place in it.
struct LoggedStructure {
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t bytes_at = 0;
  std::uint64_t size_bytes = 0;
};

/// Bytes of a file that is appended to, as they were before the run first wrote over them: every epoch up to
/// then needs them. No two records overlap. In the log only their place in it.
struct LoggedBefore {
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t bytes_at = 0;
  std::uint64_t size_bytes = 0;
};

/// HDF5 gave to data what was structure before: that is not to be written there any more.
struct LoggedData {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};

/// A place in the file that holds no value at the epoch, whatever is written there.
struct LoggedFill {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  std::vector<std::byte> element;  ///< in file order
};

/// A chunk that is written again when it gets more records: as it is at the epoch.
struct LoggedChunk {
  std::uint64_t variable = 0;  ///< its dataset is in LoggedEpoch::datasets
  std::vector<std::uint64_t> first_element;
  std::uint32_t skipped = 0;   ///< filters left out, as in codec::EncodedChunk
  std::uint64_t bytes_at = 0;  ///< in the log, set when read
  std::uint64_t size_bytes = 0;
};

/// The end of what belongs to an epoch. Fills and chunks count for one epoch, structure for all later ones.
struct LoggedEpoch {
  Epoch epoch;
  std::uint64_t cut = 0;         ///< structure that lies behind it in the log is of the next epoch
  std::uint64_t size_bytes = 0;  ///< of the file
  std::uint64_t part_bytes = 0;  ///< of those, in the part file when the epoch completed; set by `commit`
  Format format = Format::netcdf4;
  std::vector<std::string> datasets;        ///< of netCDF-4, by variable
  std::vector<std::uint64_t> with_records;  ///< variables
  std::vector<std::uint64_t> members;       ///< I/O servers whose own logs belong to it
};

class EpochLog {
 public:
  /// `part_path + ".epochs"`, of a member with its number behind.
  static std::string path_of(const std::string& part_path, std::optional<std::uint64_t> member = {});
  /// Begins an empty one, for the part file that is open as `part`, and stays so until the last `commit`. A
  /// log of an older run that has the name is removed. Fails with conflict if the part file has lost its name
  /// and another run's log may be there.
  static Result<std::unique_ptr<EpochLog>> create(const std::string& part_path,
                                                  std::optional<std::uint64_t> member,
                                                  std::shared_ptr<Disk> disk, int part);
  /// One that is complete: to read from.
  static Result<std::unique_ptr<EpochLog>> open(std::string path, std::shared_ptr<Disk> disk);

  // Any thread. Nothing is durable before `commit`.
  /// Gives where in the log the bytes are.
  Result<std::uint64_t> add_structure(std::uint64_t offset, std::span<const std::byte> bytes);
  /// LoggedBefore.
  Result<> add_before(std::uint64_t offset, std::span<const std::byte> bytes);
  Result<> add(const LoggedData& data);
  Result<> add(const LoggedFill& fill);
  Result<> add(const LoggedChunk& chunk, std::span<const std::byte> bytes);
  /// The epoch counts when this returns (fsync; the first time of the directory too). What the file itself
  /// holds must be durable already. Fails with conflict if the part file or the log has lost its name.
  Result<> commit(LoggedEpoch epoch);
  /// Makes durable what was added so far.
  Result<> sync() const;
  Result<> read(std::uint64_t at, std::span<std::byte> bytes) const;
  [[nodiscard]] std::uint64_t end() const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  EpochLog(std::string path, std::shared_ptr<Disk> disk, Descriptor file)
      : path_(std::move(path)), disk_(std::move(disk)), file_(std::move(file)) {}
  /// A record of `head` and, right behind it, `bytes`; gives where the latter are.
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

/// One entry of a log.
struct LoggedRecord {
  std::variant<LoggedStructure, LoggedBefore, LoggedData, LoggedFill, LoggedChunk, LoggedEpoch> what;
  std::uint64_t end = 0;  ///< in the log
};
struct EpochLogContents {
  PartIdentity part;  ///< the file that the log was written for
  std::vector<LoggedRecord> records;
};
/// What a log holds, up to the first record that is torn; the bytes of structure and chunks stay there. Fails
/// with io when it cannot be read, with format when it is no log of this version.
Result<EpochLogContents> read_epoch_log(const std::string& path);

/// Removes the log of the file `of`, and those of its members, if there are any. Logs of another file of that
/// name stay.
void remove_epoch_logs(const std::string& part_path, const PartIdentity& of) noexcept;
/// Removes, durably, what was logged for an older file of that name, before the new one holds anything, and
/// further names of it. The caller has the new one's lock. `part_left`: an older part file was there.
Result<> remove_stale_epoch_logs(Disk& disk, const std::string& part_path, bool part_left);

/// Beside a part file: see RecoveryMark.
std::string recovery_mark_of(const std::string& part_path);
/// Beside a part file: the copy that `recover_file` works on.
std::string recovery_copy_of(const std::string& part_path);

}  // namespace afterbay::storage
