// SPDX-License-Identifier: Apache-2.0
// Templates of file names: literal text and tokens in braces. Which tokens exist depends on the
// user of the template.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace afterbay::model {

/// Literal text, in which {{ and }} have become braces, or the text between { and }.
struct TemplatePiece {
  std::string text;
  bool is_token = false;
};

/// Fails if braces are not balanced, or there is a NUL.
Result<std::vector<TemplatePiece>> split_template(std::string_view pattern);

/// The number of places in {NAME:SPEC}, for example of "06".
Result<int> template_digits(std::string_view name, std::string_view spec);

}  // namespace afterbay::model
