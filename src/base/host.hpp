// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace afterbay {

/// This node's name; "unknown" if the system does not provide it.
std::string host_name();

}  // namespace afterbay
