// SPDX-License-Identifier: Apache-2.0
#include "journal_search.hpp"

#include <system_error>

namespace afterbay::app {

namespace fs = std::filesystem;

std::vector<fs::path> places_of_journal(const std::string& file) {
  std::error_code gone;
  const fs::path beside = fs::absolute(file, gone).lexically_normal().parent_path();
  return {".", beside, beside.parent_path()};
}

bool is_found_by_search(const journal::Journal& journal, const std::string& file) {
  std::error_code wrong;
  bool is_in_working_directory = true;
  for (const fs::path& place : places_of_journal(file)) {
    if (const auto found = journal::find_journal(place.string())) {
      if (!fs::equivalent(*found, journal.directory, wrong)) return false;
      if (!is_in_working_directory) return true;
    }
    is_in_working_directory = false;
  }
  return false;
}

}  // namespace afterbay::app
