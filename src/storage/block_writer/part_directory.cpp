// SPDX-License-Identifier: Apache-2.0
#include "storage/block_writer/part_directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/printable.hpp"
#include "storage/block_writer/final_name.hpp"
#include "storage/block_writer/system_error.hpp"
#include "storage/epoch/epoch_log.hpp"

namespace afterbay::storage {
namespace {

constexpr int most_attempts = 16;
constexpr int directory_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

/// Removes everything in an open directory, whatever its name is by now. Other processes may remove
/// the same; what they add meanwhile may stay.
void remove_contents(int directory) noexcept {
  Descriptor again(::openat(directory, ".", directory_flags));
  DIR* const entries = again.open() ? ::fdopendir(again.get()) : nullptr;
  if (entries == nullptr) return;
  static_cast<void>(again.release());
  while (const dirent* entry = ::readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == ".." || ::unlinkat(directory, entry->d_name, 0) == 0) continue;
    const Descriptor inner(::openat(directory, entry->d_name, directory_flags));
    if (!inner.open()) continue;
    remove_contents(inner.get());
    ::unlinkat(directory, entry->d_name, AT_REMOVEDIR);
  }
  ::closedir(entries);
}

/// The same, and removes its name if the directory still has it and is empty.
void remove_directory(int directory, const std::string& path) noexcept {
  remove_contents(directory);
  if (has_name(directory, path)) ::rmdir(path.c_str());
}

bool is_empty_file(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
}

bool is_not_supported(int number) { return number == EINVAL || number == ENOSYS || number == EOPNOTSUPP; }

Error not_a_directory(const std::string& path) {
  return make_error(ErrorCode::exists,
                    "{} is not a directory, and a directory of this name is to be written: remove it, or "
                    "choose another name",
                    path)
      .with_native(ENOTDIR)
      .in_file(path);
}

Error not_readable(const std::string& path) {
  return make_error(ErrorCode::bad_state,
                    "{} is to be readable while it is written, but its format writes a directory, which is "
                    "complete only when it has its name: leave 'readable' off, or choose another store",
                    path)
      .in_file(path);
}

}  // namespace

Result<PartDirectory> PartDirectory::claim(const FileRequest& request) {
  if (request.readable) return fail(not_readable(request.path));
  PartDirectory claimed;
  AFTERBAY_TRY(claimed.begin_claim(request.path, request.existing, request.make_directories, request.disk));
  if (auto locked = claimed.take_lock(); !locked) {
    claimed.lock_.reset();  // it is another writer's: the name stays
    return fail(std::move(locked).error());
  }
  auto ready = claimed.make_directory();
  if (ready) ready = claimed.end_claim();
  if (ready && claimed.replaces()) ready = claimed.check_replaceable();
  if (!ready) {
    claimed.discard();
    return fail(std::move(ready).error());
  }
  return claimed;
}

Result<> PartDirectory::take_lock() {
  const std::string name = lock_path();
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    lock_ =
        Descriptor(disk_->open(name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
    if (!lock_.open()) return fail(system_error(errno, "create", name));
    if (!is_empty_file(lock_.get()))
      return fail(
          make_error(ErrorCode::exists, "{} is not Afterbay's, which would be an empty file: remove it", name)
              .in_file(path_));
    const int number = lock_writer(lock_.get());
    if (number == 0 || has_no_locks(number)) AFTERBAY_TRY(claim_owner(number));
    AFTERBAY_TRY(check_lock(number));
    if (has_name(lock_.get(), name)) return {};  // otherwise its last writer has just removed it
  }
  return fail(made_too_often(name));
}

Result<> PartDirectory::make_directory() {
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const bool made = disk_->make_directory(part_path_.c_str()) == 0;
    if (!made && errno != EEXIST) return fail(system_error(errno, "create", part_path_));
    descriptor_ = Descriptor(disk_->open(part_path_.c_str(), directory_flags, 0));
    if (!descriptor_.open() && errno == ENOENT) continue;  // it was removed meanwhile
    if (!descriptor_.open() && (errno == ENOTDIR || errno == ELOOP))
      return fail(not_a_directory(part_path_).in_file(path_));
    if (!descriptor_.open()) return fail(system_error(errno, "open", part_path_));
    AFTERBAY_TRY(remove_stale_epoch_logs(*disk_, part_path_, !made));
    if (made) return {};
    // Left behind by a killed run: unfinished, or an older artifact that this run had replaced.
    remove_directory(descriptor_.get(), part_path_);
  }
  return fail(made_too_often(part_path_));
}

Error PartDirectory::made_too_often(const std::string& name) const {
  return make_error(
             ErrorCode::conflict,
             "{} cannot be made anew: others make, rename or fill it at the same time, or something in "
             "it cannot be removed: stop them, or remove it",
             name)
      .in_file(path_);
}

/// Now, so that no result is lost at the end of a long run.
Result<> PartDirectory::check_replaceable() const {
  AFTERBAY_TRY(open_older());
  if (existing_ == Existing::append)
    return fail(
        make_error(ErrorCode::bad_state,
                   "{} exists already and is a directory, to which nothing can be appended: declare it "
                   "as replaced, or choose another name",
                   path_)
            .in_file(path_));
  const std::string a = file_path("a"), b = file_path("b");
  if (disk_->make_directory(a.c_str()) != 0) return fail(system_error(errno, "create", a));
  if (disk_->make_directory(b.c_str()) != 0) return fail(system_error(errno, "create", b));
  const int number = disk_->exchange(a.c_str(), b.c_str()) == 0 ? 0 : errno;
  ::rmdir(a.c_str());
  ::rmdir(b.c_str());
  return number == 0 ? Result<>() : fail(cannot_exchange(number));
}

