// SPDX-License-Identifier: Apache-2.0
// The uncompressed size of a file, as far as the schema determines it.
#pragma once

#include <cstdint>

#include "afterbay/schema.hpp"

namespace afterbay::model {

struct SchemaBytes {
  std::uint64_t fixed = 0;          ///< bytes of variables without the unlimited dimension that are put
  std::uint64_t record = 0;         ///< bytes per record
  std::uint64_t largest_fixed = 0;  ///< maximum over the variables
  std::uint64_t largest_record = 0;
  /// Size of a file with the usual number of records.
  [[nodiscard]] std::uint64_t estimate() const noexcept { return fixed + usual_records * record; }
  static constexpr std::uint64_t usual_records = 16;
};

/// For a valid schema. Strings count as 0 bytes.
SchemaBytes schema_bytes(const Schema& schema);

}  // namespace afterbay::model
