// SPDX-License-Identifier: Apache-2.0
#include "storage/block_writer/part_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/printable.hpp"
#include "storage/block_writer/final_name.hpp"
#include "storage/block_writer/remove_tree.hpp"
#include "storage/block_writer/system_error.hpp"
#include "storage/epoch/epoch_log.hpp"

namespace afterbay::storage {
namespace {

constexpr int most_attempts = 16;

/// Identity of the lock file under which an unfinished directory is written. If somebody removes
/// the lock file, the next writer makes another one, which does not entitle it to remove the
/// directory.
constexpr const char* lock_attribute = "user.afterbay.lock";
using LockIdentity = std::array<std::uint64_t, 2>;

LockIdentity identity_of_lock(int lock) {
  const PartIdentity found = identity_of_part(lock);
  return {found.inode, found.born_ns};
}

bool is_locked_by_another(int directory, int lock) {
  LockIdentity noted{};
  return ::fgetxattr(directory, lock_attribute, noted.data(), sizeof noted) == sizeof noted &&
         noted != identity_of_lock(lock);
}

bool is_empty_file(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
}

bool is_not_supported(int number) { return number == EINVAL || number == ENOSYS || number == EOPNOTSUPP; }
bool is_other_kind(int number) { return number == ENOTDIR || number == ELOOP; }

/// Components that do not lead out of the directory.
bool is_file_name(std::string_view name) {
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    const std::string_view component = name.substr(begin, end - begin);
    if (component.empty() || component == "." || component == ".." ||
        component.find('\0') != std::string_view::npos)
      return false;
    begin = end + 1;
  }
  return true;
}

Result<> check_final_form(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  if (!name.empty() && name != "." && name != "..") return {};
  return fail(
      make_error(ErrorCode::invalid_argument,
                 "'{}' is not a name for a directory that is to be published: its last component must "
                 "be a name, without a slash after it",
                 printable(path))
          .in_file(path));
}

Error not_a_directory(const std::string& path) {
  return make_error(ErrorCode::exists,
                    "{} is not a directory, and a directory of this name is to be written: remove it, or "
                    "choose another name",
                    path)
      .with_native(ENOTDIR)
      .in_file(path);
}

Error part_is_not_a_directory(const std::string& part_path) {
  return make_error(ErrorCode::exists,
                    "{} is not a directory, and a directory of this name is to be written: if a run is "
                    "writing it as a file, give the two different names; otherwise see whether it is still "
                    "needed (afterbay recover), and remove it",
                    part_path)
      .with_native(ENOTDIR);
}

Error unmarked(int directory, const std::string& path) {
  const char* const why = keeps_marks(directory)
                              ? "it has no attribute user.afterbay.part, which Afterbay gives to the "
                                "directories that it writes, and which some tools do not copy"
                              : "its file system keeps no extended attributes, by which Afterbay recognises "
                                "the directories that it wrote";
  return make_error(ErrorCode::exists,
                    "{} exists already, and may not be Afterbay's: {}. It is neither replaced nor removed: "
                    "rename or remove it yourself, or choose another name",
                    path, why)
      .with_native(EEXIST);
}

Error lock_was_removed(const std::string& part_path) {
  return make_error(ErrorCode::conflict,
                    "{} is written under a lock file ({}.lock) that somebody has removed: wait until its run "
                    "has ended; if no run writes it any more, remove it",
                    part_path, part_path);
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
  AFTERBAY_TRY(check_final_form(request.path));
  PartDirectory claimed;
  AFTERBAY_TRY(claimed.begin_claim(request.path, request.existing, request.make_directories, request.disk));
  if (auto locked = claimed.take_lock(); !locked) {
    claimed.lock_.reset();  // it is another writer's: the name stays
    return fail(std::move(locked).error());
  }
  // Everything is checked before anything is removed.
  auto ready = claimed.end_claim();
  if (ready) ready = claimed.check_replaceable();
  if (ready) ready = claimed.make_directory();
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
    if (disk_->make_directory(part_path_.c_str()) == 0) {
      descriptor_ = Descriptor(disk_->open(part_path_.c_str(), directory_flags, 0));
      if (!descriptor_.open() && errno == ENOENT) continue;  // it was removed meanwhile
      if (!descriptor_.open()) return fail(system_error(errno, "open", part_path_));
      const LockIdentity lock = identity_of_lock(lock_.get());
      static_cast<void>(::fsetxattr(descriptor_.get(), lock_attribute, lock.data(), sizeof lock, 0));
      mark_part(descriptor_.get());
      static_cast<void>(::fsync(descriptor_.get()));  // the mark; the directory is empty
      return remove_stale_epoch_logs(*disk_, part_path_, false);
    }
    if (errno != EEXIST) return fail(system_error(errno, "create", part_path_));
    AFTERBAY_TRY(remove_left());
  }
  return fail(made_too_often(part_path_));
}

