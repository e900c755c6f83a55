// SPDX-License-Identifier: Apache-2.0
// afterbay plan storage: determines suitable settings for a directory.
#pragma once

#include "command.hpp"

namespace afterbay::app {

/// Adds the options of `afterbay plan storage`.
Action prepare_plan_storage(CLI::App& app);

}  // namespace afterbay::app
