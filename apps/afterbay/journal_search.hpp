// SPDX-License-Identifier: Apache-2.0
// Where `afterbay recover` looks for the journal of a file if none is given.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "journal/read.hpp"

namespace afterbay::app {

/// The working directory, the directory of the file, and the one above it, in the order of the
/// search.
std::vector<std::filesystem::path> places_of_journal(const std::string& file);

/// Whether the search finds this journal, whatever the working directory: if not, `--journal` must
/// be given.
bool is_found_by_search(const journal::Journal& journal, const std::string& file);

}  // namespace afterbay::app