/// What a killed run left under the part name: unfinished, or an older artifact that this run had
/// replaced. The exchange of their names must be durable before the older artifact is removed.
Result<> PartDirectory::remove_left() const {
  const Descriptor left(disk_->open(part_path_.c_str(), directory_flags, 0));
  if (!left.open() && errno == ENOENT) return {};
  if (!left.open() && is_other_kind(errno)) return fail(part_is_not_a_directory(part_path_).in_file(path_));
  if (!left.open()) return fail(system_error(errno, "open", part_path_));
  if (!identity_of_part(left.get()).has_token()) {
    // A run that is killed as it makes the directory leaves it empty and without a mark.
    if (::rmdir(part_path_.c_str()) == 0 || errno == ENOENT) return {};
    return fail(unmarked(left.get(), part_path_).in_file(path_));
  }
  if (is_locked_by_another(left.get(), lock_.get())) return fail(lock_was_removed(part_path_).in_file(path_));
  Result<> removed = sync_directory_of(*disk_, path_);
  if (removed) removed = remove_stale_epoch_logs(*disk_, part_path_, true);
  if (removed)
    if (const auto kept = remove_tree(left.get(), part_path_); kept && kept->number != ENOTEMPTY)
      removed = fail(kept->error());
  if (removed) return {};
  Error error = std::move(removed).error();
  error.file = path_;
  return fail(error.add("removing what an earlier run left of " + path_));
}

Error PartDirectory::made_too_often(const std::string& name) const {
  return make_error(
             ErrorCode::conflict,
             "{} cannot be created again: others create, rename or fill it at the same time, or something in "
             "it cannot be removed: stop them, or remove it",
             name)
      .in_file(path_);
}

/// Now, so that no result is lost at the end of a long run.
Result<> PartDirectory::check_replaceable() const {
  AFTERBAY_TRY_ASSIGN(const Descriptor older, open_older());
  if (!older.open()) return {};
  if (existing_ == Existing::append)
    return fail(
        make_error(ErrorCode::bad_state,
                   "{} exists already and is a directory, to which nothing can be appended: declare it "
                   "as replaced, or choose another name",
                   path_)
            .in_file(path_));
  if (!identity_of_part(older.get()).has_token()) return fail(unmarked(older.get(), path_).in_file(path_));
  return try_exchange();
}

/// Tries the exchange on two empty directories, whose names a killed run may have left.
Result<> PartDirectory::try_exchange() const {
  const std::string trial[] = {part_path_ + ".trial-a", part_path_ + ".trial-b"};
  int number = 0;
  for (const std::string& name : trial)
    if (number == 0 && disk_->make_directory(name.c_str()) != 0 && errno != EEXIST) number = errno;
  if (number == 0 && disk_->exchange(trial[0].c_str(), trial[1].c_str()) != 0) number = errno;
  for (const std::string& name : trial) ::rmdir(name.c_str());
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
  if (is_other_kind(errno)) return fail(not_a_directory(path_));
  return fail(system_error(errno, "open", path_));
}

