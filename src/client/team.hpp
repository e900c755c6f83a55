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
#include "client/joint_put.hpp"
#include "client/part_plans.hpp"

namespace afterbay::client {

/// How an endpoint is used now. `slot_dropped`: a thread destroys one of its slots, which takes no
/// time and is not a call.
enum class EndpointUse : std::uint8_t { none, in_call, slot_dropped };

/// One caller of `put`. The atomics are written by the caller's thread and read by any; the rest
/// belongs to the Team.
struct Member {
  std::size_t number = 0;  ///< counts all members of the session, closed ones included; 0: the session
  /// Place among the members that are remembered, reused: JointPut::note_member; 0: the session.
  std::size_t place = 0;
  std::string name;  ///< as given; may be empty
  std::atomic<std::uint64_t> puts{0};
  std::atomic<std::uint64_t> last_put{0};  ///< the number of the last put to which it contributed
  /// One more than the step of the last put to which it contributed.
  std::atomic<std::uint64_t> put_steps{0};

  std::atomic<EndpointUse> use{EndpointUse::none};

  std::uint64_t steps = 0;       ///< the number of steps that it has ended
  std::uint64_t first_step = 0;  ///< step in which it was opened
  bool open = true;
  std::uint64_t closed_after = 0;  ///< the number of the rank's last put when it was closed
  std::vector<EndpointPart> parts;

  /// Its part with points of the decomposition; null: none.
  [[nodiscard]] const EndpointPart* part_of(int decomposition) const;
  /// "endpoint 3 ('band 3')", "the session itself".
  [[nodiscard]] std::string text() const;
};

/// Used under the lock of its owner.
class Team {
 public:
  Team();

  [[nodiscard]] const std::shared_ptr<Member>& session() const noexcept { return members_.front(); }
  [[nodiscard]] const std::vector<std::shared_ptr<Member>>& members() const noexcept { return members_; }
  /// A new member starts in the current step of the session.
  std::shared_ptr<Member> join(std::string name);
  /// Closed members are remembered until no put up to their last one is open, and until all have
  /// ended the step in which a member was closed whose points nobody has registered again.
  /// `last_put`: the number of the rank's last put.
  void leave(Member& member, std::uint64_t last_put);
  void forget_closed(std::uint64_t oldest_put);

  /// Adds a part. Fails (conflict) if an open member has a point of it, or the member has a part of
  /// the decomposition. Returns the number of the last put to which a closed member that had one of
  /// its points, or the session, has contributed: the part must not contribute to it, nor to
  /// earlier ones.
  /// `of`: the rank's decomposition; null for the variables without one.
  Result<std::uint64_t> add(Member& member, EndpointPart part, const Decomposition* of);
  /// The session puts all of the rank's part of a decomposition, in the put of that number;
  /// `under_way`: its number is not known yet, and nobody may take over a part.
  static constexpr std::uint64_t under_way = ~std::uint64_t{0};
  void note_whole(int decomposition, std::uint64_t number) { whole_[decomposition] = number; }
  /// Whether an open member other than `member` has a part of the decomposition.
  [[nodiscard]] const Member* other_with(const Member& member, int decomposition) const;
  /// The number of the last put to which a closed endpoint with points of the decomposition has
  /// contributed; 0: none is remembered.
  [[nodiscard]] std::uint64_t last_put_of_closed(int decomposition) const;
  /// Whether the put may lack a part of this member. The session: whether it lacks any, because its
  /// thread may use endpoints too.
  [[nodiscard]] bool may_owe(const Member& member, const JointPut& put) const;

  /// An endpoint with points of the decomposition that has ended the step, and has put into a later
  /// one: it will not put into that step any more. Null: none.
  [[nodiscard]] const Member* ahead_of(int decomposition, std::uint64_t step) const;
  /// Names the endpoints that have not handed over a part of the put, and the points that nobody
  /// has, for messages; "" if neither is known.
  [[nodiscard]] std::string without(const JointPut& put) const;

  /// "endpoint 1 ('upper') has a part", "endpoint 1 ('upper') and endpoint 2 have parts": the open
  /// endpoints with points of the decomposition, for messages; "" if there are none.
  [[nodiscard]] std::string holders(int decomposition) const;
  /// The name of a member that may have been forgotten, for messages.
  [[nodiscard]] std::string name_of(std::size_t number) const;

  [[nodiscard]] bool has_only_session() const {
    return std::ranges::none_of(members_, [](const auto& it) { return it->open && it->number != 0; });
  }
  /// Whether an endpoint was ever opened.
  [[nodiscard]] bool has_had_endpoints() const noexcept { return next_ > 1; }
  /// The number of steps that every open member has ended.
  [[nodiscard]] std::uint64_t ended_steps() const;
  /// Changes whenever an endpoint puts or ends a step.
  [[nodiscard]] std::uint64_t progress_of_endpoints() const;
  /// Whether an endpoint is in a call.
  [[nodiscard]] bool is_busy() const;
  /// Text for errors: the open members that have ended fewer than `steps` steps, and the numbers of
  /// steps and puts of the slowest; "" if there are none.
  [[nodiscard]] std::string late(std::uint64_t steps) const;

 private:
  /// The rank's part of a decomposition.
  struct OfRank {
    std::string name;
    Block block;
    std::shared_ptr<MapPart> map;  ///< null: a block
  };
  /// The points of the rank that are in none of the parts, for messages; "" if there are none.
  [[nodiscard]] static std::string uncovered(const OfRank& rank,
                                             const std::vector<const EndpointPart*>& parts);

  std::map<int, OfRank> of_rank_;                 ///< by decomposition, if endpoints have parts of it
  std::vector<std::shared_ptr<Member>> members_;  ///< by number, except those forgotten
  std::size_t next_ = 1;
  std::size_t next_place_ = 1;
  std::vector<std::size_t> free_places_;
  std::map<int, std::uint64_t> whole_;  ///< see note_whole
};

}  // namespace afterbay::client
