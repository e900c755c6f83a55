// SPDX-License-Identifier: Apache-2.0
// Checks names in the configuration against those that the model has defined.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace afterbay::config {

/// Fails (unknown_name, all at once) for settings of variables that `collection` does not have,
/// with the place and the closest name. Patterns may match nothing, and so may entries of
/// collection patterns.
Result<void> check_variables(const Config& config, std::string_view collection,
                             std::span<const std::string> variables);

/// A line for each collection that the configuration names exactly and that is not among `defined`.
/// For a warning, since the model may define more collections later.
std::vector<std::string> unknown_collections(const Config& config, std::span<const std::string> defined);

}  // namespace afterbay::config
