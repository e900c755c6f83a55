// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/hdf5.hpp"

namespace afterbay::storage {
namespace {

/// Keeps the first entry of a walk, at which the failure began.
herr_t keep_first(unsigned depth, const H5E_error2_t* entry, void* text) {
  if (depth == 0 && entry->desc != nullptr) *static_cast<std::string*>(text) = entry->desc;
  return 0;
}

}  // namespace

std::string dataset_name(hid_t file, const std::string& variable) {
  const std::string prefixed = "_nc4_non_coord_" + variable;
  return H5Lexists(file, prefixed.c_str(), H5P_DEFAULT) > 0 ? prefixed : variable;
}

Error hdf5_error(const std::string& doing) {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  H5Eclear2(H5E_DEFAULT);
  return make_error(ErrorCode::format, "cannot {}: {} (HDF5)", doing,
                    text.empty() ? "unknown failure" : text);
}

}  // namespace afterbay::storage
