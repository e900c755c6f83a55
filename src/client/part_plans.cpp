// SPDX-License-Identifier: Apache-2.0
#include "client/part_plans.hpp"

#include <algorithm>
#include <utility>

#include "base/caller_terms.hpp"
#include "model/decomposition.hpp"

namespace afterbay::client {
namespace {

/// The points of a map part; those of the rank if the part is whole.
const model::PointRuns& points_of(const EndpointPart& part, const std::shared_ptr<MapPart>& of_rank) {
  return part.whole ? of_rank->runs() : part.map->runs();
}

bool overlap(const Block& a, const Block& b) {
  for (std::size_t d = 0; d < a.count.size(); ++d)
    if (std::max(a.start[d], b.start[d]) >= std::min(a.start[d] + a.count[d], b.start[d] + b.count[d]))
      return false;
  return true;
}

Result<> check_section(const Section& section, const model::Index& array) {
  const auto said = [](const std::vector<std::uint64_t>& values) { return said_lengths(values); };
  if (section.start.size() != array.size || section.count.size() != array.size)
    return fail(ErrorCode::invalid_argument,
                "the section has {} starts and {} counts, but this caller's array of the variable has {} "
                "dimensions, without that of the records: {}",
                section.start.size(), section.count.size(), array.size,
                said_lengths({array.begin(), array.size}));
  for (std::size_t d = 0; d < array.size; ++d)
    if (section.start[d] > array[d] || section.count[d] > array[d] - section.start[d])
      return fail(
          ErrorCode::invalid_argument,
          "the section {} of lengths {} leaves this caller's array of the variable, of lengths {}, in "
          "dimension {}",
          said_box(section.start, section.count), said(section.count),
          said_lengths({array.begin(), array.size}), said_dimension(d, array.size));
  return {};
}

}  // namespace

bool EndpointPart::empty() const {
  if (whole) return false;
  return map ? map->runs().empty() : std::ranges::find(block.count, 0U) != block.count.end();
}

bool EndpointPart::overlaps(const EndpointPart& other, const std::shared_ptr<MapPart>& of_rank) const {
  if (of_rank) {
    const model::PointRuns& mine = points_of(*this, of_rank);
    std::uint64_t left = 0;
    for (const model::OffsetRun& run : model::outside(mine, points_of(other, of_rank))) left += run.length;
    return left < mine.points();
  }
  if (empty() || other.empty()) return false;
  return whole || other.whole || overlap(block, other.block);
}

std::uint64_t PartPlan::out_of_range(const void* data, std::size_t bytes,
                                     std::vector<std::byte>& scratch) const {
  if (const auto* const box_move = std::get_if<model::Move>(&pack))
    return model::out_of_range(*box_move, data, to_rank.kernel);
  if (scratch.size() < values * bytes) scratch.resize(values * bytes);
  return model::execute(std::get<model::MapMove>(pack), data, scratch.data(), to_rank.kernel);
}

PartPlans::PartPlans(const Collection& collection, const std::vector<EndpointPart>& parts,
                     observe::Timer* timer)
    : collection_(&collection),
      parts_(parts),
      names_(collection, timer),
      arrays_(collection.schema().variables.size()),
      known_(collection.schema().variables.size()) {}

Result<const PartPlan*> PartPlans::plan(std::uint32_t variable, const PutPlan& whole, Type type,
                                        const MemoryLayout& memory, const Section& section) {
  Known& known = known_[variable];
  const auto fits = [&](const std::unique_ptr<PartPlan>& it) {
    return it->type == type && it->section == section && it->memory == memory;
  };
  if (known.next >= known.plans.size()) known.next = 0;
  std::size_t at = known.next;
  if (known.plans.empty() || !fits(known.plans[at])) {
    const auto found = std::ranges::find_if(known.plans, fits);
    at = static_cast<std::size_t>(found - known.plans.begin());
    if (found == known.plans.end()) {
      AFTERBAY_TRY_ASSIGN(std::unique_ptr<PartPlan> made, make_plan(variable, whole, type, memory, section));
      at = keep(known, std::move(made));
    }
  }
  known.next = at + 1;
  return known.plans[at].get();
}

std::size_t PartPlans::keep(Known& known, std::unique_ptr<PartPlan> plan) {
  std::size_t at = known.plans.size();
  if (at >= most_sections && !plan->section.whole()) {
    const auto is_section = [&](std::size_t i) { return !known.plans[i]->section.whole(); };
    for (std::size_t i = 1; i <= known.plans.size() && at == known.plans.size(); ++i)
      if (const std::size_t place = (known.last_replaced + i) % known.plans.size(); is_section(place))
        at = place;
    known.last_replaced = at;
  }
  if (at == known.plans.size()) known.plans.emplace_back();
  known.plans[at] = std::move(plan);
  return at;
}

Result<const EndpointPart*> PartPlans::part_of(std::uint32_t variable) const {
  const VariableState& state = collection_->variable(variable);
  for (const EndpointPart& part : parts_)
    if (part.decomposition == state.decomposition) return &part;
  const std::string& decomposition = collection_->schema().variables[variable].decomposition;
  if (decomposition.empty())
    return fail(ErrorCode::bad_state,
                "the variable names no decomposition, and this endpoint was not given such variables: put it "
                "with the session, or register them with the endpoint as a whole");
  return fail(
      ErrorCode::bad_state,
      "this endpoint has no part of decomposition '{}', on which the variable lies: register its part "
      "with the endpoint before the first put",
      decomposition);
}

Result<model::Box> PartPlans::array_of(std::uint32_t variable, const EndpointPart& part) const {
  const VariableState& state = collection_->variable(variable);
  const bool holds = state.map || state.decomposition >= 0 || state.holds;
  if (part.whole) {
    if (holds) return state.mine;
    return model::Box{state.mine.start, model::Index::filled(state.mine.rank(), 0)};
  }
  if (state.map == nullptr)
    return model::box_for(collection_->schema(), collection_->schema().variables[variable], part.block);
  const model::Index lengths = model::array_lengths(collection_->layout().variables[variable].shape,
                                                    state.mapped, part.map->runs().elements());
  return model::Box{model::Index::filled(lengths.size, 0), lengths};
}

Result<std::unique_ptr<PartPlan>> PartPlans::make_plan(std::uint32_t variable, const PutPlan& whole,
                                                       Type type, const MemoryLayout& memory,
                                                       const Section& section) {
  const Variable& in_schema = collection_->schema().variables[variable];
  AFTERBAY_TRY_ASSIGN(const EndpointPart* const part, part_of(variable));
  if (!arrays_[variable]) {
    AFTERBAY_TRY_ASSIGN(arrays_[variable], array_of(variable, *part));
  }
  const model::Box& array = *arrays_[variable];
  auto plan = std::make_unique<PartPlan>();
  const bool swaps = model::needs_swap(collection_->layout().big_endian);
  AFTERBAY_TRY_ASSIGN(plan->into_piece, kernel_for(*collection_, variable, type, swaps));
  AFTERBAY_TRY_ASSIGN(plan->to_rank, kernel_for(*collection_, variable, type, false));
  plan->may_be_out_of_range =
      plan->to_rank.packing != nullptr || model::may_be_out_of_range(type, in_schema.type);
  plan->type = type;
  plan->memory = memory;
  plan->section = section;
  plan->box = {model::Index::filled(array.rank(), 0), array.count};
  if (!section.whole()) {
    AFTERBAY_TRY(check_section(section, array.count));
    plan->box = {model::Index(section.start), model::Index(section.count)};
  }
  AFTERBAY_TRY(model::check(memory, plan->box.count));
  if (whole.pieces.empty() || plan->box.empty() || !collection_->layout().variables[variable].framed)
    return plan;
  const VariableState& state = collection_->variable(variable);
  if (state.map)
    AFTERBAY_TRY(add_map_pieces(variable, whole, *part, *plan));
  else
    add_box_pieces(variable, whole, *plan);
  return plan;
}

void PartPlans::add_box_pieces(std::uint32_t variable, const PutPlan& whole, PartPlan& plan) const {
  const VariableState& state = collection_->variable(variable);
  const model::Box& array = *arrays_[variable];
  model::Box mine = plan.box;  // in the variable's index space
  for (std::size_t d = 0; d < mine.rank(); ++d) mine.start[d] += array.start[d];
  const model::ElementBytes bytes{size_of(plan.type),
                                  size_of(collection_->schema().variables[variable].type)};
  for (std::size_t i = 0; i < whole.pieces.size(); ++i) {
    const model::Piece piece = collection_->layout().pieces[whole.pieces[i].piece];
    model::Move move = model::gather(mine, plan.memory, piece.box, piece.stored, bytes);
    if (move.empty()) continue;
    plan.values += move.points;
    plan.pieces.push_back({static_cast<std::uint32_t>(i), whole.pieces[i].site, move.points, 0, move, {}});
  }
  plan.into_rank = model::gather(mine, plan.memory, state.mine, state.mine.count, bytes);
  plan.pack = model::pack(mine, plan.memory, state.mine, bytes);
}

Result<> PartPlans::add_map_pieces(std::uint32_t variable, const PutPlan& whole, const EndpointPart& part,
                                   PartPlan& plan) const {
  const VariableState& state = collection_->variable(variable);
  const model::HandoverLayout& layout = collection_->layout();
  const model::VariableLayout& in_layout = layout.variables[variable];
  const model::MapDimensions& mapped = state.mapped;
  const model::ElementBytes bytes{size_of(plan.type),
                                  size_of(collection_->schema().variables[variable].type)};
  // The points of the section, whose elements are counted from its start.
  const std::uint64_t first = plan.box.start[mapped.first];
  const std::uint64_t count = plan.box.count[mapped.first];
  const model::PointRuns& all = points_of(part, state.map);
  plan.map = std::make_shared<MapPart>(
      state.map->global(),
      model::ListedRuns{first == 0 && count == all.elements() ? all : all.of_elements(first, count), {}, {}});
  model::Box selected = plan.box;
  selected.start[mapped.first] = 0;
  const MapPart::Cut& cut = plan.map->cut(model::part_of(in_layout.part, mapped));
  std::size_t next = 0;
  Result<> made;
  model::for_each_piece_on(
      layout, variable, mapped, cut.points, [&](std::uint32_t p, const model::CellPoints& points) {
        if (!made) return;
        while (next < whole.pieces.size() && whole.pieces[next].piece < p) ++next;
        if (next == whole.pieces.size() || whole.pieces[next].piece != p) {
          made = fail(ErrorCode::internal, "an endpoint has points in a piece in which the rank has none");
          return;
        }
        const PiecePlan& of_rank = whole.pieces[next];
        const model::Piece piece = layout.pieces[p];
        const model::MapPiece on_map{piece.box, piece.stored, mapped};
        PartPiece it{static_cast<std::uint32_t>(next), of_rank.site, 0, 0, model::MapMove{}, {}};
        if (of_rank.packed_at) {
          const auto packed = state.map->packed(of_rank.site.server, cut.part, points.cell);
          if (!packed) {
            made = fail(ErrorCode::internal, "the servers have not described all pieces of variable '{}'",
                        collection_->schema().variables[variable].name);
            return;
          }
          model::CellPoints& in_list = plan.points.emplace_back();
          in_list.cell = points.cell;
          in_list.points = points.points;
          model::for_each_point(points, [&](std::uint32_t within, std::uint32_t element) {
            in_list.within.push_back(packed->at.at(within));
            in_list.elements.push_back(element);
          });
          it.at = *of_rank.packed_at;
          it.move = model::gather_into_list(in_list, packed->at.size(), selected, plan.memory, on_map, bytes);
        } else {
          it.move = model::gather(points, selected, plan.memory, on_map, bytes);
        }
        it.values = std::get<model::MapMove>(it.move).values;
        it.written = WrittenPages::windows_of(std::get<model::MapMove>(it.move));
        for (model::WrittenWindows& windows : it.written) windows.range.at += it.at;
        plan.values += it.values;
        if (it.values != 0) plan.pieces.push_back(std::move(it));
      });
  AFTERBAY_TRY(std::move(made));
  // The rank's array: positions are its elements.
  const model::Box everything{model::Index::filled(in_layout.shape.size, 0), in_layout.shape};
  const model::MapPiece whole_variable{everything, in_layout.shape, mapped};
  model::CellPoints& in_rank = plan.points.emplace_back();
  std::size_t position = 0;
  std::vector<model::PointRun> of_rank;
  state.map->runs().for_each([&](const model::PointRun& run) { of_rank.push_back(run); });
  plan.map->runs().for_each([&](const model::PointRun& run) {
    for (std::uint32_t i = 0; i < run.length; ++i) {
      const std::uint64_t offset = run.offset + i;
      while (of_rank[position].offset + of_rank[position].length <= offset) ++position;
      in_rank.within.push_back(of_rank[position].element +
                               static_cast<std::uint32_t>(offset - of_rank[position].offset));
      in_rank.elements.push_back(run.element + i);
    }
  });
  in_rank.points = in_rank.within.size();
  plan.into_rank = model::gather_into_list(in_rank, state.map->runs().elements(), selected, plan.memory,
                                           whole_variable, bytes);
  plan.pack = model::pack(std::get<model::MapMove>(plan.into_rank));
  return {};
}

}  // namespace afterbay::client
