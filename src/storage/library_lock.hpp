// SPDX-License-Identifier: Apache-2.0
// LibraryLock: allows one thread at a time in HDF5 and netCDF-C, and silences HDF5.
#pragma once

#include <hdf5.h>

#include <mutex>

namespace afterbay::storage {

/// Held around every call of HDF5 or netCDF-C, and never while data are written, encoded or synced.
/// Not recursive. While it is held HDF5 prints no errors: they are returned as values. (netCDF-C
/// switches printing off only when it starts: the process may print the errors of its own calls,
/// and if HDF5 is thread-safe the setting is per thread.)
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

/// HDF5 could not close an object of a damaged file, and may crash when it accesses it again: from
/// now on it is not shut down at the end of the process, when it would close all open objects. Any
/// thread.
void leave_library_open() noexcept;

}  // namespace afterbay::storage
