// SPDX-License-Identifier: Apache-2.0
// A model rank's end of a shared segment: writes pieces directly into the server's blocks.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "transport/link.hpp"
#include "transport/rank_links.hpp"
#include "transport/shm/frame_table.hpp"
#include "transport/shm/mapped_blocks.hpp"
#include "transport/shm/refusals.hpp"
#include "transport/shm/ring.hpp"
#include "transport/shm/segment.hpp"
#include "transport/shm/thread_end.hpp"

namespace afterbay::transport::shm {

struct ClientOptions {
  std::size_t peer = 0;  ///< this rank's index among the server's model ranks
  WaitPolicy policy;
  std::string transport = "shm";
  std::string server = "the I/O server";  ///< as named in errors: "I/O server 0 (rank 4)"
  std::shared_ptr<RankLinks> rank_links = std::make_shared<RankLinks>();  ///< all links of this rank
  std::string dedicated = {};  ///< the server's process for never_heard; empty: it does not call
                               ///< serve
};

class ShmClientLink final : public ClientLink, private RankLinks::Member {
 public:
  /// Marks the rank as present. Other ends in this process may share the segment.
  ShmClientLink(std::shared_ptr<Segment> segment, ClientOptions options);
  /// Marks the rank as ended.
  ~ShmClientLink() override;

  Result<void> send(std::span<const std::byte> message, Wake wake) override;
  /// Data are not sent through this link.
  Result<void> send_ahead(std::span<const std::byte> message) override { return send(message, Wake::now); }
  Result<void> flush() override;
  Result<Landing> reserve(const FrameSlot& slot, std::uint32_t piece, std::uint64_t packed_bytes,
                          bool may_wait) override;
  bool is_announced(const std::byte* from, AnnouncedBlocks& known) override;
  void will_write(const std::byte* from, std::uint64_t bytes, Writes pages) override;
  Result<void> commit(const FrameSlot& slot, std::uint32_t piece) override;
  /// None if the server runs in this rank's calls.
  [[nodiscard]] ThreadEnd* thread_end() override { return idle_ ? nullptr : &thread_end_; }
  Result<void> frame_is_complete(const FrameSlot& slot) override;
  Result<bool> make_room(std::span<const FrameSlot> slots, std::uint64_t packed_bytes, RoomFor use) override;
  [[nodiscard]] Result<void> check_fits(std::span<const FrameSlot> slots) const override {
    return refusals_.check_fits(slots);
  }
  void set_position(std::uint64_t position) override;
  void advance(std::uint64_t position, std::uint32_t frame) override { publish(order_of(position, frame)); }
  void hold(std::uint64_t position) override {
    most_published_ = position == no_position ? order_end : order_of(position, 0);
  }
  Result<std::optional<Bytes>> receive() override;
  void wait(Millis most) override;
  [[nodiscard]] std::uint64_t progress() const override;
  Result<void> check_alive() override;
  void hurry(std::uint64_t end_ns) override { options_.policy.end_ns = end_ns; }
  void set_idle(std::function<bool()> idle) override { idle_ = std::move(idle); }
  [[nodiscard]] std::string never_heard() const override { return progress() == 0 ? options_.dedicated : ""; }
  [[nodiscard]] std::string name() const override { return options_.transport; }
  [[nodiscard]] std::uint64_t waited_ns() const override { return waited_ns_; }
  [[nodiscard]] std::uint64_t messages() const override { return messages_; }

 private:
  bool catch_up(std::uint64_t position) override;
  void publish(std::uint64_t order) noexcept { table_.publish(std::min(order, most_published_)); }

  enum class Step { done, again };
  /// Tries until `attempt` succeeds or fails; sleeps on `event` meanwhile. `attempt` receives the
  /// nanoseconds without progress; `what` describes what is waited for.
  template <class Attempt, class What>
  Result<void> wait_until(EventCount& event, Attempt attempt, What what);
  [[nodiscard]] Landing landing(std::uint32_t block, const FrameSlot& slot) const;
  /// Fails if waiting is pointless: the server failed, ended or died.
  Result<void> check_server();
  /// Writes to the ring as RingWriter::write does, and marks it.
  std::size_t write(std::span<const std::byte> message, std::size_t from);
  void ring();
  /// The maximum time to sleep; lets the rank's other links make progress first.
  std::chrono::milliseconds slice_of_sleep();
  /// While the rank waits: maps pages for some hundred microseconds, so that puts need not. Returns
  /// whether there is more to map.
  bool map_ahead();
  Result<std::uint32_t> wait_for_block(const FrameSlot& slot);

  std::shared_ptr<Segment> segment_;
  ClientOptions options_;
  SegmentHeader& header_;
  PeerSlot& self_;
  FrameTable table_;
  Refusals refusals_;
  RingWriter up_;
  RingReader down_;
  ProcessWatch server_;
  bool shares_mapping_;  ///< with the server, in one process
  MappedBlocks blocks_;
  ShmThreadEnd thread_end_;
  std::function<bool()> idle_;
  std::uint32_t bell_seen_ = 0;
  bool ring_on_flush_ = false;
  Bytes encoded_;
  std::uint64_t ready_bytes_ = 0;  ///< bytes of complete frames for which the server has not been
                                   ///< woken
  std::uint64_t waited_ns_ = 0;
  std::uint64_t messages_ = 0;
  std::uint64_t most_published_ = order_end;  ///< see `hold`
};

}  // namespace afterbay::transport::shm
