// SPDX-License-Identifier: Apache-2.0
#include "server/catalog.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "base/caller_terms.hpp"
#include "pipeline/plan.hpp"
#include "server/records.hpp"
#include "server/stage_sink.hpp"
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

/// Copies a contribution to its position among the packed contributions of all ranks, which are put
/// in order when all have arrived.
bool keep_packed(const ServedMap::Cut& cut, std::size_t peer, const ServedCollection& collection,
                 const model::Piece& piece, std::span<const std::byte> packed, std::byte* to) {
  const auto* share = cut.share_of(
      cut.cells.cell_of(model::part_of(piece.box.start, collection.places[piece.variable])), peer);
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
  const model::MapPlace& place = collection.places[piece.variable];
  auto& cut = map.cut(model::part_of(collection.layout->variables[piece.variable].part, place));
  const auto* points = map.points_of(cut, peer, cut.cells.cell_of(model::part_of(piece.box.start, place)));
  if (points == nullptr) return false;
  const model::MapMove move = model::scatter(*points, {piece.box, piece.stored, place}, element);
  if (move.values * element != packed.size()) return false;
  model::execute(move, packed.data(), to, model::copy_kernel(element, false));
  return true;
}

/// One entry per variable; empty without stages.
std::vector<pipeline::Settings> settings_of(const ServedCollection& collection) {
  std::vector<pipeline::Settings> given;
  if (!collection.stages.empty()) given.resize(collection.schema.variables.size());
  for (const wire::StageSetting& it : collection.stages)
    if (it.variable < given.size()) given[it.variable][it.name] = it.value;
  return given;
}

/// "map 'land' over 180 x 360 points (gaps allowed, the first of repeated points counts)".
std::string text_of(std::string_view name, const model::Index& global, const Coverage& coverage,
                    bool is_map) {
  const char* const repeats = coverage.repeats == Repeats::refuse  ? "no repeats"
                              : coverage.repeats == Repeats::first ? "the first of repeated points counts"
                                                                   : "the last of repeated points counts";
  return fmt::format("{} '{}' over {} points ({}, {})", is_map ? "map" : "block", name,
                     said_lengths({global.begin(), global.size}),
                     coverage.gaps_allowed ? "gaps allowed" : "no gaps", repeats);
}

}  // namespace

std::uint64_t bytes_of_a_point(const ServedCollection& collection, const model::Piece& piece) {
  const model::MapPlace& place = collection.places[piece.variable];
  std::uint64_t bytes = size_of(collection.schema.variables[piece.variable].type);
  for (std::size_t d = 0; d < piece.box.rank(); ++d)
    if (d < place.first || d >= place.after()) bytes *= piece.box.count[d];
  return bytes;
}

Catalog::Catalog(std::vector<int> session_ranks, const config::Config& config)
    : session_ranks_(std::move(session_ranks)), config_(config) {}

/// Checks that a rank's description of a decomposition agrees with that of the first rank.
Result<Catalog::ServedDecomposition*> Catalog::join(std::size_t peer, std::uint32_t id,
                                                    const std::string& name, const model::Index& global,
                                                    const Coverage& coverage, bool is_map) {
  auto [at, is_new] = decompositions_.try_emplace(id);
  ServedDecomposition& it = at->second;
  if (is_new) {
    it.name = name;
    it.coverage = coverage;
    it.global = global;
    it.described.resize(ranks(), false);
    if (is_map)
      it.map = std::make_unique<ServedMap>(global, ranks());
    else
      it.boxes.resize(ranks());
  } else if (it.name != name || !(it.global == global) || !(it.coverage == coverage) ||
             (it.map != nullptr) != is_map) {
    const auto other = std::ranges::find(it.described, true) - it.described.begin();
    return fail(make_error(ErrorCode::conflict,
                           "model rank {} registers {}, model rank {} {}: kind, name, global lengths and "
                           "coverage must be equal on all ranks",
                           peer, text_of(name, global, coverage, is_map), other,
                           text_of(it.name, it.global, it.coverage, it.map != nullptr))
                    .at_rank(session_rank(peer)));
  }
  it.described[peer] = true;
  return &it;
}

