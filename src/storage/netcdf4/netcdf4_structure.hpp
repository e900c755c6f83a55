// SPDX-License-Identifier: Apache-2.0
// Netcdf4Structure: new files of one schema without their data, and the properties of their
// datasets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/layout.hpp"
#include "storage/netcdf4/dataset.hpp"

namespace afterbay::storage {

struct Netcdf4Structure {
  std::vector<std::byte> image;  ///< the whole file
  std::uint64_t variables = 0;
  /// One per schema variable, in the same order; empty until the first file was opened. Guarded by
  /// the library lock.
  mutable std::vector<DatasetFacts> datasets;

  [[nodiscard]] std::uint64_t bytes() const;
};

/// Lets netCDF-C create the file (see build_structure). Takes the library lock.
Result<Netcdf4Structure> make_netcdf4_structure(const Schema& schema, const model::FileLayout& layout);

}  // namespace afterbay::storage
