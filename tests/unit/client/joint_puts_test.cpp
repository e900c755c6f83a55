// SPDX-License-Identifier: Apache-2.0
// Puts by several callers of one rank: what the servers get, in which order and when, and what is
// refused.
#include "client/joint_puts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
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
using Turn = transport::ThreadEnd::Turn;

constexpr std::uint64_t piece_cells = JointRank::piece_cells;
constexpr std::uint64_t all_cells = JointRank::cells;

TEST(ClientJointPuts, a_put_is_begun_once_and_reported_when_the_last_part_has_come) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  const auto b = rank.join("b");
  JointPut& put = open_put(rank, *a, wanted_put(rank, "v", 3));
  EXPECT_EQ(put.number(), 1U);
  EXPECT_EQ(&open_put(rank, *b, wanted_put(rank, "v", 3)), &put);
  hand_over(rank, put, 0, piece_cells);
  hand_over(rank, put, 1, piece_cells - 1);
  EXPECT_THAT(rank.received(), ElementsAre("begin record 3 as 0", "v[0] of 0"));
  EXPECT_EQ(put.missing_values(), all_cells - 2 * piece_cells + 1);
  hand_over(rank, put, 3, piece_cells);
  hand_over(rank, put, 1, 1);
  EXPECT_THAT(rank.received(), ElementsAre("v[3] of 0", "v[1] of 0"));
  hand_over(rank, put, 2, piece_cells);
  EXPECT_THAT(rank.received(), ElementsAre("v[2] of 0", "put v of 0"));
  EXPECT_FALSE(put.is({rank.file().get(), rank.variable("v"), 3, 0})) << "it has ended";
}

TEST(ClientJointPuts, each_server_of_a_shared_file_gets_its_frames_and_learns_of_the_put) {
  JointRank rank({.servers = 2});
  rank.start();
  const auto a = rank.join("a");
  JointPut& put = open_put(rank, *a, wanted_put(rank, "v", 0));
  for (const std::size_t piece : {3U, 1U, 0U}) hand_over(rank, put, piece, piece_cells);
  EXPECT_THAT(rank.received(0), ElementsAre("begin record 0 as 0", "v[1] of 0", "v[0] of 0"));
  EXPECT_THAT(rank.received(1), ElementsAre("begin record 0 as 0", "v[3] of 0"));
  hand_over(rank, put, 2, piece_cells);
  EXPECT_THAT(rank.received(0), ElementsAre("put v of 0"));
  EXPECT_THAT(rank.received(1), ElementsAre("v[2] of 0", "put v of 0"));
  ASSERT_TRUE(rank.joint().end_step(*a));
  ASSERT_TRUE(rank.end_session_step());
  for (const std::size_t s : {0U, 1U})
    EXPECT_THAT(rank.received(s), ElementsAre("end before 1 in step 1")) << s;
}

TEST(ClientJointPuts, servers_learn_how_far_the_rank_is_in_its_order_of_puts) {
  JointRank rank({.servers = 2});
  rank.start();
  const auto a = rank.join("a");
  JointPut& put = open_put(rank, *a, wanted_put(rank, "v", 0));
  JointPut& later = open_put(rank, *a, wanted_put(rank, "v", 1));
  EXPECT_EQ(rank.order_at(0), order_of(1, rank.frame_of("v", 0)));
  EXPECT_EQ(rank.order_at(1), order_of(1, 0));
  hand_over(rank, later, 0, piece_cells);
  hand_over(rank, put, 1, piece_cells);
  EXPECT_EQ(rank.order_at(0), order_of(1, rank.frame_of("v", 0))) << "the first piece is still missing";
  hand_over(rank, put, 0, piece_cells);
  EXPECT_EQ(rank.order_at(0), order_of(1, rank.frame_of("v", 1) + 1)) << "nothing more of this put";
  EXPECT_EQ(rank.order_at(1), order_of(1, rank.frame_of("v", 2)));
  hand_over(rank, put, 2, piece_cells);
  EXPECT_EQ(rank.order_at(1), order_of(1, rank.frame_of("v", 3)));
  hand_over(rank, put, 3, piece_cells);
  EXPECT_EQ(rank.order_at(0), order_of(2, rank.frame_of("v", 1)))
      << "the next put, of which a piece is there";
  EXPECT_EQ(rank.order_at(1), order_of(2, 0));
  for (const std::size_t piece : {1U, 2U, 3U}) hand_over(rank, later, piece, piece_cells);
  for (const std::size_t s : {0U, 1U}) EXPECT_EQ(rank.order_at(s), order_of(3, 0)) << s;
}