/// Every rank must describe the decomposition, also a rank that holds no points.
Result<> Catalog::check_described(const ServedDecomposition& it) const {
  std::vector<int> with;
  std::vector<int> without;
  for (std::size_t r = 0; r < ranks(); ++r) (it.described[r] ? with : without).push_back(static_cast<int>(r));
  if (without.empty()) return {};
  return fail(make_error(ErrorCode::conflict,
                         "{} did not register decomposition '{}', {} did: every rank must register it, also "
                         "one that holds no points",
                         text_of_ranks(without), it.name, text_of_ranks(with))
                  .at_rank(session_rank(static_cast<std::size_t>(without.front()))));
}

Result<> Catalog::add(std::size_t peer, const wire::DefineDecomposition& message) {
  AFTERBAY_TRY_ASSIGN(
      ServedDecomposition* const it,
      join(peer, message.id, message.name, model::Index(message.block.global), message.coverage, false));
  it->boxes[peer] = model::box_of(message.block);
  return {};
}

Result<> Catalog::add(std::size_t peer, wire::DefineMap message) {
  AFTERBAY_TRY_ASSIGN(
      ServedDecomposition* const it,
      join(peer, message.id, message.name, model::Index(message.global), message.coverage, true));
  it->map->set(peer, std::move(message.points), std::move(message.list));
  return {};
}

Result<const ServedCollection*> Catalog::add(std::size_t peer, const wire::DefineCollection& message) {
  if (!is_known(message.format))
    return fail(
        make_error(ErrorCode::internal, "collection '{}' is defined with an unknown store", message.name)
            .at_rank(session_rank(peer)));
  auto [at, is_new] = collections_.try_emplace(message.id);
  ServedCollection& it = at->second;
  if (is_new) {
    it.id = message.id;
    it.name = message.name;
    it.existing = message.existing;
    it.split = message.split;
    it.least = message.least != 0;
    it.servers = message.servers;
    it.first = message.first;
    it.gather_bytes = message.gather_bytes;
    it.schema_hash = message.schema_hash;
    it.decompositions = message.decompositions;
    it.format = message.format;
    it.stages = message.stages;
    new_collections_.push_back(message.id);
  } else if (it.name != message.name || it.schema_hash != message.schema_hash ||
             it.existing != message.existing || it.servers != message.servers || it.split != message.split ||
             it.least != (message.least != 0) || it.gather_bytes != message.gather_bytes ||
             it.decompositions != message.decompositions || it.format != message.format ||
             it.stages != message.stages) {
    return fail(
        make_error(
            ErrorCode::conflict,
            "model rank {} defines collection '{}' differently from another rank ('{}' there): schema, "
            "store, options and settings of variables must be equal on all ranks",
            peer, message.name, it.name)
            .at_rank(session_rank(peer)));
  }
  if (!message.schema || it.layout) return nullptr;
  it.schema = *message.schema;
  const model::LayoutSizes sizes{config_.memory.block_bytes, config_.chunk_bytes, it.gather_bytes};
  AFTERBAY_TRY_ASSIGN(model::FileLayout layout, model::make_layout(it.schema, it.format, sizes));
  AFTERBAY_TRY_ASSIGN(pipeline::Plan plan, pipeline::make_plan(it.schema, settings_of(it)));
  auto files = std::make_shared<const model::FileLayout>(std::move(layout));
  it.layout = pipeline::handover_layout(files, plan);
  it.sink = plan.empty() ? make_direct_sink(std::move(files))
                         : make_stage_sink(std::move(files), it.layout, it.schema, std::move(plan));
  return &it;
}

