// SPDX-License-Identifier: Apache-2.0
// PartFile: an artifact that is one file. Claims `path.part`, and renames it when it is complete.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "storage/artifact.hpp"

namespace afterbay::storage {

class PartFile final : public Artifact {
 public:
  /// Fails with exists (Existing::refuse and the final name is taken; or a directory has one of the
  /// names), conflict (another writer has it), or the system's error. Missing directories are
  /// created if requested. An older part file is removed. `striper`, if it applies, creates the new
  /// file before it is opened. `readable`: HDF5 of other processes may open it for reading
  /// meanwhile.
  static Result<PartFile> claim(const std::string& path, Existing existing, bool make_directories,
                                std::shared_ptr<Disk> disk, Striper* striper = nullptr,
                                bool readable = false);
  /// Takes the lock of a part file that has no writer any more; without locks, the result holds the
  /// file instead. Fails with conflict if the file has a writer.
  static Result<std::optional<OwnerFile>> lock(int descriptor, const std::string& part_path);

  /// Prevents other processes from opening the file with a lock, as HDF5 does, as long as the
  /// result exists; nullopt if a process has it open in this way.
  [[nodiscard]] Result<std::optional<Descriptor>> keep_readers_out() const;

  /// Copies the contents of the file under the final name to the part file (with shared blocks if
  /// the file system supports it).
  Result<> copy_existing();

  void start_write_back() noexcept override;
  Result<> make_durable(const Published& published) override;
  /// The open file gets the final name, and no other.
  Result<> take_name() override;
  /// Removes the epoch logs.
  void end_publication() noexcept override;
  /// Truncates the file and removes its name and its epoch logs, if they still belong to it. May be
  /// called after `close`.
  void give_back_space() const noexcept;
  /// Removes the part file (unless another file has its name), closes it and releases the lock: for
  /// files that were never begun.
  void discard() noexcept;

 private:
  Result<> open_and_lock(Striper* striper);
  Result<> lock_opened();
  [[nodiscard]] Result<> check_replaceable() const;

  bool readable_ = false;
};

}  // namespace afterbay::storage
