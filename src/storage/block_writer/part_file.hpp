// SPDX-License-Identifier: Apache-2.0
// PartFile: the exclusive right to write one file. Claims `path.part`, and renames it when it is
// complete.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/owner_file.hpp"
#include "base/result.hpp"
#include "storage/block_writer/disk.hpp"
#include "storage/epoch/part_identity.hpp"
#include "storage/store.hpp"

namespace afterbay::storage {

/// Holds `path.part` open, empty and locked, so that no two writers, in this process or another,
/// write the same file. The lock ends with its owner: a file that a killed run left behind is
/// replaced and never blocks a new run. If the file system has no locks, `path.part.owner`
/// identifies the writer (OwnerFile).
class PartFile {
 public:
  /// Fails with exists (Existing::refuse and the final name is taken), conflict (another writer has
  /// it), or the system's error. Missing directories are created if requested. An older part file
  /// is removed. `striper`, if it applies, creates the new file before it is opened. `readable`:
  /// HDF5 of other processes may open it for reading meanwhile.
  static Result<PartFile> claim(const std::string& path, Existing existing, bool make_directories,
                                std::shared_ptr<Disk> disk, Striper* striper = nullptr,
                                bool readable = false);
  /// Takes the lock of a part file that has no writer any more; without locks, the result holds the
  /// file instead. Fails with conflict if the file has a writer.
  static Result<std::optional<OwnerFile>> lock(int descriptor, const std::string& part_path);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& part_path() const noexcept { return part_path_; }
  [[nodiscard]] std::string directory() const;
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
  [[nodiscard]] const std::shared_ptr<Disk>& shared_disk() const noexcept { return disk_; }
  /// Whether a file with the final name existed when this one was claimed.
  [[nodiscard]] bool replaces() const noexcept { return replaces_; }

  /// Prevents other processes from opening the file with a lock, as HDF5 does, as long as the
  /// result exists; nullopt if a process has it open in this way.
  [[nodiscard]] Result<std::optional<Descriptor>> keep_readers_out() const;

  /// Copies the contents of the file under the final name to the part file (with shared blocks if
  /// the file system supports it).
  Result<> copy_existing();

  // The steps of publication, in this order (storage/publication.hpp). Only this file gets the
  // name: the steps fail with conflict if its part name was removed, or belongs to another file.
  /// Starts write-back of the file without waiting.
  void start_write_back() noexcept;
  /// fsync of the file.
  Result<> make_durable();
  /// Replaces the part name by the final name, which is durable once the directory is.
  Result<> take_name();
  /// The name is durable: removes the epoch logs, which are no longer needed, and closes.
  void end_publication() noexcept;
  /// Closes the file and releases the lock; the part file is kept.
  void close() noexcept;
  /// Truncates the file and removes its name and its epoch logs, if they still belong to it. May be
  /// called after `close`.
  void give_back_space() const noexcept;
  /// Removes the part file (unless another file has its name), closes it and releases the lock: for
  /// files that were never begun.
  void discard() noexcept;

 private:
  Result<> open_and_lock(Striper* striper);
  Result<> lock_opened();
  [[nodiscard]] Result<> check_name() const;
  [[nodiscard]] Error lost_name(const char* found) const;

  std::string path_;
  std::string part_path_;
  Existing existing_ = Existing::refuse;
  bool readable_ = false;
  bool replaces_ = false;
  std::shared_ptr<Disk> disk_;
  Descriptor descriptor_;
  std::optional<OwnerFile> owner_;  ///< used if there are no locks
  PartIdentity closed_;             ///< identity of the file, once it is closed
};

/// Makes the name of a file durable: fsync of its directory.
Result<> sync_directory_of(Disk& disk, const std::string& path);

}  // namespace afterbay::storage
