// SPDX-License-Identifier: Apache-2.0
// What a server's port is put together from: one PeerEnd a model rank, of whatever transport, and
// a Network for those that must be moved by polling.
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
  /// Fails when the rank is gone and has left nothing to read.
  virtual Result<void> check_alive() = 0;
  /// Of a rank that is gone: it said so itself. True as well where that may still be on its way.
  [[nodiscard]] virtual bool has_ended() const = 0;
  /// The rank ended in order: it is watched no longer and holds nobody up.
  virtual void forget() = 0;
  /// The server failed: the rank must not wait for room any more.
  virtual void fail() = 0;
  [[nodiscard]] virtual std::string transport() const = 0;
  [[nodiscard]] virtual std::uint64_t messages() const = 0;
};

/// Moves messages of all pairs that need polling.
class Network {
 public:
  virtual ~Network() = default;
  /// True: something moved.
  virtual bool progress() = 0;
  /// Data are under way that come in only as `progress` is called.
  [[nodiscard]] virtual bool transferring() const = 0;
};

}  // namespace afterbay::transport
