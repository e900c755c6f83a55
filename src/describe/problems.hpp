// SPDX-License-Identifier: Apache-2.0
// Problems: everything that is wrong with a description, reported together.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "describe/node.hpp"

namespace afterbay::describe {

class Problems {
 public:
  /// Each problem is recorded once, although several files may inherit it.
  void add(ErrorCode code, const Position& at, std::string text);

  [[nodiscard]] bool empty() const noexcept { return found_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return found_.size(); }
  /// One error with a line per problem, in the order of files and lines. Its code is that of the
  /// first one; io takes precedence. `what`: has the problems.
  [[nodiscard]] Error error(std::string_view what = "the output description") const;

 private:
  struct Problem {
    ErrorCode code;
    Position at;
    std::string text;
  };
  std::vector<Problem> found_;
};

}  // namespace afterbay::describe
