// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace afterbay::storage {

/// A point in the course of a run to which files in the making can be brought back.
struct Epoch {
  std::uint64_t number = 0;   ///< 1, 2, ... in a run
  std::string name;           ///< what the model calls it
  std::string at;             ///< UTC
  std::uint64_t records = 0;  ///< that the file has at it
  std::uint64_t dropped = 0;  ///< records of these that were left out because the server's memory was full
};

}  // namespace afterbay::storage
