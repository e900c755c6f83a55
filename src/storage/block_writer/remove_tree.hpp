// SPDX-License-Identifier: Apache-2.0
// Removes a directory with everything in it, through descriptors: never a directory that somebody
// else puts in its place.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"

namespace afterbay::storage {

/// The first thing that could not be removed.
struct NotRemoved {
  std::string path;
  int number = 0;  ///< errno

  [[nodiscard]] Error error() const;
};

/// Removes everything in an open directory, whatever its name is by now, and then its name `path`,
/// if it still has that. Directories of this user without write permission get it. Continues after
/// a failure. Other processes may remove the same; what they add meanwhile may stay.
std::optional<NotRemoved> remove_tree(int directory, const std::string& path);

}  // namespace afterbay::storage
