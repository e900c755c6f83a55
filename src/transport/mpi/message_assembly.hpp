// SPDX-License-Identifier: Apache-2.0
// MessageAssembly: the messages of one model rank, as its server hands them out, one at a time:
// whole ones, those that came in parts, words, which overtake the others, and those that the
// server's own end makes.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <span>
#include <utility>

#include "transport/link.hpp"
#include "transport/mpi/stream.hpp"

namespace afterbay::transport::network {

/// A server has one per rank on another node: small while nothing waits.
class MessageAssembly {
 public:
  /// The next message of the stream, or part of one. There must be no message that waits. `payload`
  /// must remain until it is popped if it is a whole message.
  void add(ItemKind kind, std::span<const std::byte> payload);
  /// A message in place of one of the stream. There must be none that waits.
  void set_own(Bytes message) {
    own_ = std::move(message);
    current_ = own_;
  }
  void add_word(std::span<const std::byte> message) { words_.emplace_back(message.begin(), message.end()); }

  /// Whether a message of the stream waits to be popped.
  [[nodiscard]] bool has_message() const noexcept { return current_.has_value(); }
  /// Whether nothing waits, words included.
  [[nodiscard]] bool empty() const noexcept { return !current_ && words_.empty(); }
  /// The first word, or else the message; valid until `pop`.
  std::optional<std::span<const std::byte>> next();
  /// Removes what `next` returned last. True: it was no word, and the stream goes on.
  bool pop();

 private:
  Bytes parts_;  ///< those of a message so far
  bool assembling_ = false;
  bool gave_word_ = false;  ///< `next` returned the first of words_
  Bytes own_;
  std::optional<std::span<const std::byte>> current_;
  std::list<Bytes> words_;
};

}  // namespace afterbay::transport::network
