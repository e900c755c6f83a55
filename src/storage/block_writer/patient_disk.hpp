// SPDX-License-Identifier: Apache-2.0
// PatientDisk: a disk whose calls wait for space on a full disk, as long as a SpacePatience allows
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "storage/block_writer/disk.hpp"

namespace afterbay::storage {

/// A call that failed because there is no space.
struct SpaceWait {
  std::string path;            ///< path of the file, or of its directory
  int number = 0;              ///< ENOSPC or EDQUOT
  std::uint64_t since_ns = 0;  ///< time of the first failure, by SpacePatience::now_ns
};

/// Decides how long to wait. Called by several threads concurrently, which may hold locks of the
/// storage layer.
class SpacePatience {
 public:
  virtual ~SpacePatience() = default;
  [[nodiscard]] virtual std::uint64_t now_ns() const = 0;
  /// Blocks until another attempt is useful, and returns true; false: the call must fail.
  virtual bool wait_for_space(const SpaceWait& call) = 0;
  /// The call no longer waits: it succeeded, failed for another reason, or was told to fail.
  virtual void waited_for_space(const SpaceWait& call, bool succeeded) = 0;
  /// Whether the remaining writes are useless: then such calls fail at once, with ECANCELED.
  [[nodiscard]] virtual bool is_cut_off() const noexcept = 0;
};

/// Repeats calls that create or extend files. After a partial call it repeats the rest. It does not
/// repeat fsync: after a failed write-back the kernel may have dropped the data, and report success
/// at the next call.
class PatientDisk : public Disk {
 public:
  /// `patience` must outlive the disk.
  PatientDisk(std::shared_ptr<Disk> disk, SpacePatience& patience)
      : disk_(std::move(disk)), patience_(patience) {}

  /// The same patience on another disk.
  [[nodiscard]] std::shared_ptr<PatientDisk> on(std::shared_ptr<Disk> disk) const {
    return std::make_shared<PatientDisk>(std::move(disk), patience_);
  }

  int open(const char* path, int flags, mode_t mode) override;
  ssize_t write(int descriptor, const std::byte* bytes, std::size_t count, off_t offset) override;
  ssize_t read(int descriptor, std::byte* bytes, std::size_t count, off_t offset) override;
  int sync(int descriptor) override;
  int truncate(int descriptor, off_t length) override;
  int rename(const char* from, const char* to, bool replace) override;
  int exchange(const char* a, const char* b) override;
  int make_directory(const char* path) override;
  int open_at(int directory, const char* name, int flags, mode_t mode) override;
  int make_directory_at(int directory, const char* name) override;
  int link(int descriptor, const char* to) override;
  int start_write_back(int descriptor, off_t offset, off_t count) override;
  int make_directories(const char* path) override;
  int copy(int from, int to) override;
  int allocate(int descriptor, off_t offset, off_t length) override;
  bool writes_side_by_side(const char* path) override;
  bool shares_pages(const char* path) override;
  std::int64_t free_bytes(int descriptor) override;

 private:
  template <class Call, class Path>
  auto patiently(Call call, Path path);

  std::shared_ptr<Disk> disk_;
  SpacePatience& patience_;
};

}  // namespace afterbay::storage