TEST(ClientJointPuts, reserved_memory_is_for_the_first_missing_piece_of_the_oldest_put) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  JointPut& put = open_put(rank, *a, wanted_put(rank, "v", 0));
  JointPut& later = open_put(rank, *a, wanted_put(rank, "v", 1));
  JointPuts::TurnOf first(rank.joint(), put, 0);
  JointPuts::TurnOf second(rank.joint(), put, 1);
  const JointPuts::TurnOf of_later(rank.joint(), later, 0);
  EXPECT_EQ(first.turn(), Turn::oldest);
  EXPECT_EQ(second.turn(), Turn::later);
  EXPECT_EQ(of_later.turn(), Turn::later);
  hand_over(rank, put, 0, piece_cells);
  EXPECT_EQ(second.turn(), Turn::oldest);
  second.stall();
  EXPECT_EQ(second.turn(), Turn::stalled);
  rank.joint().lend(put, static_cast<std::int64_t>(all_cells - 2 * piece_cells));
  EXPECT_EQ(of_later.turn(), Turn::later) << "a piece of the first put is neither there nor lent";
  rank.joint().lend(put, static_cast<std::int64_t>(piece_cells));
  EXPECT_EQ(of_later.turn(), Turn::oldest) << "the first put lacks no more room";
}

TEST(ClientJointPuts, a_record_ends_when_every_member_has_ended_its_step) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  const auto b = rank.join("b");
  put_k(rank, *a, 0);
  ASSERT_TRUE(rank.joint().end_step(*a));
  put_k(rank, *a, 1, 1);
  ASSERT_TRUE(rank.joint().end_step(*a));
  ASSERT_TRUE(rank.end_session_step());
  EXPECT_THAT(rank.received(), ElementsAre("begin record 0 as 0", "k[0] of 0", "put k of 0",
                                           "begin record 1 as 1", "k[0] of 1", "put k of 1"));
  ASSERT_TRUE(rank.joint().end_step(*b));
  EXPECT_THAT(rank.received(), ElementsAre("end before 1 in step 1"));
  EXPECT_EQ(rank.joint().ended_records(*rank.file()), 1U);
  ASSERT_TRUE(rank.joint().end_step(*b));
  EXPECT_THAT(rank.received(), IsEmpty());
  ASSERT_TRUE(rank.end_session_step());
  EXPECT_THAT(rank.received(), ElementsAre("end before 2 in step 2"));
  EXPECT_EQ(rank.joint().ended_records(*rank.file()), 2U);
}

TEST(ClientJointPuts, variables_without_records_are_begun_apart_and_are_no_records) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  JointPut& put = open_put(rank, *a, wanted_put(rank, "fixed", 0));
  for (std::size_t piece = 0; piece < 4; ++piece) hand_over(rank, put, piece, piece_cells);
  put_k(rank, *a, 0);
  EXPECT_THAT(rank.received(), ElementsAre("begin fixed as 0", "fixed[0] of 0", "fixed[1] of 0",
                                           "fixed[2] of 0", "fixed[3] of 0", "put fixed of 0",
                                           "begin record 0 as 1", "k[0] of 1", "put k of 1"));
  ASSERT_TRUE(rank.joint().end_step(*a));
  ASSERT_TRUE(rank.end_session_step());
  EXPECT_THAT(rank.received(), ElementsAre("end before 2 in step 1"));
  EXPECT_EQ(rank.joint().ended_records(*rank.file()), 1U);
}

