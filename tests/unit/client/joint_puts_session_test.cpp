// SPDX-License-Identifier: Apache-2.0
// What the session does for the joint puts of its rank: data that go through its thread, its own
// calls, and what errors say.
#include "client/joint_puts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "transport/shm/frame_table.hpp"
#include "unit/client/joint_calls.hpp"

namespace afterbay::client {
namespace {

using test::hand_over;
using test::JointRank;
using test::open_put;
using test::put_k;
using test::refused_open;
using test::take_part;
using test::wanted_put;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using transport::Millis;
using transport::shm::order_of;

// ---- data that go through the session's thread

TEST(ClientJointPutsOfOneThread, parts_are_collected_until_the_sessions_thread_forwards_them) {
  JointRank rank({.one_thread = true});
  rank.start();
  const auto a = rank.join("a");
  JointPut& put = open_put(rank, *a, wanted_put(rank, "v", 0));
  ASSERT_FALSE(put.is_direct());
  auto* const values = reinterpret_cast<double*>(put.rank_array());
  for (std::uint64_t i = 0; i < JointRank::cells; ++i) values[i] = static_cast<double>(i);
  hand_over(rank, put, 0, JointRank::cells / 2);
  ASSERT_TRUE(rank.tend());
  EXPECT_THAT(rank.received(), ElementsAre("begin record 0 as 0")) << "a part is missing";
  hand_over(rank, put, 0, JointRank::cells / 2);
  EXPECT_THAT(rank.received(), IsEmpty()) << "an endpoint's thread sends nothing";
  ASSERT_TRUE(rank.tend());
  EXPECT_THAT(rank.received(), ElementsAre("v[0] of 0", "v[1] of 0", "v[2] of 0", "v[3] of 0", "put v of 0"));
  std::vector<double> expected(JointRank::cells);
  for (std::uint64_t i = 0; i < JointRank::cells; ++i) expected[i] = static_cast<double>(i);
  EXPECT_EQ(rank.values<double>("v", 0), expected);
  EXPECT_EQ(rank.order_at(0), order_of(2, 0)) << "the next put";
}

TEST(ClientJointPutsOfOneThread, puts_are_forwarded_step_by_step) {
  JointRank rank({.one_thread = true});
  rank.start();
  const auto slow = rank.join("slow");
  const auto fast = rank.join("fast");
  JointPut& first = open_put(rank, *slow, wanted_put(rank, "v", 0));
  ASSERT_TRUE(rank.joint().end_step(*fast));
  put_k(rank, *fast, 1, 1);
  ASSERT_TRUE(rank.joint().end_step(*fast));
  put_k(rank, *slow, 0);
  ASSERT_TRUE(rank.tend());
  EXPECT_THAT(rank.received(), ElementsAre("begin record 0 as 0", "begin record 1 as 1"))
      << "the oldest put of the first step is not complete";
  hand_over(rank, first, 0, JointRank::cells);
  ASSERT_TRUE(rank.joint().end_step(*slow));
  ASSERT_TRUE(rank.end_session_step());
  EXPECT_THAT(rank.received(),
              ElementsAre("v[0] of 0", "v[1] of 0", "v[2] of 0", "v[3] of 0", "put v of 0", "k[0] of 0",
                          "put k of 0", "end before 1 in step 1", "k[0] of 1", "put k of 1"));
}

TEST(ClientJointPutsOfOneThread, what_is_collected_is_bounded_except_for_those_who_owe_a_part) {
  constexpr std::uint64_t one_put = JointRank::cells * sizeof(double);
  JointRank rank({.one_thread = true, .memory_bytes = one_put + one_put / 2});
  rank.start();
  const auto a = rank.join("a");
  const auto b = rank.join("b");
  take_part(rank, *b, 0, JointRank::piece_cells);
  open_put(rank, *a, wanted_put(rank, "v", 0)).note_contribution();
  JointPuts::Wanted more = wanted_put(rank, "v", 1);
  more.may_wait = false;
  const Error full = refused_open(rank, *a, more);
  EXPECT_EQ(full.code, ErrorCode::would_block);
  EXPECT_THAT(full.message,
              HasSubstr("65536 bytes of 98304 (memory.endpoints) hold puts that wait for the thread "
                        "that uses the session"));
  EXPECT_TRUE(rank.joint().open(*b, more)) << "the first put may wait for its part";
  JointPuts::Wanted another = wanted_put(rank, "v", 2);
  another.may_wait = false;
  another.has_begun_others = true;
  EXPECT_TRUE(rank.joint().open(*a, another)) << "it owes a section of another put";
}

TEST(ClientJointPutsOfOneThread, memory_is_free_again_when_a_put_was_forwarded) {
  JointRank rank({.one_thread = true, .memory_bytes = JointRank::cells * sizeof(double)});
  rank.start();
  const auto a = rank.join("a");
  hand_over(rank, open_put(rank, *a, wanted_put(rank, "v", 0)), 0, JointRank::cells);
  JointPuts::Wanted next = wanted_put(rank, "v", 1);
  next.may_wait = false;
  EXPECT_EQ(refused_open(rank, *a, next).code, ErrorCode::would_block);
  ASSERT_TRUE(rank.tend());
  EXPECT_TRUE(rank.joint().open(*a, next));
}

TEST(ClientJointPutsOfOneThread, who_waits_in_the_sessions_thread_forwards_what_is_complete) {
  JointRank rank({.one_thread = true, .memory_bytes = JointRank::cells * sizeof(double)});
  rank.start();  // by this thread, which thereby is the session's
  const auto a = rank.join("a");
  hand_over(rank, open_put(rank, *a, wanted_put(rank, "v", 0)), 0, JointRank::cells);
  const JointPut& next = open_put(rank, *a, wanted_put(rank, "v", 1));
  EXPECT_EQ(next.number(), 2U);
  EXPECT_THAT(rank.received(), ElementsAre("begin record 0 as 0", "v[0] of 0", "v[1] of 0", "v[2] of 0",
                                           "v[3] of 0", "put v of 0"));
}

// ---- calls of the session

TEST(ClientJointPutsOfTheSession, announces_a_record_without_values) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  const std::uint32_t k = rank.variable("k");
  const auto announce = [&](std::uint64_t record, std::optional<std::uint32_t> reduced) {
    return rank.in_session("put", [&]() -> Result<> {
      AFTERBAY_TRY(rank.joint().announce(*rank.file(), record, 0, reduced));
      return rank.joint().tend();
    });
  };
  ASSERT_TRUE(announce(4, {}));
  ASSERT_TRUE(announce(4, k));
  EXPECT_THAT(rank.received(), ElementsAre("begin record 4 as 0", "put k of 0"));
  const auto twice = announce(4, k);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::conflict);
  EXPECT_THAT(twice.error().message, HasSubstr("record 4 of the variable was put already"));
  for (std::uint64_t record = 5; record < 4 + CollectionRecords::most_open; ++record)
    ASSERT_TRUE(announce(record, {})) << record;
  const auto too_many = announce(0, {});
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().code, ErrorCode::bad_state);
  EXPECT_THAT(too_many.error().message,
              HasSubstr("32 records of collection 'c' have been begun in this step"));
}

