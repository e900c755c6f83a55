// SPDX-License-Identifier: Apache-2.0
// Settings that are each right but cannot hold together.
#pragma once

#include <array>
#include <string_view>

#include "config/assignment.hpp"
#include "config/config.hpp"

namespace afterbay::config {

/// What means nothing with the inline topology.
inline constexpr std::array<std::string_view, 8> settings_of_servers{
    "servers",        "servers_per_node", "server_nodes", "server_offset",
    "server_spacing", "isolate_nodes",    "model_ranks",  "frontends_per_node"};

/// Adds each contradiction once, with both places and the arithmetic. Settings that `problems` already
/// concerns are left out.
void find_contradictions(const Config& config, Problems& problems);

}  // namespace afterbay::config
