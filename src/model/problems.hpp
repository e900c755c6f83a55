// SPDX-License-Identifier: Apache-2.0
// Problems: collects several problems in one Error, so that a user can correct all of them at once.
#pragma once

#include <string>
#include <utility>

#include "base/result.hpp"

namespace afterbay::model {

class Problems {
 public:
  /// `variable` may be empty if the problem does not concern a variable.
  void add(ErrorCode code, const std::string& variable, const std::string& line) {
    error_.code = count_ == 0 || error_.code == code ? code : ErrorCode::invalid_argument;
    if (count_ == 0) error_.variable = variable;
    if (error_.variable != variable) error_.variable.clear();
    lines_ += "\n  " + line;
    ++count_;
  }

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

  /// Success if there were none; otherwise "HEADING (n problems):" and one line per problem.
  [[nodiscard]] Result<> result(const std::string& heading) {
    if (count_ == 0) return {};
    error_.message = fmt::format("{} ({} problem{}):{}", heading, count_, count_ == 1 ? "" : "s", lines_);
    return fail(std::move(error_));
  }

 private:
  Error error_;
  std::string lines_;
  std::size_t count_ = 0;
};

}  // namespace afterbay::model
