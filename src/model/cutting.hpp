// SPDX-License-Identifier: Apache-2.0
// Cutting: the pieces and frames of a layout. They are computed from a few numbers per variable
// when they are needed, so that the memory of a layout depends on the number of variables and not
// on the size of a record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "model/box.hpp"

namespace afterbay::model {

inline constexpr std::uint64_t page_bytes = 4096;  ///< alignment of direct I/O and of chunks in files

struct Piece {
  std::uint32_t variable = 0;  ///< index in the schema
  std::uint32_t number = 0;    ///< index among the variable's pieces
  std::uint32_t frame = 0;     ///< index in HandoverLayout::frames
  Box box;                     ///< valid points, in the variable's dimensions without the record dimension
  Index stored;             ///< lengths in the frame (>= box.count: edge chunks are padded); same rank as box
  std::uint64_t bytes = 0;  ///< size in the frame
  std::uint64_t frame_offset = 0;  ///< start of the piece in its frame
};

struct Frame {
  bool record = false;            ///< false: fixed variables, handed over once per file
  std::uint32_t first_piece = 0;  ///< pieces [first_piece, first_piece + piece_count)
  std::uint32_t piece_count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t phase = 0;  ///< for record 0: bytes to skip at the start of a page-aligned buffer
};

/// How a record of one variable is cut into pieces: parts of equal lengths, numbered in C order.
/// Parts at the edges are shorter.
struct PieceGrid {
  std::uint32_t variable = 0;
  bool record = false;
  bool padded = false;  ///< pieces at the edges take the bytes of whole ones (chunks)
  Index shape;          ///< lengths without the record dimension
  Index part;
  Index parts;  ///< number of parts, by dimension
  std::uint64_t element_bytes = 1;
  std::uint64_t section_offset = 0;  ///< arithmetic places: start of the variable in its section
  std::uint32_t first_piece = 0;
  std::uint32_t count = 0;

  [[nodiscard]] Box box(std::uint32_t number) const;
  /// Start of a piece in its variable's record, in bytes; 0 if pieces are padded, because these lie
  /// anywhere.
  [[nodiscard]] std::uint64_t slab_offset(const Box& box) const;
  [[nodiscard]] std::uint64_t bytes(const Box& box) const {
    return (padded ? part : box.count).product() * element_bytes;
  }
};

/// Consecutive pieces of one variable with equal distances, in frames with equal numbers of them.
struct PieceRun {
  std::uint32_t first = 0;  ///< index of the first piece
  std::uint32_t grid = 0;
  std::uint32_t first_frame = 0;
  std::uint32_t per_frame = 1;
  std::uint64_t offset = 0;  ///< offset of the first piece in its frame
  std::uint64_t stride = 0;
};

/// Consecutive frames with equal numbers of pieces. All frames of a run but the last one of a
/// variable hold pieces of this variable only.
struct FrameRun {
  std::uint32_t first = 0;  ///< index of the first frame
  std::uint32_t count = 1;
  std::uint32_t first_piece = 0;
  std::uint32_t per_frame = 1;  ///< number of pieces
  std::uint64_t bytes = 0;      ///< size of each frame; 0: the size of its only piece
  bool record = false;
};

class Cutting {
 public:
  [[nodiscard]] std::uint32_t pieces() const noexcept { return pieces_; }
  [[nodiscard]] std::uint32_t frames() const noexcept { return frames_; }
  [[nodiscard]] Piece piece(std::uint32_t index) const;
  [[nodiscard]] Frame frame(std::uint32_t index) const;
  /// The frame and the variable of a piece, without the rest.
  [[nodiscard]] std::uint32_t frame_of(std::uint32_t piece) const;
  [[nodiscard]] std::uint32_t variable_of(std::uint32_t piece) const;
  /// One per variable that ranks put, in the order of their pieces.
  [[nodiscard]] const std::vector<PieceGrid>& grids() const noexcept { return grids_; }
  [[nodiscard]] const std::vector<PieceRun>& piece_runs() const noexcept { return piece_runs_; }
  [[nodiscard]] const std::vector<FrameRun>& frame_runs() const noexcept { return frame_runs_; }
  /// Null if ranks do not put the variable.
  [[nodiscard]] const PieceGrid* grid_of(std::uint32_t variable) const;
  /// Bytes of the first `count` frames of a run.
  [[nodiscard]] std::uint64_t bytes_of(const FrameRun& run, std::uint32_t count) const;
  /// Memory in use.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

  // For the function that makes the layout. Runs must be added in order.
  void set_arithmetic() noexcept { arithmetic_ = true; }
  void add(PieceGrid grid);
  void add(const PieceRun& run, std::uint32_t count);
  void add(FrameRun run);
  [[nodiscard]] FrameRun& last_frame() { return frame_runs_.back(); }

 private:
  [[nodiscard]] const PieceRun& run_of(std::uint32_t piece) const;
  [[nodiscard]] const PieceGrid& grid_at(std::uint32_t piece) const { return grids_[run_of(piece).grid]; }

  bool arithmetic_ = false;  ///< frames have a phase
  std::uint32_t pieces_ = 0;
  std::uint32_t frames_ = 0;
  std::vector<PieceGrid> grids_;
  std::vector<PieceRun> piece_runs_;
  std::vector<FrameRun> frame_runs_;
  std::vector<std::uint32_t> grid_of_variable_;
};

/// Values that are computed by index, as a range.
template <class Value, Value (Cutting::*compute)(std::uint32_t) const>
class Computed {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using pointer = const Value*;
    using reference = Value;

    Iterator() = default;
    Iterator(const Cutting* cutting, std::uint32_t index) : cutting_(cutting), index_(index) {}
    Value operator*() const { return (cutting_->*compute)(index_); }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++index_;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.index_ == b.index_; }

   private:
    const Cutting* cutting_ = nullptr;
    std::uint32_t index_ = 0;
  };

  Computed() = default;
  Computed(std::shared_ptr<const Cutting> cutting, std::uint32_t first, std::uint32_t count)
      : cutting_(std::move(cutting)), first_(first), count_(count) {}

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] Value operator[](std::size_t index) const {
    return (cutting_.get()->*compute)(first_ + static_cast<std::uint32_t>(index));
  }
  [[nodiscard]] Iterator begin() const { return {cutting_.get(), first_}; }
  [[nodiscard]] Iterator end() const { return {cutting_.get(), first_ + count_}; }

 private:
  std::shared_ptr<const Cutting> cutting_;
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
};

using Pieces = Computed<Piece, &Cutting::piece>;
using Frames = Computed<Frame, &Cutting::frame>;

}  // namespace afterbay::model
