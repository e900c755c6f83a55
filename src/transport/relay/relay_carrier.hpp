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

  [[nodiscard]] std::size_t segments() const override { return end_->channel().geometry().segments; }
  /// The frontend takes all segments at once; only its memory limits them.
  [[nodiscard]] std::uint32_t credits() const override { return 1u << 30; }
  [[nodiscard]] std::byte* segment(std::size_t index) const override {
    return end_->channel().segment(end_->rank(), server_, index);
  }
  Result<void> allocate(std::size_t index, std::uint64_t from, std::uint64_t to) override {
    return end_->channel().allocate(end_->rank(), server_, index, from, to);
  }
  Result<void> send(std::size_t index, std::uint64_t bytes) override;
  Result<bool> sent(std::size_t index, bool eagerly) override;
  Result<void> send_header(const network::SegmentHeader& header) override;
  Result<bool> header_sent() override { return true; }
  Result<std::optional<std::span<const std::byte>>> next_batch() override;
  Result<void> send_word(Bytes word) override;
  void pause(mpi::BackOff& back_off, std::chrono::nanoseconds most, bool sending) override;
  [[nodiscard]] bool usable() const override { return true; }
  void end() override { end_->end(); }
  Result<void> check_alive() override { return end_->check_alive(); }
  std::string stuck_between() override { return end_->stuck(); }
  [[nodiscard]] std::string never_heard() const override { return end_->never_began(); }
  [[nodiscard]] std::string name() const override { return "relay"; }

 private:
  std::shared_ptr<ChannelEnd> end_;
  std::size_t server_;
  Bytes batch_;
  std::uint32_t changes_seen_ = 0;
};

}  // namespace afterbay::transport::relay
