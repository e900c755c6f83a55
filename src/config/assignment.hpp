// SPDX-License-Identifier: Apache-2.0
// What the sources of the configuration yield before it is checked: assignments and problems.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "config/config.hpp"

namespace afterbay::config {

/// One `name = value`, not yet checked.
struct Assignment {
  enum class Shape { scalar, list, mapping, nothing };

  std::string trigger;     ///< name; empty: not a setting of a trigger
  std::string pool;        ///< name; empty: not a setting of a pool
  std::string collection;  ///< pattern; empty: a setting of the session, or of a pool
  std::string variable;    ///< pattern; empty: a setting of the collection
  std::string name;        ///< "memory.server", "store", ...
  std::string value;       ///< lists: separated by commas
  Shape shape = Shape::scalar;
  Origin origin;           ///< of the value
  std::string name_place;  ///< of the name, where it differs

  /// "memory.server", "collections.history.store".
  [[nodiscard]] std::string full_name() const;
};

/// All that is wrong, in the order in which it was found.
class Problems {
 public:
  void add(ErrorCode code, std::string_view place, std::string_view text);
  /// As add; `setting` is left out when contradictions are looked for.
  void add(ErrorCode code, std::string_view place, std::string_view setting, std::string_view text);

  [[nodiscard]] bool empty() const noexcept { return lines_.empty(); }
  [[nodiscard]] bool concerns(std::string_view setting) const {
    return settings_.find(setting) != settings_.end();
  }
  /// One error with a line for each; its code is that of the first.
  [[nodiscard]] Error error() const;

 private:
  ErrorCode code_ = ErrorCode::invalid_argument;
  std::vector<std::string> lines_;
  std::set<std::string, std::less<>> settings_;
};

}  // namespace afterbay::config
