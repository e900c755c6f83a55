// SPDX-License-Identifier: Apache-2.0
#include "model/variable_shape.hpp"

namespace afterbay::model {

Index shape_of(const Schema& schema, const Variable& variable) {
  Index shape;
  for (const std::string& name : variable.dimensions) {
    const Dimension* dimension = schema.find_dimension(name);
    if (dimension != nullptr && !dimension->is_unlimited() && shape.size < max_dimensions)
      shape.push_back(dimension->length);
  }
  return shape;
}

}  // namespace afterbay::model
