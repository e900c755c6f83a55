// SPDX-License-Identifier: Apache-2.0
// Artifact: what is published at once under one name, a file (PartFile) or a directory
// (PartDirectory), from its claim to its publication. Publication, journal and server use only
// this interface.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/artifact_files.hpp"
#include "base/owner_file.hpp"
#include "base/result.hpp"
#include "storage/block_writer/disk.hpp"
#include "storage/epoch/part_identity.hpp"
#include "storage/store.hpp"

namespace afterbay::storage {

/// An artifact that this process has claimed and is writing as `path.part`. A lock prevents that
/// two writers, in this process or another, write the same artifact. The lock ends with its owner:
/// what a killed run left behind is replaced and never blocks a new run. If the file system has no
/// locks, `path.part.owner` identifies the writer (OwnerFile).
class Artifact {
 public:
  virtual ~Artifact() = default;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& part_path() const noexcept { return part_path_; }
  [[nodiscard]] std::string directory() const;
  [[nodiscard]] int descriptor() const noexcept { return descriptor_.get(); }
  [[nodiscard]] const std::shared_ptr<Disk>& shared_disk() const noexcept { return disk_; }
  /// Whether something with the final name existed when this artifact was claimed.
  [[nodiscard]] bool replaces() const noexcept { return replaces_; }

  // The steps of publication, in this order (storage/publication.hpp). Only this artifact gets the
  // name: the steps fail with conflict if its part name was removed, or belongs to another one.
  /// Starts write-back without waiting.
  virtual void start_write_back() noexcept = 0;
  /// fsync of everything that the artifact contains. `published` is the result of File::finish.
  virtual Result<> make_durable(const Published& published) = 0;
  /// Replaces the part name by the final name, which is durable once the directory is.
  virtual Result<> take_name() = 0;
  /// The name is durable: removes what is no longer needed, and closes; unless that takes long.
  virtual void end_publication() noexcept = 0;
  /// The publication has been recorded: does the rest, the removal of a directory that was
  /// replaced. A failure says what could not be removed, and does not concern this artifact. Once.
  virtual Result<> remove_replaced() { return {}; }
  /// Closes the part and releases the lock; the part is kept.
  virtual void close() noexcept;

 protected:
  Artifact() = default;
  Artifact(Artifact&&) = default;
  Artifact& operator=(Artifact&&) = default;

  /// Fills in the fields and makes the directory of the final name, if requested. Fails with exists
  /// (Existing::refuse and the final name is taken).
  Result<> begin_claim(const std::string& path, Existing existing, bool make_directories,
                       std::shared_ptr<Disk> disk);
  /// Checks again with the lock held: only then is the answer final for all writers that follow
  /// this protocol.
  Result<> end_claim();
  /// After a call that locks the part returned `number` (0 or errno): claims the owner file if one
  /// is needed.
  Result<> claim_owner(int number);
  /// The same: fails with conflict if another writer has the lock.
  [[nodiscard]] Result<> check_lock(int number) const;
  [[nodiscard]] Result<> check_name() const;

  std::string path_;
  std::string part_path_;
  Existing existing_ = Existing::refuse;
  bool replaces_ = false;
  std::shared_ptr<Disk> disk_;
  Descriptor descriptor_;
  std::optional<OwnerFile> owner_;  ///< used if there are no locks
  PartIdentity closed_;             ///< identity of the part, once it is closed

 private:
  [[nodiscard]] Error lost_name(const char* found) const;
};

/// Whether something has the name; links are followed.
bool path_exists(const std::string& path);

/// Locks an open regular file for its writer, without waiting. Returns 0 or errno; EWOULDBLOCK if
/// another writer has the lock. The lock ends with the open file, also if the process is killed,
/// and does not meet the locks of programs that read the file.
int lock_writer(int descriptor) noexcept;
/// The same for one of several members, servers that write a file which another one has created,
/// and for `recover`, which keeps all of them out.
int lock_member(int descriptor) noexcept;
int lock_out_members(int descriptor) noexcept;
/// Whether a call that locks failed because the file system has no locks.
bool has_no_locks(int number) noexcept;
/// After a call that locks a part returned `number`: the owner file for other writers that have no
/// locks on this file system, or nullopt. Nodes may have mounted it differently.
Result<std::optional<OwnerFile>> own_part(int number, const std::string& part_path);

/// Makes the name of a file or directory durable: fsync of its directory.
Result<> sync_directory_of(Disk& disk, const std::string& path);
/// fsync of a directory that may be on a network file system without it; names are durable there at
/// once.
Result<> sync_directory(Disk& disk, int descriptor, const std::string& name);

/// Enters the files of an artifact that is a directory, and what follows from them: its size and,
/// if all files have one, its checksum.
void set_files(Published& published, std::vector<ArtifactFile> files);

}  // namespace afterbay::storage
