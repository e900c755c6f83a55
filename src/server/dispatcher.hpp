// SPDX-License-Identifier: Apache-2.0
// Dispatcher: gives files to the servers that have the least to write (placement `least`). One server of a
// pool, its first, decides for all ranks, one file of a collection ahead: the answer is there when the file
// is opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <utility>

namespace afterbay::server {

class Dispatcher {
 public:
  /// A server's own account: bytes that it took in and has not written, and how many of the files given to it
  /// have ended, published or given up.
  void report(std::size_t server, std::uint64_t backlog_bytes, std::uint64_t files_ended);
  /// One of `servers`, which gets the next file of a collection, expected to have so many bytes: the one with
  /// the least backlog and bytes still to come; of equal ones the next after the one chosen last. Called when
  /// the collection's file before is opened: only then that counts as still to come.
  std::size_t assign(std::uint32_t collection, std::span<const std::uint32_t> servers,
                     std::uint64_t expected_bytes);

 private:
  struct Load {
    std::uint64_t backlog_bytes = 0;
    std::uint64_t files_ended = 0;
    std::deque<std::uint64_t> promised;  ///< bytes of the files opened there that have not ended
    [[nodiscard]] std::uint64_t bytes() const;
  };
  std::map<std::size_t, Load> loads_;
  std::map<std::uint32_t, std::pair<std::size_t, std::uint64_t>> ahead_;  ///< server and bytes, by collection
  std::size_t next_ = 0;  ///< of equal servers the first from this number on
};

}  // namespace afterbay::server
