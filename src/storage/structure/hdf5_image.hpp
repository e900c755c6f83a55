// SPDX-License-Identifier: Apache-2.0
// The bytes of an HDF5 file that is in memory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "storage/netcdf4/hdf5.hpp"

namespace afterbay::storage {

/// Another handle of the file that this process has open under `name`. The caller holds the
/// LibraryLock.
Result<Hdf5Id> reopen(const std::string& name);

/// What the file, flushed, would be on the disk if it were closed now. The caller holds the
/// LibraryLock.
Result<std::vector<std::byte>> image_of_open_file(hid_t file);
Result<std::vector<std::byte>> image_of_open_file(const std::string& name);

}  // namespace afterbay::storage
