// SPDX-License-Identifier: Apache-2.0
// Puts: what the ranks have put and what of it is not yet written, and the ranks that have asked to
// be told when everything that they put before is in its files. Used by the ingest thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/ingest_thread.hpp"
#include "server/catalog.hpp"
#include "server/open_tickets.hpp"
#include "server/records.hpp"
#include "server/string_queue.hpp"
#include "server/thread_functions.hpp"
#include "wire/model_messages.hpp"

namespace afterbay::server {

class Puts {
 public:
  struct Host {
    /// Tells the rank that everything that it put before the ticket is written.
    OpenTickets::Send answer;
    /// Files that the rank has closed and that have not ended.
    IngestFunction<std::vector<std::uint64_t>(std::size_t peer)> closed_files;
    /// Whether the file has not ended.
    IngestFunction<bool(std::uint64_t file)> is_open;
    /// Whether the ticket belongs to a close or an epoch and has not been answered.
    IngestFunction<bool(std::size_t peer, std::uint64_t ticket)> has_other_ticket;
  };

  /// `strings_limit_bytes`: memory of strings that wait to be written.
  Puts(const Catalog& catalog, std::uint64_t strings_limit_bytes, Host host)
      : host_(std::move(host)), records_(catalog), strings_(strings_limit_bytes), tickets_(host_.answer) {}

  [[nodiscard]] Records& records() noexcept AFTERBAY_REQUIRES(ingest_thread) { return records_; }
  [[nodiscard]] StringQueue& strings() noexcept AFTERBAY_REQUIRES(ingest_thread) { return strings_; }
  [[nodiscard]] const StringQueue& strings() const noexcept AFTERBAY_REQUIRES(ingest_thread) {
    return strings_;
  }
  [[nodiscard]] OpenTickets& tickets() noexcept AFTERBAY_REQUIRES(ingest_thread) { return tickets_; }

  // Messages from model rank `peer`.
  /// The rank asks to be told when everything that it has put so far is written.
  void flush(std::size_t peer, const wire::Flush& message) AFTERBAY_REQUIRES(ingest_thread);
  /// The rank waits for a ticket from now on. Ignored if the ticket was answered while this message
  /// was in transit.
  void note_waiter(std::size_t peer, const wire::Waiting& message) AFTERBAY_REQUIRES(ingest_thread);

  /// A ticket for everything that the rank has put so far. `strings`: number of its puts of
  /// strings.
  [[nodiscard]] OpenTicket ticket_for(std::size_t peer, std::uint64_t number, std::uint64_t strings) const
      AFTERBAY_REQUIRES(ingest_thread);
  /// Whether everything that the rank had put before the ticket is written.
  [[nodiscard]] bool is_written(const OpenTicket& ticket) AFTERBAY_REQUIRES(ingest_thread);
  /// Answers the tickets of `flush` whose conditions are met.
  void answer_written() AFTERBAY_REQUIRES(ingest_thread);

 private:
  Host host_;
  Records records_ AFTERBAY_GUARDED_BY(ingest_thread);
  StringQueue strings_ AFTERBAY_GUARDED_BY(ingest_thread);
  OpenTickets tickets_ AFTERBAY_GUARDED_BY(ingest_thread);
};

}  // namespace afterbay::server