Result<bool> Catalog::end(std::size_t peer, const wire::DefineEnd& message) {
  if (ended_ == 0) {
    serial_ = message.serial;
    has_ended_.assign(ranks(), false);
  }
  if (message.serial != serial_)
    return fail(make_error(ErrorCode::conflict,
                           "model rank {} sends its definitions number {} while others send number {}", peer,
                           message.serial, serial_)
                    .at_rank(session_rank(peer)));
  has_ended_[peer] = true;
  return ++ended_ == ranks();
}

std::vector<int> Catalog::still_to_come() const {
  std::vector<int> absent;
  for (std::size_t p = 0; p < ranks() && ended_ > 0; ++p)
    if (!has_ended_[p]) absent.push_back(static_cast<int>(p));
  return absent;
}

Result<wire::Defined> Catalog::complete(transport::FramePool& frames) {
  ended_ = 0;
  wire::Defined answer;
  answer.serial = serial_;
  checked_maps_.clear();
  new_packed_.clear();
  for (auto& [id, decomposition] : decompositions_) {
    if (decomposition.checked) continue;
    AFTERBAY_TRY(check_described(decomposition));
    AFTERBAY_TRY(check(decomposition));
    if (decomposition.map) checked_maps_.push_back(id);
  }
  for (const std::uint32_t id : new_collections_) {
    ServedCollection& collection = collections_[id];
    AFTERBAY_TRY(describe(collection));
    std::vector<transport::FrameDeclaration> declarations;
    for (const model::Frame& frame : collection.layout->frames) {
      const auto first = collection.expected.begin() + frame.first_piece;
      declarations.push_back({frame.bytes, {first, first + frame.piece_count}});
    }
    auto declared = frames.declare(declarations);
    if (!declared)
      return fail(std::move(declared).error().add(fmt::format("defining collection '{}'", collection.name)));
    collection.first_frame = *declared;
    owners_.resize(collection.first_frame + declarations.size(), &collection);
    wire::Defined::Base base{id, collection.first_frame, {}};
    for (const auto* cut : collection.packed) base.packed.push_back(cut != nullptr ? 1 : 0);
    answer.bases.push_back(std::move(base));
  }
  new_collections_.clear();
  return answer;
}

Result<> Catalog::check(ServedDecomposition& it) const {
  if (it.map) return check_map(it);
  std::vector<model::RankBlock> blocks;
  for (std::size_t r = 0; r < it.boxes.size(); ++r) {
    if (it.boxes[r].empty()) continue;
    blocks.push_back({session_rank(r), it.boxes[r]});
    ++it.holders;
  }
  AFTERBAY_TRY(model::check_coverage(it.name, it.global, blocks, it.coverage));
  it.tree = model::BoxTree(std::span<const model::Box>(it.boxes));
  it.checked = true;
  return {};
}

Result<> Catalog::check_map(ServedDecomposition& it) const {
  AFTERBAY_TRY(it.map->check(it.name, session_ranks_, it.coverage));
  it.holders = it.map->holders();
  it.checked = true;
  return {};
}

std::vector<wire::MapLosses> Catalog::losses(std::size_t peer) const {
  std::vector<wire::MapLosses> messages;
  for (const std::uint32_t id : checked_maps_) {
    const auto& lost = decompositions_.at(id).map->losses()[peer];
    if (lost.empty()) continue;
    wire::MapLosses message;
    message.id = id;
    for (const model::OffsetRun& run : lost) {
      message.offsets.push_back(run.offset);
      message.lengths.push_back(run.length);
    }
    messages.push_back(std::move(message));
  }
  return messages;
}

std::vector<wire::MapPacking> Catalog::packings(std::size_t peer) const {
  std::vector<wire::MapPacking> messages;
  for (const auto& [id, cut] : new_packed_) {
    auto message = decompositions_.at(id).map->packing_of(id, *cut, peer);
    if (!message.cells.empty()) messages.push_back(std::move(message));
  }
  return messages;
}

