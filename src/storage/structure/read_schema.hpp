// SPDX-License-Identifier: Apache-2.0
// read_schema: the schema of a file that exists, whoever wrote it.
#pragma once

#include <cstdint>
#include <string>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/format.hpp"

namespace afterbay::storage {

struct FoundFile {
  Schema schema;  ///< `fill` is what the file says in `_FillValue`; constants are not read
  Format format = Format::netcdf4;
  std::uint64_t records = 0;
};

/// Reads dimensions, variables and attributes with netCDF-C. Fails with format when the file is not
/// netCDF of a format of ours, or holds what a Schema cannot: groups, user-defined types, several
/// unlimited dimensions. Takes the library lock.
Result<FoundFile> read_schema(const std::string& path);

/// All values of a variable (of the records that exist). Takes the library lock.
Result<Values> read_values(const std::string& path, const std::string& variable);

}  // namespace afterbay::storage
