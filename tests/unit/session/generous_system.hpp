// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "session/obstacles.hpp"

namespace afterbay::session {

/// No resource is short, nothing is forbidden.
inline SystemFacts generous() {
  SystemFacts system;
  system.room = [](const std::string&) { return SystemFacts::Room{1, std::uint64_t{1000} << 30}; };
  system.quotas = [](const std::string&) { return std::vector<DiskQuota>(); };
  system.write_error = [](const std::string&) { return 0; };
  const auto unlimited = []() -> std::optional<std::uint64_t> { return std::nullopt; };
  system.most_open_files = system.largest_file = system.free_memory = system.locked_memory = unlimited;
  system.by_sockets = [] { return true; };
  system.most_tag = []() -> std::optional<int> { return std::nullopt; };
  return system;
}

}  // namespace afterbay::session
