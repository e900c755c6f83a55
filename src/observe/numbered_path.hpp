// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace afterbay::observe {

/// The path of one of several processes that write a file each: {server} in it is `whose`; a path without it
/// gets that before its ending, "run.1.prom", unless this one is `plain`.
std::string numbered_path(const std::string& path, const std::string& whose, bool plain);

/// The path of one of several sessions at a time that write the same: `path` for turn 1, then "run-2.json".
std::string path_of_turn(const std::string& path, int turn);

}  // namespace afterbay::observe
