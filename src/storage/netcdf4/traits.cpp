// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "model/format.hpp"

namespace afterbay::formats {
namespace {

/// Names that netCDF-C 4.9 refuses for global attributes and attributes of variables.
constexpr std::array<std::string_view, 13> reserved_attributes{
    "CLASS",         "DIMENSION_LIST",     "NAME",          "REFERENCE_LIST",
    "_Format",       "_IsNetcdf4",         "_NCProperties", "_Netcdf4Coordinates",
    "_Netcdf4Dimid", "_SuperblockVersion", "_nc3_strict",   "_ARRAY_DIMENSIONS",
    "_Codecs"};

}  // namespace

extern constinit const FormatTraits netcdf4_traits{
    .name = "netcdf4",
    .title = "netCDF-4",
    .magic = "\x89HDF",
    .chunks = true,
    .filters = FilterRule::applied,
    .reserved_attributes = reserved_attributes,
};

}  // namespace afterbay::formats
