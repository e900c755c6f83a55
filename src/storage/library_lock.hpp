// SPDX-License-Identifier: Apache-2.0
// LibraryLock: one thread at a time inside HDF5 and netCDF-C.
#pragma once

#include <mutex>

namespace afterbay::storage {

/// Held around every call of HDF5 or netCDF-C, and never around the writing, encoding or syncing of
/// data. Not recursive.
class LibraryLock {
 public:
  LibraryLock();

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace afterbay::storage
