// SPDX-License-Identifier: Apache-2.0
#include "server/describe_collection.hpp"

#include <algorithm>

#include "model/map_division.hpp"
#include "storage/fill.hpp"

namespace afterbay::server {
namespace {

/// The trailing `rank` dimensions of a box.
model::Box trailing(const model::Box& box, std::size_t rank) {
  model::Box result;
  for (std::size_t d = box.rank() - rank; d < box.rank(); ++d) {
    result.start.push_back(box.start[d]);
    result.count.push_back(box.count[d]);
  }
  return result;
}

/// `part` (trailing dimensions) with the leading dimensions of `box`.
model::Box with_leading(const model::Box& box, const model::Box& part) {
  model::Box result = box;
  const std::size_t lead = box.rank() - part.rank();
  for (std::size_t d = 0; d < part.rank(); ++d) {
    result.start[lead + d] = part.start[d];
    result.count[lead + d] = part.count[d];
  }
  return result;
}

/// The part of an edge chunk's stored array that lies beyond the valid points, as disjoint boxes.
std::vector<model::Box> padding(const model::Piece& piece) {
  std::vector<model::Box> boxes;
  for (std::size_t d = 0; d < piece.stored.size; ++d) {
    if (piece.stored[d] == piece.box.count[d]) continue;
    model::Box box{piece.box.start, piece.stored};
    for (std::size_t before = 0; before < d; ++before) box.count[before] = piece.box.count[before];
    box.start[d] += piece.box.count[d];
    box.count[d] -= piece.box.count[d];
    boxes.push_back(box);
  }
  return boxes;
}

/// Pieces whose rows have fewer bytes on average are handed over packed; see design/0007-maps.md.
constexpr std::uint64_t packed_below_bytes = 256;

/// Whether this server has pieces of a variable.
bool has_pieces(const ServedCollection& collection, std::uint32_t variable) {
  return std::ranges::any_of(collection.owners.of_variable(variable),
                             [&](const model::FrameOwners::Owners& owners) {
                               return owners.first <= collection.part && collection.part <= owners.last;
                             });
}

Result<> find_places(ServedCollection& it, const ServedDecompositions& decompositions)
    AFTERBAY_REQUIRES(ingest_thread) {
  it.mapped.resize(it.schema.variables.size());
  for (std::size_t v = 0; v < it.mapped.size(); ++v) {
    const ServedDecomposition* const decomposition = decompositions.of(it.decompositions[v]);
    if (decomposition == nullptr || !decomposition->map) continue;
    AFTERBAY_TRY_ASSIGN(it.mapped[v], model::dimensions_of_map(it.schema, it.schema.variables[v],
                                                               decomposition->name, decomposition->global));
  }
  return {};
}

/// With rows of a few values, every rank would touch nearly every cache line of a record, and take
/// it from the core of another rank that writes next to it: such variables are handed over packed,
/// and put in order here.
void choose_packed(ServedCollection& it, const ServedDecompositions& decompositions,
                   std::vector<ServedMap::Packings>& packings) AFTERBAY_REQUIRES(ingest_thread) {
  it.packed.resize(it.schema.variables.size(), nullptr);
  for (std::size_t v = 0; v < it.packed.size(); ++v) {
    if (it.decompositions[v] < 0 || !it.layout->variables[v].framed) continue;
    if (!has_pieces(it, static_cast<std::uint32_t>(v))) continue;
    const auto id = static_cast<std::uint32_t>(it.decompositions[v]);
    const auto& map = decompositions.of(it.decompositions[v])->map;
    if (!map || !map->can_pack()) continue;
    const model::VariableLayout& layout = it.layout->variables[v];
    auto& cut = map->cut(model::part_of(layout.part, it.mapped[v]));
    std::uint64_t row_bytes = size_of(it.schema.variables[v].type);
    for (std::size_t d = it.mapped[v].after(); d < layout.part.size; ++d) row_bytes *= layout.part[d];
    if (cut.points * row_bytes >= cut.runs * packed_below_bytes) continue;
    if (auto packed = map->pack(id, cut)) packings.push_back(std::move(*packed));
    it.packed[v] = &cut;
  }
}

/// Finds the points of the piece that no rank writes, in addition to its padding. Returns the
/// number of its contributions.
std::uint32_t find_gaps(const ServedCollection& it, const ServedDecomposition& decomposition,
                        const model::Piece& piece, std::vector<model::Box>& boxes, PieceFill& fill)
    AFTERBAY_REQUIRES(ingest_thread) {
  if (decomposition.map) {
    const model::MapDimensions& mapped = it.mapped[piece.variable];
    const auto& cut =
        decomposition.map->cut(model::part_of(it.layout->variables[piece.variable].part, mapped));
    const std::uint64_t cell = cut.cells.cell_of(model::part_of(piece.box.start, mapped));
    if (const model::CellPoints* gap = cut.gap(cell))
      fill.points = model::fill(*gap, {piece.box, piece.stored, mapped},
                                size_of(it.schema.variables[piece.variable].type));
    return cut.expected[cell];
  }
  const model::Box within = trailing(piece.box, decomposition.global.size);
  std::uint32_t expected = 0;
  const model::BoxTree& tree = decomposition.blocks->tree();
  tree.for_each(within, [&](std::uint32_t) { return ++expected, true; });
  if (decomposition.coverage.gaps_allowed)
    for (const model::Box& gap : model::gaps(tree, within)) boxes.push_back(with_leading(piece.box, gap));
  return expected;
}

/// Returns the number of its contributions.
std::uint32_t describe_piece(ServedCollection& it, const ServedDecompositions& decompositions,
                             std::uint32_t index) AFTERBAY_REQUIRES(ingest_thread) {
  const model::Piece piece = it.layout->pieces[index];
  const std::size_t element = size_of(it.schema.variables[piece.variable].type);
  std::vector<model::Box> unwritten = padding(piece);
  PieceFill fill{index, {}, std::nullopt};
  const ServedDecomposition* const decomposition = decompositions.of(it.decompositions[piece.variable]);
  const std::uint32_t expected =
      decomposition != nullptr ? find_gaps(it, *decomposition, piece, unwritten, fill) : 1;
  if (expected == 0 || (unwritten.empty() && !fill.points)) return expected;
  const model::Box stored{piece.box.start, piece.stored};
  for (const model::Box& box : unwritten)
    fill.boxes.push_back(model::fill(box, stored, piece.stored, element));
  it.fills.push_back(std::move(fill));
  return expected;
}

}  // namespace

Result<> find_needs(ServedCollection& it, const ServedDecompositions& decompositions) {
  if (!it.layout)
    return fail(ErrorCode::conflict,
                "collection '{}' is defined by some model ranks and not by the first one: every rank must "
                "define the same collections",
                it.name);
  AFTERBAY_TRY(find_places(it, decompositions));
  if (it.sharing == model::FileSharing::none) return {};  // ranks describe all of their points
  for (std::uint32_t v = 0; v < it.mapped.size(); ++v) {
    const ServedDecomposition* const decomposition = decompositions.of(it.decompositions[v]);
    if (decomposition == nullptr || !decomposition->map) continue;
    std::vector<model::CellRange> cells = model::cells_of_owners(*it.layout, v, it.mapped[v], it.owners);
    std::erase_if(cells, [&](const model::CellRange& range) { return range.owner != it.part; });
    if (!cells.empty())
      decomposition->map->need(model::part_of(it.layout->variables[v].part, it.mapped[v]), cells);
  }
  return {};
}

void describe(ServedCollection& it, const ServedDecompositions& decompositions,
              std::vector<ServedMap::Packings>& packings) {
  for (const Variable& variable : it.schema.variables) {
    Values fill = storage::fill_of(variable);
    storage::to_file_order(fill.bytes, size_of(variable.type), it.layout->big_endian);
    it.fill_values.push_back(std::move(fill.bytes));
  }
  choose_packed(it, decompositions, packings);
  it.expected.reserve(it.owners.pieces_of(it.part));
  for (const model::FrameOwners::Range& range : it.owners.ranges_of(it.part))
    for (std::uint32_t p = range.first_piece; p < range.end_piece; ++p)
      it.expected.push_back(describe_piece(it, decompositions, p));
}

}  // namespace afterbay::server