Result<> Catalog::describe(ServedCollection& it) {
  if (!it.layout)
    return fail(ErrorCode::conflict,
                "collection '{}' is defined by some model ranks and not by the first one: every rank must "
                "define the same collections",
                it.name);
  for (const Variable& variable : it.schema.variables) {
    Values fill = storage::fill_of(variable);
    storage::to_file_order(fill.bytes, size_of(variable.type), it.layout->big_endian);
    it.fill_values.push_back(std::move(fill.bytes));
  }
  AFTERBAY_TRY(find_places(it));
  choose_packed(it);
  it.expected.resize(it.layout->pieces.size());
  for (std::uint32_t p = 0; p < it.layout->pieces.size(); ++p) describe_piece(it, p);
  return {};
}

Result<> Catalog::find_places(ServedCollection& it) const {
  it.places.resize(it.schema.variables.size());
  for (std::size_t v = 0; v < it.places.size(); ++v) {
    if (it.decompositions[v] < 0) continue;
    const auto& decomposition = decompositions_.at(static_cast<std::uint32_t>(it.decompositions[v]));
    if (!decomposition.map) continue;
    AFTERBAY_TRY_ASSIGN(it.places[v], model::place_of(it.schema, it.schema.variables[v], decomposition.name,
                                                      decomposition.global));
  }
  return {};
}

/// With rows of a few values, every rank would touch nearly every cache line of a record, and take
/// it from the core of another rank that writes next to it: such variables are handed over packed,
/// and put in order here.
void Catalog::choose_packed(ServedCollection& it) {
  it.packed.resize(it.schema.variables.size(), nullptr);
  for (std::size_t v = 0; v < it.packed.size(); ++v) {
    if (it.decompositions[v] < 0 || !it.layout->variables[v].framed) continue;
    const auto id = static_cast<std::uint32_t>(it.decompositions[v]);
    const auto& map = decompositions_.at(id).map;
    if (!map || !map->can_pack()) continue;
    const model::VariableLayout& layout = it.layout->variables[v];
    auto& cut = map->cut(model::part_of(layout.part, it.places[v]));
    std::uint64_t row_bytes = size_of(it.schema.variables[v].type);
    for (std::size_t d = it.places[v].after(); d < layout.part.size; ++d) row_bytes *= layout.part[d];
    if (cut.points * row_bytes >= cut.runs * packed_below_bytes) continue;
    if (map->pack(cut)) new_packed_.emplace_back(id, &cut);
    it.packed[v] = &cut;
  }
}

void Catalog::describe_piece(ServedCollection& it, std::uint32_t index) const {
  const model::Piece& piece = it.layout->pieces[index];
  const std::size_t element = size_of(it.schema.variables[piece.variable].type);
  std::vector<model::Box> unwritten = padding(piece);
  PieceFill fill{index, {}, std::nullopt};
  it.expected[index] = 1;
  if (it.decompositions[piece.variable] >= 0) find_gaps(it, index, unwritten, fill);
  if (it.expected[index] == 0 || (unwritten.empty() && !fill.points)) return;
  const model::Box stored{piece.box.start, piece.stored};
  for (const model::Box& box : unwritten)
    fill.boxes.push_back(model::fill(box, stored, piece.stored, element));
  it.fills.push_back(std::move(fill));
}

