// SPDX-License-Identifier: Apache-2.0
#include "model/layout.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "base/caller_terms.hpp"
#include "base/rounding.hpp"
#include "base/units.hpp"
#include "model/chunk_shape.hpp"
#include "model/filters.hpp"

namespace afterbay::model {
namespace {

constexpr std::uint64_t aligned_piece_bytes = 64u << 10;  ///< pieces from this size on begin on a page
constexpr std::uint32_t max_pieces_per_frame = 512;
constexpr std::uint64_t max_pieces = 1u << 22;  ///< per variable
constexpr std::uint64_t most_pieces_of_all = 1u << 31;

/// Fails when a C-order index space is too large to count its bytes in 64 bits.
Result<std::uint64_t> checked_bytes(const Index& shape, std::uint64_t element_bytes) {
  std::uint64_t bytes = element_bytes;
  for (const std::uint64_t length : shape)
    if (__builtin_mul_overflow(bytes, length, &bytes))
      return fail(ErrorCode::invalid_argument, "its record has more bytes than 64 bits can count");
  return bytes;
}

class LayoutMaker {
 public:
  LayoutMaker(const Schema& schema, Format format, const LayoutSizes& sizes)
      : schema_(schema), traits_(traits_of(format)), sizes_(sizes) {
    layout_.format = format;
    layout_.big_endian = traits_.big_endian;
  }

  Result<FileLayout> make() {
    for (const Variable& variable : schema_.variables) {
      StoredVariable stored;
      auto described = describe(variable, stored);
      if (!described) return fail(std::move(described).error().in_variable(variable.name));
      layout_.variables.push_back(std::move(*described));
      layout_.stored.push_back(stored);
    }
    if (traits_.arithmetic_places) {
      cutting_->set_arithmetic();
      place_by_arithmetic();
    }
    AFTERBAY_TRY(make_pieces(false));
    AFTERBAY_TRY(make_pieces(true));
    layout_.cutting = cutting_;
    layout_.pieces = Pieces(cutting_, 0, cutting_->pieces());
    layout_.frames = Frames(cutting_, 0, cutting_->frames());
    return std::move(layout_);
  }

 private:
  Result<VariableLayout> describe(const Variable& variable, StoredVariable& stored) {
    VariableLayout result;
    for (std::size_t d = 0; d < variable.dimensions.size(); ++d) {
      const Dimension* dimension = schema_.find_dimension(variable.dimensions[d]);
      if (dimension == nullptr)
        return fail(ErrorCode::unknown_name,
                    "variable '{}' uses dimension '{}', which the schema does not have", variable.name,
                    variable.dimensions[d]);
      if (!dimension->is_unlimited()) {
        if (result.shape.size == max_dimensions)
          return fail(ErrorCode::invalid_argument, "variable '{}' has more than {} dimensions", variable.name,
                      max_dimensions);
        result.shape.push_back(dimension->length);
      } else if (d == 0) {
        result.record = true;
      } else {
        return fail(
            ErrorCode::invalid_argument,
            "variable '{}' has the unlimited dimension '{}' as dimension {}: it must come {} (slowest)",
            variable.name, dimension->name, said_dimension(d, variable.dimensions.size()),
            terms() == Terms::fortran ? "last" : "first");
      }
    }
    result.framed = variable.type != Type::string && variable.constant.empty();
    if (auto bytes = checked_bytes(result.shape, std::max<std::size_t>(1, size_of(variable.type))))
      result.slab_bytes = *bytes;
    else
      return fail(std::move(bytes).error());
    if (traits_.chunks) AFTERBAY_TRY(choose_chunk(variable, result, stored));
    if (traits_.messages != nullptr) AFTERBAY_TRY(cut_into_slabs(variable, result, stored));
    return result;
  }

  /// A piece of a field is one slab: what one message holds.
  Result<> cut_into_slabs(const Variable& variable, const VariableLayout& result,
                          StoredVariable& stored) const {
    const unsigned dimensions = traits_.messages->slab_dimensions(schema_, variable);
    if (dimensions == 0 || variable.type == Type::string) return {};
    stored.slab = result.shape;
    for (std::size_t d = 0; d + dimensions < stored.slab.size; ++d) stored.slab[d] = 1;
    if (const std::uint64_t bytes = stored.slab.product() * size_of(variable.type);
        bytes > sizes_.frame_bytes)
      return fail(ErrorCode::resources,
                  "a slab of variable '{}', which becomes one {} message, takes {} bytes, more than the {} "
                  "bytes that a server's block holds: raise memory.block to {}",
                  variable.name, traits_.title, bytes, sizes_.frame_bytes,
                  print_bytes(rounded_up(bytes, 1u << 20)));
    return {};
  }

