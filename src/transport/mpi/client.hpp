// SPDX-License-Identifier: Apache-2.0
// A model rank's end of a pair over MPI or through a frontend. Messages and packed contributions
// are appended in order to staging segments, which are taken from the carrier's memory when they
// are needed, and passed to the carrier when full or at a flush. All MPI calls are made in the
// caller's thread; `reserve` and `commit` make none while the segment has room.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "base/process_watch.hpp"
#include "mpi/request.hpp"
#include "transport/link.hpp"
#include "transport/mpi/carrier.hpp"
#include "transport/mpi/replies.hpp"
#include "transport/mpi/staged_segments.hpp"
#include "transport/mpi/stated_order.hpp"
#include "transport/mpi/stream.hpp"
#include "transport/rank_links.hpp"

namespace afterbay::transport::network {

struct MpiClientOptions {
  std::string server = "the I/O server";  ///< as named in errors
  LinkSizes sizes;
  WaitPolicy policy = {};
  ProcessId process = {};  ///< the server's process, if it runs on this machine
  std::shared_ptr<RankLinks> rank_links = std::make_shared<RankLinks>();  ///< all links of this rank
  std::string dedicated = {};  ///< the processes for never_heard; empty: the server does not call
                               ///< serve
};

class MpiClientLink final : public ClientLink, private RankLinks::Member {
 public:
  MpiClientLink(std::unique_ptr<Carrier> carrier, MpiClientOptions options);
  /// Waits a short while for segments in transit, all links of a rank together at most two seconds;
  /// segments that are not received by then are lost.
  ~MpiClientLink() override;

  Result<void> send(std::span<const std::byte> message, Wake wake) override;
  Result<void> send_ahead(std::span<const std::byte> message) override;
  /// Sends staged messages, at once if there is a credit, otherwise at the next call that finds
  /// one.
  Result<void> flush() override;
  Result<Landing> reserve(const FrameSlot& slot, std::uint32_t piece, std::uint64_t packed_bytes,
                          bool may_wait) override;
  Result<bool> make_room(std::span<const FrameSlot> slots, std::uint64_t packed_bytes, RoomFor use) override;
  /// Parts that are larger than a segment are sent when nothing is in transit.
  [[nodiscard]] Result<void> check_fits(std::span<const FrameSlot> /*slots*/) const override { return {}; }
  Result<void> commit(const FrameSlot& slot, std::uint32_t piece) override;
  void set_position(std::uint64_t position) override;
  void advance(std::uint64_t position, std::uint32_t frame) override;
  void rest() override { order_.rest(); }
  Result<std::optional<Bytes>> receive() override;
  [[nodiscard]] ReceivedData take_data() override { return std::exchange(data_, {}); }
  void wait(Millis most) override;
  [[nodiscard]] std::uint64_t progress() const override {
    return replies_.progress() + replies_.data_messages();
  }
  Result<void> check_alive() override;
  std::string stuck_between() override { return carrier_->stuck_between(); }
  [[nodiscard]] std::string never_heard() const override;
  void hurry(std::uint64_t end_ns) override { options_.policy.end_ns = end_ns; }
  void end() override;
  void set_idle(std::function<bool()> idle) override { idle_ = std::move(idle); }
  [[nodiscard]] std::string name() const override { return carrier_->name(); }
  [[nodiscard]] bool packs() const override { return true; }
  [[nodiscard]] std::uint64_t waited_ns() const override { return waited_ns_; }
  [[nodiscard]] std::uint64_t messages() const override { return segments_sent_; }
  /// Whether data passed to the carrier have not been sent yet.
  [[nodiscard]] bool under_way() override;

 private:
  bool catch_up(std::uint64_t position) override;
  [[nodiscard]] HeldSegments held(const void* memory) const override;
  [[nodiscard]] Result<void> check_holding(const void* memory) override;

  using Segment = StagedSegments::Segment;

  /// Makes progress on sends, replies and credits.
  Result<void> poll();

  /// Whether a segment with room for an item of this size is being filled; false: not now.
  Result<bool> make_item_room(std::uint64_t bytes, const FrameSlot* slot = nullptr, bool may_wait = false);
  Result<void> wait_for_item_room(std::uint64_t bytes, const FrameSlot* slot = nullptr);
  Result<void> check_server();

  std::unique_ptr<Carrier> carrier_;
  MpiClientOptions options_;
  std::uint64_t capacity_;  ///< size of the largest segments
  StagedSegments segments_;
  StatedOrder order_;
  Replies replies_;
  ReceivedData data_;  ///< data of the message that `receive` returned last
  bool ended_ = false;

  ProcessWatch process_;
  std::function<bool()> idle_;
  mpi::BackOff quiet_;    ///< since the last segment or message
  bool waiting_ = false;  ///< in wait_for_item_room: then transfers are actively progressed
  std::uint64_t waited_ns_ = 0;
  std::uint64_t segments_sent_ = 0;
};

}  // namespace afterbay::transport::network
