// SPDX-License-Identifier: Apache-2.0
#include "storage/library_lock.hpp"

namespace afterbay::storage {
namespace {

/// The one process-wide state of the storage layer: HDF5 and netCDF-C keep global tables of their own
/// and are not built thread-safe (Debian), so that two sessions of a process must share one lock.
std::mutex& process_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

LibraryLock::LibraryLock() : lock_(process_mutex()) {}

}  // namespace afterbay::storage
