// SPDX-License-Identifier: Apache-2.0
// The parts of a server's port: one PeerEnd per model rank, of any transport, and a Network for
// transports that must be polled.
#pragma once

#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "transport/link.hpp"

namespace afterbay::transport {

/// A frame instance for which a peer needs room: its place in the order of requests, and its
/// record.
struct AwaitedRoom {
  std::uint64_t order = 0;
  std::uint64_t seq = 0;
  auto operator<=>(const AwaitedRoom&) const = default;
};

/// What an end needs from its port, which visits no others.
struct PeerNeeds {
  bool pump = false;     ///< `pump` has something to do, or a request is active
  bool sending = false;  ///< messages wait to be received by the rank, or for room; only if `pump`
  /// Data are in transit that only arrive while the network is looked at; only if `pump`.
  bool transferring = false;
  bool message = false;                            ///< `peek` has a message
  bool check = false;                              ///< the rank has failed or ended: check_alive may say so
  std::optional<AwaitedRoom> room = std::nullopt;  ///< its data wait for this; `pump` tries again
};

/// A server's end of its pair with one model rank; see ServerPort for the meaning of the calls.
class PeerEnd {
 public:
  virtual ~PeerEnd() = default;
  virtual std::optional<std::span<const std::byte>> peek() = 0;
  virtual void pop() = 0;
  virtual void send(std::span<const std::byte> message) = 0;
  /// Only ends whose rank shares no memory with the server send data.
  virtual void send_data(std::span<const std::byte> /*message*/, OutgoingData /*data*/) {
    assert(false && "this rank reads from the server's memory");
  }
  virtual bool pump() = 0;
  /// Begins to send messages that `pump` would send later.
  virtual void begin_messages() {}
  /// The port asks after each call, and when a network has received something for this end.
  [[nodiscard]] virtual PeerNeeds needs() const = 0;
  /// Fails if the rank is gone and all its messages have been read.
  virtual Result<void> check_alive() = 0;
  /// For a rank that is gone: whether it reported its end itself. Also true while that report may
  /// still be in transit.
  [[nodiscard]] virtual bool has_ended() const = 0;
  /// The rank ended cleanly: it is no longer watched and delays no other rank.
  virtual void forget() = 0;
  /// The server failed: the rank must no longer wait for room.
  virtual void fail() = 0;
  /// The port ends: informs the rank. Does not wait; called again until it returns true: nothing is
  /// left to send. The port waits once for all its ends.
  virtual bool leave() { return true; }
  [[nodiscard]] virtual std::string transport() const = 0;
  [[nodiscard]] virtual std::uint64_t messages() const = 0;
};

/// Progresses the messages of all pairs that need polling.
class Network {
 public:
  virtual ~Network() = default;
  /// True: there was progress.
  virtual bool progress() = 0;
  /// Whether transfers that belong to no end yet are in progress, which only advance during
  /// `progress`.
  [[nodiscard]] virtual bool transferring() const { return false; }
  /// Whether ends may keep messages back until `progress` is called again.
  [[nodiscard]] virtual bool holds_back() const { return false; }
  /// Whether messages wait to be received by ranks whose ends need no `pump` until then.
  [[nodiscard]] virtual bool sending() const { return false; }
  /// Most bytes of buffers for data that arrive, at a time.
  [[nodiscard]] virtual std::uint64_t peak_bytes() const { return 0; }
};

}  // namespace afterbay::transport
