// SPDX-License-Identifier: Apache-2.0
// LaneTable: the lanes of a frontend, one per pair of client and server; the few that a turn must
// visit, sums over all of them, and the clients and servers by rank and number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transport/active_list.hpp"

namespace afterbay::transport::network {

/// `Lane` has `waiting` and `sending`, queues of segments.
template <class Lane>
class LaneTable {
 public:
  /// (rank in the communicator, number among all)
  using Ends = std::vector<std::pair<int, std::size_t>>;
  LaneTable(const Ends& clients, const Ends& servers)
      : clients_(clients.size()),
        servers_(servers.size()),
        lanes_(clients.size() * servers.size()),
        client_index_(clients),
        server_index_(servers) {}

  [[nodiscard]] std::size_t size() const noexcept { return lanes_.size(); }
  [[nodiscard]] auto begin() noexcept { return lanes_.begin(); }
  [[nodiscard]] auto end() noexcept { return lanes_.end(); }
  [[nodiscard]] Lane& of(std::size_t client, std::size_t server) {
    return lanes_[client * servers_ + server];
  }
  [[nodiscard]] std::optional<std::size_t> client_at(int rank) const { return client_index_.at(rank); }
  [[nodiscard]] std::optional<std::size_t> client_of(std::size_t number) const {
    return client_index_.of(number);
  }
  [[nodiscard]] std::optional<std::size_t> server_at(int rank) const { return server_index_.at(rank); }
  [[nodiscard]] std::optional<std::size_t> server_of(std::size_t number) const {
    return server_index_.of(number);
  }

  // ---- lanes that a turn visits; a lane that only waits for credits is none of them

  /// The lane has changed.
  void activate(std::size_t client, std::size_t server) { active_.add(client * servers_ + server); }
  void activate_client(std::size_t client) {
    for (std::size_t s = 0; s < servers_; ++s) activate(client, s);
  }
  void activate_server(std::size_t server) {
    for (std::size_t c = 0; c < clients_; ++c) activate(c, server);
  }
  /// Calls visit(client, server), which returns whether the lane remains active.
  template <class Visit>
  void visit(Visit visit) {
    active_.visit([&](std::size_t i) { return visit(i / servers_, i % servers_); });
  }
  template <class Condition>
  [[nodiscard]] bool any_active(Condition condition) const {
    return active_.any_of([&](std::size_t i) { return condition(lanes_[i]); });
  }

  // ---- segments

  template <class Segment>
  void hold(std::size_t client, std::size_t server, Segment segment) {
    of(client, server).waiting.push_back(std::move(segment));
    ++waiting_;
    activate(client, server);
  }
  /// A segment was added to `sending`.
  void note_sending() noexcept { ++sending_; }
  /// The first segment of `sending`, or of `waiting`, is removed.
  void pop_sending(std::size_t client, std::size_t server) {
    of(client, server).sending.pop_front();
    --sending_;
  }
  void pop_waiting(std::size_t client, std::size_t server) {
    of(client, server).waiting.pop_front();
    --waiting_;
  }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_; }  ///< in all lanes
  [[nodiscard]] std::size_t sending() const noexcept { return sending_; }  ///< in all lanes

  // ---- in turn

  /// Whether all lanes are drained. Goes on where it stopped, so that a call looks at one lane
  /// until that one is drained. A lane before it may have been used again: at the end all are
  /// looked at once more.
  template <class IsDrained>
  [[nodiscard]] bool drained(IsDrained is_drained) {
    const auto go_on = [&] {
      while (drained_ < size() && is_drained(lanes_[drained_], drained_ % servers_)) ++drained_;
      return drained_ == size();
    };
    if (!go_on()) return false;
    drained_ = 0;
    return go_on();
  }

 private:
  class Index {
   public:
    explicit Index(const Ends& ends) {
      for (std::size_t i = 0; i < ends.size(); ++i) {
        by_rank_.emplace(ends[i].first, i);
        by_number_.emplace(ends[i].second, i);
      }
    }
    [[nodiscard]] std::optional<std::size_t> at(int rank) const { return find(by_rank_, rank); }
    [[nodiscard]] std::optional<std::size_t> of(std::size_t number) const { return find(by_number_, number); }

   private:
    template <class Map, class Key>
    static std::optional<std::size_t> find(const Map& map, Key key) {
      const auto at = map.find(key);
      return at == map.end() ? std::nullopt : std::optional<std::size_t>(at->second);
    }
    std::unordered_map<int, std::size_t> by_rank_;
    std::unordered_map<std::size_t, std::size_t> by_number_;
  };
  std::size_t clients_;
  std::size_t servers_;
  std::vector<Lane> lanes_;
  Index client_index_;
  Index server_index_;
  ActiveList active_;
  std::size_t waiting_ = 0;
  std::size_t sending_ = 0;
  std::size_t drained_ = 0;  ///< lanes before this one were drained when last looked at
};

}  // namespace afterbay::transport::network
