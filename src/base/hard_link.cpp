// SPDX-License-Identifier: Apache-2.0
#include "base/hard_link.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace afterbay {
namespace {

bool same_inode(const std::string& a, const std::string& b) noexcept {
  struct stat first {};
  struct stat second {};
  return ::lstat(a.c_str(), &first) == 0 && ::lstat(b.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace

int link_file(const std::string& of, const std::string& name) noexcept {
  if (::link(of.c_str(), name.c_str()) == 0) return 0;
  const int number = errno;
  return number == EEXIST && same_inode(of, name) ? 0 : number;
}

bool has_no_links(int number) noexcept {
  return number == EPERM || number == EOPNOTSUPP || number == ENOSYS || number == EINVAL || number == EMLINK;
}

int rename_to_free(const std::string& from, const std::string& to) noexcept {
  const int number = link_file(from, to);
  if (number == 0) ::unlink(from.c_str());
  if (number == 0 || number == EEXIST) return number;
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace afterbay
