// SPDX-License-Identifier: Apache-2.0
// The parts of a server's port: one PeerEnd per model rank, of any transport, and a Network for
// transports that must be polled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"

namespace afterbay::transport {

/// A server's end of its pair with one model rank; see ServerPort for the meaning of the calls.
class PeerEnd {
 public:
  virtual ~PeerEnd() = default;
  virtual std::optional<std::span<const std::byte>> peek() = 0;
  virtual void pop() = 0;
  virtual void send(std::span<const std::byte> message) = 0;
  virtual bool pump() = 0;
  [[nodiscard]] virtual bool sending() const = 0;
  /// Fails if the rank is gone and all its messages have been read.
  virtual Result<void> check_alive() = 0;
  /// For a rank that is gone: whether it reported its end itself. Also true while that report may
  /// still be in transit.
  [[nodiscard]] virtual bool has_ended() const = 0;
  /// The rank ended cleanly: it is no longer watched and delays no other rank.
  virtual void forget() = 0;
  /// The server failed: the rank must no longer wait for room.
  virtual void fail() = 0;
  [[nodiscard]] virtual std::string transport() const = 0;
  [[nodiscard]] virtual std::uint64_t messages() const = 0;
};

/// Progresses the messages of all pairs that need polling.
class Network {
 public:
  virtual ~Network() = default;
  /// True: there was progress.
  virtual bool progress() = 0;
  /// Whether data are in transit that only arrive while `progress` is called.
  [[nodiscard]] virtual bool transferring() const = 0;
};

}  // namespace afterbay::transport
