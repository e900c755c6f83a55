// SPDX-License-Identifier: Apache-2.0
// CdfStructure: the header of new files with one schema.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/layout.hpp"
#include "storage/cdf/header.hpp"

namespace afterbay::storage {

struct CdfStructure {
  std::vector<std::byte> image;  ///< all bytes before the first byte of data
  CdfHeader header;

  [[nodiscard]] std::uint64_t bytes() const;
};

/// Lets netCDF-C create the header (see build_structure) and reads it.
Result<CdfStructure> make_cdf_structure(const Schema& schema, const model::FileLayout& layout);

}  // namespace afterbay::storage
