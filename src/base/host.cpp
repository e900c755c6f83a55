// SPDX-License-Identifier: Apache-2.0
#include "base/host.hpp"

#include <unistd.h>

#include <array>

namespace afterbay {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace afterbay