TEST(ClientJointPutsOfTheSession, settling_ends_the_records_of_a_step_that_only_the_session_puts) {
  JointRank rank({});
  const auto settle = [&](bool last) {
    return rank.in_session("flush", [&] { return rank.joint().settle("flush", nullptr, last); });
  };
  EXPECT_TRUE(settle(false)) << "no puts are joint ones yet";
  rank.start();
  put_k(rank, *rank.session(), 0);
  (void)rank.received();
  ASSERT_TRUE(settle(false));
  EXPECT_THAT(rank.received(), ElementsAre("end before 1 in step 0 (within it)"));
  const auto a = rank.join("a");
  put_k(rank, *a, 1);
  ASSERT_TRUE(settle(false));
  ASSERT_TRUE(settle(true));
  EXPECT_THAT(rank.received(), ElementsAre("begin record 1 as 1", "k[0] of 1", "put k of 1"))
      << "an endpoint may go on with the step";
  ASSERT_TRUE(rank.joint().leave(*a));
  ASSERT_TRUE(settle(false));
  EXPECT_THAT(rank.received(), IsEmpty()) << "another endpoint may be opened";
  ASSERT_TRUE(settle(true));
  EXPECT_THAT(rank.received(), ElementsAre("end before 2 in step 0"));
}

TEST(ClientJointPutsOfTheSession, a_file_is_closed_when_nothing_of_it_is_open) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  const auto other = rank.another_file("other.nc");
  put_k(rank, *a, 0);
  JointPuts::Wanted in_other = wanted_put(rank, "k", 0);
  in_other.file = other.get();
  open_put(rank, *a, in_other).note_contribution();  // does not concern the file that is closed
  ASSERT_TRUE(rank.in_session("close", [&] { return rank.joint().settle("close", rank.file().get()); }));
  EXPECT_TRUE(rank.file()->closed);
  EXPECT_FALSE(other->closed);
  EXPECT_EQ(refused_open(rank, *a, wanted_put(rank, "k", 1)).code, ErrorCode::bad_state);
  EXPECT_EQ(rank.file()->collection->records().find(0, rank.file()->id, 0, false), std::nullopt);
}

TEST(ThreadClientJointPuts, closing_waits_until_a_put_into_the_file_is_complete) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  JointPut& put = open_put(rank, *a, wanted_put(rank, "k", 0));
  hand_over(rank, put, 0, 1);
  std::atomic<bool> complete{false};
  std::jthread endpoint([&] {
    complete = true;
    hand_over(rank, put, 0, JointRank::cells - 1);
  });
  const auto closed =
      rank.in_session("close", [&] { return rank.joint().settle("close", rank.file().get()); });
  ASSERT_TRUE(closed) << closed.error().text();
  EXPECT_TRUE(complete);
  EXPECT_THAT(rank.received(), ElementsAre("begin record 0 as 0", "k[0] of 0", "put k of 0"))
      << "everything of the file is sent before it is closed";
}

