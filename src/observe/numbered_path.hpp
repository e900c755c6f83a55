// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace afterbay::observe {

/// The path for one of several processes that each write a file: {server} in it is replaced by
/// `whose`. A path without it gets `whose` before its extension, "run.1.prom", unless `plain` is
/// set.
std::string numbered_path(const std::string& path, const std::string& whose, bool plain);

/// The path for one of several concurrent sessions that write the same file: `path` for turn 1,
/// then "run-2.json".
std::string path_of_turn(const std::string& path, int turn);

}  // namespace afterbay::observe
