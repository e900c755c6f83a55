// SPDX-License-Identifier: Apache-2.0
// Words of command lines that the command recommends.
#pragma once

#include <string>

namespace afterbay::app {

/// Quotes text as one word of a shell's command line; if it is not printable, for shells that
/// support $'...', such as bash.
std::string shell_word(const std::string& text);

}  // namespace afterbay::app
