// SPDX-License-Identifier: Apache-2.0
// The tables of the HTML report.
#pragma once

#include <string>

#include "observe/run_figures.hpp"

namespace afterbay::observe {

/// What model ranks waited for, for how long, and which waited longest.
std::string waits_table(const RunPage& page, const RunFigures& figures);
/// Collections, followed by the latest files.
std::string files_tables(const RunPage& page, const RunFigures& figures);
/// The settings that were set, one per line.
std::string settings_table(const RunPage& page);

}  // namespace afterbay::observe
