// SPDX-License-Identifier: Apache-2.0
#include "server/frame_task.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace afterbay::server {
namespace {

bool has_packed(const FrameTask& task) {
  return std::ranges::any_of(task.pieces, [&](std::uint32_t p) {
    return task.collection->packed[task.collection->layout->pieces[p].variable] != nullptr;
  });
}

/// Copies a piece of a frame as ranks handed it over to a frame as the file has it.
void order_piece(const ServedCollection& collection, std::uint32_t number, const std::byte* from,
                 std::byte* to) {
  const model::Piece& piece = collection.layout->pieces[number];
  from += piece.frame_offset;
  to += piece.frame_offset;
  const ServedMap::Cut* const cut = collection.packed[piece.variable];
  if (cut == nullptr) {
    std::memcpy(to, from, piece.bytes);
    return;
  }
  const model::MapDimensions& mapped = collection.mapped[piece.variable];
  const std::size_t element = size_of(collection.schema.variables[piece.variable].type);
  const model::Kernel copy = model::copy_kernel(element, false);
  const std::uint64_t bytes = bytes_of_a_point(collection, piece);
  for (const auto& share : cut->shares[cut->cells.cell_of(model::part_of(piece.box.start, mapped))])
    model::execute(model::scatter(share.points, {piece.box, piece.stored, mapped}, element),
                   from + share.before * bytes, to, copy);
}

}  // namespace

std::string variables_of(const ServedCollection& collection, std::span<const std::uint32_t> pieces) {
  constexpr std::size_t most = 3;
  std::vector<std::string> names;
  for (const std::uint32_t p : pieces) {
    const std::string& name = collection.schema.variables[collection.layout->pieces[p].variable].name;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::string text = names.front();
  for (std::size_t i = 1; i < std::min(names.size(), most); ++i) text += ", " + names[i];
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

void fill_gaps(const ServedCollection& collection, std::uint32_t piece, std::span<const std::byte> value,
               std::byte* at) {
  const auto fill = std::ranges::lower_bound(collection.fills, piece, {}, &PieceFill::piece);
  if (fill == collection.fills.end() || fill->piece != piece) return;
  const model::Kernel copy = model::copy_kernel(value.size(), false);
  for (const model::Move& move : fill->boxes) model::execute(move, value.data(), at, copy);
  if (fill->points) model::execute(*fill->points, value.data(), at, copy);
}

void fill_gaps(const ServedCollection& collection, std::span<const std::uint32_t> pieces, std::byte* frame) {
  for (const std::uint32_t p : pieces) {
    const model::Piece piece = collection.layout->pieces[p];
    fill_gaps(collection, p, collection.fill_values[piece.variable], frame + piece.frame_offset);
  }
}

OrderedFrame::OrderedFrame(const FrameTask& task, ScratchBuffers& scratch, observe::Timer* timer) {
  const model::HandoverLayout& layout = *task.collection->layout;
  const model::Frame& frame = layout.frames[layout.pieces[task.pieces.front()].frame];
  const std::uint64_t phase = layout.phase(frame, task.record);
  std::byte* base = task.view.buffer.data() + phase;
  const observe::Timed timed(timer);
  if (has_packed(task)) {
    buffer_.emplace(scratch);
    std::byte* const to = buffer_->data() + phase;
    for (const std::uint32_t p : task.pieces) order_piece(*task.collection, p, base, to);
    base = to;
  }
  fill_gaps(*task.collection, task.pieces, base);
  frame_ = {base,        task.pieces, task.record, task.epochs, task.in_scratch || buffer_.has_value(),
            task.sampler};
}

Result<storage::WriteCost> write_frame_task(const FrameTask& task, storage::File& file,
                                            ScratchBuffers& scratch, const FrameTimers& timers) {
  if (task.pieces.empty()) return storage::WriteCost{};
  const OrderedFrame ordered(task, scratch, timers.fill);
  auto cost = task.collection->sink->write(ordered.frame(), file, scratch, timers.stages);
  if (!cost) cost.error().in_variable(variables_of(*task.collection, task.pieces));
  return cost;
}

}  // namespace afterbay::server
