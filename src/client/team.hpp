// SPDX-License-Identifier: Apache-2.0
// Team: the callers of `put` of one rank: the session itself and its endpoints, their parts of the
// rank's decompositions, and the steps that each has ended.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "client/part_plans.hpp"

namespace afterbay::client {

/// One caller of `put`. The atomics are written by the caller's thread and read by any; the rest
/// belongs to the Team.
struct Member {
  std::size_t number = 0;  ///< counts all members of the session, closed ones included; 0: the session
  std::string name;        ///< as given; may be empty
  std::atomic<std::uint64_t> puts{0};
  std::atomic<std::uint64_t> last_put{0};  ///< the number of the last put to which it contributed

  std::atomic<bool> busy{false};  ///< in a call

  std::uint64_t steps = 0;  ///< the number of steps that it has ended
  bool open = true;
  std::vector<EndpointPart> parts;

  /// "endpoint 3 ('band 3')", "the session itself".
  [[nodiscard]] std::string text() const;
};

/// Used under the lock of its owner.
class Team {
 public:
  Team();

  [[nodiscard]] const std::shared_ptr<Member>& session() const noexcept { return members_.front(); }
  [[nodiscard]] const std::vector<std::shared_ptr<Member>>& members() const noexcept { return members_; }
  /// The lowest number of an endpoint that is open, remembered, or will be opened.
  [[nodiscard]] std::size_t first_endpoint() const noexcept {
    return members_.size() > 1 ? members_[1]->number : next_;
  }
  /// A new member begins with the step in which the session is.
  std::shared_ptr<Member> join(std::string name);
  /// Closed members are remembered until no put up to their last one is open.
  void leave(Member& member);
  void forget_closed(std::uint64_t oldest_put);

  /// Adds a part. Fails (conflict) if an open member has a point of it, or the member has a part of
  /// the decomposition. Returns the number of the last put to which a closed member that had one of
  /// its points, or the session, has contributed: the part must not contribute to it, nor to
  /// earlier ones.
  Result<std::uint64_t> add(Member& member, EndpointPart part, const std::shared_ptr<MapPart>& of_rank);
  /// The session puts all of the rank's part of a decomposition, in the put of that number;
  /// `under_way`: its number is not known yet, and nobody may take over a part.
  static constexpr std::uint64_t under_way = ~std::uint64_t{0};
  void note_whole(int decomposition, std::uint64_t number) { whole_[decomposition] = number; }
  /// Whether an open member other than `member` has a part of the decomposition.
  [[nodiscard]] const Member* other_with(const Member& member, int decomposition) const;

  [[nodiscard]] bool has_only_session() const {
    return std::ranges::none_of(members_, [](const auto& it) { return it->open && it->number != 0; });
  }
  /// The number of steps that every open member has ended.
  [[nodiscard]] std::uint64_t ended_steps() const;
  /// Changes whenever an endpoint puts or ends a step.
  [[nodiscard]] std::uint64_t progress_of_endpoints() const;
  /// Whether an endpoint is in a call.
  [[nodiscard]] bool is_busy() const;
  /// The open members that have ended fewer steps, with what is known of them; "" if there are
  /// none.
  [[nodiscard]] std::string late(std::uint64_t steps) const;

 private:
  std::vector<std::shared_ptr<Member>> members_;  ///< by number, except those forgotten
  std::size_t next_ = 1;
  std::map<int, std::uint64_t> whole_;  ///< see note_whole
};

}  // namespace afterbay::client
