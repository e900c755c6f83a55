// SPDX-License-Identifier: Apache-2.0
#include "model/cutting.hpp"

#include <algorithm>

namespace afterbay::model {
namespace {

constexpr std::uint32_t no_grid = ~std::uint32_t{0};

/// The run that contains `index`, which lies in one of them.
template <class Run>
const Run& containing(const std::vector<Run>& runs, std::uint32_t index) {
  return *std::prev(std::ranges::upper_bound(runs, index, {}, &Run::first));
}

}  // namespace

Box PieceGrid::box(std::uint32_t number) const {
  Box box{Index::filled(part.size, 0), Index::filled(part.size, 0)};
  std::uint32_t rest = number;
  for (std::size_t d = part.size; d-- > 0;) {
    const auto along = static_cast<std::uint32_t>(parts[d]);
    box.start[d] = rest % along * part[d];
    box.count[d] = std::min(part[d], shape[d] - box.start[d]);
    rest /= along;
  }
  return box;
}

std::uint64_t PieceGrid::slab_offset(const Box& box) const {
  if (padded) return 0;
  std::uint64_t offset = 0;
  for (std::size_t d = 0; d < box.rank(); ++d) offset = offset * shape[d] + box.start[d];
  return offset * element_bytes;
}

const PieceRun& Cutting::run_of(std::uint32_t piece) const { return containing(piece_runs_, piece); }

Piece Cutting::piece(std::uint32_t index) const {
  const PieceRun& run = run_of(index);
  const PieceGrid& grid = grids_[run.grid];
  const std::uint32_t in_run = index - run.first;
  Piece piece;
  piece.variable = grid.variable;
  piece.number = index - grid.first_piece;
  piece.frame = run.first_frame + in_run / run.per_frame;
  piece.box = grid.box(piece.number);
  piece.stored = grid.padded ? grid.part : piece.box.count;
  piece.bytes = grid.bytes(piece.box);
  piece.frame_offset = run.offset + in_run % run.per_frame * run.stride;
  return piece;
}

Frame Cutting::frame(std::uint32_t index) const {
  const FrameRun& run = containing(frame_runs_, index);
  Frame frame;
  frame.record = run.record;
  frame.first_piece = run.first_piece + (index - run.first) * run.per_frame;
  frame.piece_count = run.per_frame;
  frame.bytes = run.bytes;
  if (run.bytes != 0 && !arithmetic_) return frame;
  const PieceGrid& grid = grid_at(frame.first_piece);
  const Box box = grid.box(frame.first_piece - grid.first_piece);
  if (run.bytes == 0) frame.bytes = grid.bytes(box);
  if (arithmetic_) frame.phase = (grid.section_offset + grid.slab_offset(box)) % page_bytes;
  return frame;
}

std::uint32_t Cutting::frame_of(std::uint32_t piece) const {
  const PieceRun& run = run_of(piece);
  return run.first_frame + (piece - run.first) / run.per_frame;
}

std::uint32_t Cutting::variable_of(std::uint32_t piece) const { return grid_at(piece).variable; }

const PieceGrid* Cutting::grid_of(std::uint32_t variable) const {
  if (variable >= grid_of_variable_.size() || grid_of_variable_[variable] == no_grid) return nullptr;
  return &grids_[grid_of_variable_[variable]];
}

std::uint64_t Cutting::bytes_of(const FrameRun& run, std::uint32_t count) const {
  if (run.bytes != 0) return count * run.bytes;
  // Each frame is one piece, and these follow each other in the record.
  const PieceGrid& grid = grid_at(run.first_piece);
  const auto offset = [&](std::uint32_t piece) {
    return piece == grid.first_piece + grid.count ? grid.shape.product() * grid.element_bytes
                                                  : grid.slab_offset(grid.box(piece - grid.first_piece));
  };
  return offset(run.first_piece + count) - offset(run.first_piece);
}

std::uint64_t Cutting::memory_bytes() const noexcept {
  return grids_.capacity() * sizeof(PieceGrid) + piece_runs_.capacity() * sizeof(PieceRun) +
         frame_runs_.capacity() * sizeof(FrameRun) + grid_of_variable_.capacity() * sizeof(std::uint32_t);
}

void Cutting::add(PieceGrid grid) {
  if (grid_of_variable_.size() <= grid.variable) grid_of_variable_.resize(grid.variable + 1, no_grid);
  grid_of_variable_[grid.variable] = static_cast<std::uint32_t>(grids_.size());
  grid.first_piece = pieces_;
  grids_.push_back(grid);
}

void Cutting::add(const PieceRun& run, std::uint32_t count) {
  piece_runs_.push_back(run);
  piece_runs_.back().first = pieces_;
  piece_runs_.back().grid = static_cast<std::uint32_t>(grids_.size() - 1);
  pieces_ += count;
}

void Cutting::add(FrameRun run) {
  run.first = frames_;
  run.first_piece = pieces_;
  frames_ += run.count;
  frame_runs_.push_back(run);
}

}  // namespace afterbay::model
