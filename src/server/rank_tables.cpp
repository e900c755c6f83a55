// SPDX-License-Identifier: Apache-2.0
#include "server/rank_tables.hpp"

#include <map>
#include <set>
#include <vector>

#include "server/files/close_tickets.hpp"
#include "server/records.hpp"
#include "server/telemetry/server_totals.hpp"
#include "server/ticket_groups.hpp"

namespace afterbay::server {
namespace {

constexpr std::uint64_t allocation = 16;  // malloc's header, with rounding

/// An entry of a std::map or std::set.
template <class Value>
constexpr std::uint64_t node() {
  return 4 * sizeof(void*) + sizeof(Value) + allocation;
}
constexpr std::uint64_t bits(std::uint64_t count) { return (count + 63) / 64 * 8 + allocation; }

}  // namespace

std::uint64_t RankTables::always() const noexcept {
  constexpr std::uint64_t session_rank = 2 * sizeof(int);  // one list each: ServerIdentity, Catalog
  constexpr std::uint64_t epoch = sizeof(std::uint64_t);   // EpochKeeper: the last one that was reached
  return ranks * (session_rank + epoch + Records::bytes_per_rank() + ServerTotals::bytes_per_rank()) +
         2 * bits(ranks);  // who has ended, for the shutdown and for the definitions
}

std::uint64_t RankTables::of_collection() const noexcept {
  return ranks * Records::bytes_per_rank_and_collection() +
         2 * (node<std::pair<std::uint32_t, std::vector<std::uint64_t>>>() + allocation);
}

std::uint64_t RankTables::of_open_record(std::size_t variables) const noexcept {
  return node<std::pair<std::uint64_t, Record>>() + variables * (sizeof(std::vector<bool>) + bits(ranks)) +
         bits(ranks);  // the last: Record::cut_by
}

std::uint64_t RankTables::of_open_file() const noexcept { return CloseTickets::bytes_of(ranks); }

/// Each has a ticket, and waits for it.
std::uint64_t RankTables::of_waiting_ranks() const noexcept {
  return ranks * (TicketGroups<>::bytes_of_ticket() + node<std::pair<TicketId, std::uint64_t>>() +
                  node<std::uint64_t>());
}

}  // namespace afterbay::server
