// SPDX-License-Identifier: Apache-2.0
// PartDirectory: an artifact that is a directory. Claims the directory `path.part` with the lock of
// the empty file `path.part.lock`. A store creates files in it, and it is renamed when they are
// complete. See design/0062-artifacts.md.
#pragma once

#include <memory>
#include <string>

#include "storage/artifact.hpp"

namespace afterbay::storage {

/// Directories that this class makes have a mark (mark_part, storage/epoch/part_identity.hpp).
/// Directories without it, of users or on file systems without extended attributes, are never
/// replaced or removed, except for an empty one with the part name.
class PartDirectory final : public Artifact {
 public:
  /// Fails like PartFile::claim. An older part directory is removed, when everything else has been
  /// checked. If the final name is to be replaced, also fails with bad_state if the file system
  /// cannot do it atomically, and with exists if the name belongs to something else than a
  /// directory with a mark; the same for the part name. Nothing can be appended to an existing
  /// directory, and none is readable while it is written: bad_state.
  static Result<PartDirectory> claim(const FileRequest& request);

  /// The present path of a file of the directory.
  [[nodiscard]] std::string file_path(const std::string& name) const { return part_path_ + "/" + name; }
  /// Creates a file, open for reading and writing, and the missing directories of its name
  /// ("values/0"), in this directory even if it was renamed. Fails with exists if there is one, and
  /// with invalid_argument if the name leads out of the directory. Any thread. The store may close
  /// it at any time after its last write: a failure of write-back that no call reported is reported
  /// when the directory is made durable.
  [[nodiscard]] Result<Descriptor> create_file(const std::string& name) const;

  /// The store's files write back by themselves: BlockWriter starts it with each write.
  void start_write_back() noexcept override {}
  /// fsync of all files and directories. Fails with conflict if the files are not those of
  /// `published`, by name and size, and with internal if it has no list.
  Result<> make_durable(const Published& published) override;
  /// An older directory of the final name is swapped with this one, and keeps the part name until
  /// the new name is durable.
  Result<> take_name() override;
  /// Removes the epoch logs. An older directory keeps the part name, and this object its lock.
  void end_publication() noexcept override;
  /// Removes the older directory, and releases the lock.
  Result<> remove_replaced() override;
  void close() noexcept override;
  /// Removes the directory and everything in it, if it still has the part name. Any thread, also
  /// after `close`; files that are created meanwhile are lost, or are left for the next writer.
  void give_back_space() const noexcept;
  /// The same, and closes: for artifacts that were never begun.
  void discard() noexcept;

 private:
  [[nodiscard]] std::string lock_path() const { return part_path_ + ".lock"; }
  Result<> take_lock();
  Result<> make_directory();
  Result<> remove_left() const;
  [[nodiscard]] Result<> check_replaceable() const;
  [[nodiscard]] Result<> try_exchange() const;
  [[nodiscard]] Result<Descriptor> open_older() const;
  [[nodiscard]] Result<> check_final_name() const;
  [[nodiscard]] Result<> sync_entry(const std::string& name, int flags) const;
  [[nodiscard]] Error cannot_exchange(int number) const;
  [[nodiscard]] Error made_too_often(const std::string& name) const;

  Descriptor lock_;   ///< `path.part.lock`; directories cannot be locked across nodes
  Descriptor older_;  ///< the replaced directory, while it has the part name
};

}  // namespace afterbay::storage
