// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace afterbay {

/// This node's name; "unknown" where the system does not tell.
std::string host_name();

}  // namespace afterbay
