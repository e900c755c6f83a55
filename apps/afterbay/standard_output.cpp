// SPDX-License-Identifier: Apache-2.0
#include "standard_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace afterbay::app {

void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // The lowest free number is the stream's. Opened in the opposite direction it cannot be used,
    // like a closed stream.
    (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

Exit finish_output(Exit exit) {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit;
  const int number = errno;
  complain("", fmt::format("standard output cannot be written{}{}", number == 0 ? "" : ": ",
                           number == 0 ? "" : std::strerror(number)));
  return exit == Exit::ok || exit == Exit::wrong ? Exit::io : exit;
}

}  // namespace afterbay::app
