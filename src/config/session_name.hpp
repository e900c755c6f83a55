// SPDX-License-Identifier: Apache-2.0
// The name of a session, and {session} in paths.
#pragma once

#include <string>

#include "base/result.hpp"
#include "config/config.hpp"
#include "config/kinds.hpp"

namespace afterbay::config {

/// Names that can be a part of a file name and are shown as they are.
Kind<std::string> session_name_kind();

/// Gives the session the name `name`, and puts it in the place of {session} in the paths of reports, journal,
/// statistics and spill files. Fails if the name is not one of `session_name_kind`; the error says that the
/// program gave it.
Result<> name_session(Config& config, const std::string& name);

/// The name from the setting, else `program`, the one that the program gives.
const std::string& session_name(const Config& config, const std::string& program);

}  // namespace afterbay::config
