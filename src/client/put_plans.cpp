// SPDX-License-Identifier: Apache-2.0
#include "client/put_plans.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "base/caller_terms.hpp"
#include "model/decomposition.hpp"
#include "model/map_cells.hpp"

namespace afterbay::client {
namespace {

Error no_conversion(const Variable& variable, Type type) {
  if (type == Type::text)
    return make_error(ErrorCode::wrong_type, "text cannot be put into variable '{}' of type {}: put numbers",
                      variable.name, name_of(variable.type));
  if (variable.type == Type::text)
    return make_error(ErrorCode::wrong_type,
                      "numbers of type {} cannot be put into text variable '{}': put text", name_of(type),
                      variable.name);
  return make_error(ErrorCode::wrong_type, "data of type {} cannot be put into variable '{}' of type {}",
                    name_of(type), variable.name, name_of(variable.type));
}

/// Layouts in memory usually consist of the same few numbers; equal ones share a plan.
bool same(const PutPlan& plan, Type type, const MemoryLayout& memory) {
  return plan.type == type && plan.memory == memory;
}

}  // namespace

Result<OwnedKernel> kernel_for(const Collection& collection, std::uint32_t variable, Type type,
                               bool swap_bytes) {
  const Variable& in_schema = collection.schema().variables[variable];
  OwnedKernel made;
  if (const model::PackedValues* const packing = collection.processing().packing(variable)) {
    made.packing = model::packing_rows(*packing, type, swap_bytes);
    made.kernel.custom = made.packing.get();
  } else {
    made.kernel = model::kernel(type, in_schema.type, swap_bytes);
  }
  if (!made.kernel) return fail(no_conversion(in_schema, type));
  return made;
}

std::string limits_of(const Collection& collection, std::uint32_t variable) {
  std::string text = fmt::format("the file's type {}", name_of(collection.schema().variables[variable].type));
  if (const model::PackedValues* const packing = collection.processing().packing(variable))
    text += fmt::format(", as which the variable is packed for numbers from {} to {} (pack_range)",
                        packing->low, packing->high);
  return text;
}

PutPlans::PutPlans(const Collection& collection, observe::Timer* timer)
    : collection_(&collection), timer_(timer), plans_(collection.schema().variables.size()) {
  const std::vector<Variable>& variables = collection.schema().variables;
  for (const Variable& variable : variables)
    names_.insert(names_.end(), variable.name.begin(), variable.name.end());
  std::size_t at = 0;
  for (std::uint32_t v = 0; v < variables.size(); ++v) {
    const std::size_t length = variables[v].name.size();
    PutEntry& entry = entries_.emplace_back();
    entry.name = std::string_view(names_.data() + at, length);
    entry.next = static_cast<std::uint32_t>((v + 1) % variables.size());
    entry.framed = collection.layout().variables[v].framed;
    entry.record = collection.layout().variables[v].record;
    at += length;
  }
}

Result<std::uint32_t> PutPlans::framed_variable(std::string_view variable) {
  std::uint32_t v = entries_.empty() ? 0 : entries_[last_put_].next;
  if (entries_.empty() || entries_[v].name != variable) {
    AFTERBAY_TRY_ASSIGN(v, collection_->index_of(variable));
    entries_[last_put_].next = v;
  }
  if (entries_[v].framed) return last_put_ = v;
  const bool strings = collection_->schema().variables[v].type == Type::string;
  return fail(Error(strings ? ErrorCode::wrong_type : ErrorCode::bad_state,
                    strings ? fmt::format("variable '{}' holds strings: use put_strings", variable)
                            : fmt::format("variable '{}' is constant: its values were given with the schema",
                                          variable))
                  .in_variable(std::string(variable)));
}

Result<std::uint64_t> PutPlans::record_of(std::uint32_t variable, std::uint64_t record) const {
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!has_records(variable)) {
    if (record == 0 || record == no_record) return 0;
    return fail(ErrorCode::invalid_argument,
                "variable '{}' has no unlimited dimension, so it has no record {}: put it without a record",
                variable_name(variable), said_index(record));
  }
  if (record == no_record)
    return fail(ErrorCode::invalid_argument,
                "variable '{}' has the unlimited dimension: give the record to put (counted from {})",
                variable_name(variable), said_index(0));
  if (record > largest)
    return fail(ErrorCode::invalid_argument,
                "there is no record {} of variable '{}': records are counted from {}", said_index(record),
                variable_name(variable), said_index(0));
  return record;
}

Result<const PutPlan*> PutPlans::plan(std::uint32_t variable, Type type, const MemoryLayout& memory) {
  PutEntry& entry = entries_[variable];
  if (entry.dense != nullptr && entry.type == type && memory.dense()) return entry.dense;
  auto& plans = plans_[variable];
  auto known = std::ranges::find_if(plans, [&](const auto& plan) { return same(*plan, type, memory); });
  if (known == plans.end()) {
    AFTERBAY_TRY_ASSIGN(OwnedKernel kernel, kernel_for(*collection_, variable, type,
                                                       model::needs_swap(collection_->layout().big_endian)));
    AFTERBAY_TRY_ASSIGN(std::unique_ptr<PutPlan> plan,
                        make_plan(collection_->variable(variable), type, memory, std::move(kernel)));
    plans.push_back(std::move(plan));
    known = std::prev(plans.end());
  }
  if (memory.dense()) {
    entry.type = type;
    entry.dense = known->get();
  }
  return known->get();
}

