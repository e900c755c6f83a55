// SPDX-License-Identifier: Apache-2.0
// Peers: the processes with which a server exchanges messages: the model ranks and the other I/O
// servers. Takes turns between the model ranks, and names the processes that are lost. Used by the
// ingest thread unless stated otherwise.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/ingest_thread.hpp"
#include "base/result.hpp"
#include "server/fellow_servers.hpp"
#include "transport/link.hpp"
#include "wire/archive.hpp"

namespace afterbay::server {

class Peers {
 public:
  /// `links`: to the other servers; see FellowServers. `ranks`: number of model ranks.
  Peers(std::unique_ptr<transport::ServerPort> port, FellowServers::Links links, std::size_t ranks)
      : port_(std::move(port)), fellows_(*port_, std::move(links), ranks), ranks_(ranks) {}

  [[nodiscard]] std::size_t ranks() const noexcept { return ranks_; }
  /// Which of its functions any thread may call is stated there.
  [[nodiscard]] transport::ServerPort& port() noexcept { return *port_; }
  /// The memory that receives the ranks' data; any thread.
  [[nodiscard]] transport::FramePool& frames() { return port_->frames(); }
  [[nodiscard]] FellowServers& servers() noexcept AFTERBAY_REQUIRES(ingest_thread) { return fellows_; }

  /// Sends to model rank `peer`; never blocks.
  template <class Message>
  void send(std::size_t peer, const Message& message) AFTERBAY_REQUIRES(ingest_thread) {
    port_->send(peer, wire::encode(message));
  }
  /// Sends to all model ranks; never blocks.
  template <class Message>
  void send_to_ranks(const Message& message) AFTERBAY_REQUIRES(ingest_thread) {
    const auto bytes = wire::encode(message);
    for (std::size_t p = 0; p < ranks_; ++p) port_->send(p, bytes);
  }

  /// The most messages that `receive` takes from a rank before the next rank has its turn.
  static constexpr int most_messages_a_turn = 256;
  /// Gives each rank a turn: calls `handle(peer, message)` for its messages until
  /// `may_take(message)` returns false; that message stays with the transport. Returns whether
  /// there were messages.
  template <class MayTake, class Handle>
  bool receive(const MayTake& may_take, const Handle& handle) AFTERBAY_REQUIRES(ingest_thread) {
    bool did = false;
    std::vector<std::size_t> ready;
    port_->ready(0, ranks_, ready);
    for (const std::size_t peer : ready) {
      for (int i = 0; i < most_messages_a_turn; ++i) {
        const auto message = port_->peek(peer);
        if (!message || !may_take(*message)) break;
        did = true;
        handle(peer, *message);
        port_->pop(peer);
      }
    }
    return did;
  }

  /// A process that is gone.
  struct Lost {
    bool is_server = false;
    std::size_t number = 0;  ///< number of the model rank or server
    Error error;             ///< the available information
    bool ended = false;      ///< it reported its end itself; otherwise it has died
  };
  /// The next process that is gone and has not ended cleanly. Nothing is sent to such a server any
  /// more. A server whose messages have arrived and were not handled is returned later: one of them
  /// may say that it ended.
  [[nodiscard]] std::optional<Lost> next_lost() AFTERBAY_REQUIRES(ingest_thread);

 private:
  std::unique_ptr<transport::ServerPort> port_;
  FellowServers fellows_ AFTERBAY_GUARDED_BY(ingest_thread);
  const std::size_t ranks_;
};

}  // namespace afterbay::server
