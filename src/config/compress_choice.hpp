// SPDX-License-Identifier: Apache-2.0
// The file in which `compress: auto` keeps the filters of a collection: a configuration with the
// settings of these filters and nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "codec/trial.hpp"
#include "config/config.hpp"

namespace afterbay::config {

/// `directory`: of the collection; empty: the working directory.
std::string choice_path(const std::string& directory, std::string_view collection);

/// The filters in the file; nullopt if there is none. Fails, with file and line, if it contains
/// anything else, or filters that this build lacks.
Result<std::optional<codec::FilterLevels>> read_choice(const std::string& path,
                                                       const std::string& collection);

/// Settings with which a variable has these compressors and rearrangements and no others.
FilterChoices exactly(const codec::FilterLevels& filters);

}  // namespace afterbay::config
