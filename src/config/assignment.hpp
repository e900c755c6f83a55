// SPDX-License-Identifier: Apache-2.0
// Assignments and problems that the configuration sources produce before values are checked.
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
  std::string name;        ///< "memory.server", "store", ...; empty: declares the pool
  std::string value;       ///< lists: separated by commas
  Shape shape = Shape::scalar;
  Origin origin;           ///< source of the value
  std::string name_place;  ///< place of the name, if it differs

  /// "memory.server", "collections.history.store".
  [[nodiscard]] std::string full_name() const;
};

/// All problems, in the order in which they were found.
class Problems {
 public:
  void add(ErrorCode code, std::string_view place, std::string_view text);
  /// The same; `setting` is ignored when contradictions are searched for.
  void add(ErrorCode code, std::string_view place, std::string_view setting, std::string_view text);

  [[nodiscard]] bool empty() const noexcept { return lines_.empty(); }
  [[nodiscard]] bool concerns(std::string_view setting) const {
    return settings_.find(setting) != settings_.end();
  }
  /// One error with a line per problem; its code is that of the first.
  [[nodiscard]] Error error() const;

 private:
  ErrorCode code_ = ErrorCode::invalid_argument;
  std::vector<std::string> lines_;
  std::set<std::string, std::less<>> settings_;
};

}  // namespace afterbay::config
