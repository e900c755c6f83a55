// SPDX-License-Identifier: Apache-2.0
#include "base/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace afterbay {

RegularFile::RegularFile(const std::string& path, Links links) {
  const bool follow = links == Links::followed;
  struct stat status {};
  if (::fstatat(AT_FDCWD, path.c_str(), &status, follow ? 0 : AT_SYMLINK_NOFOLLOW) != 0) {
    number_ = errno;
    return;
  }
  if (!accept(status.st_mode)) return;
  // The name may belong to another file by now.
  const int flags = O_RDONLY | O_NOCTTY | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW);
  descriptor_ = ::open(path.c_str(), flags | O_NONBLOCK);
  if (descriptor_ < 0 && errno == EWOULDBLOCK) descriptor_ = ::open(path.c_str(), flags);  // a lease ends
  if (descriptor_ >= 0 && ::fstat(descriptor_, &status) == 0 && accept(status.st_mode)) {
    size_bytes_ = static_cast<std::uint64_t>(status.st_size);
    ::fcntl(descriptor_, F_SETFL, 0);  // otherwise file systems that fetch files from tape would
                                       // not wait for them
    return;
  }
  if (number_ == 0) number_ = errno;
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

RegularFile::RegularFile(RegularFile&& other) noexcept
    : descriptor_(other.release()),
      number_(other.number_),
      kind_(other.kind_),
      size_bytes_(other.size_bytes_) {}

RegularFile::~RegularFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int RegularFile::release() noexcept { return std::exchange(descriptor_, -1); }

bool RegularFile::accept(unsigned mode) noexcept {
  if (S_ISREG(mode)) return true;
  number_ = S_ISDIR(mode) ? EISDIR : S_ISLNK(mode) ? ELOOP : ENODEV;
  kind_ = S_ISLNK(mode)    ? "a symbolic link"
          : S_ISFIFO(mode) ? "a named pipe"
          : S_ISSOCK(mode) ? "a socket"
                           : "a device";
  return false;
}

bool is_regular_file(int descriptor) noexcept {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

std::string RegularFile::problem() const {
  if (number_ != EISDIR && kind_ != nullptr) return std::string("it is ") + kind_ + ", not a regular file";
  return std::generic_category().message(number_);
}

}  // namespace afterbay
