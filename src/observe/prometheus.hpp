// SPDX-License-Identifier: Apache-2.0
// A server's state for Prometheus, in the text format of the node exporter's textfile collector.
#pragma once

#include <string>

#include "observe/server_state.hpp"

namespace afterbay::observe {

/// All metrics of one server, each with HELP and TYPE, labelled with session and server. The
/// metrics of a frontend have their own names and the label frontend. `turn`: the number of the
/// file if several sessions write the same path at the same time; from 2 on it is a label, to
/// distinguish sessions with the same name.
std::string prometheus_text(const ServerState& state, int turn = 1);

/// The path for server number `server` of `servers`: {server} in it is replaced by the number. A
/// path without it gets the number before its extension if there are several servers:
/// "afterbay.1.prom". Frontends are "frontend-1".
std::string prometheus_path(const std::string& path, std::int64_t server, std::int64_t servers,
                            bool is_frontend = false);

}  // namespace afterbay::observe
