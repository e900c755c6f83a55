// SPDX-License-Identifier: Apache-2.0
// Directories that survive a loss of power.
#pragma once

#include <string>

namespace afterbay {

/// Makes the entries of a directory durable. Returns 0 or errno; also 0 on network file systems
/// that do not support fsync of directories and store names at once.
int sync_directory(const std::string& path) noexcept;

/// Creates the missing directories of a path durably, including their entries. Returns 0 or errno.
int make_directories(const std::string& path);

}  // namespace afterbay
