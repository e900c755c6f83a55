// SPDX-License-Identifier: Apache-2.0
#include "storage/artifact.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "storage/block_writer/final_name.hpp"
#include "storage/block_writer/system_error.hpp"

namespace afterbay::storage {
namespace {

std::string directory_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

Error exists_error(const std::string& path) {
  return make_error(
             ErrorCode::exists,
             "{} exists already: remove it, choose another name, or declare it as replaced or appended to",
             path)
      .with_native(EEXIST)
      .in_file(path);
}

/// Bytes beyond the end of every file. Programs that read a part file lock the whole file (HDF5
/// uses flock), and must not meet these locks.
constexpr off_t writer_byte = off_t{1} << 62;
constexpr off_t members_byte = writer_byte + 1;

int lock_byte(int descriptor, off_t byte, short type) noexcept {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  int number = 0;
  do number = ::fcntl(descriptor, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
  while (number == EINTR);
  return number == EACCES || number == EAGAIN ? EWOULDBLOCK : number;
}

std::string owner_path(const std::string& part_path) { return part_path + ".owner"; }

}  // namespace

bool path_exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

int lock_writer(int descriptor) noexcept { return lock_byte(descriptor, writer_byte, F_WRLCK); }

/// On NFS the lock of the whole file that keeps readers out of a part (flock) is one of all bytes:
/// then this lock cannot be had, and the members go on without.
int lock_member(int descriptor) noexcept {
  const int number = lock_byte(descriptor, members_byte, F_RDLCK);
  if (number != EWOULDBLOCK) return number;
  struct flock found {};
  found.l_type = F_RDLCK;
  found.l_whence = SEEK_SET;
  found.l_start = members_byte;
  found.l_len = 1;
  const bool asked = ::fcntl(descriptor, F_OFD_GETLK, &found) == 0;
  const bool by_recovery =
      asked && found.l_type != F_UNLCK && found.l_start == members_byte && found.l_len == 1;
  return by_recovery ? EWOULDBLOCK : 0;
}

int lock_out_members(int descriptor) noexcept { return lock_byte(descriptor, members_byte, F_WRLCK); }

bool has_no_locks(int number) noexcept {
  return number == ENOSYS || number == ENOLCK || number == EOPNOTSUPP || number == EINVAL;
}

Result<std::optional<OwnerFile>> own_part(int number, const std::string& part_path) {
  const std::string name = owner_path(part_path);
  struct stat status {};
  if (number == 0 && ::lstat(name.c_str(), &status) != 0) return std::nullopt;
  auto owner = OwnerFile::claim(name);
  if (!owner) return fail(std::move(owner).error().add("claiming " + part_path));
  return std::optional<OwnerFile>(*std::move(owner));
}

std::string Artifact::directory() const { return directory_of(path_); }

void Artifact::close() noexcept {
  if (descriptor_.open()) closed_ = identity_of_part(descriptor_.get());
  descriptor_.reset();
  owner_.reset();
}

Result<> Artifact::begin_claim(const std::string& path, Existing existing, bool make_directories,
                               std::shared_ptr<Disk> disk) {
  path_ = path;
  part_path_ = storage::part_path(path);
  existing_ = existing;
  disk_ = disk ? std::move(disk) : Disk::real();
  if (make_directories) {
    if (disk_->make_directories(directory_of(path).c_str()) != 0)
      return fail(system_error(errno, "create the directory of", path));
  }
  if (existing == Existing::refuse && path_exists(path)) return fail(exists_error(path));
  return {};
}

Result<> Artifact::end_claim() {
  replaces_ = path_exists(path_);
  if (existing_ == Existing::refuse && replaces_) return fail(exists_error(path_));
  return {};
}

Result<> Artifact::claim_owner(int number) {
  if (!owner_) {
    AFTERBAY_TRY_ASSIGN(owner_, own_part(number, part_path_));
  }
  return {};
}

Result<> Artifact::check_lock(int number) const {
  if (number == EWOULDBLOCK)
    return fail(
        make_error(ErrorCode::conflict,
                   "{} is being written by another writer, in this process or another: give the files "
                   "different names, or wait until that run has ended",
                   part_path_)
            .with_native(EWOULDBLOCK)
            .in_file(path_));
  if (number != 0 && !has_no_locks(number)) return fail(system_error(number, "lock", part_path_));
  return {};
}

Error Artifact::lost_name(const char* found) const {
  return make_error(ErrorCode::conflict,
                    "{} {}: it is not published; does another run write files of the same name, or does "
                    "somebody clean up in this directory?",
                    part_path_, found)
      .in_file(path_);
}

Result<> Artifact::check_name() const {
  if (owner_ && !owner_->still_ours())
    return fail(lost_name("was taken over by another writer, which found no sign of life of this one"));
  if (has_name(descriptor_.get(), part_path_)) return {};
  if (!path_exists(directory())) return fail(system_error(ENOENT, "find the directory of", part_path_));
  return fail(lost_name("was removed, renamed or replaced while it was written"));
}

Result<> sync_directory(Disk& disk, int descriptor, const std::string& name) {
  // Some network file systems do not support fsync on directories; their renames are durable at
  // once.
  if (disk.sync(descriptor) != 0 && errno != EINVAL && errno != EROFS)
    return fail(system_error(errno, "make durable the directory", name));
  return {};
}

Result<> sync_directory_of(Disk& disk, const std::string& path) {
  const std::string name = directory_of(path);
  const Descriptor opened(disk.open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  if (!opened.open()) return fail(system_error(errno, "open the directory", name).in_file(path));
  return sync_directory(disk, opened.get(), name);
}

void set_files(Published& published, std::vector<ArtifactFile> files) {
  std::ranges::sort(files, {}, &ArtifactFile::name);
  published.size_bytes = bytes_of(files);
  published.checksum = checksum_of(files);
  published.files = std::move(files);
}

}  // namespace afterbay::storage
