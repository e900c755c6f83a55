// SPDX-License-Identifier: Apache-2.0
#include "server/reduce/frame_states.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/units.hpp"
#include "model/fill_value.hpp"
#include "server/frame_task.hpp"
#include "server/records.hpp"
#include "server/served_collection.hpp"
#include "statistics/planes.hpp"

namespace afterbay::server {

const Variable& FrameStates::variable_of(const model::Piece& piece) const {
  return collection_.schema.variables[piece.variable];
}

Result<> FrameStates::add_piece(std::uint32_t number, const model::Piece& piece,
                                const wire::ReductionDefinition& reduction, std::uint64_t room) {
  PieceState state;
  state.element = size_of(variable_of(piece).type);
  const std::size_t points = piece.bytes / state.element;
  statistics::SampleFormat field{variable_of(piece).type, reduction.missing};
  if (reduction.formula) {
    state.formula = formulas_.at(piece.variable).get();
    field = {Type::float64, Values(std::numeric_limits<double>::quiet_NaN())};
    bytes_ += PieceOperands::bytes_of(*state.formula, points);
  }
  const bool is_over_time = reduction.is_over_time != 0;
  if (is_over_time) bytes_ += statistics::StateMemory::bytes_of(reduction.statistic, field.type, points);
  if (bytes_ > room) return {};  // the error says how much all of them need
  if (state.formula != nullptr) state.operands.emplace(*state.formula, points, memory_);
  if (is_over_time) {
    AFTERBAY_TRY_ASSIGN(statistics::Bundle bundle, statistics::Bundle::create(field, points));
    statistics::StateMemory memory(reduction.statistic, field.type, points, memory_);
    AFTERBAY_TRY(bundle.add(reduction.statistic, memory.bytes()));
    state.over_time.emplace(OverTime{std::move(bundle), std::move(memory)});
  }
  pieces_.emplace(number, std::move(state));
  return {};
}

Result<std::unique_ptr<FrameStates>> FrameStates::make(const ServedCollection& collection, std::uint64_t used,
                                                       std::uint64_t limit) {
  std::unique_ptr<FrameStates> made(new FrameStates(collection));
  const std::uint64_t room = limit - std::min(used, limit);
  for (const wire::ReductionDefinition& it : collection.reductions) {
    if (it.variable >= collection.schema.variables.size() || (!it.formula && it.is_over_time == 0))
      return fail(ErrorCode::internal,
                  "collection '{}' has a reduction of variable number {} that is not possible",
                  collection.name, it.variable);
    const Variable& variable = collection.schema.variables[it.variable];
    if (it.formula) {
      AFTERBAY_TRY_ASSIGN(auto formula, ServedFormula::make(*it.formula, variable));
      made->formulas_.emplace(it.variable, std::move(formula));
    }
    if (it.is_over_time != 0)
      if (auto good = statistics::check(it.statistic, it.formula ? Type::float64 : variable.type); !good)
        return fail(std::move(good).error().in_variable(variable.name));
    for (std::uint32_t number = 0; number < collection.frames(); ++number) {
      const model::Frame frame = collection.layout->frames[collection.frame(number)];
      for (std::uint32_t p = frame.first_piece; p < frame.first_piece + frame.piece_count; ++p) {
        const model::Piece piece = collection.layout->pieces[p];
        if (piece.variable == it.variable) AFTERBAY_TRY(made->add_piece(p, piece, it, room));
      }
    }
  }
  if (used + made->bytes_ <= limit) return made;
  return fail(
      ErrorCode::resources,
      "the statistics and expressions of collection '{}' need {} of this server's memory, and those of "
      "other collections {}, but memory.statistics is {}: set it to a larger value, use more servers "
      "with placement slab, or let model ranks compute them (statistics: model, expressions: model)",
      collection.name, print_about(made->bytes_), print_about(used), print_about(limit));
}

Result<> FrameStates::set_state(PieceState& state, const std::byte* plane, const RecordHead& record) {
  const statistics::Planes planes(state.bundle().state(0), state.element);
  if (record.record >= planes.count())
    return fail(ErrorCode::internal, "a state was handed over that has more planes than the statistic");
  planes.set(static_cast<std::uint32_t>(record.record), plane);
  const wire::SavedProgress progress = record.progress.value_or(wire::SavedProgress());
  state.bundle().state(0).progress() = {progress.steps, progress.duration, progress.has_reference};
  return {};
}

Result<> FrameStates::take_sample(PieceState& state, const std::byte* sample, const RecordHead& record) {
  if (state.formula != nullptr) {
    const auto operand = state.formula->operand_of(record.source);
    if (!operand)
      return fail(ErrorCode::internal, "samples of source {} are not an operand of the expression",
                  record.source);
    AFTERBAY_TRY(state.operands->take(*operand, sample));
    if (!state.over_time || !state.operands->are_there()) return {};
  }
  statistics::Bundle& bundle = state.bundle();
  if (record.meaning == wire::RecordKind::first_sample) bundle.begin_interval(0);
  if (state.formula == nullptr) return bundle.step(sample, record.duration);
  AFTERBAY_TRY(bundle.begin_step(record.duration));
  AFTERBAY_TRY(state.formula->run(state.operands->samples(), bundle.points(),
                                  [&](std::span<const double> results, std::size_t first) {
                                    bundle.run(std::as_bytes(results).data(), first, results.size());
                                  }));
  bundle.end_step();
  state.operands->begin_step();
  return {};
}

Result<> FrameStates::take(const CompleteFrame& samples, const RecordHead& record) {
  for (const std::uint32_t p : samples.pieces) {
    const auto at = pieces_.find(p);
    const model::Piece piece = collection_.layout->pieces[p];
    const bool is_state = record.meaning == wire::RecordKind::state;
    if (at == pieces_.end() || (is_state && !at->second.over_time))
      return fail(ErrorCode::internal, "a sample of '{}' was handed over, of which there is no statistic",
                  variable_of(piece).name);
    std::byte* const values = samples.base + piece.frame_offset;
    // Points that no rank holds have fill values, which may be numbers: results may not fit the
    // type.
    static constexpr std::array<std::byte, 8> zero{};
    const std::span<const std::byte> no_value = at->second.formula != nullptr && !is_state
                                                    ? at->second.formula->not_a_number()
                                                    : std::span(zero).first(at->second.element);
    fill_gaps(collection_, p, no_value, values);
    if (is_state)
      AFTERBAY_TRY(set_state(at->second, values, record));
    else if (auto taken = take_sample(at->second, values, record); !taken)
      return fail(std::move(taken).error().in_variable(variable_of(piece).name));
  }
  return {};
}

void FrameStates::plane(std::span<const std::uint32_t> pieces, const RecordHead& record, std::byte* frame) {
  for (const std::uint32_t p : pieces) {
    PieceState& piece = pieces_.at(p);
    statistics::Bundle& bundle = piece.bundle();
    const statistics::State& state = bundle.state(0);
    if (record.progress && record.progress->steps == 0 && state.progress().steps > 0)
      bundle.begin_interval(0);
    const statistics::Planes planes(state, piece.element);
    if (record.record < planes.count())
      planes.get(static_cast<std::uint32_t>(record.record),
                 frame + collection_.layout->pieces[p].frame_offset);
  }
}

Result<> FrameStates::results(std::span<const std::uint32_t> pieces, std::byte* frame) {
  for (const std::uint32_t p : pieces) {
    PieceState& state = pieces_.at(p);
    const model::Piece piece = collection_.layout->pieces[p];
    const Variable& variable = variable_of(piece);
    std::byte* const to = frame + piece.frame_offset;
    if (!state.over_time) {
      if (!state.operands->are_there())
        return fail(make_error(ErrorCode::internal, "not all operands of the expression were handed over")
                        .in_variable(variable.name));
      if (auto written = state.formula->write(state.operands->samples(), piece.bytes / state.element, to);
          !written)
        return fail(std::move(written).error().in_variable(variable.name));
      state.operands->begin_step();
      continue;
    }
    const statistics::ResultFormat target{.type = variable.type, .fill = model::fill_of(variable)};
    const statistics::Bundle& bundle = state.bundle();
    AFTERBAY_TRY_ASSIGN(const statistics::ResultCounts outcome,
                        bundle.result(0, target, to, 0, bundle.points()));
    if (outcome.out_of_range > 0)
      return fail(make_error(ErrorCode::wrong_type,
                             "{} results of a period do not fit into {}: give the variable another type, or "
                             "other units",
                             outcome.out_of_range, name_of(variable.type))
                      .in_variable(variable.name));
  }
  return {};
}

}  // namespace afterbay::server