  /// Record variables must be chunked; fixed ones are if that is asked for or they are filtered.
  Result<> choose_chunk(const Variable& variable, const VariableLayout& result,
                        StoredVariable& stored) const {
    stored.chunked = result.record || is_filtered(variable) || !variable.chunk.empty();
    if (variable.dimensions.empty()) stored.chunked = false;
    if (!stored.chunked || variable.type == Type::string) return {};
    const std::uint64_t element = size_of(variable.type);
    if (variable.chunk.empty()) {
      ChunkWish wish;
      wish.most_bytes = sizes_.chunk_bytes;
      wish.most_record_bytes = sizes_.gathered_bytes();
      wish.record = result.record;
      const ChunkShape shape = model::choose_chunk(result.shape, element, wish);
      stored.chunk = shape.lengths;
      stored.record_span = shape.records;
      return {};
    }
    const std::size_t expected = result.shape.size + (result.record ? 1 : 0);
    if (variable.chunk.size() != expected)
      return fail(ErrorCode::invalid_argument, "variable '{}' has {} dimensions but {} chunk lengths",
                  variable.name, expected, variable.chunk.size());
    std::span<const std::uint64_t> lengths(variable.chunk);
    if (result.record) {
      stored.record_span = std::max<std::uint64_t>(1, lengths[0]);
      lengths = lengths.subspan(1);
    }
    stored.chunk = Index(lengths);
    for (std::size_t d = 0; d < stored.chunk.size; ++d)
      stored.chunk[d] = std::clamp<std::uint64_t>(stored.chunk[d], 1, result.shape[d]);
    if (const std::uint64_t bytes = stored.chunk.product() * element; bytes > sizes_.frame_bytes)
      return fail(
          ErrorCode::resources,
          "a chunk of variable '{}' takes {} bytes of a record, more than the {} bytes that a server's block "
          "holds: give smaller chunk lengths or raise memory.block",
          variable.name, bytes, sizes_.frame_bytes);
    return {};
  }

  /// Offsets of the classic format: variables of a section follow each other, each padded to 4
  /// bytes. Source: "NetCDF Classic Format Specification", vsize and the note on a lone record
  /// variable.
  void place_by_arithmetic() {
    std::uint64_t fixed = 0;
    std::uint64_t record = 0;
    std::size_t record_variables = 0;
    std::uint64_t unpadded = 0;
    for (std::size_t v = 0; v < layout_.variables.size(); ++v) {
      const VariableLayout& variable = layout_.variables[v];
      std::uint64_t& end = variable.record ? record : fixed;
      layout_.stored[v].section_offset = end;
      end += rounded_up(variable.slab_bytes, 4);
      if (!variable.record) continue;
      ++record_variables;
      unpadded = variable.slab_bytes;
    }
    layout_.record_bytes = record_variables == 1 ? unpadded : record;
    layout_.record_phase = layout_.record_bytes % page_bytes;
  }

  Result<> make_pieces(bool record) {
    open_ = false;
    for (std::uint32_t v = 0; v < layout_.variables.size(); ++v) {
      VariableLayout& variable = layout_.variables[v];
      if (variable.record != record) continue;
      if (!variable.framed) {
        if (traits_.arithmetic_places) open_ = false;  // its bytes lie between its neighbours'
        continue;
      }
      const bool large = variable.slab_bytes >= sizes_.gathered_bytes() / 4;
      if (large && !traits_.arithmetic_places) open_ = false;
      AFTERBAY_TRY(cut_variable(v, variable));
      if (large && !traits_.arithmetic_places) open_ = false;
    }
    return {};
  }

