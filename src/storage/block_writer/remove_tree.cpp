// SPDX-License-Identifier: Apache-2.0
#include "storage/block_writer/remove_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "storage/block_writer/disk.hpp"
#include "storage/block_writer/final_name.hpp"
#include "storage/block_writer/system_error.hpp"

namespace afterbay::storage {
namespace {

bool is_permission(int number) { return number == EACCES || number == EPERM; }

/// Gives the owner all rights; false: they are there already, or the directory is another user's.
bool make_writable(int directory) {
  struct stat status {};
  return ::fstat(directory, &status) == 0 && (status.st_mode & S_IRWXU) != S_IRWXU &&
         ::fchmod(directory, (status.st_mode & 07777U) | S_IRWXU) == 0;
}

/// The same for a directory that cannot be opened for reading.
bool make_readable(int directory, const char* name) {
  const Descriptor found(::openat(directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!found.open() || ::fstat(found.get(), &status) != 0 || (status.st_mode & S_IRWXU) == S_IRWXU)
    return false;
  const std::string opened = "/proc/self/fd/" + std::to_string(found.get());
  return ::chmod(opened.c_str(), (status.st_mode & 07777U) | S_IRWXU) == 0;
}

class Removal {
 public:
  void remove_contents(int directory, const std::string& path) {
    Descriptor again(::openat(directory, ".", directory_flags));
    int refused = again.open() ? 0 : errno;
    if (is_permission(refused) && make_writable(directory)) {
      again = Descriptor(::openat(directory, ".", directory_flags));
      refused = again.open() ? 0 : errno;
    }
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(again.open() ? ::fdopendir(again.get()) : nullptr,
                                                      &::closedir);
    if (!entries) return note(path, again.open() ? errno : refused);
    static_cast<void>(again.release());
    while (const dirent* entry = ::readdir(entries.get())) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") remove(directory, entry->d_name, path + "/" + entry->d_name);
    }
  }

  void note(const std::string& path, int number) {
    if (number != 0 && number != ENOENT && !first_) first_ = NotRemoved{path, number};
  }

  [[nodiscard]] std::optional<NotRemoved> first() && { return std::move(first_); }

 private:
  static int unlink(int directory, const char* name, int flags) {
    if (::unlinkat(directory, name, flags) == 0) return 0;
    const int number = errno;
    if (!is_permission(number) || !make_writable(directory)) return number;
    return ::unlinkat(directory, name, flags) == 0 ? 0 : errno;
  }

  void remove(int directory, const char* name, const std::string& path) {
    const int number = unlink(directory, name, 0);
    if (number == 0) return;
    Descriptor inner(::openat(directory, name, directory_flags));
    int refused = inner.open() ? 0 : errno;
    if (is_permission(refused) && make_readable(directory, name)) {
      inner = Descriptor(::openat(directory, name, directory_flags));
      refused = inner.open() ? 0 : errno;
    }
    if (!inner.open()) return note(path, refused == ENOTDIR || refused == ELOOP ? number : refused);
    remove_contents(inner.get(), path);
    note(path, unlink(directory, name, AT_REMOVEDIR));
  }

  std::optional<NotRemoved> first_;
};

}  // namespace

Error NotRemoved::error() const { return system_error(number, "remove", path); }

std::optional<NotRemoved> remove_tree(int directory, const std::string& path) {
  Removal removal;
  removal.remove_contents(directory, path);
  if (has_name(directory, path) && ::rmdir(path.c_str()) != 0) removal.note(path, errno);
  return std::move(removal).first();
}

}  // namespace afterbay::storage
