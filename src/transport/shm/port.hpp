// SPDX-License-Identifier: Apache-2.0
// A server's port: its segment, one end per model rank (of any transport), and the sleep.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "transport/link.hpp"
#include "transport/peer_end.hpp"
#include "transport/shm/pool.hpp"
#include "transport/shm/segment.hpp"

namespace afterbay::transport::shm {

class Port final : public ServerPort {
 public:
  explicit Port(std::shared_ptr<Segment> segment);
  /// Informs the ranks that the server has ended.
  ~Port() override;

  /// Ends must be added in rank order, all before the first use.
  void add(std::unique_ptr<PeerEnd> peer) { peers_.push_back(std::move(peer)); }
  void add_network(std::unique_ptr<Network> network) { networks_.push_back(std::move(network)); }
  [[nodiscard]] Pool& pool() noexcept { return pool_; }
  [[nodiscard]] const Scatter& scatter() const noexcept { return scatter_; }

  [[nodiscard]] std::size_t peers() const override { return peers_.size(); }
  [[nodiscard]] std::string transport_of(std::size_t peer) const override {
    return peers_[peer]->transport();
  }
  std::optional<std::span<const std::byte>> peek(std::size_t peer) override { return peers_[peer]->peek(); }
  void pop(std::size_t peer) override { peers_[peer]->pop(); }
  void send(std::size_t peer, std::span<const std::byte> message) override { peers_[peer]->send(message); }
  bool pump() override;
  [[nodiscard]] bool sending() const override;
  void wait(Millis most) override;
  void wake() override;
  std::optional<LostPeer> lost_peer() override;
  void forget(std::size_t peer) override { peers_[peer]->forget(); }
  void fail() override;
  void mark_progress() override;
  [[nodiscard]] std::size_t waiting_for_room() const override;
  FramePool& frames() override { return pool_; }
  void set_scatter(Scatter scatter) override { scatter_ = std::move(scatter); }
  [[nodiscard]] std::uint64_t messages() const override;

 private:
  std::chrono::nanoseconds pause(std::uint64_t now);
  void sleep(std::chrono::nanoseconds most);
  void ring_all();

  std::shared_ptr<Segment> segment_;
  Pool pool_;
  Scatter scatter_;
  std::vector<std::unique_ptr<Network>> networks_;  ///< must outlive the ends that use them
  std::vector<std::unique_ptr<PeerEnd>> peers_;
  std::uint32_t bell_seen_ = 0;
  std::uint64_t quiet_since_ns_;  ///< the last progress of the network
  bool transferring_ = false;     ///< at the last sleep
};

}  // namespace afterbay::transport::shm
