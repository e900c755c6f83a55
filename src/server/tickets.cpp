// SPDX-License-Identifier: Apache-2.0
#include "server/tickets.hpp"

#include <algorithm>

namespace afterbay::server {

bool Tickets::has(std::size_t peer, std::uint64_t number) const {
  return std::ranges::any_of(open_, [&](const Ticket& it) { return it.peer == peer && it.number == number; });
}

void Tickets::answer_written(const IsWritten& is_written) {
  std::erase_if(open_, [&](const Ticket& ticket) AFTERBAY_REQUIRES(ingest_thread) {
    if (!is_written(ticket)) return false;
    answer(ticket.peer, ticket.number);
    return true;
  });
}

void Tickets::answer(std::size_t peer, std::uint64_t number) {
  send_(peer, number);
  std::erase_if(waiters_,
                [&](const Waiter& waiter) { return waiter.peer == peer && waiter.number == number; });
}

void Tickets::add_waiter(std::size_t peer, std::uint64_t number, std::uint64_t now_ns) {
  waiters_.push_back({peer, number, now_ns});
}

bool Tickets::waited_longer(std::uint64_t limit_ns, std::uint64_t now_ns) const {
  return std::ranges::any_of(waiters_,
                             [&](const Waiter& waiter) { return now_ns - waiter.since_ns > limit_ns; });
}

void Tickets::clear() {
  open_.clear();
  waiters_.clear();
}

}  // namespace afterbay::server
