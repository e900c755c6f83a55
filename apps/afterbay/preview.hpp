// SPDX-License-Identifier: Apache-2.0
// A preview of described output for users: as text, JSON and a picture.
#pragma once

#include <string>
#include <vector>

#include "output/preview.hpp"

namespace afterbay::app {

/// What is shown, and of what.
struct ShownPreview {
  std::vector<std::string> descriptions;  ///< paths
  std::string definitions;                ///< path
  output::Preview preview;
};

/// Tables of files, memory and traffic.
std::string preview_text(const ShownPreview& shown);
std::string preview_json(const ShownPreview& shown);
/// An SVG: fields on the left, files on the right, what is computed between them.
std::string preview_drawing(const output::Preview& preview);

}  // namespace afterbay::app
