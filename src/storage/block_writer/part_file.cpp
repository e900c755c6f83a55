// SPDX-License-Identifier: Apache-2.0
#include "storage/block_writer/part_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "storage/block_writer/final_name.hpp"
#include "storage/block_writer/system_error.hpp"
#include "storage/epoch/epoch_log.hpp"
#include "storage/epoch/part_identity.hpp"

namespace afterbay::storage {
namespace {

bool path_exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

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

bool is_regular(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

/// The error for an existing part file; `number` 0: it is not a regular file.
Error open_error(int number, const std::string& part_path) {
  if (number != 0 && number != ELOOP) return system_error(number, "create", part_path);
  return make_error(ErrorCode::io,
                    "{} is {}: a part file is never a link; who else writes to this directory? Remove it",
                    part_path, number == ELOOP ? "a symbolic link" : "not a regular file")
      .with_native(number)
      .in_file(part_path);
}

/// Whether the file is not new: another writer wrote to it.
bool left_behind(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && status.st_size > 0;
}

/// A byte beyond the end of every file. Programs that read a part file lock the whole file (HDF5
/// uses flock), and must not meet this lock.
constexpr off_t lock_byte = off_t{1} << 62;

/// Returns 0 or errno; EWOULDBLOCK if another writer has the lock. The lock ends with the open
/// file, also if the process is killed.
int lock_writer(int descriptor) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = lock_byte;
  lock.l_len = 1;
  int number = 0;
  do number = ::fcntl(descriptor, F_OFD_SETLK, &lock) == 0 ? 0 : errno;
  while (number == EINTR);
  return number == EACCES || number == EAGAIN ? EWOULDBLOCK : number;
}

int lock_whole(int descriptor) {
  int number = 0;
  do number = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  while (number == EINTR);
  return number;
}

bool has_no_locks(int number) {
  return number == ENOSYS || number == ENOLCK || number == EOPNOTSUPP || number == EINVAL;
}

std::string owner_path(const std::string& part_path) { return part_path + ".owner"; }

/// After `lock_writer` returned `number`: the owner file for other writers that have no locks on
/// this file system, or nullopt. Nodes may have mounted it differently.
Result<std::optional<OwnerFile>> own(int number, const std::string& part_path) {
  const std::string name = owner_path(part_path);
  struct stat status {};
  if (number == 0 && ::lstat(name.c_str(), &status) != 0) return std::nullopt;
  auto owner = OwnerFile::claim(name);
  if (!owner) return fail(std::move(owner).error().add("claiming " + part_path));
  return std::optional<OwnerFile>(*std::move(owner));
}

}  // namespace

Result<PartFile> PartFile::claim(const std::string& path, Existing existing, bool make_directories,
                                 std::shared_ptr<Disk> disk, Striper* striper, bool readable) {
  PartFile file;
  file.readable_ = readable;
  file.path_ = path;
  file.part_path_ = storage::part_path(path);
  file.existing_ = existing;
  file.disk_ = disk ? std::move(disk) : Disk::real();
  if (make_directories) {
    if (file.disk_->make_directories(directory_of(path).c_str()) != 0)
      return fail(system_error(errno, "create the directory of", path));
  }
  if (existing == Existing::refuse && path_exists(path)) return fail(exists_error(path));
  if (striper != nullptr && !striper->begin(directory_of(path))) striper = nullptr;
  AFTERBAY_TRY(file.open_and_lock(striper));
  file.replaces_ = path_exists(path);
  // Only now, with the lock, is the answer final for all writers that follow this protocol.
  if (existing == Existing::refuse && file.replaces_) {
    file.discard();
    return fail(exists_error(path));
  }
  return file;
}

Result<> PartFile::open_and_lock(Striper* striper) {
  constexpr int attempts = 16;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (striper != nullptr && !striper->created() && !path_exists(part_path_)) striper->create(part_path_);
    constexpr int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    descriptor_ = Descriptor(disk_->open(part_path_.c_str(), flags | O_CREAT | O_EXCL, 0666));
    const bool made = descriptor_.open();
    if (!made && errno == EEXIST) {
      descriptor_ = Descriptor(disk_->open(part_path_.c_str(), flags, 0));
      if (!descriptor_.open() && errno == ENOENT) continue;  // it was removed meanwhile
    }
    if (!descriptor_.open()) return fail(open_error(errno, part_path_));
    if (!is_regular(descriptor_.get())) return fail(open_error(0, part_path_));
    if (auto locked = lock_opened(); !locked) {
      const bool ours = made || (striper != nullptr && striper->created() && !left_behind(descriptor_.get()));
      if (ours) remove_name(descriptor_.get(), part_path_);
      return locked;
    }
    // It was published or removed after it was opened.
    if (!has_name(descriptor_.get(), part_path_)) continue;
    const bool left = left_behind(descriptor_.get());
    AFTERBAY_TRY(remove_stale_epoch_logs(*disk_, part_path_, left));
    if (made || (!left && striper != nullptr && striper->created())) return {};
    // The file was left behind by a killed run, or made by others, and is now owned by this writer.
    // It is not truncated but removed: servers of that run that shared it and have not noticed its
    // end may still write to it, and its stripes cannot be changed.
    if (::unlink(part_path_.c_str()) != 0 && errno != ENOENT)
      return fail(system_error(errno, "remove the older", part_path_));
  }
  return fail(make_error(ErrorCode::conflict,
                         "{} is renamed or removed by others as fast as it is made: stop them", part_path_)
                  .in_file(path_));
}

