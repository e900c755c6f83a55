// SPDX-License-Identifier: Apache-2.0
#include "server/catalog.hpp"

#include <algorithm>

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

/// What the stored array of an edge chunk has beyond the valid points, as disjoint boxes.
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

}  // namespace

Catalog::Catalog(std::vector<int> session_ranks, const config::Config& config)
    : session_ranks_(std::move(session_ranks)), config_(config) {}

Result<> Catalog::add(std::size_t peer, const wire::DefineDecomposition& message) {
  auto& it = decompositions_[message.id];
  const model::Index global(message.block.global);
  if (it.described == 0) {
    it.name = message.name;
    it.coverage = message.coverage;
    it.global = global;
    it.boxes.resize(ranks());
  } else if (it.name != message.name || !(it.global == global) || !(it.coverage == message.coverage)) {
    return fail(
        make_error(
            ErrorCode::conflict,
            "model rank {} registers decomposition '{}' over {} points, model rank 0 '{}' over {}: name, "
            "global lengths and coverage must be equal on all ranks",
            peer, message.name, global.product(), it.name, it.global.product())
            .at_rank(session_rank(peer)));
  }
  it.boxes[peer] = model::box_of(message.block);
  ++it.described;
  return {};
}

Result<> Catalog::add(std::size_t peer, const wire::DefineCollection& message) {
  auto [at, is_new] = collections_.try_emplace(message.id);
  ServedCollection& it = at->second;
  if (is_new) {
    it.id = message.id;
    it.name = message.name;
    it.existing = message.existing;
    it.schema_hash = message.schema_hash;
    it.decompositions = message.decompositions;
    it.format = format_of(message.store).value_or(Format::netcdf4);
    new_collections_.push_back(message.id);
  } else if (it.name != message.name || it.schema_hash != message.schema_hash ||
             it.existing != message.existing || it.decompositions != message.decompositions ||
             name_of(it.format) != message.store) {
    return fail(
        make_error(
            ErrorCode::conflict,
            "model rank {} defines collection '{}' otherwise than another rank does (there '{}'): schema, "
            "store and options must be equal on all ranks",
            peer, message.name, it.name)
            .at_rank(session_rank(peer)));
  }
  if (message.schema) it.schema = *message.schema;
  return {};
}

Result<bool> Catalog::end(std::size_t peer, const wire::DefineEnd& message) {
  if (ended_ == 0) serial_ = message.serial;
  if (message.serial != serial_)
    return fail(make_error(ErrorCode::conflict,
                           "model rank {} sends its definitions number {} while others send number {}", peer,
                           message.serial, serial_)
                    .at_rank(session_rank(peer)));
  return ++ended_ == ranks();
}

Result<wire::Defined> Catalog::complete(transport::FramePool& frames) {
  ended_ = 0;
  wire::Defined answer;
  answer.serial = serial_;
  for (auto& [id, decomposition] : decompositions_) AFTERBAY_TRY(check(decomposition));
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
    answer.bases.push_back({id, collection.first_frame});
  }
  new_collections_.clear();
  return answer;
}

Result<> Catalog::check(ServedDecomposition& it) const {
  if (it.checked) return {};
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

Result<> Catalog::describe(ServedCollection& it) const {
  const model::LayoutSizes sizes{config_.memory.block_bytes - model::page_bytes, config_.chunk_bytes};
  AFTERBAY_TRY_ASSIGN(model::FileLayout layout, model::make_layout(it.schema, it.format, sizes));
  it.layout = std::make_shared<const model::FileLayout>(std::move(layout));
  for (const Variable& variable : it.schema.variables) {
    Values fill = storage::fill_of(variable);
    storage::to_file_order(fill.bytes, size_of(variable.type), it.layout->big_endian);
    it.fill_values.push_back(std::move(fill.bytes));
  }
  it.expected.resize(it.layout->pieces.size());
  for (std::uint32_t p = 0; p < it.layout->pieces.size(); ++p) AFTERBAY_TRY(describe_piece(it, p));
  return {};
}

Result<> Catalog::describe_piece(ServedCollection& it, std::uint32_t index) const {
  const model::Piece& piece = it.layout->pieces[index];
  const std::size_t element = size_of(it.schema.variables[piece.variable].type);
  std::vector<model::Box> unwritten = padding(piece);
  if (const int d = it.decompositions[piece.variable]; d < 0) {
    it.expected[index] = 1;
  } else {
    const auto& decomposition = decompositions_.at(static_cast<std::uint32_t>(d));
    const model::Box within = trailing(piece.box, decomposition.global.size);
    it.expected[index] = 0;
    decomposition.tree.for_each(within, [&](std::uint32_t) { return ++it.expected[index], true; });
    if (decomposition.coverage.gaps_allowed)
      for (const model::Box& gap : model::gaps(decomposition.tree, within))
        unwritten.push_back(with_leading(piece.box, gap));
  }
  if (it.expected[index] == 0 || unwritten.empty()) return {};
  PieceFill fill{index, {}};
  const model::Box stored{piece.box.start, piece.stored};
  for (const model::Box& box : unwritten)
    fill.moves.push_back(model::fill(box, stored, piece.stored, element));
  it.fills.push_back(std::move(fill));
  return {};
}

const ServedCollection* Catalog::find(std::uint32_t id) const {
  const auto at = collections_.find(id);
  return at == collections_.end() ? nullptr : &at->second;
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
  if (const std::int32_t d = collection.decompositions[variable]; d >= 0)
    return !decompositions_.at(static_cast<std::uint32_t>(d)).boxes[peer].empty();
  return peer == 0;
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
  const model::Move move =
      model::scatter(part(*collection, piece.variable, peer), piece.box, piece.stored, element);
  if (move.points * element != packed.size()) return false;
  model::execute(move, packed.data(), frame + piece.frame_offset, model::copy_kernel(element, false));
  return true;
}

}  // namespace afterbay::server
