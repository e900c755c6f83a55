// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace afterbay::storage {

/// A point in a run whose state can be recovered from unfinished files.
struct Epoch {
  std::uint64_t number = 0;   ///< 1, 2, ... within a run
  std::string name;           ///< the name that the model gave
  std::string at;             ///< time in UTC
  std::uint64_t records = 0;  ///< number of records that the file has at the epoch
  /// Number of these records that were left out because the server's memory was full.
  std::uint64_t dropped = 0;
};

}  // namespace afterbay::storage
