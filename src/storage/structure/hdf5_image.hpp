// SPDX-License-Identifier: Apache-2.0
// The bytes of an HDF5 file that is in memory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace afterbay::decomp {

/// What a file that this process has open under `name`, flushed, would be on the disk if it were closed now.
/// The caller holds the LibraryLock.
Result<std::vector<std::byte>> image_of_open_file(const std::string& name);

}  // namespace afterbay::decomp
