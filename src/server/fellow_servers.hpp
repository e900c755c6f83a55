// SPDX-License-Identifier: Apache-2.0
// The other I/O servers of a session, as far as they write files together. Used by the ingest thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "transport/link.hpp"
#include "wire/archive.hpp"

namespace afterbay::server {

class FellowServers {
 public:
  using Links = std::vector<std::unique_ptr<transport::ClientLink>>;
  /// `links`: one a server, null for this one; none when servers have nothing to say to each other.
  /// `first_peer`: what the first server's end is among the port's peers.
  FellowServers(transport::ServerPort& port, Links links, std::size_t first_peer);

  [[nodiscard]] std::size_t count() const noexcept { return links_.size(); }

  /// Waits only while the other's queue is full, and takes in what arrives meanwhile.
  template <class Message>
  Result<> send(std::size_t server, const Message& message) {
    return send_encoded(server, wire::encode(message));
  }
  /// To those of `servers` that are others and have not ended.
  template <class Message>
  void send_all(std::span<const std::uint32_t> servers, const Message& message) {
    const auto bytes = wire::encode(message);
    for (const std::uint32_t s : servers)
      if (links_[s]) (void)send_encoded(s, bytes);
  }
  /// To all others that have not ended. What cannot be sent is not: that server is gone.
  template <class Message>
  void broadcast(const Message& message) {
    const auto bytes = wire::encode(message);
    for (std::size_t s = 0; s < links_.size(); ++s)
      if (links_[s]) (void)send_encoded(s, bytes);
  }

  /// The next message and its sender.
  std::optional<std::pair<std::size_t, transport::Bytes>> next();
  /// Whether servers of this session exchange messages.
  [[nodiscard]] bool linked() const noexcept { return !links_.empty(); }
  /// Whether something that it sent was taken in and not yet given out by `next`, perhaps its last words.
  [[nodiscard]] bool has_unread(std::size_t server) const {
    return std::ranges::find(arrived_, server, &std::pair<std::size_t, transport::Bytes>::first) !=
           arrived_.end();
  }
  /// The server ended in order: nothing goes there any more, and it is not missed.
  void ended(std::size_t server);
  /// Which server an end of the port belongs to; nothing for a model rank's.
  [[nodiscard]] std::optional<std::size_t> server_of(std::size_t peer) const noexcept;

 private:
  Result<> send_encoded(std::size_t server, std::span<const std::byte> message);
  bool collect();

  transport::ServerPort& port_;
  Links links_;
  std::size_t first_peer_;
  std::deque<std::pair<std::size_t, transport::Bytes>> arrived_;
};

}  // namespace afterbay::server
