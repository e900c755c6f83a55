// SPDX-License-Identifier: Apache-2.0
// Files that the processes of a model under test leave. For tests only.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "afterbay/afterbay.hpp"

namespace afterbay::test {

/// Writes the process number to the file NAME.ROLE.RANK (role: model or server), atomically.
inline void leave_mark(const char* name, const Session& session, int rank) {
  const std::string path =
      std::string(name) + (session.is_server() ? ".server." : ".model.") + std::to_string(rank);
  std::ofstream(path + ".tmp") << ::getpid() << "\n";
  std::rename((path + ".tmp").c_str(), path.c_str());
}

}  // namespace afterbay::test
