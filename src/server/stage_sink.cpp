// SPDX-License-Identifier: Apache-2.0
#include "server/stage_sink.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/caller_terms.hpp"
#include "model/convert/kernels.hpp"
#include "model/decomposition.hpp"

namespace afterbay::server {
namespace {

constexpr std::size_t block_bytes = std::size_t{16} << 10;  ///< stays in the first-level cache between stages

/// Where the values of a piece lie in their variable's record.
class Places {
 public:
  Places(const model::Piece& piece, const model::Index& shape) : piece_(piece) {
    const std::size_t rank = piece.box.rank();
    std::uint64_t stride = 1;
    for (std::size_t d = rank; d-- > 0; stride *= shape[d]) strides_[d] = stride;
    outer_ = rank == 0 ? 0 : rank - 1;
    if (rank > 0) row_ = piece.stored[outer_];
    while (outer_ > 0 && piece.stored[outer_] == shape[outer_]) row_ *= piece.stored[--outer_];
  }

  /// The place of a value of the piece, in the piece's order.
  [[nodiscard]] std::uint64_t of(std::uint64_t value) const {
    std::uint64_t row = value / row_;
    std::uint64_t place = value % row_;
    if (piece_.box.rank() > 0) place += piece_.box.start[outer_] * strides_[outer_];
    for (std::size_t d = outer_; d-- > 0; row /= piece_.stored[d])
      place += (piece_.box.start[d] + row % piece_.stored[d]) * strides_[d];
    return place;
  }
  /// The number of values from this one on whose places follow each other.
  [[nodiscard]] std::uint64_t left_in_row(std::uint64_t value) const { return row_ - value % row_; }

 private:
  const model::Piece& piece_;
  model::Index strides_;
  std::size_t outer_ = 0;  ///< rows begin along this dimension
  std::uint64_t row_ = 1;  ///< values
};

class StageSink : public Sink {
 public:
  StageSink(std::shared_ptr<const model::FileLayout> files,
            std::shared_ptr<const model::HandoverLayout> handover, const Schema& schema, pipeline::Plan plan)
      : Sink(std::move(files)), handover_(std::move(handover)), plan_(std::move(plan)) {
    swaps_ = handover_->big_endian != file_layout()->big_endian;
    for (const Variable& variable : schema.variables) {
      const std::size_t element = std::max<std::size_t>(1, size_of(variable.type));
      variables_.push_back({variable.name, variable.type, element, model::copy_kernel(element, swaps_)});
    }
  }

  [[nodiscard]] bool takes_scratch() const noexcept override { return true; }

  Result<storage::WriteCost> write(const CompleteFrame& frame, storage::File& file, ScratchBuffers& scratch,
                                   observe::Timer* timer) const override {
    if (!computes(frame)) return pass_on(frame.base, frame, file);
    std::optional<ScratchBuffers::Lease> lease;
    std::byte* to = frame.base;
    if (!frame.in_scratch) {
      lease.emplace(scratch);
      const model::FileLayout& files = *file_layout();
      to = lease->data() + files.phase(files.frames[files.pieces[frame.pieces.front()].frame], frame.record);
    }
    Found found;
    {
      const observe::Timed timed(timer);
      for (const std::uint32_t p : frame.pieces) AFTERBAY_TRY(compute(p, frame, to, found));
    }
    auto cost = pass_on(to, frame, file);
    if (!cost) return cost;
    cost->kept_values = found.kept;
    add(cost->errors, found.errors);
    return cost;
  }

 private:
  struct Computed {
    std::string name;
    Type type;
    std::size_t element_bytes;
    model::Kernel copy;  ///< to the byte order of the file
  };

  /// What stages find out about a frame.
  struct Found {
    std::uint64_t kept = 0;  ///< values that were kept to observe a stated accuracy
    model::LargestErrors errors;
  };

  /// Errors of packing, which the format does, come after those of rounding.
  static void add(model::LargestErrors& packing, const model::LargestErrors& rounding) {
    model::LargestErrors sums = rounding;
    for (model::LargestError& sum : sums)
      for (const model::LargestError& it : packing)
        if (it.variable == sum.variable) sum.value += it.value;
    model::merge(packing, sums);
  }

  [[nodiscard]] bool computes(const CompleteFrame& frame) const {
    return swaps_ || std::ranges::any_of(frame.pieces, [&](std::uint32_t p) {
             return !plan_.stages[handover_->pieces[p].variable].empty();
           });
  }

