// SPDX-License-Identifier: Apache-2.0
// OpenTickets: answers to ranks that asked to be told when their earlier puts are written, and the
// ranks that wait for an answer. Used by the ingest thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "base/ingest_thread.hpp"
#include "server/thread_functions.hpp"
#include "server/ticket_groups.hpp"

namespace afterbay::server {

class OpenTickets {
 public:
  /// Sends the answer to a rank.
  using Send = IngestFunction<void(std::size_t peer, std::uint64_t number)>;
  using IsWritten = std::function<bool(const OpenTicket&)>;

  explicit OpenTickets(Send send) : send_(std::move(send)) {}

  /// Adds a ticket that `answer_written` answers. Tickets of closes and epochs are answered by
  /// `answer`.
  void add(OpenTicket ticket) AFTERBAY_REQUIRES(ingest_thread) { open_.add(std::move(ticket)); }
  [[nodiscard]] const TicketGroups<>& open() const noexcept AFTERBAY_REQUIRES(ingest_thread) { return open_; }
  [[nodiscard]] bool has(std::size_t peer, std::uint64_t number) const AFTERBAY_REQUIRES(ingest_thread) {
    return open_.has({peer, number});
  }
  /// Calls `is_written` once for all tickets with equal conditions.
  void answer_written(const IsWritten& is_written) AFTERBAY_REQUIRES(ingest_thread);
  /// The rank no longer waits for the ticket.
  void answer(std::size_t peer, std::uint64_t number) AFTERBAY_REQUIRES(ingest_thread);

  /// The rank waits for the ticket from now on.
  void add_waiter(std::size_t peer, std::uint64_t number, std::uint64_t now_ns)
      AFTERBAY_REQUIRES(ingest_thread);
  [[nodiscard]] std::size_t waiters() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return waiters_.size();
  }
  /// Whether a rank has waited for longer than `limit_ns`.
  [[nodiscard]] bool waited_longer(std::uint64_t limit_ns, std::uint64_t now_ns) const
      AFTERBAY_REQUIRES(ingest_thread) {
    return !since_ns_.empty() && now_ns - *since_ns_.begin() > limit_ns;
  }

  /// The session has failed: no further tickets are answered.
  void clear() AFTERBAY_REQUIRES(ingest_thread);

 private:
  Send send_ AFTERBAY_GUARDED_BY(ingest_thread);
  TicketGroups<> open_ AFTERBAY_GUARDED_BY(ingest_thread);
  /// Since when ranks wait, by ticket, and the same times in order.
  std::multimap<TicketId, std::uint64_t> waiters_ AFTERBAY_GUARDED_BY(ingest_thread);
  std::multiset<std::uint64_t> since_ns_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