void Catalog::find_gaps(ServedCollection& it, std::uint32_t index, std::vector<model::Box>& boxes,
                        PieceFill& fill) const {
  const model::Piece& piece = it.layout->pieces[index];
  const auto& decomposition =
      decompositions_.at(static_cast<std::uint32_t>(it.decompositions[piece.variable]));
  if (decomposition.map) {
    const model::MapPlace& place = it.places[piece.variable];
    const auto& cut =
        decomposition.map->cut(model::part_of(it.layout->variables[piece.variable].part, place));
    const std::uint64_t cell = cut.cells.cell_of(model::part_of(piece.box.start, place));
    it.expected[index] = cut.expected[cell];
    if (const model::CellPoints* gap = cut.gap(cell))
      fill.points = model::fill(*gap, {piece.box, piece.stored, place},
                                size_of(it.schema.variables[piece.variable].type));
    return;
  }
  const model::Box within = trailing(piece.box, decomposition.global.size);
  it.expected[index] = 0;
  decomposition.tree.for_each(within, [&](std::uint32_t) { return ++it.expected[index], true; });
  if (decomposition.coverage.gaps_allowed)
    for (const model::Box& gap : model::gaps(decomposition.tree, within))
      boxes.push_back(with_leading(piece.box, gap));
}

const ServedCollection* Catalog::find(std::uint32_t id) const {
  const auto at = collections_.find(id);
  return at == collections_.end() ? nullptr : &at->second;
}

std::optional<Catalog::FoundMap> Catalog::map(std::uint32_t id) {
  const auto at = decompositions_.find(id);
  if (at == decompositions_.end() || !at->second.map || !at->second.checked) return std::nullopt;
  return FoundMap{at->second.name, *at->second.map};
}

const ServedCollection* Catalog::owner(std::uint32_t pool_frame) const {
  return pool_frame < owners_.size() ? owners_[pool_frame] : nullptr;
}

model::Box Catalog::part(const ServedCollection& collection, std::uint32_t variable, std::size_t peer) const {
  const model::Index& shape = collection.layout->variables[variable].shape;
  const std::int32_t d = collection.decompositions[variable];
  if (d >= 0) return model::extend(decompositions_.at(static_cast<std::uint32_t>(d)).boxes[peer], shape);
  model::Box whole{model::Index::filled(shape.size, 0), shape};
  if (peer != 0) whole.count = model::Index::filled(shape.size, 0);
  return whole;
}

bool Catalog::contributes(const ServedCollection& collection, std::uint32_t variable,
                          std::size_t peer) const {
  const std::int32_t d = collection.decompositions[variable];
  if (d < 0) return peer == 0;
  const auto& decomposition = decompositions_.at(static_cast<std::uint32_t>(d));
  return decomposition.map ? decomposition.map->holds(peer) : !decomposition.boxes[peer].empty();
}

std::uint32_t Catalog::contributors(const ServedCollection& collection, std::uint32_t variable) const {
  const std::int32_t d = collection.decompositions[variable];
  return d >= 0 ? decompositions_.at(static_cast<std::uint32_t>(d)).holders : 1;
}

bool Catalog::scatter(std::size_t peer, const transport::FrameSlot& slot, std::uint32_t piece_in_frame,
                      std::span<const std::byte> packed, std::byte* frame) const {
  const ServedCollection* collection = owner(slot.frame);
  if (collection == nullptr || peer >= ranks()) return false;
  const model::Frame& in_layout = collection->layout->frames[slot.frame - collection->first_frame];
  if (piece_in_frame >= in_layout.piece_count) return false;
  const model::Piece& piece = collection->layout->pieces[in_layout.first_piece + piece_in_frame];
  const std::size_t element = size_of(collection->schema.variables[piece.variable].type);
  const model::Kernel copy = model::copy_kernel(element, false);
  std::byte* const to = frame + piece.frame_offset;
  const std::int32_t d = collection->decompositions[piece.variable];
  if (d >= 0)
    if (const auto& map = decompositions_.at(static_cast<std::uint32_t>(d)).map)
      return scatter_points(*map, peer, *collection, piece, packed, to);
  const model::Move move =
      model::scatter(part(*collection, piece.variable, peer), piece.box, piece.stored, element);
  if (move.points * element != packed.size()) return false;
  model::execute(move, packed.data(), to, copy);
  return true;
}

}  // namespace afterbay::server
