// SPDX-License-Identifier: Apache-2.0
// TicketGroups: tickets, grouped by equal conditions and indexed by rank and number. All ranks that
// have put the same records have equal conditions: what it costs to test them does not depend on
// the number of ranks.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ingest_thread.hpp"

namespace afterbay::server {

/// A ticket that has not been answered: the conditions for the answer to its rank.
struct OpenTicket {
  std::size_t peer = 0;
  std::uint64_t number = 0;
  /// Each (collection, seq): all records of the collection below seq are written.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> bounds;
  std::vector<std::uint64_t> files;  ///< these files are published
  std::uint64_t strings = 0;         ///< the first `strings` puts of strings are written
};

/// Names a ticket.
struct TicketId {
  std::size_t peer = 0;
  std::uint64_t number = 0;
  auto operator<=>(const TicketId&) const = default;
};

struct TicketOrder {
  bool operator()(const TicketId& a, const TicketId& b) const { return a < b; }
  /// By their conditions only.
  bool operator()(const OpenTicket& a, const OpenTicket& b) const {
    return std::tie(a.strings, a.bounds, a.files) < std::tie(b.strings, b.bounds, b.files);
  }
};

/// `Order`: TicketOrder, or the same with a count of comparisons.
template <class Order = TicketOrder>
class TicketGroups {
 public:
  explicit TicketGroups(Order order = {}) : ids_(order), groups_(order) {}

  void add(OpenTicket ticket) {
    const TicketId id{ticket.peer, ticket.number};
    ids_.insert(id);
    groups_[std::move(ticket)].push_back({next_++, id});
  }
  [[nodiscard]] bool has(const TicketId& id) const { return ids_.contains(id); }
  [[nodiscard]] std::size_t size() const noexcept { return ids_.size(); }
  [[nodiscard]] bool empty() const noexcept { return ids_.empty(); }
  [[nodiscard]] std::size_t groups() const noexcept { return groups_.size(); }

  /// Whether all tickets fulfil the condition. Tests one ticket per group.
  template <class Condition>
  [[nodiscard]] bool all_of(const Condition& condition) const AFTERBAY_REQUIRES(ingest_thread) {
    for (const auto& [ticket, members] : groups_)
      if (!condition(ticket)) return false;
    return true;
  }
  /// Removes the tickets that fulfil the condition and returns them in the order in which they were
  /// added. Tests one ticket per group.
  template <class Condition>
  std::vector<TicketId> take_if(const Condition& condition) AFTERBAY_REQUIRES(ingest_thread) {
    std::vector<Member> taken;
    for (auto it = groups_.begin(); it != groups_.end();) {
      if (!condition(it->first)) {
        ++it;
        continue;
      }
      taken.insert(taken.end(), it->second.begin(), it->second.end());
      it = groups_.erase(it);
    }
    for (const Member& member : taken) ids_.erase(ids_.find(member.id));
    return in_order(std::move(taken));
  }
  /// All tickets in the order in which they were added.
  [[nodiscard]] std::vector<TicketId> all() const {
    std::vector<Member> members;
    for (const auto& [ticket, of_group] : groups_)
      members.insert(members.end(), of_group.begin(), of_group.end());
    return in_order(std::move(members));
  }
  /// The ticket that was added first among those that fulfil the condition; null: none.
  template <class Condition>
  [[nodiscard]] const OpenTicket* first_of(const Condition& condition) const
      AFTERBAY_REQUIRES(ingest_thread) {
    const OpenTicket* first = nullptr;
    std::uint64_t serial = next_;
    for (const auto& [ticket, members] : groups_) {
      if (members.front().serial >= serial || !condition(ticket)) continue;
      first = &ticket;
      serial = members.front().serial;
    }
    return first;
  }
  void clear() {
    ids_.clear();
    groups_.clear();
  }
  /// The most memory of one of many tickets in a group, for RankTables.
  static constexpr std::uint64_t bytes_of_ticket() noexcept {
    constexpr std::uint64_t allocation = 16;  // malloc's header, with rounding
    return 4 * sizeof(void*) + sizeof(TicketId) + allocation + 2 * sizeof(Member);
  }

 private:
  struct Member {
    std::uint64_t serial = 0;
    TicketId id;
  };

  static std::vector<TicketId> in_order(std::vector<Member> members) {
    std::ranges::sort(members, {}, &Member::serial);
    std::vector<TicketId> ids;
    ids.reserve(members.size());
    for (const Member& member : members) ids.push_back(member.id);
    return ids;
  }

  std::multiset<TicketId, Order> ids_;
  std::map<OpenTicket, std::vector<Member>, Order> groups_;  ///< under the first ticket of each group
  std::uint64_t next_ = 0;
};

}  // namespace afterbay::server
