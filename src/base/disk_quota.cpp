// SPDX-License-Identifier: Apache-2.0
#include "base/disk_quota.hpp"

#include <fmt/format.h>
#include <sys/quota.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace afterbay {

std::vector<DiskQuota> quotas_of([[maybe_unused]] int descriptor) {
  std::vector<DiskQuota> quotas;
#ifdef SYS_quotactl_fd
  const auto ask = [&](int kind, unsigned id, const char* noun) {
    dqblk quota{};
    if (::syscall(SYS_quotactl_fd, descriptor, QCMD(Q_GETQUOTA, kind), id, &quota) != 0) return;
    const auto left = [](std::uint64_t most, std::uint64_t used) -> std::optional<std::uint64_t> {
      if (most == 0) return std::nullopt;  // no limit
      return most - std::min(most, used);
    };
    quotas.push_back({fmt::format("{} {}", noun, id), left(quota.dqb_bhardlimit * 1024, quota.dqb_curspace),
                      left(quota.dqb_ihardlimit, quota.dqb_curinodes)});
  };
  ask(USRQUOTA, ::geteuid(), "user");
  ask(GRPQUOTA, ::getegid(), "group");
#endif
  return quotas;
}

}  // namespace afterbay
