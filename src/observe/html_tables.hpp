// SPDX-License-Identifier: Apache-2.0
// The tables of the page about a run.
#pragma once

#include <string>

#include "observe/run_figures.hpp"

namespace afterbay::observe {

/// What model ranks waited for, how long, and which the longest.
std::string waits_table(const RunPage& page, const RunFigures& figures);
/// Collections, then the latest files.
std::string files_tables(const RunPage& page, const RunFigures& figures);
/// What was set, one line each.
std::string settings_table(const RunPage& page);

}  // namespace afterbay::observe
