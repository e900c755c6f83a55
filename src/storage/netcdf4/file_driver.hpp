// SPDX-License-Identifier: Apache-2.0
// FileDriver: HDF5 reads and writes a file through our block writer, and tells us where data go
// instead of writing them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "storage/block_writer/block_writer.hpp"
#include "storage/epoch/epoch_log.hpp"
#include "storage/epoch/withheld_structure.hpp"
#include "storage/netcdf4/hdf5.hpp"

namespace afterbay::storage {

struct DriverFile;

/// What one open HDF5 file is connected to. Used only under a LibraryLock, and at the same address
/// as long as the HDF5 file is open.
class FileDriver {
 public:
  explicit FileDriver(BlockWriter& writer) : writer_(writer), first_bytes_(writer.size_bytes().value_or(0)) {}
  FileDriver(const FileDriver&) = delete;
  FileDriver& operator=(const FileDriver&) = delete;
  /// What HDF5 still has open of the file reads nothing any more, and writes to nowhere.
  ~FileDriver();

  /// Asked about each piece of structure that HDF5 reads, as a whole and before HDF5 sees it: with an error
  /// HDF5 fails to read it. Given before the access list, it costs HDF5 one read per piece.
  using StructureCheck = std::function<Result<>(std::uint64_t offset, std::span<const std::byte> bytes)>;
  void check_structure(StructureCheck check) { structure_check_ = std::move(check); }
  /// A file access list for H5Fopen. Data of 64 KiB and more are placed on pages.
  Result<Hdf5Id> access_list();

  /// While it lives, raw data that HDF5 writes from `bytes`, or reads into them, are neither written nor
  /// read: only their place in the file is noted. So HDF5 allocates, indexes and finds, and the bytes
  /// themselves, never touched here, go by the block writer without the library lock.
  class Capture {
   public:
    Capture(FileDriver& driver, std::span<const std::byte> bytes) : driver_(driver), bytes_(bytes) {
      driver_.capture_ = this;
    }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;
    ~Capture() { driver_.capture_ = nullptr; }
    /// Offset in the file of the first byte; nothing when HDF5 wrote or read none of them.
    [[nodiscard]] std::optional<std::uint64_t> offset() const noexcept { return offset_; }

   private:
    friend class FileDriver;
    bool take(std::uint64_t offset, std::span<const std::byte> moved);

    FileDriver& driver_;
    std::span<const std::byte> bytes_;
    std::optional<std::uint64_t> offset_;
  };

  /// The file holds structure there that HDF5 did not write itself.
  void note_structure(std::uint64_t offset, std::uint64_t size_bytes) {
    written_.add(offset, size_bytes);
    known_.add(offset, size_bytes);
  }
  /// From now on what HDF5 writes goes to the log, and the file keeps what it has, until `settle`. Begins
  /// with all that was written so far, which HDF5 must have flushed. `log` outlives this.
  Result<> begin_log(EpochLog& log);
  [[nodiscard]] bool logs() const noexcept { return log_ != nullptr; }
  /// Data will be written there by others: logs what a file that is appended to held there, if an epoch
  /// needs it.
  Result<> keep_before(std::uint64_t offset, std::uint64_t size_bytes) {
    return log_before(offset, size_bytes, true);
  }
  /// Writes to the file what lies before `cut` in the log.
  Result<> settle(std::uint64_t cut);
  /// Writes all of it; from now on what HDF5 writes goes to the file.
  Result<> end_log();

  /// The failure of a read or write that HDF5 asked for, if there was one, else HDF5's own error.
  Error error(const std::string& doing);
  /// Whether all that HDF5 wrote is written. HDF5 itself never hears of a failed write: it would keep
  /// the file open for ever and come back to it when the process ends.
  Result<> check(const std::string& doing) const;
  /// Whether there was an error: of a damaged file HDF5 may then hold what it crashes with when it closes it.
  [[nodiscard]] bool failed() const noexcept { return failed_; }

  // Called by HDF5 (through file_driver.cpp).
  void opened(DriverFile* file) { files_.push_back(file); }
  void closed(DriverFile* file) { std::erase(files_, file); }
  void write(bool raw, std::uint64_t offset, std::span<const std::byte> bytes);
  bool read(bool raw, std::uint64_t offset, std::span<std::byte> bytes);
  void truncate();
  [[nodiscard]] std::uint64_t size_bytes() const;
  [[nodiscard]] bool checks_structure() const noexcept { return static_cast<bool>(structure_check_); }
  std::uint64_t end_of_allocation = 0;

 private:
  bool note(Result<> result);
  void note_data(std::uint64_t offset, std::uint64_t size_bytes);
  Result<> log_before(std::uint64_t offset, std::uint64_t size_bytes, bool by_data);
  [[nodiscard]] ReadLog read_log() const;

  BlockWriter& writer_;
  StructureCheck structure_check_;
  Capture* capture_ = nullptr;
  std::uint64_t first_bytes_;  ///< size of the file when HDF5 opened it
  ByteRanges written_;         ///< structure, ever
  ByteRanges known_;           ///< what the file held there first is in the log, or no epoch needs it
  EpochLog* log_ = nullptr;
  WithheldStructure withheld_;
  std::optional<Error> failure_;
  bool failed_ = false;
  std::vector<DriverFile*> files_;  ///< that HDF5 has open
};

}  // namespace afterbay::storage
