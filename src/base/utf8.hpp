// SPDX-License-Identifier: Apache-2.0
// UTF-8: what is a well-formed character.
#pragma once

#include <cstddef>
#include <string_view>

namespace afterbay {

/// Length in bytes of the well-formed UTF-8 character at the beginning of `text`; 0: there is none.
std::size_t utf8_bytes(std::string_view text);

/// The first byte that is not part of a well-formed character; npos: `text` is UTF-8.
std::size_t find_not_utf8(std::string_view text);

}  // namespace afterbay