Result<const PutPlan*> PutPlans::stored_plan(std::uint32_t variable) {
  const Type type = collection_->schema().variables[variable].type;
  if (collection_->processing().packing(variable) == nullptr) return plan(variable, type, {});
  stored_plans_.resize(plans_.size());
  std::unique_ptr<PutPlan>& made = stored_plans_[variable];
  if (made == nullptr) {
    OwnedKernel as_it_is{model::kernel(type, type, model::needs_swap(collection_->layout().big_endian)), {}};
    AFTERBAY_TRY_ASSIGN(made, make_plan(collection_->variable(variable), type, {}, std::move(as_it_is)));
  }
  return made.get();
}

void PutPlans::make_likely_plans() {
  for (std::uint32_t v = 0; v < plans_.size(); ++v) {
    if (!collection_->variable(v).contributes()) continue;
    const model::PackedValues* const packing = collection_->processing().packing(v);
    (void)plan(v, packing != nullptr ? packing->unpacked : collection_->schema().variables[v].type, {});
  }
}

Result<std::unique_ptr<PutPlan>> PutPlans::make_plan(const VariableState& variable, Type type,
                                                     const MemoryLayout& memory, OwnedKernel kernel) const {
  const Variable& in_schema = collection_->schema().variables[variable.index];
  if (auto fits = model::check(memory, variable.mine.count); !fits) {
    if (in_schema.decomposition.empty())
      fits.error().message = fmt::format(
          "the variable names no decomposition, so that every rank hands over all of it ({}): name one in "
          "the schema if ranks hold parts of it; {}",
          said_lengths({variable.mine.count.begin(), variable.mine.count.size}), fits.error().message);
    return fail(std::move(fits).error());
  }
  auto plan = std::make_unique<PutPlan>();
  plan->type = type;
  plan->file_type = in_schema.type;
  plan->packing = std::move(kernel.packing);
  plan->may_be_out_of_range = plan->packing != nullptr || model::may_be_out_of_range(type, in_schema.type);
  plan->memory = memory;
  plan->kernel = kernel.kernel;
  if (!variable.contributes()) return plan;
  const model::ElementBytes bytes{size_of(type), size_of(in_schema.type)};
  if (variable.map) {
    AFTERBAY_TRY_ASSIGN(plan->pieces, map_pieces(variable, memory, bytes));
  } else {
    plan->pieces = box_pieces(variable, memory, bytes);
  }
  for (const PiecePlan& piece : plan->pieces) plan->packed_bytes += piece.packed_bytes;
  if (plan->packed_bytes >= model::large_move_bytes)
    for (PiecePlan& piece : plan->pieces)
      if (auto* const box = std::get_if<PiecePlan::BoxMoves>(&piece.moves))
        box->gather.is_part_of_large = true;
  return plan;
}

PieceSite PutPlans::site_of(std::uint32_t index, const model::Piece& piece) const {
  PieceSite site;
  site.frame = piece.frame;
  site.of = collection_->layout().frames[piece.frame];
  site.in_frame = index - site.of.first_piece;
  site.frame_offset = piece.frame_offset;
  const model::FrameOwners::Range& range = collection_->owners().range_of(piece.frame);
  site.number = range.number_of(piece.frame);
  site.server = collection_->pool().server_of_owner(range.owner);
  // Servers describe files that are not split alike: one that has answered does it.
  if (!collection_->pool().is_split()) site.server = collection_->packed().answered().value_or(site.server);
  return site;
}

std::vector<PiecePlan> PutPlans::box_pieces(const VariableState& variable, const MemoryLayout& memory,
                                            model::ElementBytes bytes) const {
  std::vector<PiecePlan> plans;
  collection_->layout().for_each_touching(variable.index, variable.mine, [&](std::uint32_t p) {
    const model::Piece piece = collection_->layout().pieces[p];
    PiecePlan::BoxMoves moves{model::gather(variable.mine, memory, piece.box, piece.stored, bytes), {}};
    if (moves.gather.empty()) return;
    moves.pack = model::pack(variable.mine, memory, piece.box, bytes);
    plans.push_back({p, site_of(p, piece), moves.pack.points * bytes.to, moves, std::nullopt});
  });
  return plans;
}

Result<std::vector<PiecePlan>> PutPlans::map_pieces(const VariableState& variable, const MemoryLayout& memory,
                                                    model::ElementBytes bytes) const {
  std::vector<PiecePlan> plans;
  const model::HandoverLayout& layout = collection_->layout();
  const model::VariableLayout& in_layout = layout.variables[variable.index];
  const MapPart::Cut& cut = variable.map->cut(model::part_of(in_layout.part, variable.mapped));
  bool known = true;
  const auto add = [&](std::uint32_t p, const model::CellPoints& points) {
    const model::Piece piece = layout.pieces[p];
    const PieceSite site = site_of(p, piece);
    PiecePlan::MapMoves moves;
    moves.gather = model::gather(points, variable.map->runs().elements(), in_layout.shape, memory,
                                 {piece.box, piece.stored, variable.mapped}, bytes);
    moves.pack = model::pack(moves.gather);
    const std::uint64_t packed_bytes = moves.pack.values * bytes.to;
    std::optional<std::uint64_t> packed_at;
    if (collection_->packed().has(site.server, variable.index)) {
      const auto before = variable.map->before(cut, site.server, points.cell);
      known = known && before.has_value();
      moves.pack.points = &cut.rows[cut.number(points)];
      packed_at = before.value_or(0) * (packed_bytes / points.points);
    } else {
      moves.written = WrittenPages::windows_of(moves.gather);
    }
    plans.push_back({p, site, packed_bytes, std::move(moves), packed_at});
  };
  model::for_each_piece_on(layout, variable.index, variable.mapped, cut.points, add);
  if (!known)
    return fail(ErrorCode::internal, "the servers have not described all pieces of variable '{}'",
                variable_name(variable.index));
  return plans;
}

}  // namespace afterbay::client
