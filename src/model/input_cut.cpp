// SPDX-License-Identifier: Apache-2.0
#include "model/input_cut.hpp"

#include "afterbay/types.hpp"
#include "base/rounding.hpp"

namespace afterbay::model {
namespace {

/// Adds more whole chunks, beginning with the fastest dimension, so that rows stay contiguous.
void grow(Index& part, const Index& shape, std::size_t element, std::uint64_t most) {
  for (std::size_t d = shape.size; d-- > 0;) {
    const std::uint64_t fitting = std::max<std::uint64_t>(most / (part.product() * element), 1);
    const std::uint64_t needed = divided_up(shape[d], part[d]);
    part[d] = std::min(shape[d], part[d] * std::min(fitting, needed));
    if (part[d] < shape[d]) return;
  }
}

/// Cuts a chunk that is too large by itself, along its slowest dimension first.
void shrink(Index& part, std::size_t element, std::uint64_t most) {
  for (std::size_t d = 0; d < part.size && part.product() * element > most; ++d) {
    const std::uint64_t layer_bytes = part.product() / part[d] * element;
    part[d] = std::max<std::uint64_t>(most / layer_bytes, 1);
  }
}

}  // namespace

InputCut::InputCut(const Schema& schema, const Variable& variable, const InputSizes& sizes)
    : element_bytes_(std::max<std::size_t>(size_of(variable.type), 1)) {
  for (std::size_t d = 0; d < variable.dimensions.size(); ++d) {
    const Dimension* const dimension = schema.find_dimension(variable.dimensions[d]);
    if (dimension == nullptr) continue;
    if (dimension->is_unlimited()) {
      record_ = true;
      continue;
    }
    shape_.push_back(dimension->length);
    const std::uint64_t chunk = d < variable.chunk.size() ? variable.chunk[d] : 1;
    part_.push_back(std::clamp<std::uint64_t>(chunk, 1, std::max<std::uint64_t>(dimension->length, 1)));
  }
  if (part_.product() * element_bytes_ > sizes.most_bytes)
    shrink(part_, element_bytes_, sizes.piece_bytes);
  else
    grow(part_, shape_, element_bytes_, sizes.piece_bytes);
  for (std::size_t d = 0; d < shape_.size; ++d) grid_.push_back(divided_up(shape_[d], part_[d]));
}

Box InputCut::piece(std::uint64_t number) const {
  Box box{Index::filled(shape_.size, 0), Index::filled(shape_.size, 0)};
  for (std::size_t d = shape_.size; d-- > 0;) {
    box.start[d] = number % grid_[d] * part_[d];
    box.count[d] = std::min(part_[d], shape_[d] - box.start[d]);
    number /= grid_[d];
  }
  return box;
}

}  // namespace afterbay::model
