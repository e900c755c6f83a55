// SPDX-License-Identifier: Apache-2.0
// What the schema of one file may change in that of its collection.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "client/processing.hpp"
#include "model/format.hpp"

namespace afterbay::client {

/// What all files of a collection have in common.
struct CommonToFiles {
  const std::string& collection;
  const Schema& schema;
  Format format;
  const Processing& processing;
  std::function<bool(std::uint32_t variable)> is_put;
};

/// Refuses changes that do not fit the schema, changes with which it cannot be written, and those
/// that contradict what servers and ranks do with values for all files: missing values and gaps,
/// rounding, packing and its accuracy. Depends on nothing but its arguments, so that all ranks that
/// have the same changes refuse them alike.
Result<> check_changes(const CommonToFiles& common, const SchemaChanges& changes);

}  // namespace afterbay::client
