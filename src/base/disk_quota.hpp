// SPDX-License-Identifier: Apache-2.0
// The space that quotas leave to this process on a file system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace afterbay {

/// A hard limit that applies to this process; quotas without a limit are left out.
struct DiskQuota {
  std::string whose;  ///< "user 1000", "group 100"
  std::optional<std::uint64_t> free_bytes{};
  std::optional<std::uint64_t> free_files{};
};

/// The quotas on the file system of an open file or directory. Local file systems only: NFS
/// enforces quotas on its server, Lustre has its own command.
std::vector<DiskQuota> quotas_of(int descriptor);

}  // namespace afterbay
