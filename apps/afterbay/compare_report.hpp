// SPDX-License-Identifier: Apache-2.0
// The output of a comparison.
#pragma once

#include <cstddef>
#include <string>

#include "command.hpp"

namespace afterbay::app {

struct CompareOutput {
  std::size_t lines = 20;  ///< maximum number of differences to list
  bool summary_only = false;
};

/// Compares, prints the first differences and a summary line on stdout; errors on stderr. Returns
/// ok (equal), wrong (different) or io (a file cannot be read, or has contents that cannot be
/// compared).
Exit compare_and_print(const std::string& a, const std::string& b, const CompareOutput& output = {});

}  // namespace afterbay::app
