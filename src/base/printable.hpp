// SPDX-License-Identifier: Apache-2.0
// Names from outside (of files, directories, variables) as they can be shown on one line.
#pragma once

#include <string>
#include <string_view>

namespace afterbay {

/// `text` with what is neither printable ASCII nor well-formed UTF-8 beyond the control characters written as
/// \n, \t, \r or \x1b: it stays on its line and does nothing to a terminal.
std::string printable(std::string_view text);

}  // namespace afterbay
