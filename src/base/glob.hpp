// SPDX-License-Identifier: Apache-2.0
// Name patterns: * matches any number of characters, ? matches one.
#pragma once

#include <string_view>

namespace afterbay {

/// Whether `pattern` contains * or ?, so that it can match several names.
bool is_glob(std::string_view pattern) noexcept;

/// Whether `pattern` matches the whole of `name`. Takes at most pattern x name steps.
bool glob_match(std::string_view pattern, std::string_view name) noexcept;

}  // namespace afterbay