Error PartDirectory::cannot_exchange(int number) const {
  if (!is_not_supported(number)) return system_error(number, "exchange " + part_path_ + " with", path_);
  return make_error(ErrorCode::bad_state,
                    "{} exists already, and its file system cannot replace a directory in one step "
                    "(renameat2 with RENAME_EXCHANGE): remove or rename it, or choose another name",
                    path_)
      .with_native(number)
      .in_file(path_);
}

/// Not open: there is none any more.
Result<Descriptor> PartDirectory::open_older() const {
  Descriptor older(disk_->open(path_.c_str(), directory_flags, 0));
  if (older.open() || errno == ENOENT) return older;
  if (errno == ENOTDIR || errno == ELOOP) return fail(not_a_directory(path_));
  return fail(system_error(errno, "open", path_));
}

Result<Descriptor> PartDirectory::create_file(const std::string& name) const {
  for (std::size_t end = name.find('/'); end != std::string::npos; end = name.find('/', end + 1)) {
    const std::string directory = file_path(name.substr(0, end));
    if (disk_->make_directory(directory.c_str()) != 0 && errno != EEXIST)
      return fail(system_error(errno, "create the directory", directory));
  }
  const std::string path = file_path(name);
  Descriptor file(disk_->open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!file.open()) return fail(system_error(errno, "create", path));
  return file;
}

Result<> PartDirectory::make_durable(const Published& published) {
  AFTERBAY_TRY_ASSIGN(const DirectoryContents contents, contents_of(part_path_));
  const std::vector<ArtifactFile> none;
  const auto wrong = differences(published.files ? *published.files : none, contents);
  if (!wrong.empty())
    return fail(
        make_error(ErrorCode::conflict,
                   "{} does not contain what this run wrote: {}; it is not published; who else writes "
                   "or cleans up in this directory?",
                   part_path_, wrong.front())
            .in_file(path_));
  for (const DirectoryContents::Found& it : contents.files) {
    const std::string path = file_path(it.name);
    const Descriptor file(disk_->open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC, 0));
    if (!file.open()) return fail(system_error(errno, "open", path));
    if (disk_->sync(file.get()) != 0) return fail(system_error(errno, "make durable (fsync)", path));
  }
  for (auto name = contents.directories.rbegin(); name != contents.directories.rend(); ++name) {
    const std::string path = file_path(*name);
    const Descriptor directory(disk_->open(path.c_str(), directory_flags, 0));
    if (!directory.open()) return fail(system_error(errno, "open the directory", path));
    AFTERBAY_TRY(sync_directory(*disk_, directory.get(), path));
  }
  AFTERBAY_TRY(sync_directory(*disk_, descriptor_.get(), part_path_));
  return check_name();
}

Result<> PartDirectory::take_name() {
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    AFTERBAY_TRY(check_name());
    if (disk_->rename(part_path_.c_str(), path_.c_str(), false) == 0) return check_final_name();
    if (errno == ENOTEMPTY) errno = EEXIST;  // a file system without RENAME_NOREPLACE
    if (errno != EEXIST) return fail(system_error(errno, "rename " + part_path_ + " to", path_));
    if (existing_ == Existing::refuse)
      return fail(make_error(ErrorCode::exists,
                             "{} exists already: it appeared while {} was written; remove one of them, or "
                             "declare the file as replaced",
                             path_, part_path_)
                      .with_native(EEXIST)
                      .in_file(path_));
    AFTERBAY_TRY_ASSIGN(older_, open_older());
    if (!older_.open()) continue;  // it was removed meanwhile
    if (disk_->exchange(part_path_.c_str(), path_.c_str()) == 0) return check_final_name();
    if (errno != ENOENT) return fail(cannot_exchange(errno));
  }
  return fail(make_error(ErrorCode::conflict,
                         "{} is created and removed by others as {} gets its name: stop them", path_,
                         part_path_)
                  .in_file(path_));
}

/// Directories cannot be linked: a rename takes whatever has the part name.
Result<> PartDirectory::check_final_name() const {
  if (has_name(descriptor_.get(), path_)) return {};
  return fail(make_error(ErrorCode::conflict,
                         "{} was replaced by another directory at the moment of its publication: {} is not "
                         "what this run wrote; does another run write files of the same name?",
                         part_path_, path_)
                  .in_file(path_));
}

void PartDirectory::end_publication() noexcept {
  if (older_.open() && has_name(older_.get(), part_path_)) remove_directory(older_.get(), part_path_);
  close();
  remove_epoch_logs(part_path_, closed_);  // another run may have the part name meanwhile
}

void PartDirectory::close() noexcept {
  older_.reset();
  if (lock_.open()) remove_name(lock_.get(), lock_path());
  lock_.reset();
  Artifact::close();
}

void PartDirectory::give_back_space() const noexcept {
  Descriptor again;
  if (!descriptor_.open()) again = Descriptor(::open(part_path_.c_str(), directory_flags));
  const int directory = descriptor_.open() ? descriptor_.get() : again.get();
  const PartIdentity mine = descriptor_.open() ? identity_of_part(directory) : closed_;
  if (directory >= 0 && has_name(directory, part_path_) && identity_of_part(directory) == mine)
    remove_directory(directory, part_path_);
  remove_epoch_logs(part_path_, mine);
}

void PartDirectory::discard() noexcept {
  if (descriptor_.open() && has_name(descriptor_.get(), part_path_))
    remove_directory(descriptor_.get(), part_path_);
  close();
}

}  // namespace afterbay::storage
