// SPDX-License-Identifier: Apache-2.0
// Command lines for users, as the commands recommend them.
#pragma once

#include <string>
#include <vector>

namespace afterbay {

/// One line for any POSIX shell that runs a command with exactly these words, whatever bytes they
/// contain. The line itself is printable ASCII if the words are not printable.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace afterbay
