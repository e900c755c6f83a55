// SPDX-License-Identifier: Apache-2.0
// Fill values: which value stands where nothing was put.
#pragma once

#include "afterbay/schema.hpp"

namespace afterbay::model {

/// netCDF's default fill value of a type, one element; empty for strings.
/// Source: netCDF-C, netcdf.h, NC_FILL_*.
Values default_fill(Type type);

/// The variable's fill value, or the default one of its type. An attribute `_FillValue` counts too.
Values fill_of(const Variable& variable);

}  // namespace afterbay::model
