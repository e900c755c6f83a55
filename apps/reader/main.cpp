// SPDX-License-Identifier: Apache-2.0
// afterbay-reader: opens HDF5 files for servers and for the command, so that a damaged file ends
// this process and not theirs. Started by storage::ReaderProcess with a socket as its standard
// input.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>

#include "storage/reader/serve_reader.hpp"

int main() {
  int type = 0;
  socklen_t length = sizeof type;
  if (::getsockopt(STDIN_FILENO, SOL_SOCKET, SO_TYPE, &type, &length) != 0) {
    std::fputs("afterbay-reader: Afterbay starts this program itself\n", stderr);
    return 2;
  }
  return afterbay::storage::serve_reader(STDIN_FILENO);
}
