// SPDX-License-Identifier: Apache-2.0
// A carrier that sends segments through the shared memory of this node's frontend.
#pragma once

#include <memory>

#include "transport/mpi/carrier.hpp"
#include "transport/relay/channel.hpp"

namespace afterbay::transport::relay {

class RelayCarrier final : public network::Carrier {
 public:
  /// `server`: index among those behind the frontend.
  RelayCarrier(std::shared_ptr<ChannelEnd> end, std::size_t server) : end_(std::move(end)), server_(server) {}

  /// The frontend takes all segments at once; only its memory limits them.
  [[nodiscard]] std::uint32_t credits() const override { return 1u << 30; }
  [[nodiscard]] std::uint64_t capacity() const override { return end_->channel().geometry().capacity; }
  [[nodiscard]] std::size_t segments() const override { return end_->channel().geometry().shares.common + 1; }
  [[nodiscard]] const void* memory() const override { return end_.get(); }
  std::optional<network::SegmentMemory> take(const network::SegmentRequest& request) override {
    return end_->take(request);
  }
  void give_back(const network::SegmentMemory& segment) override { end_->give_back(segment); }
  Result<void> allocate(const network::SegmentMemory& segment, std::uint64_t bytes) override {
    return end_->allocate(segment, bytes);
  }
  Result<void> send(const network::SegmentMemory& segment, std::uint64_t bytes) override {
    return end_->leave({static_cast<std::uint32_t>(server_), segment.number, bytes, {}});
  }
  Result<bool> sent(const network::SegmentMemory& segment, bool /*eagerly*/) override {
    return end_->returned(segment);
  }
  Result<void> send_header(const network::SegmentHeader& header) override;
  Result<bool> header_sent() override { return true; }
  Result<std::optional<std::span<const std::byte>>> next_batch() override;
  Result<std::optional<ReceivedData>> next_data() override { return end_->next_data(server_); }
  Result<void> send_word(Bytes word) override;
  void pause(mpi::BackOff& back_off, std::chrono::nanoseconds most, bool sending) override;
  [[nodiscard]] bool usable() const override { return true; }
  void end(std::uint64_t /*end_ns*/) override { end_->end(); }
  Result<void> check_alive() override { return end_->check_alive(); }
  std::string stuck_between() override { return end_->stuck(); }
  [[nodiscard]] std::string never_heard() const override { return end_->never_began(); }
  [[nodiscard]] std::string name() const override { return "relay"; }
  [[nodiscard]] std::string setting() const override { return "memory.frontend"; }

 private:
  std::shared_ptr<ChannelEnd> end_;
  std::size_t server_;
  Bytes batch_;
  std::uint32_t changes_seen_ = 0;
};

}  // namespace afterbay::transport::relay
