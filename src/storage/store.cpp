// SPDX-License-Identifier: Apache-2.0
#include "storage/store.hpp"

#include "storage/cdf/cdf_store.hpp"
#include "storage/memory/memory_store.hpp"
#include "storage/netcdf4/netcdf4_store.hpp"

namespace afterbay::storage {

std::unique_ptr<Store> make_store(Format format) {
  switch (format) {
    case Format::netcdf4: return std::make_unique<Netcdf4Store>();
    case Format::cdf5:
    case Format::cdf2: return std::make_unique<CdfStore>(format);
    case Format::memory: return std::make_unique<MemoryStore>();
  }
  return nullptr;
}

}  // namespace afterbay::storage
