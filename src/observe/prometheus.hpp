// SPDX-License-Identifier: Apache-2.0
// A server's state for Prometheus: the text format that the node exporter's textfile collector takes.
#pragma once

#include <string>

#include "observe/server_state.hpp"

namespace afterbay::observe {

/// All metrics of one server, each with HELP and TYPE, labelled with session and server; those of a frontend
/// have names of their own and the label frontend. `turn`: of the file, where several sessions write the
/// same at a time; from 2 on it is a label, so that sessions of one name are told apart.
std::string prometheus_text(const ServerState& state, int turn = 1);

/// Where server number `server` of `servers` writes: {server} in the path is its number; a path without it
/// gets the number before its ending where there are several servers: "afterbay.1.prom". Frontends are
/// "frontend-1".
std::string prometheus_path(const std::string& path, std::int64_t server, std::int64_t servers,
                            bool is_frontend = false);

}  // namespace afterbay::observe
