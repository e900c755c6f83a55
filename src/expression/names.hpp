// SPDX-License-Identifier: Apache-2.0
// Names of fields that expressions cannot mean: that of a constant, and those with characters that
// are operators in expressions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace afterbay::expression {

/// Whether it is the name of a constant, which goes before a field of this name.
bool is_constant(std::string_view name) noexcept;

/// Those of `names` that mean something else in expressions: "pi" is the constant, "a-b" a
/// difference. Pure.
std::vector<std::string> misreadable_names(std::vector<std::string> names);

/// The first of `names`, which are misreadable, that stands in the expression. Pure.
std::optional<std::string> misread_name(std::string_view expression, std::span<const std::string> names);

/// What to do about it: "in an expression ...".
std::string misread_text(std::string_view name);

}  // namespace afterbay::expression
