// SPDX-License-Identifier: Apache-2.0
// Changes of a schema for one file, and comparison of schemas.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"

namespace afterbay::model {

/// `schema` with attributes set, replaced or removed and constant values replaced. The structure
/// stays: a constant must have the type and the number of values that it had. Fails with
/// unknown_name (with the name that may have been meant), wrong_type or invalid_argument.
Result<Schema> apply(const Schema& schema, const SchemaChanges& changes);

/// The same on every rank and machine for equal schemas: XXH3 over a canonical encoding.
std::uint64_t hash(const Schema& schema);
/// The same as XXH3 (64 bits).
std::uint64_t hash(std::span<const std::byte> bytes);

/// The differences in words: "variable T: type float32 here, float64 there". Empty if the schemas
/// are equal. `a` is called by `name_a`, `b` by `name_b` ("the model", "the file").
std::vector<std::string> differences(const Schema& a, const Schema& b, std::string_view name_a = "here",
                                     std::string_view name_b = "there");

}  // namespace afterbay::model
