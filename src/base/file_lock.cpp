// SPDX-License-Identifier: Apache-2.0
#include "base/file_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace afterbay {
namespace {

struct flock whole_file(short kind) noexcept {
  struct flock lock {};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

FileLock take_file_lock(int descriptor) noexcept {
  struct flock all = whole_file(F_WRLCK);
  int result = 0;
  do result = ::fcntl(descriptor, F_OFD_SETLK, &all);
  while (result != 0 && errno == EINTR);
  if (result == 0) return FileLock::ours;
  return errno == EAGAIN || errno == EACCES ? FileLock::others : FileLock::none;
}

bool file_lock_is_held(int descriptor) noexcept {
  struct flock all = whole_file(F_RDLCK);
  return ::fcntl(descriptor, F_OFD_GETLK, &all) == 0 && all.l_type != F_UNLCK;
}

}  // namespace afterbay
