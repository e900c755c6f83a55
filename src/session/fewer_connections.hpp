// SPDX-License-Identifier: Apache-2.0
// What helps if a process has more connections than descriptors. Advice is given only if the
// processes of the node then have enough, by the same calculation that refuses them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "session/job_demand.hpp"

namespace afterbay::session {

/// Settings and their values: "pools.a.topology", "tiered".
using SettingsToChange = std::vector<std::pair<std::string, std::string>>;

/// The topology, if need be with the placement that the servers have now, with which no process of
/// the node needs more than `most` descriptors, sockets included; empty: there is none, or the
/// load does not say how servers and ranks were placed. `most_tag`: the highest message tag.
SettingsToChange settings_with_fewer_connections(const config::Config& config, const NodeLoad& load,
                                                 std::uint64_t most, std::optional<int> most_tag);

/// What helps a process that needs more than `most` descriptors, in addition to a higher limit:
/// ", or set topology: tiered, or use at most 500 servers on other nodes"; empty: nothing.
std::string fewer_connections(const config::Config& config, const NodeLoad& load,
                              const DemandOfAlike& process, std::uint64_t most, std::optional<int> most_tag);

/// With what the first rank needs no connections for figures of all ranks: "set report.table: off
/// and leave out report.json".
std::string without_joint_figures(const config::Config& config);

}  // namespace afterbay::session
