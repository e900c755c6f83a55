// SPDX-License-Identifier: Apache-2.0
// Patterns of names: * stands for any number of characters, ? for one.
#pragma once

#include <string_view>

namespace afterbay {

/// True when `pattern` has a * or ?, so that it may stand for several names.
bool is_glob(std::string_view pattern) noexcept;

/// True when all of `name` fits `pattern`. Takes at most pattern x name steps.
bool glob_match(std::string_view pattern, std::string_view name) noexcept;

}  // namespace afterbay
