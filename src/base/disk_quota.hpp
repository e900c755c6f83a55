// SPDX-License-Identifier: Apache-2.0
// What quotas leave this process on a file system.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace afterbay {

/// A hard limit that applies here; what has no limit is left out.
struct DiskQuota {
  std::string whose;  ///< "user 1000", "group 100"
  std::optional<std::uint64_t> free_bytes{};
  std::optional<std::uint64_t> free_files{};
};

/// Of the file system of an open file or directory. Of local file systems: NFS's are the server's business,
/// Lustre's its own command's.
std::vector<DiskQuota> quotas_of(int descriptor);

}  // namespace afterbay
