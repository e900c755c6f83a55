// SPDX-License-Identifier: Apache-2.0
// Fill values: the values of points that were never put.
#pragma once

#include "afterbay/schema.hpp"

namespace afterbay::model {

/// The default fill value of netCDF for a type, as one element; empty for strings. Source:
/// netCDF-C, netcdf.h, NC_FILL_*.
Values default_fill(Type type);

/// The variable's fill value, or the default of its type. An attribute `_FillValue` also counts.
Values fill_of(const Variable& variable);

/// The fill value if it marks missing points: empty for 8-bit integers that were given none. By the
/// conventions of netCDF, all values of bytes are valid then. Source: NetCDF Users' Guide, appendix
/// "Attribute Conventions", _FillValue.
Values missing_fill_of(const Variable& variable);

}  // namespace afterbay::model
