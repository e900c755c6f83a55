// SPDX-License-Identifier: Apache-2.0
// A server's state for Prometheus: the text format that the node exporter's textfile collector takes.
#pragma once

#include <string>

#include "base/result.hpp"
#include "observe/server_state.hpp"

namespace afterbay::observe {

/// All metrics of one server, each with HELP and TYPE, labelled with session and server; those of a frontend
/// have names of their own and the label frontend.
std::string prometheus_text(const ServerState& state);

/// Puts it in the place of what is at `path`, whole or not at all (by rename).
Result<> write_prometheus(const std::string& path, const ServerState& state);

/// Where server number `server` of `servers` writes: {server} in the path is its number; a path without it
/// gets the number before its ending where there are several servers: "afterbay.1.prom". Frontends are
/// "frontend-1".
std::string prometheus_path(const std::string& path, std::int64_t server, std::int64_t servers,
                            bool is_frontend = false);

}  // namespace afterbay::observe
