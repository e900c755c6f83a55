// SPDX-License-Identifier: Apache-2.0
#include "server/open_tickets.hpp"

namespace afterbay::server {

void OpenTickets::answer_written(const IsWritten& is_written) {
  for (const TicketId& id : open_.take_if(is_written)) answer(id.peer, id.number);
}

void OpenTickets::answer(std::size_t peer, std::uint64_t number) {
  send_(peer, number);
  const auto [first, last] = waiters_.equal_range({peer, number});
  for (auto it = first; it != last; ++it) since_ns_.erase(since_ns_.find(it->second));
  waiters_.erase(first, last);
}

void OpenTickets::add_waiter(std::size_t peer, std::uint64_t number, std::uint64_t now_ns) {
  waiters_.emplace(TicketId{peer, number}, now_ns);
  since_ns_.insert(now_ns);
}

void OpenTickets::clear() {
  open_.clear();
  waiters_.clear();
  since_ns_.clear();
}

}  // namespace afterbay::server
