// SPDX-License-Identifier: Apache-2.0
// Names in the configuration that the model does not have: to be asked when these are known.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace afterbay::config {

/// Refuses (unknown_name, all at once) what is said about variables that `collection` does not have, with
/// place and nearest name. Patterns may fit nothing, and entries of collection patterns too.
Result<void> check_variables(const Config& config, std::string_view collection,
                             std::span<const std::string> variables);

/// A line for each collection that the configuration names exactly and that is not among `defined`; for a
/// warning, since the model may define more later.
std::vector<std::string> unknown_collections(const Config& config, std::span<const std::string> defined);

}  // namespace afterbay::config
