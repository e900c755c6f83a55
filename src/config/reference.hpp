// SPDX-License-Identifier: Apache-2.0
// The table of settings, and a configuration, as text for users.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"

namespace afterbay::config {

/// The reference page in Markdown: how settings are given, then each setting.
std::string reference_page();

/// One line per setting: name, default, accepted values.
std::string list_settings();

/// The documentation of the settings with these names or patterns ("memory.*",
/// "collections.NAME.store"). Fails with unknown_name, naming the closest.
Result<std::string> explain_settings(const std::vector<std::string>& patterns);

/// All effective values with their origins, followed by the options of collections.
std::string show(const Config& config);

/// The values that were set, by dotted name; all others are defaults.
std::map<std::string, std::string> given_settings(const Config& config);

/// The accepted names in the order of the page; those of collections as collections.NAME.store.
std::vector<std::string> all_setting_names();

}  // namespace afterbay::config
