// SPDX-License-Identifier: Apache-2.0
// How many bytes a file of a schema has, uncompressed, as far as the schema tells.
#pragma once

#include <cstdint>

#include "afterbay/schema.hpp"

namespace afterbay::model {

struct SchemaBytes {
  std::uint64_t fixed = 0;   ///< of variables without the unlimited dimension that are put
  std::uint64_t record = 0;  ///< of one record
  /// Of a file with a usual number of records.
  [[nodiscard]] std::uint64_t estimate() const noexcept { return fixed + usual_records * record; }
  static constexpr std::uint64_t usual_records = 16;
};

/// Of a valid schema. Strings count as nothing.
SchemaBytes schema_bytes(const Schema& schema);

}  // namespace afterbay::model
