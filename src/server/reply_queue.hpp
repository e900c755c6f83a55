// SPDX-License-Identifier: Apache-2.0
// ReplyQueue: replies with data to ranks that share no memory with the server. They wait in a queue
// per rank; a few of each rank are in transit at a time, ranks take turns, and the bytes in transit
// are bounded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace afterbay::server {

/// Used by one thread.
template <class Reply>
class ReplyQueue {
 public:
  /// Another reply may be sent while less than that is in transit: the sums exceed the limits by
  /// less than one reply.
  struct Limits {
    std::uint64_t bytes = 0;          ///< to all ranks
    std::uint64_t bytes_of_rank = 0;  ///< to one rank
    std::size_t replies_of_rank = 0;  ///< number, to one rank
  };
  explicit ReplyQueue(const Limits& limits) : limits_(limits) {}

  void add(std::size_t peer, Reply reply) {
    peers_[peer].waiting.push_back(std::move(reply));
    ++waiting_;
    list(peer);
  }
  /// The next reply that may be sent now, which no longer waits: `began` or nothing must follow.
  std::optional<std::pair<std::size_t, Reply>> next() {
    if (bytes_ >= limits_.bytes) return std::nullopt;
    while (!turn_.empty()) {
      const std::size_t peer = turn_.front();
      turn_.pop_front();
      Peer& it = peers_[peer];
      it.listed = false;
      if (it.waiting.empty() || it.bytes >= limits_.bytes_of_rank || it.replies >= limits_.replies_of_rank)
        continue;  // listed again by `add` or `sent`
      std::pair<std::size_t, Reply> found{peer, std::move(it.waiting.front())};
      it.waiting.pop_front();
      --waiting_;
      if (!it.waiting.empty()) list(peer);
      return found;
    }
    return std::nullopt;
  }
  /// A reply with that many bytes is in transit.
  void began(std::size_t peer, std::uint64_t bytes) {
    Peer& it = peers_[peer];
    it.bytes += bytes;
    ++it.replies;
    bytes_ += bytes;
    peak_ = std::max(peak_, bytes_);
  }
  void sent(std::size_t peer, std::uint64_t bytes) {
    Peer& it = peers_[peer];
    if (it.gone) return;
    it.bytes -= bytes;
    --it.replies;
    bytes_ -= bytes;
    if (!it.waiting.empty()) list(peer);
  }
  /// Called when the rank is gone. Removes the replies that wait for it, and calls visit(reply) for
  /// each. Replies in transit to it, which may never arrive, no longer count: other ranks get their
  /// share.
  template <class Visit>
  void forget(std::size_t peer, Visit visit) {
    const auto found = peers_.find(peer);
    if (found == peers_.end()) return;
    Peer& it = found->second;
    it.gone = true;
    bytes_ -= std::exchange(it.bytes, 0);
    it.replies = 0;
    for (const Reply& reply : std::exchange(it.waiting, {})) {
      --waiting_;
      visit(reply);
    }
  }

  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }
  [[nodiscard]] std::uint64_t bytes_in_transit() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t peak_bytes() const noexcept { return peak_; }

 private:
  struct Peer {
    std::deque<Reply> waiting;
    std::uint64_t bytes = 0;  ///< in transit
    std::size_t replies = 0;  ///< in transit
    bool listed = false;
    bool gone = false;
  };
  void list(std::size_t peer) {
    if (!std::exchange(peers_[peer].listed, true)) turn_.push_back(peer);
  }

  Limits limits_;
  std::map<std::size_t, Peer> peers_;
  std::deque<std::size_t> turn_;  ///< ranks for which something waits
  std::size_t waiting_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t peak_ = 0;
};

}  // namespace afterbay::server
