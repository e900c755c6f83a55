// SPDX-License-Identifier: Apache-2.0
// LibraryLock: one thread at a time inside HDF5 and netCDF-C, and HDF5 silent.
#pragma once

#include <hdf5.h>

#include <mutex>

namespace afterbay::storage {

/// Held around every call of HDF5 or netCDF-C, and never around the writing, encoding or syncing of
/// data. Not recursive. While it is held HDF5 prints no errors of its own: they come back as values.
/// (What netCDF-C switches off when it starts does not last: the process may print those of its own
/// calls, and where HDF5 is thread-safe the switch is one of each thread.)
class LibraryLock {
 public:
  LibraryLock();
  LibraryLock(const LibraryLock&) = delete;
  LibraryLock& operator=(const LibraryLock&) = delete;
  ~LibraryLock();

 private:
  std::unique_lock<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

/// HDF5 could not close something of a damaged file, and may crash when it comes back to it: from now on it
/// is not told that the process ends, when it would close all that is open. Any thread.
void leave_library_open() noexcept;

}  // namespace afterbay::storage
