// SPDX-License-Identifier: Apache-2.0
#include "storage/library_lock.hpp"

#include <netcdf.h>

namespace afterbay::storage {
namespace {

/// The one process-wide state of the storage layer: HDF5 and netCDF-C keep global tables of their own
/// and are not built thread-safe (Debian), so that two sessions of a process must share one lock.
std::mutex& process_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// netCDF-C switches HDF5's printing off when it starts, in the thread where it does. It must do so before
/// the switch is looked at: else it would be turned back, and the process's own netCDF calls would print.
void begin_netcdf() {
  static const int begun = nc_initialize();
  static_cast<void>(begun);
}

}  // namespace

LibraryLock::LibraryLock() : lock_(process_mutex()) {
  begin_netcdf();
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

LibraryLock::~LibraryLock() { H5Eset_auto2(H5E_DEFAULT, print_, print_data_); }

}  // namespace afterbay::storage
