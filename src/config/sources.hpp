// SPDX-License-Identifier: Apache-2.0
// Readers of the four sources. Each appends its assignments in order, and its problems.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/assignment.hpp"

namespace afterbay::config {

/// The key `config` of AFTERBAY_CONFIG and --afterbay.config: the path of the YAML file.
inline constexpr std::string_view config_file_key = "config";

void read_code(const std::vector<std::pair<std::string, std::string>>& settings,
               std::vector<Assignment>& found, Problems& problems);

inline constexpr std::string_view collections_key = "collections";
inline constexpr std::string_view triggers_key = "triggers";
inline constexpr std::string_view pools_key = "pools";

/// The YAML file with the keys `afterbay`, `pools` and `collections`.
void read_file(const std::string& path, std::vector<Assignment>& found, Problems& problems);

/// The mapping below `collections`, `triggers` or `pools` as YAML text; `origin.place` is the
/// source of the text.
void read_section(std::string_view section, std::string_view text, const Origin& origin,
                  std::vector<Assignment>& found, Problems& problems);

/// AFTERBAY_*, except the variables for the installation and the tests.
void read_environment(const std::map<std::string, std::string>& environment, std::vector<Assignment>& found,
                      Problems& problems);

/// --afterbay.NAME=VALUE and --afterbay.NAME VALUE, up to an argument "--".
void read_arguments(const std::vector<std::string>& arguments, std::vector<Assignment>& found,
                    Problems& problems);

/// The environment of this process.
std::map<std::string, std::string> process_environment();

}  // namespace afterbay::config
