// SPDX-License-Identifier: Apache-2.0
// Tickets of flush: what must be finished before each can be answered. Used by the ingest thread.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace afterbay::server {

struct Ticket {
  std::size_t peer = 0;
  std::uint64_t number = 0;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> bounds;  ///< (collection, seq): all below are written
  std::vector<std::uint64_t> files;                             ///< published
  std::uint64_t strings = 0;  ///< puts of strings: the first so many are written
};

/// A rank that said it waits, and since when.
struct Waiter {
  std::size_t peer = 0;
  std::uint64_t number = 0;
  std::uint64_t since_ns = 0;
};

struct Tickets {
  std::vector<Ticket> open;
  std::vector<Waiter> waiters;
};

}  // namespace afterbay::server
