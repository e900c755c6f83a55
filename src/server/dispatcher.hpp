// SPDX-License-Identifier: Apache-2.0
// Dispatcher: gives files to the servers that have the least to write (placement `least`, and collections
// of several pools with `pool_choice` least). One server of the session decides for all ranks, one file of
// a collection ahead: the answer is there when the file is opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <utility>

#include "wire/model_messages.hpp"

namespace afterbay::server {

class Dispatcher {
 public:
  /// A server's own account: bytes that it took in and has not written, and how many of the files given to it
  /// have ended, published or given up.
  void report(std::size_t server, std::uint64_t backlog_bytes, std::uint64_t files_ended);
  /// The leader of the candidate that gets the next file of a collection, expected to have so many bytes:
  /// the one with the least backlog and bytes still to come per server; of equal ones the one whose servers
  /// were chosen least recently, by whichever collection. Called when the collection's file before is opened:
  /// only then that counts as still to come.
  std::uint32_t assign(std::uint32_t collection, std::span<const wire::Candidate> candidates,
                       std::uint64_t expected_bytes);

 private:
  struct Load {
    std::uint64_t backlog_bytes = 0;
    std::uint64_t files_ended = 0;
    std::uint64_t chosen = 0;            ///< number of the choice that was the last to fall on it; 0: none
    std::deque<std::uint64_t> promised;  ///< bytes of the files opened there that have not ended
    [[nodiscard]] std::uint64_t bytes() const;
  };
  [[nodiscard]] double load_of(const wire::Candidate& candidate);
  [[nodiscard]] std::uint64_t last_choice(const wire::Candidate& candidate);

  std::map<std::uint32_t, Load> loads_;
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint64_t>> ahead_;  ///< leader, bytes; by collection
  std::uint64_t choices_ = 0;
};

}  // namespace afterbay::server
