// SPDX-License-Identifier: Apache-2.0
// What stands between a schema and a file that is to be appended to.
#pragma once

#include <string>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "model/format.hpp"

namespace afterbay::storage {

/// Every difference as one sentence: dimensions (by name and length), variables (by name, type and
/// dimensions), fill values and attributes (by name, type and value). Order, chunking and filters
/// may differ. Global attributes that tell a file's story (`history`, `date_created`,
/// `date_modified`) are not compared: an appended file keeps its own.
std::vector<std::string> schema_differences(const Schema& wanted, const Schema& found);

/// The first element in which the constant values of a variable differ from those in a file, as a
/// sentence; empty if they are equal.
std::string value_difference(const std::string& variable, const Values& wanted, const Values& found);

/// Fails with conflict, listing all differences, when the file under `path` cannot take records of
/// `wanted`; constant values are compared too. Otherwise returns the number of records in it.
Result<std::uint64_t> check_appendable(const std::string& path, const Schema& wanted, Format format);

}  // namespace afterbay::storage
