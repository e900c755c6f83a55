// SPDX-License-Identifier: Apache-2.0
#include "client/input.hpp"

#include "base/caller_terms.hpp"
#include "base/suggest.hpp"
#include "model/decomposition.hpp"

namespace afterbay::client {
namespace {

std::vector<std::string> readable_names(const Schema& schema) {
  std::vector<std::string> names;
  for (const Variable& variable : schema.variables) names.push_back(variable.name);
  return names;
}

/// Calls `visit` with the numbers of the pieces that share points with `box`, ascending.
template <class Visit>
void for_each_piece(const model::InputCut& cut, const model::Box& box, Visit&& visit) {
  if (box.empty()) return;
  for (std::uint64_t p = 0; p < cut.pieces(); ++p) {
    const model::Box piece = cut.piece(p);
    if (!model::intersect(piece, box).empty()) visit(p, piece);
  }
}

/// The box of the record that a selection without a map describes.
Result<model::Box> box_of(const Input& input, const Variable& variable, const model::InputCut& cut,
                          const Selection& what, const Decomposition* decomposition) {
  Variable named;  // as named in messages
  named.name = variable.name;
  named.dimensions = variable.dimensions;
  named.decomposition = decomposition != nullptr ? decomposition->name : "(the selection's block)";
  if (decomposition != nullptr) return model::box_for(input.schema, named, decomposition->block);
  const model::Box whole{model::Index::filled(cut.shape().size, 0), cut.shape()};
  if (!what.block) return whole;
  Block block = *what.block;
  if (block.global.empty()) {
    const std::size_t dimensions = std::min<std::size_t>(block.count.size(), cut.shape().size);
    block.global.assign(cut.shape().end() - dimensions, cut.shape().end());
  }
  AFTERBAY_TRY(model::check_block(named.decomposition, block));
  return model::box_for(input.schema, named, block);
}

/// The distance, in values, between consecutive records of an array with these `count` values per
/// dimension.
Result<std::uint64_t> record_distance(const MemoryLayout& memory, const model::Index& count,
                                      const Selection& what) {
  if (what.records == 1) return std::uint64_t{0};
  if (!memory.strides.empty())
    return fail(ErrorCode::invalid_argument,
                "{} records are read into an array that is described by strides: read one record at a time, "
                "or describe it by shape and offset",
                what.records);
  return memory.shape.empty() ? count.product() : model::Index(memory.shape).product();
}

Result<> plan_box(const Input& input, const Variable& variable, const Selection& what,
                  const Decomposition* decomposition, const MemoryLayout& memory, model::ElementBytes bytes,
                  ReadPlan& plan) {
  const model::InputCut& cut = input.cuts[plan.variable];
  AFTERBAY_TRY_ASSIGN(const model::Box mine, box_of(input, variable, cut, what, decomposition));
  AFTERBAY_TRY(model::check(memory, mine.count));
  AFTERBAY_TRY_ASSIGN(const std::uint64_t distance, record_distance(memory, mine.count, what));
  plan.record_bytes = distance * plan.element_bytes;
  plan.part.start.assign(mine.start.begin(), mine.start.end());
  plan.part.count.assign(mine.count.begin(), mine.count.end());
  for_each_piece(cut, mine, [&](std::uint64_t p, const model::Box& piece) {
    const model::Move pack = model::pack(mine, memory, piece, bytes);
    const ReadPiece::BoxMoves moves{model::reversed(model::gather(mine, memory, piece, cut.part(), bytes)),
                                    model::reversed(pack)};
    plan.pieces.push_back({p, moves, pack.points * bytes.to});
  });
  return {};
}

/// The memory layout of one point's values in the rank's array, for points that are copied from
/// another element.
ReadPlan::Twins twins_of(const MapPart& map, const model::Index& array, const model::MapDimensions& mapped,
                         const MemoryLayout& memory, std::size_t element) {
  model::Box point{model::Index::filled(array.size, 0), array};
  point.count[mapped.first] = 1;
  const model::Box whole{model::Index::filled(array.size, 0), array};
  ReadPlan::Twins twins;
  twins.elements = &map.twins();
  const model::Move from = model::gather(whole, memory, point, point.count, {element, element});
  twins.values = from;
  twins.values.to_strides = from.from_strides;
  twins.values.to_offset = from.from_offset;
  if (array[mapped.first] > 1) {
    point.start[mapped.first] = 1;
    twins.element_stride =
        model::gather(whole, memory, point, point.count, {element, element}).from_offset - from.from_offset;
  }
  return twins;
}

Result<> plan_map(const Input& input, const Variable& variable, const Selection& what,
                  const Decomposition& decomposition, const MemoryLayout& memory, model::ElementBytes bytes,
                  ReadPlan& plan) {
  const model::InputCut& cut = input.cuts[plan.variable];
  MapPart& map = *decomposition.map;
  AFTERBAY_TRY_ASSIGN(const model::MapDimensions mapped,
                      model::dimensions_of_map(input.schema, variable, decomposition.name, map.global()));
  const std::uint64_t elements = map.runs().elements();
  const model::Index array = model::array_lengths(cut.shape(), mapped, elements);
  AFTERBAY_TRY(model::check(memory, array));
  AFTERBAY_TRY_ASSIGN(const std::uint64_t distance, record_distance(memory, array, what));
  plan.record_bytes = distance * plan.element_bytes;
  plan.part.map = static_cast<std::int32_t>(decomposition.id);
  plan.part.list = decomposition.list;
  plan.cells = model::part_of(cut.part(), mapped);
  const MapPart::ReadCut& cells = map.read_cut(plan.cells);
  for (std::uint64_t p = 0; p < cut.pieces(); ++p) {
    const model::Box piece = cut.piece(p);
    const std::uint64_t cell = cells.cells.cell_of(model::part_of(piece.start, mapped));
    const auto found = std::ranges::lower_bound(cells.points, cell, {}, &model::CellPoints::cell);
    if (found == cells.points.end() || found->cell != cell) continue;
    const model::CellPoints& out = cells.out[static_cast<std::size_t>(found - cells.points.begin())];
    const model::MapMove in =
        model::gather(*found, elements, cut.shape(), memory, {piece, cut.part(), mapped}, bytes);
    const ReadPiece::MapMoves moves{model::reversed(in, out), model::reversed(model::pack(in), out)};
    plan.pieces.push_back({p, moves, in.values * bytes.to, &*found});
  }
  if (!map.twins().empty()) plan.twins = twins_of(map, array, mapped, memory, plan.element_bytes);
  return {};
}

}  // namespace

void Input::opened(wire::InputOpened answer, const model::InputSizes& sizes) {
  answered = true;
  error = std::move(answer.error);
  schema = std::move(answer.schema);
  records = answer.records;
  format = answer.format;
  for (std::size_t i = 0; i < answer.unreadable.size() && i < answer.reasons.size(); ++i)
    unreadable.emplace(std::move(answer.unreadable[i]), std::move(answer.reasons[i]));
  for (const Variable& variable : schema.variables) cuts.emplace_back(schema, variable, sizes);
}

Result<std::uint32_t> Input::variable(std::string_view name, bool strings) const {
  const auto found = std::ranges::find(schema.variables, name, &Variable::name);
  if (found == schema.variables.end()) {
    for (const auto& [full_name, why] : unreadable)
      if (full_name == name || std::string_view(full_name).substr(full_name.rfind('/') + 1) == name)
        return fail(ErrorCode::wrong_type, "variable '{}' cannot be read: {}", full_name, why);
    return fail(ErrorCode::unknown_name, "the file has no variable '{}'{}", name,
                did_you_mean(name, readable_names(schema)));
  }
  const bool holds_strings = found->type == Type::string;
  if (holds_strings && !strings)
    return fail(ErrorCode::wrong_type, "variable '{}' holds strings: use get_strings", name);
  if (!holds_strings && strings)
    return fail(ErrorCode::wrong_type, "variable '{}' is of type {}, not of strings: use get", name,
                name_of(found->type));
  return static_cast<std::uint32_t>(found - schema.variables.begin());
}

Result<std::uint64_t> Input::record_of(std::uint32_t variable, std::uint64_t record,
                                       std::uint64_t count) const {
  if (!cuts[variable].record()) {
    if ((record == no_record || record == 0) && count == 1) return std::uint64_t{0};
    return fail(ErrorCode::invalid_argument,
                "the variable has no unlimited dimension, so it has no records {} to {}: read it without a "
                "record",
                said_index(record), said_index(record) + static_cast<std::int64_t>(count) - 1);
  }
  if (record == no_record)
    return fail(ErrorCode::invalid_argument,
                "the variable has the unlimited dimension: give the record ({} to {}) to read", said_index(0),
                said_index(records) - 1);
  if (count == 0 || record >= records || count > records - record)
    return fail(ErrorCode::invalid_argument, "{} records from number {} on are requested, the file has {}",
                count, said_index(record), records);
  return record;
}

std::uint64_t ReadPiece::scatter(const std::byte* piece_data, void* data, model::Kernel kernel) const {
  return std::visit(
      [&](const auto& it) {
        return model::execute(it.scatter, piece_data, static_cast<std::byte*>(data), kernel);
      },
      moves);
}

std::uint64_t ReadPiece::unpack(const std::byte* packed, void* data, model::Kernel kernel) const {
  return std::visit(
      [&](const auto& it) {
        return model::execute(it.unpack, packed, static_cast<std::byte*>(data), kernel);
      },
      moves);
}

void ReadPlan::copy_twins(std::byte* data) const {
  if (!twins) return;
  const model::Kernel copy = model::copy_kernel(element_bytes, false);
  for (const model::ElementTwin& twin : *twins->elements)
    model::execute(twins->values, data + twin.counts * twins->element_stride,
                   data + twin.other * twins->element_stride, copy);
}

Result<ReadPlan> make_read_plan(const Input& input, std::uint32_t variable, const Selection& what,
                                const Decomposition* decomposition, Type type, const MemoryLayout& memory) {
  const Variable& in_file = input.schema.variables[variable];
  ReadPlan plan;
  plan.variable = variable;
  plan.element_bytes = size_of(type);
  plan.kernel = model::kernel(in_file.type, type, false);
  if (!plan.kernel)
    return fail(ErrorCode::wrong_type, "the variable's type {} cannot be read into data of type {}",
                name_of(in_file.type), name_of(type));
  const model::ElementBytes bytes{plan.element_bytes, size_of(in_file.type)};
  AFTERBAY_TRY(decomposition != nullptr && decomposition->map
                   ? plan_map(input, in_file, what, *decomposition, memory, bytes, plan)
                   : plan_box(input, in_file, what, decomposition, memory, bytes, plan));
  for (const ReadPiece& piece : plan.pieces) plan.file_bytes += piece.packed_bytes;
  return plan;
}

}  // namespace afterbay::client
