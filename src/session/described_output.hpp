// SPDX-License-Identifier: Apache-2.0
// DescribedOutput: reads the output description of a session.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "describe/description.hpp"

namespace afterbay::session {

class DescribedOutput {
 public:
  /// `text`: a description that the program gives; empty: none.
  explicit DescribedOutput(std::string text = {}) : text_(std::move(text)) {}

  /// For config::Sources::read_output: reads the files in `config.output.paths` and the text, sets
  /// `config.output.digest`, and returns the settings of the files that are written. Does nothing
  /// if there is neither.
  Result<std::vector<config::CollectionOverride>> read(config::Config& config);

  /// Null: nothing was read.
  [[nodiscard]] const std::shared_ptr<const describe::Description>& description() const noexcept {
    return description_;
  }

 private:
  std::string text_;
  std::shared_ptr<const describe::Description> description_;
};

}  // namespace afterbay::session
