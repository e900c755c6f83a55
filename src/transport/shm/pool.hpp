// SPDX-License-Identifier: Apache-2.0
// The server's view of the blocks and the frame table of its segment.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "transport/link.hpp"
#include "transport/shm/frame_table.hpp"
#include "transport/shm/segment.hpp"

namespace afterbay::transport::shm {

class Pool final : public FramePool {
 public:
  explicit Pool(std::shared_ptr<Segment> segment);

  Result<std::uint32_t> declare(std::span<const FrameDeclaration> frames) override;
  std::optional<FrameView> acquire(const FrameSlot& slot) override;
  bool contribute(const FrameView& view, std::uint32_t piece) override;
  [[nodiscard]] std::optional<FrameView> find(std::uint32_t frame, std::uint64_t seq) const override;
  [[nodiscard]] PieceState state(const FrameView& view, std::uint32_t piece) const override;
  void release(const FrameView& view) override;
  bool allocate_ahead() override;
  [[nodiscard]] std::uint64_t capacity_bytes() const override { return table_.capacity_bytes(); }
  [[nodiscard]] std::uint64_t allocated_bytes() const override { return table_.allocated_bytes(); }
  [[nodiscard]] int memory_error() const override;
  [[nodiscard]] bool is_short() const override { return table_.is_short(); }
  [[nodiscard]] std::uint64_t used_bytes() const override { return table_.used_bytes(); }
  [[nodiscard]] std::uint64_t peak_used_bytes() const override;
  [[nodiscard]] std::uint64_t older_refusals() const override;
  [[nodiscard]] std::uint64_t most_instances() const override;

  /// Like `acquire`, with the reason for a refusal.
  tl::expected<FrameView, Refusal> try_acquire(const FrameSlot& slot, Blocks from = Blocks::by_order);
  [[nodiscard]] Error no_memory(const std::string& server) const { return table_.no_memory(server); }
  void publish(std::size_t peer, std::uint64_t order) { table_.publish(peer, order); }
  /// The order that the rank published last.
  [[nodiscard]] std::uint64_t order_of(std::size_t peer) const {
    return segment_->order(peer).load(std::memory_order_relaxed);
  }
  /// Whether no rank has published an order before this one.
  [[nodiscard]] bool nobody_before(std::uint64_t order) const { return table_.nobody_before(order); }
  /// A rank whose data arrive in messages begins to wait for room: ranks on this node then wake the
  /// server for each frame that they complete, as for waiting ranks on this node. Frames completed
  /// before are checked once more.
  void begin_to_wait() noexcept;
  void end_to_wait() noexcept;
  /// Whether frame and piece exist; numbers from a rank are not trusted.
  [[nodiscard]] bool is_piece(std::uint32_t frame, std::uint32_t piece) const;

 private:
  Result<void> check(const FrameDeclaration& frame, std::size_t index) const;
  [[nodiscard]] BlockClass class_of(const FrameDeclaration& frame) const;
  [[nodiscard]] std::vector<std::uint32_t> places_for(std::span<const FrameDeclaration> frames) const;
  [[nodiscard]] FrameView view(std::uint32_t block) const;
  [[nodiscard]] std::uint32_t wanted(BlockClass kind) const;
  Result<void> allocate_portion(BlockClass kind);

  /// How far blocks are allocated ahead and faulted into this process.
  struct Ahead {
    std::uint32_t declared = 0;        ///< blocks for one record of all collections
    std::uint64_t bytes_of_block = 0;  ///< bytes of the next block that are done
  };
  std::shared_ptr<Segment> segment_;
  FrameTable table_;
  std::uint32_t pieces_used_ = 0;
  std::uint64_t places_used_ = 0;
  std::uint32_t least_places_ = std::numeric_limits<std::uint32_t>::max();  ///< minimum over the frames
  std::array<Ahead, 2> ahead_;
  std::uint64_t next_try_ns_ = 0;  ///< after memory was refused
};

}  // namespace afterbay::transport::shm
