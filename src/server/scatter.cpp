// SPDX-License-Identifier: Apache-2.0
#include "server/scatter.hpp"

#include <cstring>

namespace afterbay::server {
namespace {

/// Copies a contribution to its position among the packed contributions of all ranks, which are put
/// in order when all have arrived.
bool keep_packed(const ServedMap::Cut& cut, std::size_t peer, const ServedCollection& collection,
                 const model::Piece& piece, std::span<const std::byte> packed, std::byte* to) {
  const auto* share = cut.share_of(
      cut.cells.cell_of(model::part_of(piece.box.start, collection.mapped[piece.variable])), peer);
  const std::uint64_t bytes = bytes_of_a_point(collection, piece);
  if (share == nullptr || share->points.points * bytes != packed.size()) return false;
  std::memcpy(to + share->before * bytes, packed.data(), packed.size());
  return true;
}

bool scatter_points(ServedMap& map, std::size_t peer, const ServedCollection& collection,
                    const model::Piece& piece, std::span<const std::byte> packed, std::byte* to)
    AFTERBAY_REQUIRES(ingest_thread) {
  if (const auto* cut = collection.packed[piece.variable])
    return keep_packed(*cut, peer, collection, piece, packed, to);
  const std::size_t element = size_of(collection.schema.variables[piece.variable].type);
  const model::MapDimensions& mapped = collection.mapped[piece.variable];
  auto& cut = map.cut(model::part_of(collection.layout->variables[piece.variable].part, mapped));
  const auto* points = map.points_of(cut, peer, cut.cells.cell_of(model::part_of(piece.box.start, mapped)));
  if (points == nullptr) return false;
  const model::MapMove move = model::scatter(*points, {piece.box, piece.stored, mapped}, element);
  if (move.values * element != packed.size()) return false;
  model::execute(move, packed.data(), to, model::copy_kernel(element, false));
  return true;
}

/// The part of a variable that a rank holds.
model::Box part_of_rank(const ServedCollection& collection, const ServedDecomposition* decomposition,
                        std::uint32_t variable, std::size_t peer) AFTERBAY_REQUIRES(ingest_thread) {
  const model::Index& shape = collection.layout->variables[variable].shape;
  if (decomposition != nullptr) return model::extend(decomposition->blocks->of(peer), shape);
  model::Box whole{model::Index::filled(shape.size, 0), shape};
  if (peer != 0) whole.count = model::Index::filled(shape.size, 0);
  return whole;
}

}  // namespace

bool scatter(const ServedCollection& collection, const ServedDecomposition* decomposition, std::size_t peer,
             const model::Piece& piece, std::span<const std::byte> packed, std::byte* to) {
  if (decomposition != nullptr && decomposition->map)
    return scatter_points(*decomposition->map, peer, collection, piece, packed, to);
  const std::size_t element = size_of(collection.schema.variables[piece.variable].type);
  const model::Box mine = part_of_rank(collection, decomposition, piece.variable, peer);
  const model::Move move = model::scatter(mine, piece.box, piece.stored, element);
  if (move.points * element != packed.size()) return false;
  model::execute(move, packed.data(), to, model::copy_kernel(element, false));
  return true;
}

}  // namespace afterbay::server
