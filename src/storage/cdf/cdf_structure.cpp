// SPDX-License-Identifier: Apache-2.0
#include "storage/cdf/cdf_structure.hpp"

#include "storage/structure/build_structure.hpp"

namespace afterbay::storage {

std::uint64_t CdfStructure::bytes() const {
  std::uint64_t bytes = image.size();
  for (const CdfVariable& variable : header.variables) bytes += sizeof variable + variable.name.size();
  return bytes;
}

Result<CdfStructure> make_cdf_structure(const Schema& schema, const model::FileLayout& layout) {
  AFTERBAY_TRY_ASSIGN(const Structure structure, build_structure(schema, layout));
  AFTERBAY_TRY_ASSIGN(const auto source, structure.open());
  CdfStructure made;
  AFTERBAY_TRY_ASSIGN(made.header, read_cdf_header(*source));
  AFTERBAY_TRY_ASSIGN(
      made.image,
      image_of(*source, schema.variables.empty() ? structure.size_bytes : made.header.first_byte_of_data()));
  return made;
}

}  // namespace afterbay::storage
