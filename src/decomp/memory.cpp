// SPDX-License-Identifier: Apache-2.0
#include "decomp/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

#include "base/units.hpp"

namespace afterbay::decomp {
namespace {

std::string gib(double bytes) { return fmt::format("{:.1f} GiB", bytes / static_cast<double>(GiB)); }

}  // namespace

std::uint64_t memory_limit_bytes() {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) least = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  std::ifstream group("/sys/fs/cgroup/memory.max");  // "max" if there is no limit
  if (std::uint64_t bytes = 0; group >> bytes) least = std::min(least, bytes);
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    least = std::min<std::uint64_t>(least, limit.rlim_cur);
  return least;
}

Result<> check_memory(double bytes, const std::string& what) {
  const auto limit = static_cast<double>(memory_limit_bytes());
  if (bytes <= limit) return {};
  return fail(ErrorCode::resources, "{} need {} of memory; this process may have {}", what, gib(bytes),
              gib(limit));
}

}  // namespace afterbay::decomp
