// SPDX-License-Identifier: Apache-2.0
// Preflight checks: full disks, quotas, permissions, limits of the process, and memory shortage,
// which would end a run later.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/disk_quota.hpp"
#include "base/result.hpp"
#include "config/config.hpp"
#include "session/job_demand.hpp"

namespace afterbay::session {

/// Queries to the system; tests replace them. A missing value is unknown or unlimited.
struct SystemFacts {
  struct Room {
    std::uint64_t file_system = 0;  ///< equal for directories of one file system
    std::uint64_t free_bytes = 0;
    std::optional<std::uint64_t> free_files{};  ///< empty if the file system does not count files
  };
  std::function<std::optional<Room>(const std::string& directory)> room;
  std::function<std::vector<DiskQuota>(const std::string& directory)> quotas;
  /// The errno; 0: files can be created there.
  std::function<int(const std::string& directory)> write_error;
  std::function<std::optional<std::uint64_t>()> most_open_files;
  std::function<std::optional<std::uint64_t>()> largest_file;
  /// Free memory of the node, or what is left in a control group.
  std::function<std::optional<std::uint64_t>()> free_memory;
  /// Limit of locked memory, used if a network needs such memory.
  std::function<std::optional<std::uint64_t>()> locked_memory;
  /// Whether processes of different nodes are connected by sockets: the node has no other network.
  std::function<bool()> by_sockets;
  /// The highest message tag of MPI.
  std::function<std::optional<int>()> most_tag;
};
/// Facts about this process and node.
SystemFacts this_system();

/// All problems that are found, without duplicates; each says what to do. Checks the directories
/// that the configuration names (relative ones begin in the working directory) and the volumes that
/// it declares.
std::vector<Error> find_obstacles(const config::Config& config, const NodeLoad& load,
                                  const SystemFacts& system);

/// Joins all errors into one with the code of the first; nullopt if there are none.
std::optional<Error> join_obstacles(const std::vector<Error>& found);

}  // namespace afterbay::session