  /// Computes one piece from its frame into the buffer `to`, which may be the frame itself. Adds to
  /// `found`.
  Result<> compute(std::uint32_t number, const CompleteFrame& frame, std::byte* to, Found& found) const {
    const model::Piece in_frame = handover_->pieces[number];
    const model::Piece in_file = file_layout()->pieces[number];
    const Computed& variable = variables_[in_frame.variable];
    const pipeline::Stages& stages = plan_.stages[in_frame.variable];
    const std::byte* from = frame.base + in_frame.frame_offset;
    to += in_file.frame_offset;
    if (stages.empty() && !swaps_) {
      if (to != from) std::memcpy(to, from, in_file.bytes);
      return {};
    }
    alignas(64) std::array<std::byte, block_bytes> block;
    std::vector<std::uint64_t> bad(stages.size());
    const bool in_rows = std::ranges::any_of(stages, [](const auto& it) { return it->uses_places(); });
    const Places places(in_frame, handover_->cutting->grid_of(in_frame.variable)->shape);
    // The last stage stores its results where they belong, if they need no other byte order.
    const bool stores_directly = !swaps_ && to != from;
    std::size_t bytes = 0;
    double largest_error = 0;
    for (std::uint64_t at = 0; at < in_frame.bytes; at += bytes) {
      bytes = std::min<std::uint64_t>(block_bytes, in_frame.bytes - at);
      pipeline::StageRun run;
      if (in_rows) {
        const std::uint64_t value = at / variable.element_bytes;
        run.first = places.of(value);
        bytes = std::min<std::uint64_t>(bytes, places.left_in_row(value) * variable.element_bytes);
      }
      const std::size_t count = bytes / variable.element_bytes;
      const std::byte* now = from + at;
      for (std::size_t s = 0; s < stages.size(); ++s) {
        std::byte* const results = stores_directly && s + 1 == stages.size() ? to + at : block.data();
        bad[s] += stages[s]->run_at(results, now, count, run);
        now = results;
      }
      found.kept += run.kept;
      largest_error = std::max(largest_error, run.largest_error);
      if (stores_directly && !stages.empty()) continue;
      const auto stride = static_cast<std::ptrdiff_t>(variable.element_bytes);
      if (now != block.data() && to == from) {  // the kernel cannot work in place
        std::memcpy(block.data(), now, bytes);
        now = block.data();
      }
      variable.copy.row(to + at, now, count, stride, stride);
    }
    for (std::size_t s = 0; s < stages.size(); ++s)
      if (bad[s] > 0) return fail(out_of_range(number, frame.record, *stages[s], bad[s]));
    if (std::ranges::any_of(stages, [](const auto& it) { return it->measures_error(); }))
      model::merge(found.errors, std::array{model::LargestError{in_frame.variable, largest_error}});
    return {};
  }

  [[nodiscard]] Error out_of_range(std::uint32_t number, std::uint64_t record,
                                   const pipeline::PointwiseStage& stage, std::uint64_t values) const {
    const model::Piece& piece = handover_->pieces[number];
    const std::uint32_t v = piece.variable;
    std::string where = piece.box.rank() > 0 ? fmt::format("the part {} of ", model::text_of(piece.box)) : "";
    if (handover_->variables[v].record) where += fmt::format("record {} of ", said_index(record));
    return make_error(
               ErrorCode::wrong_type,
               "after {}, {} values of {}variable '{}' are out of range of its type {}, and "
               "the file is not published: change these settings of the variable, or give it another type",
               stage.text(), values, where, variables_[v].name, name_of(variables_[v].type))
        .in_variable(variables_[v].name);
  }

  std::shared_ptr<const model::HandoverLayout> handover_;
  pipeline::Plan plan_;
  std::vector<Computed> variables_;  ///< one per variable of the schema
  bool swaps_ = false;
};

}  // namespace

std::shared_ptr<const Sink> make_stage_sink(std::shared_ptr<const model::FileLayout> files,
                                            std::shared_ptr<const model::HandoverLayout> handover,
                                            const Schema& schema, pipeline::Plan plan) {
  return std::make_shared<const StageSink>(std::move(files), std::move(handover), schema, std::move(plan));
}

}  // namespace afterbay::server
