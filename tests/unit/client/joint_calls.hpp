// SPDX-License-Identifier: Apache-2.0
// Calls of JointPuts as callers of one rank make them. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "unit/client/joint_rank.hpp"

namespace afterbay::test {

inline client::JointPuts::Wanted wanted_put(JointRank& rank, const std::string& variable,
                                            std::uint64_t record, std::uint64_t step = 0) {
  client::JointPuts::Wanted it;
  it.file = rank.file().get();
  it.variable = rank.variable(variable);
  it.record = record;
  it.step = step;
  it.fixed = variable == "fixed";
  return it;
}

/// Opens a put that must not be refused.
inline client::JointPut& open_put(JointRank& rank, const client::Member& member,
                                  const client::JointPuts::Wanted& what) {
  const auto opened = rank.joint().open(member, what);
  EXPECT_TRUE(opened) << opened.error().text();
  return *opened.value().put;
}

inline Error refused_open(JointRank& rank, const client::Member& member,
                          const client::JointPuts::Wanted& what) {
  const auto opened = rank.joint().open(member, what);
  return opened ? Error(ErrorCode::internal, "nothing was refused") : opened.error();
}

/// Hands over values of a piece, as a caller does after `open`.
inline void hand_over(JointRank& rank, client::JointPut& put, std::size_t piece, std::uint64_t values) {
  put.note_contribution();
  if (put.is_direct()) {
    const client::Handover& handover = put.handover();
    const client::PieceSite& site = handover.plan->pieces[piece].site;
    const client::JointPuts::TurnOf who(rank.joint(), put, piece);
    const auto frame = rank.joint()
                           .end_of(handover.owner(site))
                           .reserve(handover.slot(site), site.in_frame, who, transport::Millis(0));
    ASSERT_TRUE(frame) << frame.error().text();
    const auto counted = rank.joint().deliver_to_piece(put, piece, values);
    ASSERT_TRUE(counted) << counted.error().text();
  }
  const auto delivered = rank.joint().deliver(put, values);
  ASSERT_TRUE(delivered) << delivered.error().text();
}

/// All values of variable k, which has one piece.
inline void put_k(JointRank& rank, const client::Member& member, std::uint64_t record,
                  std::uint64_t step = 0) {
  hand_over(rank, open_put(rank, member, wanted_put(rank, "k", record, step)), 0, JointRank::cells);
}

/// The part [first, first + count) of the line.
inline void take_part(JointRank& rank, client::Member& member, std::uint64_t first, std::uint64_t count) {
  client::EndpointPart part;
  part.name = "line";
  part.decomposition = static_cast<int>(rank.line().id);
  part.block = Block{{JointRank::cells}, {first}, {count}};
  const auto added =
      rank.joint().in_team([&](client::Team& team) { return team.add(member, part, &rank.line()); });
  ASSERT_TRUE(added) << added.error().text();
}

}  // namespace afterbay::test
