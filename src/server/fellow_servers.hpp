// SPDX-License-Identifier: Apache-2.0
// FellowServers: the links to the other I/O servers of a session. Used by the ingest thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "transport/active_list.hpp"
#include "transport/link.hpp"
#include "wire/archive.hpp"

namespace afterbay::server {

class FellowServers {
 public:
  using Links = std::vector<std::unique_ptr<transport::ClientLink>>;
  /// `links`: one per server, null for this one; empty if servers exchange no messages.
  /// `first_peer`: the number of the first server's end among the port's peers.
  FellowServers(transport::ServerPort& port, Links links, std::size_t first_peer);
  ~FellowServers() { end(); }
  FellowServers(const FellowServers&) = delete;
  FellowServers& operator=(const FellowServers&) = delete;

  /// Closes all links. A link that still has data in transit waits for it; meanwhile this server
  /// receives messages, through the links that are left and the port.
  void end() AFTERBAY_REQUIRES(ingest_thread);

  [[nodiscard]] std::size_t count() const noexcept AFTERBAY_REQUIRES(ingest_thread) { return links_.size(); }

  /// Waits only while the other server's queue is full, and receives messages meanwhile.
  template <class Message>
  Result<> send(std::size_t server, const Message& message) AFTERBAY_REQUIRES(ingest_thread) {
    return send_encoded(server, wire::encode(message));
  }
  /// Sends to those of `servers` that are other servers and have not ended.
  template <class Message>
  void send_all(std::span<const std::uint32_t> servers, const Message& message)
      AFTERBAY_REQUIRES(ingest_thread) {
    const auto bytes = wire::encode(message);
    for (const std::uint32_t s : servers)
      if (links_[s]) (void)send_encoded(s, bytes);
  }
  /// Sends to all other servers that have not ended. Errors are ignored: such a server is gone.
  template <class Message>
  void broadcast(const Message& message) AFTERBAY_REQUIRES(ingest_thread) {
    const auto bytes = wire::encode(message);
    for (std::size_t s = 0; s < links_.size(); ++s)
      if (links_[s]) (void)send_encoded(s, bytes);
  }

  /// The next message and its sender.
  std::optional<std::pair<std::size_t, transport::Bytes>> next() AFTERBAY_REQUIRES(ingest_thread);
  /// Whether the servers of this session exchange messages.
  [[nodiscard]] bool linked() const noexcept AFTERBAY_REQUIRES(ingest_thread) { return !links_.empty(); }
  /// Whether a message from the server was received that `next` has not returned yet, perhaps its
  /// last one.
  [[nodiscard]] bool has_unread(std::size_t server) const AFTERBAY_REQUIRES(ingest_thread) {
    return std::ranges::find(arrived_, server, &std::pair<std::size_t, transport::Bytes>::first) !=
           arrived_.end();
  }
  /// The server has ended cleanly: nothing more is sent to it, and it is not reported as lost.
  void ended(std::size_t server) AFTERBAY_REQUIRES(ingest_thread);
  /// The server to which an end of the port belongs; nullopt if it belongs to a model rank.
  [[nodiscard]] std::optional<std::size_t> server_of(std::size_t peer) const noexcept
      AFTERBAY_REQUIRES(ingest_thread);

 private:
  Result<> send_encoded(std::size_t server, std::span<const std::byte> message)
      AFTERBAY_REQUIRES(ingest_thread);
  void receive_on(std::size_t server) AFTERBAY_REQUIRES(ingest_thread);
  bool collect() AFTERBAY_REQUIRES(ingest_thread);

  transport::ServerPort& port_;
  Links links_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::size_t first_peer_;
  /// Servers to which messages are under way.
  transport::ActiveList sending_to_ AFTERBAY_GUARDED_BY(ingest_thread);
  /// The next of the other servers whose link is used, so that it hears of the server's end.
  std::size_t next_link_ AFTERBAY_GUARDED_BY(ingest_thread) = 0;
  std::deque<std::pair<std::size_t, transport::Bytes>> arrived_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
