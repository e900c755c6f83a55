// SPDX-License-Identifier: Apache-2.0
// ShmThreadEnd: what all threads of a model rank may use of a shared segment at once. It holds no
// state but the segment, whose frame table is lock-free.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/process_watch.hpp"
#include "transport/link.hpp"
#include "transport/shm/frame_table.hpp"
#include "transport/shm/mapped_blocks.hpp"
#include "transport/shm/refusals.hpp"
#include "transport/shm/segment.hpp"

namespace afterbay::transport::shm {

class ShmThreadEnd final : public ThreadEnd {
 public:
  /// `blocks`: the pages of the segment that this process maps; null: server and rank are one
  /// process.
  ShmThreadEnd(std::shared_ptr<Segment> segment, std::size_t peer, std::string server, MappedBlocks* blocks);

  Result<std::byte*> reserve(const FrameSlot& slot, std::uint32_t piece, const TurnNow& who,
                             Millis most) override;
  bool is_announced(const std::byte* from, AnnouncedBlocks& known) override {
    return blocks_ == nullptr ||
           blocks_->is_announced(static_cast<std::uint64_t>(from - segment_->mapping().data()), known);
  }
  void will_write(const std::byte* from, std::uint64_t bytes, Writes pages) override {
    if (blocks_ != nullptr)
      blocks_->will_write({static_cast<std::uint64_t>(from - segment_->mapping().data()), bytes}, pages);
  }
  Result<bool> make_room(std::span<const FrameSlot> slots) override;
  [[nodiscard]] Result<void> check_fits(std::span<const FrameSlot> slots) const override {
    return refusals_.check_fits(slots);
  }
  Result<bool> count(const FrameSlot& slot, std::uint32_t piece) override;
  void publish(std::uint64_t position, std::uint32_t frame) override {
    table_.publish(order_of(position, frame));
  }
  [[nodiscard]] std::uint64_t waited_ns() const override {
    return waited_ns_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t progress() const override {
    return header_.progress.load(std::memory_order_relaxed) + header_.space.count();
  }

 private:
  /// Wakes the server: it may have to write before there is room.
  void ring() { header_.doorbell.ring(); }
  Result<std::uint32_t> wait_for_block(const FrameSlot& slot, const TurnNow& who, Millis most);
  /// Fails if waiting is pointless: the server failed, ended or died.
  [[nodiscard]] Result<void> check_server() const;

  std::shared_ptr<Segment> segment_;
  SegmentHeader& header_;
  FrameTable table_;
  Refusals refusals_;
  ProcessWatch process_;
  MappedBlocks* blocks_;
  std::string server_;  ///< as named in errors
  std::atomic<std::uint64_t> waited_ns_{0};
};

}  // namespace afterbay::transport::shm