TEST(ClientJointPuts, nobody_waits_for_a_member_that_has_left) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  const auto b = rank.join("b");
  put_k(rank, *a, 0);
  ASSERT_TRUE(rank.joint().end_step(*a));
  ASSERT_TRUE(rank.end_session_step());
  (void)rank.received();
  ASSERT_TRUE(rank.joint().leave(*b));
  EXPECT_THAT(rank.received(), ElementsAre("end before 1 in step 1"));
}

TEST(ClientJointPuts, records_that_the_session_had_begun_end_with_its_step) {
  JointRank rank({});
  rank.core().count_step();
  JointRecords::Open open{.file = rank.file().get(), .record = 5, .fixed = false, .step = 1, .seq = 0};
  rank.file()->collection->records().begin(0, {rank.file()->id, 5, false, 0});
  rank.in_session("opening an endpoint", [&] {
    rank.joint().start({open}, {{rank.file().get(), 5}});
    rank.joint().start({}, {});
    return true;
  });
  EXPECT_TRUE(rank.joint().started());
  EXPECT_EQ(rank.session()->steps, 1U);
  EXPECT_EQ(rank.joint().ended_records(*rank.file()), 5U) << "a second call changes nothing";
  const auto a = rank.join("a");
  EXPECT_EQ(a->steps, 1U);
  put_k(rank, *a, 5, 1);
  EXPECT_THAT(rank.received(), ElementsAre("k[0] of 0", "put k of 0")) << "the record is begun already";
  ASSERT_TRUE(rank.joint().end_step(*a));
  ASSERT_TRUE(rank.end_session_step());
  EXPECT_THAT(rank.received(), ElementsAre("end before 1 in step 2"));
  EXPECT_EQ(rank.joint().ended_records(*rank.file()), 6U);
}

TEST(ClientJointPuts, a_part_that_is_missing_at_the_end_of_a_step_ends_the_session) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  const auto b = rank.join("b");
  take_part(rank, *a, 0, 2 * piece_cells);
  take_part(rank, *b, 2 * piece_cells, 2 * piece_cells);
  JointPut& put = open_put(rank, *a, wanted_put(rank, "v", 0));
  for (const std::size_t piece : {0U, 1U}) {
    if (piece == 1) put.note_member(a->place);
    hand_over(rank, put, piece, piece_cells);
  }
  ASSERT_TRUE(rank.joint().end_step(*a));
  ASSERT_TRUE(rank.end_session_step());
  (void)rank.received();
  const auto ended = rank.joint().end_step(*b);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code, ErrorCode::bad_state);
  EXPECT_EQ(ended.error().rank, JointRank::session_rank);
  EXPECT_THAT(
      ended.error().message,
      HasSubstr("step 0 has ended, but a part of this rank was not handed over: 4096 of 8192 values of "
                "variable 'v', record 0 of c.nc are missing: not handed over by endpoint 2 ('b'); every "
                "endpoint must put its part before it ends the step"));
  EXPECT_THAT(rank.received(), IsEmpty()) << "the record has not ended";
  EXPECT_EQ(rank.joint().check_usable().error().message, ended.error().message);
  EXPECT_EQ(refused_open(rank, *a, wanted_put(rank, "k", 1, 1)).message, ended.error().message);
  EXPECT_TRUE(rank.core().is_usable()) << "until the session's thread looks";
  EXPECT_EQ(rank.tend().error().message, ended.error().message);
  EXPECT_FALSE(rank.core().is_usable());
}

TEST(ClientJointPuts, a_put_that_only_refused_calls_have_begun_is_withdrawn_at_the_end_of_the_step) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  open_put(rank, *a, wanted_put(rank, "k", 0));
  ASSERT_TRUE(rank.joint().end_step(*a));
  ASSERT_TRUE(rank.end_session_step());
  EXPECT_THAT(rank.received(), ElementsAre("begin record 0 as 0", "end before 1 in step 1"));
  put_k(rank, *a, 0, 1);
  EXPECT_THAT(rank.received(), ElementsAre("begin record 0 as 1", "k[0] of 1", "put k of 1"));
}

