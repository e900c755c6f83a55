// SPDX-License-Identifier: Apache-2.0
#include "base/processors.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

namespace afterbay {

void Processors::join(const Processors& others) {
  processes += others.processes;
  online = std::max(online, others.online);
  apart = apart && others.apart;
  allowed.resize(std::max(allowed.size(), others.allowed.size()));
  for (std::size_t i = 0; i < others.allowed.size(); ++i) {
    apart = apart && (allowed[i] & others.allowed[i]) == 0;
    allowed[i] |= others.allowed[i];
  }
}

bool Processors::suffice_for(std::uint32_t more) const noexcept {
  std::uint32_t usable = 0;
  for (const std::uint64_t word : allowed) usable += static_cast<std::uint32_t>(std::popcount(word));
  return (apart ? std::max(online, usable) : usable) >= processes + more;
}

Processors own_processors() {
  Processors own;
  own.processes = 1;
  constexpr std::size_t most = 1 << 16;
  for (std::size_t count = CPU_SETSIZE; count <= most; count *= 2) {
    own.allowed.assign(count / 64, 0);
    const long bytes = ::sched_getaffinity(0, count / 8, reinterpret_cast<cpu_set_t*>(own.allowed.data()));
    if (bytes == 0) break;
    own.allowed.clear();
  }
  while (!own.allowed.empty() && own.allowed.back() == 0) own.allowed.pop_back();
  own.online = static_cast<std::uint32_t>(std::max(0L, ::sysconf(_SC_NPROCESSORS_ONLN)));
  return own;
}

}  // namespace afterbay
