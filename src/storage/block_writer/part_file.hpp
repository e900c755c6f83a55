// SPDX-License-Identifier: Apache-2.0
// PartFile: the right to make one file. Claims `path.part`, and renames it when it is complete.
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

/// Holds `path.part` open, empty and locked, so that no two writers, in this process or
/// another, make the same file. The lock dies with its owner: what a killed run left behind is
/// replaced and never blocks a new run. Where the file system has no locks, `path.part.owner` says who
/// writes the file (OwnerFile).
class PartFile {
 public:
  /// Fails with exists (Existing::refuse and the final name is taken), conflict (another writer
  /// has it), or the system's error. Missing directories are made when asked for.
  /// An older part file is removed. `striper`, if it wants to, makes the new one before it is opened.
  /// `readable`: HDF5 of other processes may open it for reading meanwhile.
  static Result<PartFile> claim(const std::string& path, Existing existing, bool make_directories,
                                std::shared_ptr<Disk> disk, Striper* striper = nullptr,
                                bool readable = false);
  /// Takes the lock of a part file that nobody writes any more; where there are no locks, the result holds it
  /// instead. Fails with conflict when somebody writes it.
  static Result<std::optional<OwnerFile>> lock(int descriptor, const std::string& part_path);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& part_path() const noexcept { return part_path_; }
  [[nodiscard]] std::string directory() const;
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
  [[nodiscard]] const std::shared_ptr<Disk>& shared_disk() const noexcept { return disk_; }
  /// Whether a file of the final name stood there when this one was claimed.
  [[nodiscard]] bool replaces() const noexcept { return replaces_; }

  /// Whether no other process has the file open and locked, as HDF5 does; while the result lives none can
  /// open it so.
  [[nodiscard]] Result<std::optional<Descriptor>> keep_readers_out() const;

  /// Fills the part file with the bytes of the file under the final name (shared, where the file
  /// system can do so).
  Result<> copy_existing();

  // The steps of publication, in this order (storage/publication.hpp). Only this file gets the name: they
  // fail with conflict when its part name has been removed, or is another file's.
  /// Lets the system begin to write the file to the disk, without waiting.
  void start_write_back() noexcept;
  /// fsync of the file.
  Result<> make_durable();
  /// Gives it the final name, which lasts once the directory is durable, instead of the part name.
  Result<> take_name();
  /// The name is durable: removes the logs of epochs, which nobody needs any more, and closes.
  void end_publication() noexcept;
  /// Closes and gives up the lock; the partial file stays.
  void close() noexcept;
  /// Empties the file and removes its name and its logs of epochs, if they are still its own. Also after
  /// `close`.
  void give_back_space() const noexcept;
  /// Removes the partial file (unless another one has its name by now), closes and gives up the lock: for
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
  std::optional<OwnerFile> owner_;  ///< where there are no locks
  PartIdentity closed_;             ///< of the file, once it is closed
};

/// Makes durable that a file has its name: fsync of the directory that it is in.
Result<> sync_directory_of(Disk& disk, const std::string& path);

}  // namespace afterbay::storage
