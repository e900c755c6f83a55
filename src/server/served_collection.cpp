// SPDX-License-Identifier: Apache-2.0
#include "server/served_collection.hpp"

namespace afterbay::server {

std::uint64_t bytes_of_a_point(const ServedCollection& collection, const model::Piece& piece) {
  const model::MapDimensions& mapped = collection.mapped[piece.variable];
  std::uint64_t bytes = size_of(collection.schema.variables[piece.variable].type);
  for (std::size_t d = 0; d < piece.box.rank(); ++d)
    if (d < mapped.first || d >= mapped.after()) bytes *= piece.box.count[d];
  return bytes;
}

std::span<const std::uint32_t> ServedCollection::expected_in(std::uint32_t frame) const {
  const model::FrameOwners::Range& range = owners.range_of(frame);
  const model::Frame in_layout = layout->frames[frame];
  return std::span(expected).subspan(range.piece_number + in_layout.first_piece - range.first_piece,
                                     in_layout.piece_count);
}

}  // namespace afterbay::server
