// SPDX-License-Identifier: Apache-2.0
// FileDriver: HDF5 reads and writes a file through our block writer, and reports the positions of
// data instead of writing them.
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

/// The connection of one open HDF5 file. Used only with a LibraryLock. Must not move while the HDF5
/// file is open.
class FileDriver {
 public:
  explicit FileDriver(BlockWriter& writer) : writer_(writer), first_bytes_(writer.size_bytes().value_or(0)) {}
  FileDriver(const FileDriver&) = delete;
  FileDriver& operator=(const FileDriver&) = delete;
  /// Objects of the file that HDF5 still has open can no longer read or write.
  ~FileDriver();

  /// Called for each piece of structure that HDF5 reads, as a whole and before HDF5 gets it; after
  /// an error, HDF5's read fails. Set before the access list, it makes HDF5 use one read per piece.
  using StructureCheck = std::function<Result<>(std::uint64_t offset, std::span<const std::byte> bytes)>;
  void check_structure(StructureCheck check) { structure_check_ = std::move(check); }
  /// A file access list for H5Fopen. Data of at least 64 KiB are placed on page boundaries.
  Result<Hdf5Id> access_list();

  /// While this object exists, raw data that HDF5 writes from `bytes`, or reads into them, are
  /// neither written nor read: only their position in the file is recorded. So HDF5 allocates,
  /// indexes and finds, while the block writer transfers the bytes without the library lock.
  class Capture {
   public:
    Capture(FileDriver& driver, std::span<const std::byte> bytes) : driver_(driver), bytes_(bytes) {
      driver_.capture_ = this;
    }
    Capture(const Capture&) = delete;
    Capture& operator=(const Capture&) = delete;
    ~Capture() { driver_.capture_ = nullptr; }
    /// Offset of the first byte in the file; nullopt if HDF5 wrote or read none of them.
    [[nodiscard]] std::optional<std::uint64_t> offset() const noexcept { return offset_; }

   private:
    friend class FileDriver;
    bool take(std::uint64_t offset, std::span<const std::byte> moved);

    FileDriver& driver_;
    std::span<const std::byte> bytes_;
    std::optional<std::uint64_t> offset_;
  };

  /// The file contains structure there that HDF5 did not write itself.
  void note_structure(std::uint64_t offset, std::uint64_t size_bytes) {
    written_.add(offset, size_bytes);
    known_.add(offset, size_bytes);
  }
  /// From now on, writes of HDF5 go to the log, and the file keeps its contents until `settle`.
  /// Begins with everything that was written so far, which HDF5 must have flushed. `log` must
  /// outlive this object.
  Result<> begin_log(EpochLog& log);
  [[nodiscard]] bool logs() const noexcept { return log_ != nullptr; }
  /// Others will write data there: logs the earlier contents in a file that is appended to, if an
  /// epoch needs them.
  Result<> keep_before(std::uint64_t offset, std::uint64_t size_bytes) {
    return log_before(offset, size_bytes, true);
  }
  /// Writes the structure before position `cut` of the log to the file.
  Result<> settle(std::uint64_t cut);
  /// Writes all structure to the file; from now on, writes of HDF5 go to the file.
  Result<> end_log();

  /// The failure of a read or write that HDF5 requested, if there was one; otherwise HDF5's own
  /// error.
  Error error(const std::string& doing);
  /// Whether everything that HDF5 wrote was written. HDF5 itself is not told about failed writes:
  /// it would keep the file open and access it again at the end of the process.
  Result<> check(const std::string& doing) const;
  /// Whether there was an error: for a damaged file, HDF5 may then hold data with which it crashes
  /// when it closes the file.
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
  ByteRanges written_;         ///< all structure so far
  ByteRanges known_;           ///< the initial contents here are in the log, or no epoch needs them
  EpochLog* log_ = nullptr;
  WithheldStructure withheld_;
  std::optional<Error> failure_;
  bool failed_ = false;
  std::vector<DriverFile*> files_;  ///< files that HDF5 has open
};

}  // namespace afterbay::storage
