// SPDX-License-Identifier: Apache-2.0
#include "storage/library_lock.hpp"

#include <netcdf.h>

#include <atomic>
#include <cstdlib>

#include "storage/netcdf4/dataset_codec.hpp"

namespace afterbay::storage {
namespace {

/// The one process-wide state of the storage layer: HDF5 and netCDF-C keep global tables of their own
/// and are not built thread-safe (Debian), so that two sessions of a process must share one lock.
std::mutex& process_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::atomic<bool> left_open{false};

/// As HDF5 does by itself.
void end_library() {
  if (!left_open) H5close();
}

/// netCDF-C switches HDF5's printing off when it starts, in the thread where it does. It must do so before
/// the switch is looked at: else it would be turned back, and the process's own netCDF calls would print.
int begin() {
  // HDF5 begins with either's first call. If that was one of the process's own, HDF5 ends itself.
  if (H5dont_atexit() >= 0) std::atexit(end_library);
  const int status = nc_initialize();
  register_codecs();
  return status;
}

void begin_netcdf() {
  static const int begun = begin();
  static_cast<void>(begun);
}

}  // namespace

void leave_library_open() noexcept { left_open = true; }

LibraryLock::LibraryLock() : lock_(process_mutex()) {
  begin_netcdf();
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

LibraryLock::~LibraryLock() { H5Eset_auto2(H5E_DEFAULT, print_, print_data_); }

}  // namespace afterbay::storage
