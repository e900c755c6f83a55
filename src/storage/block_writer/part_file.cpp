// SPDX-License-Identifier: Apache-2.0
#include "storage/block_writer/part_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/regular_file.hpp"
#include "storage/block_writer/final_name.hpp"
#include "storage/block_writer/system_error.hpp"
#include "storage/epoch/epoch_log.hpp"
#include "storage/epoch/part_identity.hpp"

namespace afterbay::storage {
namespace {

/// The error for a path that is a directory, such as an artifact of another format or what remains
/// of one after its run was killed.
Error is_directory_error(const std::string& path) {
  return make_error(ErrorCode::exists,
                    "{} is a directory, and a file of this name is to be written: remove it, or choose "
                    "another name",
                    path)
      .with_native(EISDIR)
      .in_file(path);
}

Error is_link_error(const std::string& path) {
  return make_error(ErrorCode::exists,
                    "{} is a symbolic link, and a file of this name is to be written: it would replace the "
                    "link, and not what the link names: write to that name, or remove the link",
                    path)
      .with_native(ELOOP)
      .in_file(path);
}

/// It may belong to a run that is alive.
Error part_is_directory_error(const std::string& part_path) {
  return make_error(ErrorCode::exists,
                    "{} is a directory, and a file of this name is to be written: if a run is writing it, "
                    "give the two different names; otherwise remove it",
                    part_path)
      .with_native(EISDIR)
      .in_file(part_path);
}

/// The error for an existing part file; `number` 0: it is not a regular file.
Error open_error(int number, const std::string& part_path) {
  if (number == EISDIR) return part_is_directory_error(part_path);
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

int lock_whole(int descriptor) {
  int number = 0;
  do number = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  while (number == EINTR);
  return number;
}

}  // namespace

Result<PartFile> PartFile::claim(const std::string& path, Existing existing, bool make_directories,
                                 std::shared_ptr<Disk> disk, Striper* striper, bool readable) {
  PartFile file;
  file.readable_ = readable;
  AFTERBAY_TRY(file.begin_claim(path, existing, make_directories, std::move(disk)));
  if (striper != nullptr && !striper->begin(file.directory())) striper = nullptr;
  AFTERBAY_TRY(file.open_and_lock(striper));
  auto ready = file.end_claim();
  if (ready) ready = file.check_replaceable();
  if (!ready) {
    file.discard();
    return fail(std::move(ready).error());
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
    if (!is_regular_file(descriptor_.get())) return fail(open_error(0, part_path_));
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

/// Now, so that no result is lost at the end of a long run.
Result<> PartFile::check_replaceable() const {
  struct stat status {};
  if (::lstat(path_.c_str(), &status) != 0) return {};
  if (S_ISDIR(status.st_mode)) return fail(is_directory_error(path_));
  if (S_ISLNK(status.st_mode)) return fail(is_link_error(path_));
  return {};
}

Result<> PartFile::lock_opened() {
  int number = lock_writer(descriptor_.get());
  if (number == 0 || has_no_locks(number)) {
    AFTERBAY_TRY(claim_owner(number));
    // No reader may open it as a complete file.
    number = readable_ ? 0 : lock_whole(descriptor_.get());
  }
  return check_lock(number);
}

Result<std::optional<OwnerFile>> PartFile::lock(int descriptor, const std::string& part_path) {
  const int number = lock_writer(descriptor);
  if (number == 0 || has_no_locks(number)) return own_part(number, part_path);
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
  struct stat before {};
  struct stat after {};
  if (::fstat(source.get(), &before) != 0) return fail(system_error(errno, "read", path_));
  if (disk_->copy(source.get(), descriptor_.get()) != 0)
    return fail(system_error(errno, "copy the existing file to", part_path_));
  if (::fstat(source.get(), &after) != 0) return fail(system_error(errno, "read", path_));
  const bool is_same = before.st_size == after.st_size && before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
                       before.st_mtim.tv_nsec == after.st_mtim.tv_nsec && has_name(source.get(), path_);
  if (!is_same)
    return fail(
        make_error(ErrorCode::conflict,
                   "{} was changed or replaced by others while it was copied in order to append to it: "
                   "does a command, for example of a trigger, change files of this run?",
                   path_)
            .in_file(path_));
  return {};
}

void PartFile::discard() noexcept {
  if (descriptor_.open()) remove_name(descriptor_.get(), part_path_);
  close();
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

void PartFile::start_write_back() noexcept { disk_->start_write_back(descriptor_.get(), 0, 0); }

Result<> PartFile::make_durable(const Published&) {
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

}  // namespace afterbay::storage
