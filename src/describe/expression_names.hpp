// SPDX-License-Identifier: Apache-2.0
// The fields that an expression refers to. The expression itself is parsed when it is compiled; here only its
// words and parentheses are looked at, so that references can be checked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace afterbay::describe {

/// Names that are neither followed by "(" nor constants (pi), in order, each once. Periods such as the 1d of
/// max(tas, 1d) are no names. Fails if the expression is empty, parentheses are not balanced, or a character
/// cannot occur in an expression.
Result<std::vector<std::string>> names_in_expression(std::string_view expression);

}  // namespace afterbay::describe