  Result<> cut_variable(std::uint32_t v, VariableLayout& variable) {
    const StoredVariable& stored = layout_.stored[v];
    PieceGrid grid;
    grid.variable = v;
    grid.record = variable.record;
    grid.padded = stored.chunked;
    grid.shape = variable.shape;
    grid.element_bytes = size_of(schema_.variables[v].type);
    grid.part = stored.chunked          ? stored.chunk
                : stored.slab.size != 0 ? stored.slab
                                        : cut(variable.shape, grid.element_bytes, sizes_.gathered_bytes());
    grid.parts = grid.part;
    grid.section_offset = stored.section_offset;
    std::uint64_t pieces = 1;
    for (std::size_t d = 0; d < grid.part.size; ++d) {
      grid.parts[d] = divided_up(variable.shape[d], grid.part[d]);
      pieces *= grid.parts[d];
      if (pieces > max_pieces)
        return fail(ErrorCode::resources,
                    "variable '{}' is cut into more than {} pieces per record: give larger chunk lengths",
                    schema_.variables[v].name, max_pieces);
    }
    if (pieces > most_pieces_of_all - cutting_->pieces())
      return fail(ErrorCode::resources,
                  "with variable '{}' a record is cut into more than {} pieces: give larger chunk lengths",
                  schema_.variables[v].name, most_pieces_of_all);
    grid.count = static_cast<std::uint32_t>(pieces);
    variable.part = grid.part;
    variable.first_piece = cutting_->pieces();
    variable.piece_count = grid.count;
    cutting_->add(grid);
    if (pieces == 0) return {};
    if (sizes_.apart) open_ = false;
    if (grid.padded || grid.count == 1 || stored.slab.size != 0)
      put_equal(grid, 0, grid.count);
    else
      put_alone(grid);
    return {};
  }

  /// Pieces that take more than half of a frame, because their variable is too large for one: one
  /// frame per piece. The first one may follow earlier variables in their frame, later variables
  /// may follow the last one.
  void put_alone(const PieceGrid& grid) {
    put_equal(grid, 0, 1);
    open_ = false;
    if (const std::uint32_t between = grid.count - 2; between > 0) {
      const std::uint32_t frame = cutting_->frames();
      cutting_->add({.count = between, .per_frame = 1, .bytes = 0, .record = grid.record});
      cutting_->add({.first_frame = frame, .per_frame = 1}, between);
    }
    put_equal(grid, grid.count - 1, 1);
  }

  /// Appends pieces of equal size to the open frame, as far as there is room, and the others to new
  /// frames.
  void put_equal(const PieceGrid& grid, std::uint32_t number, std::uint32_t count) {
    const Box box = grid.box(number);
    const std::uint64_t bytes = grid.bytes(box);
    const std::uint64_t align = bytes >= aligned_piece_bytes ? page_bytes : 8;
    const std::uint64_t stride = traits_.arithmetic_places ? bytes : rounded_up(bytes, align);
    const std::uint64_t most = sizes_.gathered_bytes();
    const std::uint64_t section_offset = grid.section_offset + grid.slab_offset(box);
    if (open_) {
      FrameRun& frame = cutting_->last_frame();
      const std::uint64_t offset =
          traits_.arithmetic_places ? section_offset - open_section_offset_ : rounded_up(frame.bytes, align);
      if (offset + bytes <= most && frame.per_frame < max_pieces_per_frame) {
        const auto fit = static_cast<std::uint32_t>(std::min<std::uint64_t>(
            {count, max_pieces_per_frame - frame.per_frame, (most - offset - bytes) / stride + 1}));
        cutting_->add({.first_frame = frame.first, .per_frame = fit, .offset = offset, .stride = stride},
                      fit);
        frame.bytes = offset + (fit - 1) * stride + bytes;
        frame.per_frame += fit;
        count -= fit;
        if (count == 0) return;
      }
      open_ = false;
    }
    const auto per_frame = static_cast<std::uint32_t>(
        bytes > most ? 1 : std::min<std::uint64_t>(max_pieces_per_frame, (most - bytes) / stride + 1));
    if (const std::uint32_t full = (count - 1) / per_frame; full > 0) {
      add_frames(grid, full, per_frame, bytes, stride);
      count -= full * per_frame;
    }
    add_frames(grid, 1, count, bytes, stride);
    open_ = true;
    open_section_offset_ = section_offset;
  }

  void add_frames(const PieceGrid& grid, std::uint32_t count, std::uint32_t per_frame, std::uint64_t bytes,
                  std::uint64_t stride) {
    const std::uint32_t first = cutting_->frames();
    cutting_->add({.count = count,
                   .per_frame = per_frame,
                   .bytes = (per_frame - 1) * stride + bytes,
                   .record = grid.record});
    cutting_->add({.first_frame = first, .per_frame = per_frame, .stride = stride}, count * per_frame);
  }

  const Schema& schema_;
  const FormatTraits& traits_;
  const LayoutSizes& sizes_;
  FileLayout layout_;
  std::shared_ptr<Cutting> cutting_ = std::make_shared<Cutting>();
  bool open_ = false;                      ///< whether the last frame may take more pieces
  std::uint64_t open_section_offset_ = 0;  ///< where it begins in its section, with arithmetic places
};

}  // namespace

Result<FileLayout> make_layout(const Schema& schema, Format format, const LayoutSizes& sizes) {
  return LayoutMaker(schema, format, sizes).make();
}

}  // namespace afterbay::model
