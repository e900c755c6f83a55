// SPDX-License-Identifier: Apache-2.0
// Directories that outlast a loss of power.
#pragma once

#include <string>

namespace afterbay {

/// Makes durable which names a directory holds. Gives 0 or errno; 0 too on network file systems that know no
/// fsync of directories and keep names at once.
int sync_directory(const std::string& path) noexcept;

/// Makes what is missing of a path of directories, durably: each new one's name too. Gives 0 or errno.
int make_directories(const std::string& path);

}  // namespace afterbay
