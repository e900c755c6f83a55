// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/pool.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>

#include "base/clock.hpp"

namespace afterbay::transport::shm {
namespace {

constexpr std::uint64_t portion_bytes = 1u << 20;            // allocated ahead between two looks at the
                                                             // doorbell
constexpr std::uint64_t try_again_after_ns = 1'000'000'000;  // if memory was refused

}  // namespace

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

/// The number of instances of a frame, while entries are available.
BlockClass Pool::class_of(const FrameDeclaration& frame) const {
  const BlockClassGeometry& small = segment_->geometry().classes[small_blocks];
  return frame.bytes <= small.bytes && frame.expected.size() <= small.pieces ? small_blocks : large_blocks;
}

/// One instance per block that can hold the frame. Beyond the minimum, all frames together take at
/// most half of the rest of the table: the frames with the most instances are halved repeatedly.
std::vector<std::uint32_t> Pool::places_for(std::span<const FrameDeclaration> frames) const {
  const Geometry& geometry = segment_->geometry();
  if (const std::uint32_t given = geometry.sizes.instances; given != 0)
    return std::vector<std::uint32_t>(frames.size(), given);
  constexpr std::uint32_t least = LinkSizes::least_instances;
  std::vector<std::uint32_t> places;
  for (const FrameDeclaration& frame : frames) {
    const std::uint32_t blocks =
        class_of(frame) == small_blocks ? geometry.blocks() : geometry.classes[large_blocks].count;
    places.push_back(std::max(least, std::bit_ceil(blocks)));
  }
  const auto beyond_least = [&] {
    return std::accumulate(places.begin(), places.end(), std::uint64_t{0}) - places.size() * least;
  };
  const std::uint64_t still_to_declare = geometry.sizes.max_frames - segment_->header().frames.load();
  const std::uint64_t left = geometry.places - places_used_ - still_to_declare * least;
  while (beyond_least() > left / 2) {
    const std::uint32_t most = std::ranges::max(places) / 2;
    for (std::uint32_t& of_frame : places) of_frame = std::min(of_frame, most);
  }
  return places;
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
  const std::vector<std::uint32_t> places = places_for(frames);
  AFTERBAY_TRY(segment_->allocate_frames(first, frames.size(), pieces_used_, pieces, places_used_,
                                         std::accumulate(places.begin(), places.end(), std::uint64_t{0})));
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::vector<std::uint32_t>& expected = frames[i].expected;
    FrameRecord& record = segment_->frame(first + static_cast<std::uint32_t>(i));
    record.bytes = frames[i].bytes;
    record.first_piece = pieces_used_;
    record.places = places[i];
    record.first_place = places_used_;
    record.pieces = static_cast<std::uint32_t>(expected.size());
    record.goal =
        static_cast<std::uint32_t>(std::ranges::count_if(expected, [](std::uint32_t n) { return n != 0; }));
    std::ranges::copy(expected, segment_->expected(record));
    if (record.goal != 0) ++ahead_[class_of(frames[i])].declared;
    pieces_used_ += record.pieces;
    places_used_ += record.places;
    least_places_ = std::min(least_places_, record.places);
  }
  header.frames.store(first + static_cast<std::uint32_t>(frames.size()), std::memory_order_release);
  return first;
}

FrameView Pool::view(std::uint32_t block) const {
  const BlockMeta& meta = segment_->meta(block);
  return {block, meta.frame, meta.seq, {segment_->block(block), meta.phase + meta.bytes}};
}

tl::expected<FrameView, Refusal> Pool::try_acquire(const FrameSlot& slot, Blocks from) {
  const auto block = table_.acquire(slot, from);
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

void Pool::begin_to_wait() noexcept {
  SegmentHeader& header = segment_->header();
  header.room_waiters.fetch_add(1, std::memory_order_seq_cst);
  header.doorbell.ring();  // ranks that completed a frame before have not seen the count
}

void Pool::end_to_wait() noexcept { segment_->header().room_waiters.fetch_sub(1, std::memory_order_relaxed); }

int Pool::memory_error() const {
  const SegmentHeader& header = segment_->header();
  for (const FreeBlocks& free : header.free)
    if (free.withdrawn.load(std::memory_order_relaxed) != 0)
      return std::max(header.memory_error.load(std::memory_order_relaxed), 1);
  return 0;
}

/// Blocks that should be allocated: enough for one record of everything declared, and twice the
/// maximum ever in use at once.
std::uint32_t Pool::wanted(BlockClass kind) const {
  const FreeBlocks& free = segment_->header().free[kind];
  const std::uint32_t all = segment_->geometry().classes[kind].count;
  const auto used = static_cast<std::uint32_t>(free.fresh.load(std::memory_order_relaxed));
  const std::uint32_t withdrawn = free.withdrawn.load(std::memory_order_relaxed);
  const std::uint32_t most = all - std::min(all, withdrawn);
  return std::min(std::max(ahead_[kind].declared, used > most / 2 ? most : 2 * used), most);
}

Result<void> Pool::allocate_portion(BlockClass kind) {
  std::atomic<std::uint32_t>& done = segment_->header().free[kind].allocated;
  const std::uint32_t index = done.load(std::memory_order_relaxed);
  const std::uint32_t block = segment_->geometry().classes[kind].first + index;
  std::uint64_t& at = ahead_[kind].bytes_of_block;
  const Extent all = segment_->blocks_at(block, 1);
  const Extent part{all.at + at, std::min(portion_bytes, all.bytes - at)};
  Mapping& mapping = segment_->mapping();
  std::atomic<std::uint32_t>& allocated = segment_->meta(block).allocated;
  if (allocated.load(std::memory_order_acquire) != 0) {  // by a rank
    mapping.populate(part);
  } else if (at == 0) {
    AFTERBAY_TRY(mapping.allocate({segment_->counters_at(block, 1), part}));
  } else {
    AFTERBAY_TRY(mapping.allocate({part}));
  }
  at += part.bytes;
  if (at < all.bytes) return {};
  at = 0;
  allocated.store(1, std::memory_order_release);
  done.store(index + 1, std::memory_order_release);
  return {};
}

bool Pool::allocate_ahead() {
  if (next_try_ns_ != 0 && now_ns() < next_try_ns_) return false;
  next_try_ns_ = 0;
  bool done = false;
  for (const BlockClass kind : {large_blocks, small_blocks}) {
    if (segment_->header().free[kind].allocated.load(std::memory_order_relaxed) >= wanted(kind)) continue;
    done = allocate_portion(kind).has_value();
    if (!done) next_try_ns_ = now_ns() + try_again_after_ns;
    return done;
  }
  if (memory_error() == 0 || !table_.is_short()) return false;
  done = table_.restore_block();
  if (!done) next_try_ns_ = now_ns() + try_again_after_ns;
  return done;
}

std::uint64_t Pool::peak_used_bytes() const {
  return segment_->header().peak_bytes.load(std::memory_order_relaxed);
}

std::uint64_t Pool::older_refusals() const {
  return segment_->header().older_refusals.load(std::memory_order_relaxed);
}

std::uint64_t Pool::most_instances() const { return least_places_; }

}  // namespace afterbay::transport::shm
