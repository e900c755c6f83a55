// SPDX-License-Identifier: Apache-2.0
// Netcdf4Store: netCDF-4 files, with structure from netCDF-C and HDF5, and bytes from our engine.
#pragma once

#include <memory>

#include "storage/netcdf4/netcdf4_structure.hpp"
#include "storage/store.hpp"
#include "storage/structure/structure_cache.hpp"

namespace afterbay::storage {

/// netCDF-C creates a file without data, once for all files of a schema; HDF5 allocates and indexes
/// chunks; workers encode chunks and write them in place without holding the library lock.
class Netcdf4Store : public Store {
 public:
  Result<std::unique_ptr<File>> create(const FileRequest& request) override;
  void prepare(const FileRequest& request) override;
  Result<std::unique_ptr<File>> join(const FileRequest& request, std::span<const std::byte> share,
                                     std::shared_ptr<Placer> placer) override;

 private:
  StructureCache<Netcdf4Structure> structures_;
};

}  // namespace afterbay::storage
