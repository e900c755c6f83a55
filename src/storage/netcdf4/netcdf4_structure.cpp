// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/netcdf4_structure.hpp"

#include "storage/structure/build_structure.hpp"

namespace afterbay::storage {

std::uint64_t Netcdf4Structure::bytes() const {
  return image.size() + variables * (sizeof(DatasetFacts) + model::max_dimensions * sizeof(hsize_t));
}

Result<Netcdf4Structure> make_netcdf4_structure(const Schema& schema, const model::FileLayout& layout) {
  AFTERBAY_TRY_ASSIGN(const Structure structure, build_structure(schema, layout));
  AFTERBAY_TRY_ASSIGN(const auto source, structure.open());
  Netcdf4Structure made;
  AFTERBAY_TRY_ASSIGN(made.image, image_of(*source, structure.size_bytes));
  made.variables = schema.variables.size();
  return made;
}

}  // namespace afterbay::storage
