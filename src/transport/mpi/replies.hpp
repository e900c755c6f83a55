// SPDX-License-Identifier: Apache-2.0
// Replies: what the server of a link sends back: messages and their data, credits, and what the
// headers of batches say about it.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "transport/mpi/carrier.hpp"

namespace afterbay::transport::network {

/// Belongs to one link. Used by one thread.
class Replies {
 public:
  struct Message {
    Bytes bytes;
    ReceivedData data = {};
  };

  /// `credits`: what the link begins with.
  explicit Replies(std::uint32_t credits) : credits_(credits) {}

  /// Receives what has arrived. True: messages or data arrived, or begin to. `server`: as named in
  /// errors.
  Result<bool> take(Carrier& carrier, const std::string& server);

  [[nodiscard]] bool empty() const noexcept { return inbox_.empty(); }
  /// The first message that was not handed out; there must be one.
  Message pop() {
    Message first = std::move(inbox_.front());
    inbox_.pop_front();
    return first;
  }

  /// How many segments may be sent.
  [[nodiscard]] std::uint32_t credits() const noexcept { return credits_; }
  void use_credits(std::uint32_t number) noexcept { credits_ -= number; }

  /// Whether a ping has been answered since the last call.
  [[nodiscard]] bool take_pong() noexcept { return std::exchange(pong_, false); }
  /// The server's own count of its work, and the data messages received so far.
  [[nodiscard]] std::uint64_t progress() const noexcept { return progress_; }
  [[nodiscard]] std::uint64_t data_messages() const noexcept { return data_messages_; }
  /// Whether the server itself has answered: a frontend may send credits alone.
  [[nodiscard]] bool heard() const noexcept { return heard_; }
  [[nodiscard]] bool server_failed() const noexcept { return failed_; }
  [[nodiscard]] bool server_ended() const noexcept { return ended_; }

 private:
  /// True: there were messages.
  bool take_batch(std::span<const std::byte> batch);
  Result<bool> take_data(Carrier& carrier, const std::string& server);

  std::list<Message> inbox_;  ///< small while it is empty: a rank has many links
  std::uint64_t progress_ = 0;
  std::uint64_t data_messages_ = 0;
  std::uint32_t credits_;
  bool pong_ = false;
  bool heard_ = false;
  bool failed_ = false;
  bool ended_ = false;
};

}  // namespace afterbay::transport::network
