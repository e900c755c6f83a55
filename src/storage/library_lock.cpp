// SPDX-License-Identifier: Apache-2.0
#include "storage/library_lock.hpp"

#include <netcdf.h>

#include <atomic>
#include <cstdlib>

#include "storage/netcdf4/dataset_codec.hpp"

namespace afterbay::storage {
namespace {

/// The only process-wide state of the storage layer: HDF5 and netCDF-C have global tables and are
/// not built thread-safe (Debian), so that two sessions of a process must share one lock.
std::mutex& process_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::atomic<bool> left_open{false};

/// The same as HDF5's own exit handler.
void end_library() {
  if (!left_open) H5close();
}

/// netCDF-C switches HDF5's printing off when it starts, in the calling thread. It must do this
/// before LibraryLock saves the setting: otherwise it would be restored, and the process's own
/// netCDF calls would print.
int begin() {
  // HDF5 is initialized by the first call of either library. If the process made that call itself,
  // HDF5 also shuts itself down.
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