Result<Descriptor> PartDirectory::create_file(const std::string& name) const {
  if (!is_file_name(name))
    return fail(
        make_error(ErrorCode::invalid_argument,
                   "'{}' is not a name of a file in {}: components that are separated by '/', and none "
                   "of them empty, '.' or '..'",
                   printable(name), part_path_)
            .in_file(path_));
  Descriptor inner;
  std::size_t begin = 0;
  const auto directory = [&] { return inner.open() ? inner.get() : descriptor_.get(); };
  for (std::size_t end = name.find('/'); end != std::string::npos; end = name.find('/', begin)) {
    const std::string component = name.substr(begin, end - begin);
    const std::string path = file_path(name.substr(0, end));
    if (disk_->make_directory_at(directory(), component.c_str()) != 0 && errno != EEXIST)
      return fail(system_error(errno, "create the directory", path));
    Descriptor next(disk_->open_at(directory(), component.c_str(), directory_flags, 0));
    if (!next.open()) return fail(system_error(errno, "open the directory", path));
    inner = std::move(next);
    begin = end + 1;
  }
  constexpr int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  Descriptor file(disk_->open_at(directory(), name.c_str() + begin, flags, 0666));
  if (!file.open()) return fail(system_error(errno, "create", file_path(name)));
  return file;
}

Result<> PartDirectory::sync_entry(const std::string& name, int flags) const {
  const Descriptor entry(disk_->open_at(descriptor_.get(), name.c_str(), flags, 0));
  if (!entry.open()) return fail(system_error(errno, "open", file_path(name)));
  if ((flags & O_DIRECTORY) != 0) return sync_directory(*disk_, entry.get(), file_path(name));
  if (disk_->sync(entry.get()) != 0)
    return fail(system_error(errno, "make durable (fsync)", file_path(name)));
  return {};
}

Result<> PartDirectory::make_durable(const Published& published) {
  if (!published.files)
    return fail(make_error(ErrorCode::internal,
                           "{} is not published: its store has not listed its files (set_files)", part_path_)
                    .in_file(path_));
  AFTERBAY_TRY_ASSIGN(const DirectoryContents contents, contents_of(part_path_));
  const auto wrong = differences(*published.files, contents);
  if (!wrong.empty())
    return fail(
        make_error(ErrorCode::conflict,
                   "{} does not contain what this run wrote: {}; it is not published; who else writes "
                   "or cleans up in this directory?",
                   part_path_, wrong.front())
            .in_file(path_));
  for (const DirectoryContents::Found& it : contents.files)
    AFTERBAY_TRY(sync_entry(it.name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  for (auto name = contents.directories.rbegin(); name != contents.directories.rend(); ++name)
    AFTERBAY_TRY(sync_entry(*name, directory_flags));
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
    if (!identity_of_part(older_.get()).has_token())
      return fail(unmarked(older_.get(), path_).in_file(path_));
    ::fremovexattr(older_.get(), lock_attribute);  // from a run that was killed when it had its name
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
  if (older_.open() && has_name(older_.get(), part_path_)) return;
  close();
  remove_epoch_logs(part_path_, closed_);  // another run may have the part name meanwhile
}

Result<> PartDirectory::remove_replaced() {
  if (!older_.open()) return {};
  std::optional<NotRemoved> kept;
  if (has_name(older_.get(), part_path_)) kept = remove_tree(older_.get(), part_path_);
  close();
  remove_epoch_logs(part_path_, closed_);
  if (!kept) return {};
  return fail(kept->error().add(fmt::format(
      "{} is published; the older directory that it replaced has the name {} and cannot be removed whole: "
      "remove it before the next run that writes {}",
      path_, part_path_, path_)));
}

void PartDirectory::close() noexcept {
  older_.reset();
  if (descriptor_.open()) ::fremovexattr(descriptor_.get(), lock_attribute);
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
    remove_tree(directory, part_path_);
  remove_epoch_logs(part_path_, mine);
}

void PartDirectory::discard() noexcept {
  if (descriptor_.open() && has_name(descriptor_.get(), part_path_))
    remove_tree(descriptor_.get(), part_path_);
  close();
}

}  // namespace afterbay::storage