Result<> PartFile::lock_opened() {
  int number = lock_writer(descriptor_.get());
  if (number == 0 || has_no_locks(number)) {
    if (!owner_) {
      AFTERBAY_TRY_ASSIGN(owner_, own(number, part_path_));
    }
    // No reader may open it as a complete file.
    number = readable_ ? 0 : lock_whole(descriptor_.get());
  }
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

Result<std::optional<OwnerFile>> PartFile::lock(int descriptor, const std::string& part_path) {
  const int number = lock_writer(descriptor);
  if (number == 0 || has_no_locks(number)) return own(number, part_path);
  if (number != EWOULDBLOCK) return fail(system_error(number, "lock", part_path));
  return fail(make_error(ErrorCode::conflict,
                         "{} is still being written: wait until the run has ended, or stop it", part_path)
                  .with_native(EWOULDBLOCK));
}

Result<std::optional<Descriptor>> PartFile::keep_readers_out() const {
  Descriptor turn(disk_->open(part_path_.c_str(), O_RDONLY | O_CLOEXEC, 0));
  if (!turn.open()) return fail(system_error(errno, "open", part_path_));
  if (lock_whole(turn.get()) == EWOULDBLOCK) return std::nullopt;
  return std::optional<Descriptor>(std::move(turn));
}

Result<> PartFile::copy_existing() {
  Descriptor source(disk_->open(path_.c_str(), O_RDONLY | O_CLOEXEC, 0));
  if (!source.open()) return fail(system_error(errno, "read", path_));
  if (disk_->copy(source.get(), descriptor_.get()) != 0)
    return fail(system_error(errno, "copy the existing file to", part_path_));
  return {};
}

std::string PartFile::directory() const { return directory_of(path_); }

void PartFile::discard() noexcept {
  if (descriptor_.open()) remove_name(descriptor_.get(), part_path_);
  close();
}

void PartFile::close() noexcept {
  if (descriptor_.open()) closed_ = identity_of_part(descriptor_.get());
  descriptor_.reset();
  owner_.reset();
}

void PartFile::give_back_space() const noexcept {
  Descriptor again;
  if (!descriptor_.open())
    again = Descriptor(::open(part_path_.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const int file = descriptor_.open() ? descriptor_.get() : again.get();
  const PartIdentity mine = descriptor_.open() ? identity_of_part(file) : closed_;
  if (file >= 0 && has_name(file, part_path_) && identity_of_part(file) == mine) {
    static_cast<void>(!::ftruncate(file, 0));
    ::unlink(part_path_.c_str());
  }
  remove_epoch_logs(part_path_, mine);
}

Error PartFile::lost_name(const char* found) const {
  return make_error(ErrorCode::conflict,
                    "{} {}: it is not published; does another run write files of the same name, or does "
                    "somebody clean up in this directory?",
                    part_path_, found)
      .in_file(path_);
}

Result<> PartFile::check_name() const {
  if (owner_ && !owner_->still_ours())
    return fail(lost_name("was taken over by another writer, which found no sign of life of this one"));
  if (has_name(descriptor_.get(), part_path_)) return {};
  if (!path_exists(directory())) return fail(system_error(ENOENT, "find the directory of", part_path_));
  return fail(lost_name("was removed, renamed or replaced while it was written"));
}

void PartFile::start_write_back() noexcept { disk_->start_write_back(descriptor_.get(), 0, 0); }

Result<> PartFile::make_durable() {
  if (disk_->sync(descriptor_.get()) != 0)
    return fail(system_error(errno, "make durable (fsync)", part_path_));
  return check_name();
}

Result<> PartFile::take_name() {
  AFTERBAY_TRY(check_name());
  AFTERBAY_TRY(give_name(*disk_, descriptor_.get(), part_path_, path_, existing_ != Existing::refuse));
  remove_name(descriptor_.get(), part_path_);
  return {};
}

void PartFile::end_publication() noexcept {
  close();
  remove_epoch_logs(part_path_, closed_);  // another run may have the part name meanwhile
}

Result<> sync_directory_of(Disk& disk, const std::string& path) {
  const std::string name = directory_of(path);
  const Descriptor opened(disk.open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  if (!opened.open()) return fail(system_error(errno, "open the directory", name).in_file(path));
  // Some network file systems do not support fsync on directories; their renames are durable at
  // once.
  if (disk.sync(opened.get()) != 0 && errno != EINVAL && errno != EROFS)
    return fail(system_error(errno, "make durable the directory", name));
  return {};
}

}  // namespace afterbay::storage
