// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "fields/case.hpp"

namespace bench::fields {

/// The output description of a case, by its `output`:
/// - mean: means.nc, the daily mean of every field;
/// - five: also snap.nc (the values every 6 hours), max.nc (daily maxima), month.nc (monthly means)
///   and box.nc (daily means of a part of the points). With `statistics` of servers, the model
///   computes means.nc and month.nc, because monthly means are made of daily ones;
/// - instant: instants.nc, the values of every step;
/// - calls: means.nc with the first field, and later.nc with values of the first half of the fields
///   at the end of each month. The others are not written.
std::string description_of(const Case& of);

}  // namespace bench::fields
