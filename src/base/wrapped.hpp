// SPDX-License-Identifier: Apache-2.0
// Breaks text into lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace afterbay {

/// The words of `text` in lines of at most `columns` characters (longer words have lines of their
/// own). The first line begins with `first`, the others with `next`; each ends with a newline.
std::string wrapped(std::string_view text, std::size_t columns, std::string_view first,
                    std::string_view next);

}  // namespace afterbay
