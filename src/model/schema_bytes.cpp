// SPDX-License-Identifier: Apache-2.0
#include "model/schema_bytes.hpp"

#include <algorithm>

namespace afterbay::model {

SchemaBytes schema_bytes(const Schema& schema) {
  SchemaBytes sum;
  for (const Variable& variable : schema.variables) {
    if (variable.type == Type::string || !variable.constant.empty()) continue;
    std::uint64_t bytes = size_of(variable.type);
    bool has_record = false;
    for (const std::string& name : variable.dimensions) {
      const Dimension* dimension = schema.find_dimension(name);
      has_record = has_record || dimension->is_unlimited();
      if (!dimension->is_unlimited()) bytes *= dimension->length;
    }
    (has_record ? sum.record : sum.fixed) += bytes;
    std::uint64_t& largest = has_record ? sum.largest_record : sum.largest_fixed;
    largest = std::max(largest, bytes);
  }
  return sum;
}

}  // namespace afterbay::model
