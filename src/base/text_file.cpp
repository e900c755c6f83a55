// SPDX-License-Identifier: Apache-2.0
#include "base/text_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/regular_file.hpp"

namespace afterbay {

namespace {

Error cannot_read(int number, const std::string& problem) {
  return make_error(ErrorCode::io, "cannot read it: {}", problem).with_native(number);
}

Result<std::string> contents(int descriptor, std::size_t most_bytes, std::string_view what) {
  std::string text;
  char buffer[4096];
  while (text.size() <= most_bytes) {
    const ssize_t got = ::read(descriptor, buffer, sizeof buffer);
    if (got == 0) return text;
    if (got > 0) text.append(buffer, static_cast<std::size_t>(got));
    if (got < 0 && errno != EINTR) return fail(cannot_read(errno, std::generic_category().message(errno)));
  }
  return fail(ErrorCode::format, "it has more than {} MiB: this is not {}", most_bytes >> 20, what);
}

}  // namespace

Result<std::string> read_text_file(const std::string& path, std::size_t most_bytes, std::string_view what) {
  RegularFile file(path);
  if (file.open()) return contents(file.descriptor(), most_bytes, what);
  if (file.number() != ENODEV || !path.starts_with("/dev/"))
    return fail(cannot_read(file.number(), file.problem()));
  const int device = ::open(path.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (device < 0) return fail(cannot_read(errno, std::generic_category().message(errno)));
  auto text = contents(device, most_bytes, what);
  ::close(device);
  return text;
}

}  // namespace afterbay
