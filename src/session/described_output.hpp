// SPDX-License-Identifier: Apache-2.0
// DescribedOutput: reads the output description of a session.
#pragma once

#include <memory>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"
#include "describe/description.hpp"

namespace afterbay::session {

class DescribedOutput {
 public:
  /// For config::Sources::read_output: reads the files in `config.output`, sets `config.output_digest`, and
  /// returns the settings of the files that are written.
  Result<std::vector<config::CollectionOverride>> read(config::Config& config);

  /// Null: nothing was read.
  [[nodiscard]] const std::shared_ptr<const describe::Description>& description() const noexcept {
    return description_;
  }

 private:
  std::shared_ptr<const describe::Description> description_;
};

}  // namespace afterbay::session
