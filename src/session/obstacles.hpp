// SPDX-License-Identifier: Apache-2.0
// What would end a run later, found before it: full disks, quotas, permissions, limits of the process,
// memory.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/disk_quota.hpp"
#include "base/result.hpp"
#include "config/config.hpp"

namespace afterbay::session {

/// What is asked of the system; tests ask another one. A value that is not there is not known, or unlimited.
struct SystemFacts {
  struct Room {
    std::uint64_t file_system = 0;  ///< equal for directories of one
    std::uint64_t free_bytes = 0;
    std::optional<std::uint64_t> free_files{};  ///< nothing: it does not count them
  };
  std::function<std::optional<Room>(const std::string& directory)> room;
  std::function<std::vector<DiskQuota>(const std::string& directory)> quotas;
  std::function<int(const std::string& directory)> write_error;  ///< errno; 0: files can be made there
  std::function<std::optional<std::uint64_t>()> most_open_files;
  std::function<std::optional<std::uint64_t>()> largest_file;
  std::function<std::optional<std::uint64_t>()> free_memory;  ///< of the node, or what a control group leaves
  std::function<std::optional<std::uint64_t>()> locked_memory;  ///< where a network needs it
};
/// Of this process and node.
SystemFacts this_system();

/// Who is on this node.
struct NodeLoad {
  int servers = 1;
  int ranks = 1;  ///< all processes of the session, servers too
};

/// All that is found, none said twice; each with what to do. Directories are those that the configuration
/// names (with relative ones beginning in the working directory), volumes those that it declares.
std::vector<Error> find_obstacles(const config::Config& config, const NodeLoad& load,
                                  const SystemFacts& system);

/// All in one, with the code of the first; nothing when there are none.
std::optional<Error> join_obstacles(const std::vector<Error>& found);

}  // namespace afterbay::session
