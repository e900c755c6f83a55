// SPDX-License-Identifier: Apache-2.0
// Printable forms of names from outside (files, directories, variables).
#pragma once

#include <string>
#include <string_view>

namespace afterbay {

/// A name on one line of text: control characters and bytes that are not well-formed UTF-8 are
/// written as \n, \t, \r or \x1b, and every backslash is doubled, so that different names have
/// different forms.
std::string printable(std::string_view name);

/// The same for the text of a message, which may contain printable names: backslashes are
/// unchanged.
std::string printable_message(std::string_view text);

/// A name in JSON, which can express control characters itself: bytes that are not well-formed
/// UTF-8 are written as \xNN, and every backslash is doubled.
std::string utf8_name(std::string_view name);

/// The name that `utf8_name` encoded. A backslash that begins no escape sequence stands for itself.
std::string name_from_utf8(std::string_view encoded);

}  // namespace afterbay
