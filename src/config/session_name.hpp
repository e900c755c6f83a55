// SPDX-License-Identifier: Apache-2.0
// The name of a session, and {session} in paths.
#pragma once

#include <string>

#include "base/result.hpp"
#include "config/config.hpp"
#include "config/kinds.hpp"

namespace afterbay::config {

/// Names that can be part of a file name and are printed unchanged.
Kind<std::string> session_name_kind();

/// Sets the session's name, and replaces {session} by it in the paths of reports, journal,
/// statistics and spill files. Fails if the name is not valid for `session_name_kind`; the error
/// says that the program gave it.
Result<> name_session(Config& config, const std::string& name);

/// The name from the setting, or else `program`, the name that the program gives.
const std::string& session_name(const Config& config, const std::string& program);

}  // namespace afterbay::config
