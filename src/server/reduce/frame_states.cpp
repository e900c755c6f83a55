// SPDX-License-Identifier: Apache-2.0
#include "server/reduce/frame_states.hpp"

#include <algorithm>
#include <utility>

#include "base/units.hpp"
#include "model/fill_value.hpp"
#include "server/records.hpp"
#include "server/served_collection.hpp"
#include "statistics/planes.hpp"

namespace afterbay::server {

Result<std::unique_ptr<FrameStates>> FrameStates::make(const ServedCollection& collection, std::uint64_t used,
                                                       std::uint64_t limit) {
  std::unique_ptr<FrameStates> made(new FrameStates(collection));
  for (const wire::Reduction& it : collection.reductions) {
    if (it.variable >= collection.schema.variables.size())
      return fail(ErrorCode::internal, "collection '{}' has a statistic of variable number {}",
                  collection.name, it.variable);
    const Variable& variable = collection.schema.variables[it.variable];
    if (auto good = statistics::check(it.statistic, variable.type); !good)
      return fail(std::move(good).error().in_variable(variable.name));
    const std::size_t element = size_of(variable.type);
    for (std::uint32_t number = 0; number < collection.frames(); ++number) {
      const model::Frame frame = collection.layout->frames[collection.frame(number)];
      for (std::uint32_t p = frame.first_piece; p < frame.first_piece + frame.piece_count; ++p) {
        const model::Piece piece = collection.layout->pieces[p];
        if (piece.variable != it.variable) continue;
        const std::size_t points = piece.bytes / element;
        made->bytes_ += statistics::StateMemory::bytes_of(it.statistic, variable.type, points);
        if (used + made->bytes_ > limit) continue;  // the error says how much all of them need
        AFTERBAY_TRY_ASSIGN(statistics::Bundle bundle,
                            statistics::Bundle::create({variable.type, it.missing}, points));
        statistics::StateMemory memory(it.statistic, variable.type, points, made->memory_);
        AFTERBAY_TRY(bundle.add(it.statistic, memory.bytes()));
        made->pieces_.emplace(p, PieceState{std::move(bundle), std::move(memory)});
      }
    }
  }
  if (used + made->bytes_ <= limit) return made;
  return fail(ErrorCode::resources,
              "the statistics of collection '{}' need {} of this server's memory, and those of other "
              "collections {}, but memory.statistics is {}: set it to a larger value, use more servers with "
              "placement slab, or let model ranks compute them (statistics: model)",
              collection.name, print_about(made->bytes_), print_about(used), print_about(limit));
}

Result<> FrameStates::take(const CompleteFrame& samples, const RecordHead& record) {
  for (const std::uint32_t p : samples.pieces) {
    const auto at = pieces_.find(p);
    if (at == pieces_.end())
      return fail(ErrorCode::internal, "a sample of '{}' was handed over, of which there is no statistic",
                  collection_.schema.variables[collection_.layout->pieces[p].variable].name);
    statistics::Bundle& bundle = at->second.bundle;
    const std::byte* const values = samples.base + collection_.layout->pieces[p].frame_offset;
    if (record.meaning == wire::RecordKind::state) {
      if (record.record >= statistics::planes(bundle.state(0)))
        return fail(ErrorCode::internal, "a state was handed over that has more planes than the statistic");
      statistics::set_plane(bundle.state(0), static_cast<std::uint32_t>(record.record), values);
      const wire::SavedProgress progress = record.progress.value_or(wire::SavedProgress());
      bundle.state(0).progress() = {progress.steps, progress.duration, progress.has_reference};
      continue;
    }
    if (record.meaning == wire::RecordKind::first_sample) bundle.begin_interval(0);
    AFTERBAY_TRY(bundle.step(values, record.duration));
  }
  return {};
}

void FrameStates::plane(std::span<const std::uint32_t> pieces, const RecordHead& record, std::byte* frame) {
  for (const std::uint32_t p : pieces) {
    statistics::Bundle& bundle = pieces_.at(p).bundle;
    const statistics::State& state = bundle.state(0);
    if (record.progress && record.progress->steps == 0 && state.progress().steps > 0)
      bundle.begin_interval(0);
    if (record.record < statistics::planes(state))
      statistics::get_plane(state, static_cast<std::uint32_t>(record.record),
                            frame + collection_.layout->pieces[p].frame_offset);
  }
}

Result<> FrameStates::results(std::span<const std::uint32_t> pieces, std::byte* frame) const {
  for (const std::uint32_t p : pieces) {
    const PieceState& state = pieces_.at(p);
    const model::Piece piece = collection_.layout->pieces[p];
    const Variable& variable = collection_.schema.variables[piece.variable];
    const statistics::Target target{.type = variable.type, .fill = model::fill_of(variable)};
    AFTERBAY_TRY_ASSIGN(const statistics::Outcome outcome,
                        state.bundle.result(0, target, frame + piece.frame_offset, 0, state.bundle.points()));
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
