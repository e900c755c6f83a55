// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/pool.hpp"

#include <algorithm>
#include <cassert>

namespace afterbay::transport::shm {

Pool::Pool(std::shared_ptr<Segment> segment) : segment_(std::move(segment)), table_(*segment_) {}

Result<void> Pool::check(const FrameDeclaration& frame, std::size_t index) const {
  const BlockClassGeometry& large = segment_->geometry().classes[large_blocks];
  const std::uint64_t most = segment_->geometry().sizes.block_bytes;
  if (frame.bytes == 0 || frame.bytes > most)
    return fail(ErrorCode::resources,
                "frame {} of the collection has {} bytes, a block holds 1 to {} (block_bytes)", index,
                frame.bytes, most);
  if (frame.expected.size() > large.pieces)
    return fail(ErrorCode::resources,
                "frame {} of the collection has {} pieces, a block has counters for {} (one for each 512 "
                "bytes); join "
                "small variables or use larger blocks",
                index, frame.expected.size(), large.pieces);
  return {};
}

Result<std::uint32_t> Pool::declare(std::span<const FrameDeclaration> frames) {
  const Geometry& geometry = segment_->geometry();
  SegmentHeader& header = segment_->header();
  const std::uint32_t first = header.frames.load(std::memory_order_relaxed);
  std::uint64_t pieces = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    AFTERBAY_TRY(check(frames[i], i));
    pieces += frames[i].expected.size();
  }
  if (first + frames.size() > geometry.sizes.max_frames)
    return fail(ErrorCode::resources,
                "the collection has {} frames (a variable has one for each block of a record), the server's "
                "table has room for {} of {}: raise memory.frames, or memory.block to have fewer",
                frames.size(), geometry.sizes.max_frames - first, geometry.sizes.max_frames);
  if (pieces_used_ + pieces > geometry.max_pieces)
    return fail(ErrorCode::resources,
                "the collection has {} pieces (chunks, or parts of a record), the server's table has room "
                "for {} of {}: "
                "give larger chunks, or raise memory.frames (a sixteenth of it)",
                pieces, geometry.max_pieces - pieces_used_, geometry.max_pieces);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::vector<std::uint32_t>& expected = frames[i].expected;
    FrameRecord& record = segment_->frame(first + static_cast<std::uint32_t>(i));
    record.bytes = frames[i].bytes;
    record.first_piece = pieces_used_;
    record.pieces = static_cast<std::uint32_t>(expected.size());
    record.goal =
        static_cast<std::uint32_t>(std::ranges::count_if(expected, [](std::uint32_t n) { return n != 0; }));
    std::ranges::copy(expected, segment_->expected(record));
    pieces_used_ += record.pieces;
  }
  header.frames.store(first + static_cast<std::uint32_t>(frames.size()), std::memory_order_release);
  return first;
}

FrameView Pool::view(std::uint32_t block) const {
  const BlockMeta& meta = segment_->meta(block);
  return {block, meta.frame, meta.seq, {segment_->block(block), meta.phase + meta.bytes}};
}

tl::expected<FrameView, Refusal> Pool::try_acquire(const FrameSlot& slot, bool last_too) {
  const auto block = table_.acquire(slot, last_too);
  if (!block) return tl::unexpected(block.error());
  return view(*block);
}

std::optional<FrameView> Pool::acquire(const FrameSlot& slot) {
  const auto made = try_acquire(slot);
  return made ? std::optional<FrameView>(*made) : std::nullopt;
}

bool Pool::is_piece(std::uint32_t frame, std::uint32_t piece) const {
  return table_.is_frame(frame) && piece < segment_->frame(frame).pieces;
}

bool Pool::contribute(const FrameView& view, std::uint32_t piece) {
  assert(is_piece(view.frame, piece));
  return table_.count(view.block, piece).frame_complete;
}

std::optional<FrameView> Pool::find(std::uint32_t frame, std::uint64_t seq) const {
  const auto block = table_.find(frame, seq);
  return block ? std::optional<FrameView>(view(*block)) : std::nullopt;
}

PieceState Pool::state(const FrameView& view, std::uint32_t piece) const {
  return table_.state(view.block, piece);
}

void Pool::release(const FrameView& view) { table_.release(view.block); }

std::uint64_t Pool::capacity_bytes() const { return segment_->geometry().block_memory_bytes(); }

std::uint64_t Pool::peak_used_bytes() const {
  return segment_->header().peak_bytes.load(std::memory_order_relaxed);
}

}  // namespace afterbay::transport::shm
