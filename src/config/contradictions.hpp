// SPDX-License-Identifier: Apache-2.0
// Settings that are valid on their own but contradict each other.
#pragma once

#include <array>
#include <string_view>

#include "config/assignment.hpp"
#include "config/config.hpp"

namespace afterbay::config {

/// Settings that have no meaning with the inline topology.
inline constexpr std::array<std::string_view, 8> settings_of_servers{
    "servers",        "servers_per_node", "server_nodes", "server_offset",
    "server_spacing", "isolate_nodes",    "model_ranks",  "frontends_per_node"};

/// Adds each contradiction once, with both places and the calculation. Settings with other
/// `problems` are ignored.
void find_contradictions(const Config& config, Problems& problems);

}  // namespace afterbay::config