TEST(ClientJointPutsOfTheSession, who_does_not_end_a_step_that_the_session_has_ended_is_named) {
  JointRank rank({.deadline = Millis(50)});
  rank.start();
  const auto slow = rank.join("slow");
  take_part(rank, *slow, 0, JointRank::cells);
  open_put(rank, *slow, wanted_put(rank, "k", 0)).note_contribution();
  ASSERT_TRUE(rank.end_session_step());
  const auto settled = rank.in_session("flush", [&] { return rank.joint().settle("flush"); });
  ASSERT_FALSE(settled);
  EXPECT_EQ(settled.error().code, ErrorCode::timed_out);
  EXPECT_THAT(
      settled.error().message,
      HasSubstr("endpoint 1 ('slow') has ended 0 of 1 steps and made 0 puts; 8192 of 8192 values of variable "
                "'k', record 0 of c.nc are missing: not handed over by endpoint 1 ('slow')"));
  EXPECT_FALSE(rank.joint().check_usable());
}

TEST(ClientJointPutsOfTheSession, a_late_endpoint_is_found_although_the_session_does_not_wait_for_it) {
  JointRank rank({.deadline = Millis(50)});
  rank.start();
  const auto slow = rank.join("slow");
  ASSERT_TRUE(rank.tend());
  ASSERT_TRUE(rank.end_session_step());
  Result<> tended;
  while (tended) {
    std::this_thread::sleep_for(Millis(1));
    tended = rank.tend();
  }
  EXPECT_EQ(tended.error().code, ErrorCode::timed_out);
  EXPECT_THAT(tended.error().message,
              AllOf(HasSubstr("the endpoints of this rank made no progress for"),
                    HasSubstr("while the session went on: endpoint 1 ('slow') has ended 0 of 1 steps")));
  EXPECT_FALSE(rank.core().is_usable());
}

TEST(ClientJointPutsOfTheSession, calls_fail_after_the_end_and_calls_that_go_on_are_waited_for) {
  JointRank rank({.deadline = Millis(50)});
  rank.joint().stop(Error(ErrorCode::bad_state, "too early"));
  rank.start();
  EXPECT_TRUE(rank.joint().check_usable()) << "nobody shared the puts before";
  const auto a = rank.join("a");
  EXPECT_TRUE(rank.joint().await_idle());
  a->use = EndpointUse::in_call;
  EXPECT_FALSE(rank.joint().await_idle());
  a->use = EndpointUse::none;
  rank.joint().stop(Error(ErrorCode::bad_state, "the session has been finalized"));
  rank.joint().stop(Error(ErrorCode::io, "another reason"));
  EXPECT_EQ(refused_open(rank, *a, wanted_put(rank, "k", 0)).message, "the session has been finalized");
  EXPECT_EQ(rank.tend().error().message, "the session has been finalized") << "the first reason stays";
}

TEST(ClientJointPutsOfTheSession, an_error_says_which_part_is_missing) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  Error nothing_open(ErrorCode::timed_out, "waited");
  rank.joint().add_work(nothing_open);
  EXPECT_EQ(nothing_open.file, "");
  EXPECT_THAT(nothing_open.context, IsEmpty());
  take_part(rank, *a, 0, JointRank::piece_cells);
  open_put(rank, *a, wanted_put(rank, "v", 0)).note_contribution();
  Error error(ErrorCode::timed_out, "waited");
  rank.joint().add_work(error);
  EXPECT_EQ(error.file, "c.nc");
  EXPECT_THAT(error.context,
              ElementsAre(AllOf(HasSubstr("8192 of 8192 values of variable 'v', record 0 of c.nc"),
                                HasSubstr("not handed over by endpoint 1 ('a')"),
                                HasSubstr("6144 points of decomposition 'line' belong to no endpoint"))));
}

TEST(ClientJointPutsOfTheSession, an_error_of_a_server_says_which_endpoints_it_concerns) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  take_part(rank, *a, 0, JointRank::cells);
  put_k(rank, *rank.session(), 2);
  const auto told = [&](const std::string& file, const std::string& variable) {
    Error error(ErrorCode::conflict, "another rank differs");
    error.in_file(file).in_variable(variable);
    rank.joint().add_work(error, true);
    return error.context;
  };
  EXPECT_THAT(told("c.nc", ""), IsEmpty()) << "no endpoint has begun a record";
  put_k(rank, *a, 7);
  open_put(rank, *a, wanted_put(rank, "fixed", 0)).note_contribution();
  EXPECT_THAT(
      told("c.nc", ""),
      ElementsAre("begun on this rank, in this order: record 2 by the session itself in step 0, record 7 by "
                  "endpoint 1 ('a') in step 0, the variables without records by endpoint 1 ('a') in step 0"));
  EXPECT_THAT(told("c.nc", "k"),
              ElementsAre("endpoint 1 ('a') has a part of the points of variable 'k' on this rank"));
  EXPECT_THAT(told("c.nc", "m"), IsEmpty());
  EXPECT_THAT(told("another.nc", "k"), IsEmpty());
}

}  // namespace
}  // namespace afterbay::client
