// SPDX-License-Identifier: Apache-2.0
// Prototype: what is equal in all messages of a field, made with ecCodes before the first value.
#pragma once

#include <cstddef>
#include <vector>

#include "afterbay/schema.hpp"
#include "base/result.hpp"
#include "storage/grib2/definition.hpp"
#include "storage/grib2/handle.hpp"

namespace afterbay::storage::grib2 {

struct Prototype {
  std::vector<std::byte> message;  ///< with the first level, without values and times; empty: none
  Levels levels;
  bool interval = false;  ///< values are statistics over time
  Packing packing;
};

/// Fails for what ecCodes refuses, and for attributes GRIB_KEY that contradict the schema; then
/// messages would say something else than the variable.
Result<Prototype> prototype_of(const Schema& schema, const Variable& field);

/// Sets the level of one slab.
Result<> set_level(Handle& handle, const Levels& levels, std::uint64_t slab);

}  // namespace afterbay::storage::grib2
