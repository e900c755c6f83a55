// SPDX-License-Identifier: Apache-2.0
#include "storage/block_writer/final_name.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "base/hard_link.hpp"
#include "storage/block_writer/system_error.hpp"
#include "storage/store.hpp"

namespace afterbay::storage {
namespace {

constexpr std::size_t token_digits = 16;
constexpr std::string_view temporary_end = ".new";

std::string temporary_name(const std::string& path) {
  std::random_device device;
  return fmt::format("{}.{:08x}{:08x}{}", part_path(path), device() & 0xffffffffU, device() & 0xffffffffU,
                     temporary_end);
}

bool has_lost_all_names(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && status.st_nlink == 0;
}

Error not_named(int number, int descriptor, const std::string& present, const std::string& path) {
  if (number == ENOENT && has_lost_all_names(descriptor))
    return make_error(
               ErrorCode::conflict,
               "{} was removed while it was written: it is not published; does somebody clean up in this "
               "directory?",
               present)
        .in_file(path);
  if (number == EEXIST)
    return make_error(ErrorCode::exists,
                      "{} exists already: it appeared while {} was written; remove one of them, or declare "
                      "the file as replaced",
                      path, present)
        .with_native(EEXIST)
        .in_file(path);
  return system_error(number, "rename " + present + " to", path);
}

/// Renames in one step, by name.
Result<> rename_instead(Disk& disk, int descriptor, const std::string& present, const std::string& path,
                        bool replace) {
  if (disk.rename(present.c_str(), path.c_str(), replace) != 0)
    return fail(not_named(errno, descriptor, present, path));
  if (has_name(descriptor, path)) return {};
  return fail(make_error(ErrorCode::conflict,
                         "{} was replaced by another file at the moment of its publication: {} is not what "
                         "this run wrote; does another run write files of the same name?",
                         present, path)
                  .in_file(path));
}

/// Replaces the file that has the name.
Result<> replace_file(Disk& disk, int descriptor, const std::string& present, const std::string& path) {
  const std::string third = temporary_name(path);
  if (disk.link(descriptor, third.c_str()) != 0) return fail(not_named(errno, descriptor, present, path));
  const int number = disk.rename(third.c_str(), path.c_str(), true) == 0 ? 0 : errno;
  remove_name(descriptor, third);  // a rename between two names of one file does nothing
  if (number == 0) return {};
  return fail(not_named(number, descriptor, present, path));
}

}  // namespace

bool has_name(int descriptor, const std::string& path) noexcept {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

Result<> give_name(Disk& disk, int descriptor, const std::string& present, const std::string& path,
                   bool replace) {
  if (disk.link(descriptor, path.c_str()) == 0) return {};
  const int number = errno;
  if (number == EEXIST && has_name(descriptor, path))
    return {};  // NFS: the answer to the first call was lost
  if (number == EEXIST && replace) return replace_file(disk, descriptor, present, path);
  if (has_no_links(number)) return rename_instead(disk, descriptor, present, path, replace);
  return fail(not_named(number, descriptor, present, path));
}

void remove_name(int descriptor, const std::string& path) noexcept {
  if (has_name(descriptor, path)) ::unlink(path.c_str());
}

bool is_temporary_name(std::string_view suffix) noexcept {
  if (suffix.size() != 1 + token_digits + temporary_end.size() || suffix.front() != '.' ||
      !suffix.ends_with(temporary_end))
    return false;
  return std::ranges::all_of(suffix.substr(1, token_digits),
                             [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

}  // namespace afterbay::storage
