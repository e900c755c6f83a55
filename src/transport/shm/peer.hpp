// SPDX-License-Identifier: Apache-2.0
// A server's end of its pair with a model rank that maps the server's segment.
#pragma once

#include <list>
#include <memory>
#include <string>

#include "transport/peer_end.hpp"
#include "transport/shm/frame_table.hpp"
#include "transport/shm/ring.hpp"
#include "transport/shm/segment.hpp"

namespace afterbay::transport::shm {

class ShmPeer final : public PeerEnd {
 public:
  /// `rank`: the model rank as named in errors.
  ShmPeer(std::shared_ptr<Segment> segment, std::size_t peer, std::string transport, std::string rank);

  std::optional<std::span<const std::byte>> peek() override { return up_.front(); }
  void pop() override;
  void send(std::span<const std::byte> message) override;
  bool pump() override;
  /// Messages of the rank are found by its mark.
  [[nodiscard]] PeerNeeds needs() const override {
    return {.pump = !kept_.empty(), .sending = !kept_.empty(), .message = up_.has_front()};
  }
  Result<void> check_alive() override;
  [[nodiscard]] bool has_ended() const override;
  void forget() override;
  void fail() override {}  // the segment shows it
  [[nodiscard]] std::string transport() const override { return transport_; }
  [[nodiscard]] std::uint64_t messages() const override { return messages_; }

 private:
  [[nodiscard]] bool gone();

  std::shared_ptr<Segment> segment_;
  std::size_t peer_;
  std::string transport_;
  std::string rank_;
  PeerSlot& slot_;
  RingReader up_;
  RingWriter down_;
  std::list<std::vector<std::byte>> kept_;  ///< messages that did not fit into the ring
  std::size_t kept_sent_ = 0;               ///< bytes of the first message that have been sent
  std::optional<ProcessWatch> process_;
  bool forgotten_ = false;
  std::uint64_t messages_ = 0;
};

}  // namespace afterbay::transport::shm