TEST(ClientJointPuts, values_are_put_once) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  put_k(rank, *a, 0);
  const Error again = refused_open(rank, *a, wanted_put(rank, "k", 0));
  EXPECT_EQ(again.code, ErrorCode::conflict);
  EXPECT_THAT(again.message, HasSubstr("variable 'k', record 0 of c.nc was put already on this rank"));
  JointPuts::Wanted empty_part = wanted_put(rank, "k", 0);
  empty_part.has_no_values = true;
  const auto nothing = rank.joint().open(*a, empty_part);
  ASSERT_TRUE(nothing) << "who has no value may come late";
  EXPECT_EQ(nothing->put, nullptr);
  EXPECT_TRUE(rank.joint().check_usable());
}

TEST(ClientJointPuts, a_put_is_not_continued_in_another_step) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  const auto b = rank.join("b");
  open_put(rank, *a, wanted_put(rank, "k", 0)).note_contribution();
  const Error later = refused_open(rank, *b, wanted_put(rank, "k", 0, 1));
  EXPECT_EQ(later.code, ErrorCode::conflict);
  EXPECT_THAT(
      later.message,
      HasSubstr("variable 'k', record 0 of c.nc was begun in step 0, but endpoint 2 ('b') is in step 1"));
}

TEST(ClientJointPuts, nothing_is_begun_in_a_closed_file) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  rank.file()->closed = true;
  const Error closed = refused_open(rank, *a, wanted_put(rank, "k", 0));
  EXPECT_EQ(closed.code, ErrorCode::bad_state);
  EXPECT_THAT(closed.message, HasSubstr("the file was closed meanwhile on this rank"));
}

TEST(ClientJointPuts, records_begin_in_the_order_of_their_steps) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  const auto b = rank.join("b");
  ASSERT_TRUE(rank.joint().end_step(*a));
  put_k(rank, *a, 1, 1);
  const Error late = refused_open(rank, *b, wanted_put(rank, "k", 0));
  EXPECT_EQ(late.code, ErrorCode::bad_state);
  EXPECT_THAT(late.message,
              HasSubstr("variable 'k', record 0 of c.nc would begin in step 0, where endpoint 2 ('b') "
                        "is, but this rank has begun record 1 of c.nc in step 1"));
  EXPECT_TRUE(rank.joint().check_usable()) << "the call is refused, and the session goes on";
}

TEST(ClientJointPuts, who_leaves_out_a_part_and_goes_on_is_named) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  const auto b = rank.join("b");
  take_part(rank, *a, 0, piece_cells);
  take_part(rank, *b, piece_cells, 3 * piece_cells);
  ASSERT_TRUE(rank.joint().end_step(*b));
  b->put_steps = 2;  // it has put into step 1
  const Error left_out = refused_open(rank, *a, wanted_put(rank, "v", 0));
  EXPECT_EQ(left_out.code, ErrorCode::bad_state);
  EXPECT_THAT(left_out.message,
              HasSubstr("endpoint 2 ('b') has ended step 0 without its part of variable 'v', record "
                        "0 of c.nc, which endpoint 1 ('a') puts in that step"));
  EXPECT_FALSE(rank.joint().check_usable()) << "that part will never come";
}

TEST(ClientJointPuts, a_step_has_a_limited_number_of_records_if_there_are_endpoints) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  for (std::uint64_t record = 0; record < CollectionRecords::most_open; ++record) put_k(rank, *a, record);
  const Error too_many = refused_open(rank, *a, wanted_put(rank, "k", CollectionRecords::most_open));
  EXPECT_EQ(too_many.code, ErrorCode::bad_state);
  EXPECT_THAT(too_many.message, HasSubstr("32 records of collection 'c' have been begun in this step"));
  EXPECT_TRUE(rank.joint().check_usable());
}

TEST(ClientJointPuts, a_session_without_endpoints_ends_its_oldest_record_for_another) {
  JointRank rank({});
  rank.start();
  for (std::uint64_t record = 0; record < CollectionRecords::most_open; ++record)
    put_k(rank, *rank.session(), record);
  (void)rank.received();
  put_k(rank, *rank.session(), CollectionRecords::most_open);
  EXPECT_THAT(rank.received(),
              ElementsAre("end before 1 in step 0", "begin record 32 as 32", "k[0] of 32", "put k of 32"));
}

