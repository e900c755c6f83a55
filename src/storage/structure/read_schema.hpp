// SPDX-License-Identifier: Apache-2.0
// read_schema: the schema of a file that exists, whoever wrote it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/format.hpp"

namespace afterbay::storage {

/// A variable that the file has and the schema has not.
struct LeftOut {
  std::string name;  ///< with its groups: "group/name"
  std::string reason;
};

struct FoundFile {
  /// `fill` is what the file says in `_FillValue`; constants are not read. `chunk` and the filters
  /// are the file's, as far as codecs are known; an empty `chunk` means that there are none.
  Schema schema;
  Format format{};  ///< cdf2 for CDF-1 too
  std::uint64_t records = 0;
  std::vector<int> numbers;  ///< netCDF-C's number of each variable of the schema
  std::vector<LeftOut> left_out;
};

enum class Demand {
  all,       ///< a file that can be extended: what a Schema cannot hold is an error
  what_fits  ///< what a Schema cannot hold is left out
};

/// Whether all values of the fixed dimensions are fewer bytes than any file can have.
bool fits_in_a_file(const Schema& schema, const Variable& variable);

/// Reads dimensions, variables and attributes with netCDF-C. Fails with format when the file is not
/// netCDF of a format of ours, or holds what a Schema cannot: groups, user-defined types, several
/// unlimited dimensions. Takes the library lock.
Result<FoundFile> read_schema(const std::string& path);

/// The same for a file that is open, under the caller's lock. With Demand::what_fits one unlimited
/// dimension, the first that leads a variable, is the record dimension; others have the length that
/// they have now.
Result<FoundFile> read_schema_of(int id, Demand demand);

/// All values of a variable (of the records that exist). Takes the library lock.
Result<Values> read_values(const std::string& path, const std::string& variable);

}  // namespace afterbay::storage
