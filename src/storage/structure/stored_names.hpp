// SPDX-License-Identifier: Apache-2.0
// check_stored_names: will netCDF keep the names of a schema as they are?
#pragma once

#include "afterbay/schema.hpp"
#include "base/result.hpp"

namespace afterbay::storage {

/// netCDF stores names in Unicode normal form C. A name in another form would be another one in the
/// file, perhaps that of a second variable. Fails with the first such name of a dimension, variable
/// or attribute and the bytes of its normal form; names that netCDF refuses for other reasons pass
/// (see model::validate). netCDF-C itself is asked, and only about names that are not ASCII. Takes
/// the library lock.
Result<> check_stored_names(const Schema& schema);
/// The same for attributes that are set for one file.
Result<> check_stored_names(const SchemaChanges& changes);

}  // namespace afterbay::storage
