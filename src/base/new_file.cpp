// SPDX-License-Identifier: Apache-2.0
#include "base/new_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace afterbay {

int write_new_file(const std::string& path, std::string_view text) noexcept {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return errno;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) return errno;
  int number = 0;
  while (number == 0 && !text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written > 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (written == 0 || errno != EINTR)
      number = written == 0 ? EIO : errno;
  }
  if (::close(file) != 0 && number == 0) number = errno;
  if (number != 0) ::unlink(path.c_str());
  return number;
}

}  // namespace afterbay
