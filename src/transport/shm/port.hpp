// SPDX-License-Identifier: Apache-2.0
// A server's port: its segment, one end per model rank (of any transport), and the sleep. It visits
// only ends that need it (PeerNeeds): what a pass costs does not depend on the number of ranks.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "transport/active_list.hpp"
#include "transport/link.hpp"
#include "transport/parked_peers.hpp"
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
  /// Something has arrived for this end, or it has failed: `pump` visits it. For networks and ends.
  void activate(std::size_t peer) { pumping_.add(peer); }
  [[nodiscard]] Pool& pool() noexcept { return pool_; }
  [[nodiscard]] const Scatter& scatter() const noexcept { return scatter_; }

  [[nodiscard]] std::size_t peers() const override { return peers_.size(); }
  [[nodiscard]] std::string transport_of(std::size_t peer) const override {
    return peers_[peer]->transport();
  }
  void ready(std::size_t first, std::size_t last, std::vector<std::size_t>& peers) override;
  std::optional<std::span<const std::byte>> peek(std::size_t peer) override;
  void pop(std::size_t peer) override;
  void send(std::size_t peer, std::span<const std::byte> message) override;
  void send_data(std::size_t peer, std::span<const std::byte> message, OutgoingData data) override;
  bool pump() override;
  void begin_messages() override;
  [[nodiscard]] bool sending() const override;
  void wait(Millis most) override;
  void wake() override;
  std::optional<LostPeer> lost_peer() override;
  void forget(std::size_t peer) override;
  void fail() override;
  void mark_progress() override;
  [[nodiscard]] std::size_t waiting_for_room() const override;
  FramePool& frames() override { return pool_; }
  void set_scatter(Scatter scatter) override { scatter_ = std::move(scatter); }
  [[nodiscard]] std::uint64_t messages() const override;
  [[nodiscard]] std::uint64_t receive_peak_bytes() const override;

  /// Peers that `lost_peer` checks in one call, besides those that have failed or ended.
  static constexpr std::size_t most_checked = 1024;

 private:
  void note_needs(std::size_t peer);
  void note_message(std::size_t peer);
  bool retry_parked();
  std::optional<LostPeer> check(std::size_t peer);
  std::chrono::nanoseconds pause(std::uint64_t now);
  void sleep(std::chrono::nanoseconds most);
  void ring_all();
  void take_leave();

  std::shared_ptr<Segment> segment_;
  Pool pool_;
  Scatter scatter_;
  std::vector<std::unique_ptr<Network>> networks_;  ///< must outlive the ends that use them
  std::vector<std::unique_ptr<PeerEnd>> peers_;
  ActiveList pumping_;   ///< ends that `pump` visits
  ActiveList ready_;     ///< ends that may have a message
  ActiveList suspects_;  ///< ends whose ranks have failed or ended
  ParkedPeers parked_;
  std::vector<bool> drained_;  ///< by peer: `peek` has found nothing since the peer was last marked
  std::size_t next_check_ = 0;
  std::uint32_t bell_seen_ = 0;
  std::uint64_t quiet_since_ns_;  ///< the last progress of the network
  bool transferring_ = false;     ///< at the last sleep
};

}  // namespace afterbay::transport::shm