/// As many records are begun as may be, one per step, by a. Others have ended no step.
void run_ahead(JointRank& rank, Member& a) {
  for (std::uint64_t step = 0; step < CollectionRecords::most_open; ++step) {
    put_k(rank, a, step, step);
    ASSERT_TRUE(rank.joint().end_step(a));
  }
  (void)rank.received();
}

TEST(ClientJointPuts, a_caller_that_is_ahead_may_ask_again) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  const auto b = rank.join("b");
  run_ahead(rank, *a);
  JointPuts::Wanted next = wanted_put(rank, "k", CollectionRecords::most_open, CollectionRecords::most_open);
  next.may_wait = false;
  const Error now = refused_open(rank, *a, next);
  EXPECT_EQ(now.code, ErrorCode::would_block);
  EXPECT_THAT(now.message,
              HasSubstr("32 records of collection 'c' have been begun, and the oldest has not ended: "));
  EXPECT_THAT(now.message, HasSubstr("endpoint 2 ('b') has ended 0 of 33 steps"));
  ASSERT_TRUE(rank.joint().end_step(*b));
  ASSERT_TRUE(rank.end_session_step());
  EXPECT_THAT(rank.received(), ElementsAre("end before 1 in step 1"));
  EXPECT_TRUE(rank.joint().open(*a, next));
}

TEST(ThreadClientJointPuts, a_caller_that_is_ahead_waits_for_the_others) {
  JointRank rank({});
  rank.start();
  const auto a = rank.join("a");
  const auto b = rank.join("b");
  run_ahead(rank, *a);
  std::jthread ahead([&] { put_k(rank, *a, CollectionRecords::most_open, CollectionRecords::most_open); });
  ASSERT_TRUE(rank.joint().end_step(*b));
  ASSERT_TRUE(rank.end_session_step());
  ahead.join();
  EXPECT_THAT(rank.received(),
              ElementsAre("end before 1 in step 1", "begin record 32 as 32", "k[0] of 32", "put k of 32"));
}

TEST(ClientJointPuts, who_waits_for_a_slow_member_in_vain_says_so) {
  JointRank rank({.deadline = Millis(50)});
  rank.start();
  const auto a = rank.join("a");
  const auto b = rank.join("b");
  run_ahead(rank, *a);
  const Error error = refused_open(
      rank, *a, wanted_put(rank, "k", CollectionRecords::most_open, CollectionRecords::most_open));
  EXPECT_EQ(error.code, ErrorCode::timed_out);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("to begin variable 'k', record 32 of c.nc: 32 records of collection 'c'"),
                    HasSubstr("endpoint 2 ('b') has ended 0 of 33 steps")));
  EXPECT_EQ(rank.joint().check_usable().error().message, error.message);
}

TEST(ThreadClientJointPuts, threads_put_any_part_of_one_put_at_once) {
  JointRank rank({});
  rank.start();
  JointPut* put = nullptr;
  {
    std::vector<std::shared_ptr<Member>> members;
    std::vector<std::jthread> threads;  // ends before members do
    for (int t = 0; t < 4; ++t) members.push_back(rank.join(""));
    put = &open_put(rank, *members[0], wanted_put(rank, "v", 0));
    for (std::size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        // Each piece is handed over by all of them.
        for (std::size_t piece = 0; piece < 4; ++piece)
          hand_over(rank, open_put(rank, *members[t], wanted_put(rank, "v", 0)), (piece + t) % 4,
                    piece_cells / 4);
      });
  }
  const auto got = rank.received();
  ASSERT_EQ(got.size(), 6U);
  EXPECT_EQ(got.front(), "begin record 0 as 0");
  EXPECT_EQ(got.back(), "put v of 0");
  EXPECT_EQ(put->number(), 0U);
}

}  // namespace
}  // namespace afterbay::client
