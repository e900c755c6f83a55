// SPDX-License-Identifier: Apache-2.0
#include "server/puts.hpp"

#include "base/clock.hpp"

namespace afterbay::server {

void Puts::flush(std::size_t peer, const wire::Flush& message) {
  tickets_.add(ticket_for(peer, message.ticket, message.strings));
}

void Puts::note_waiter(std::size_t peer, const wire::Waiting& message) {
  if (tickets_.has(peer, message.ticket) || host_.has_other_ticket(peer, message.ticket))
    tickets_.add_waiter(peer, message.ticket, now_ns());
}

OpenTicket Puts::ticket_for(std::size_t peer, std::uint64_t number, std::uint64_t strings) const {
  return {peer, number, records_.bounds(peer), host_.closed_files(peer), strings};
}

bool Puts::is_written(const OpenTicket& ticket) {
  if (!strings_.written_up_to(ticket.strings)) return false;
  for (const std::uint64_t id : ticket.files)
    if (host_.is_open(id)) return false;
  for (const auto& [collection, bound] : ticket.bounds)
    if (const auto& records = records_.of(collection); !records.empty() && records.begin()->first < bound)
      return false;
  return true;
}

void Puts::answer_written() {
  tickets_.answer_written([this](const OpenTicket& ticket)
                              AFTERBAY_REQUIRES(ingest_thread) { return is_written(ticket); });
}

}  // namespace afterbay::server
