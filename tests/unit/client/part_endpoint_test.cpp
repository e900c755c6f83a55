// SPDX-License-Identifier: Apache-2.0
// One caller of a rank's joint puts: where its values go, and what it owes at the end of a step.
#include "client/part_endpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "unit/client/two_endpoints.hpp"

namespace afterbay::client {
namespace {

using test::JointRank;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using ClientPartEndpoint = test::TwoEndpoints;

// ---- puts

TEST_F(ClientPartEndpoint, parts_come_together_in_the_pieces_of_the_record) {
  make();
  put_v(2);
  EXPECT_THAT(rank_->received(), ElementsAre("begin record 2 as 0", "v[0] of 0", "v[1] of 0", "v[2] of 0",
                                             "v[3] of 0", "put v of 0"));
  EXPECT_EQ(rank_->values<double>("v", 0), ascending<double>(line_cells, 0));
  EXPECT_EQ(upper_->member().puts, 1U);
  EXPECT_EQ(upper_->member().last_put, 1U);
  EXPECT_EQ(upper_->member().put_steps, 1U);
  end_steps();
  EXPECT_EQ(upper_->steps(), 1U);
  EXPECT_THAT(rank_->received(), ElementsAre("end before 1 in step 1"));
}

TEST_F(ClientPartEndpoint, values_are_converted_and_taken_from_the_callers_array) {
  make();
  MemoryLayout halo;
  halo.shape = {upper_cells + 2};
  halo.offset = {1};
  ASSERT_EQ(put(*upper_, "k", 0, ascending<float>(upper_cells + 2, -1), {}, true, halo), true);
  MemoryLayout every_second;
  every_second.strides = {2};
  std::vector<double> spread(2 * lower_cells, -1.0);
  for (std::uint64_t i = 0; i < lower_cells; ++i) spread[2 * i] = static_cast<double>(upper_cells + i);
  ASSERT_EQ(put(*lower_, "k", 0, spread, {}, true, every_second), true);
  EXPECT_EQ(rank_->values<std::int16_t>("k", 0), ascending<std::int16_t>(line_cells, 0));
}

TEST_F(ClientPartEndpoint, sections_are_put_in_any_order) {
  make();
  ASSERT_EQ(put(*lower_, "v", 0, ascending<double>(lower_cells, upper_cells)), true);
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> sections{
      {3000, 2000}, {0, 1}, {2, 0}, {1, 2999}};
  for (const auto& [first, count] : sections) {
    EXPECT_FALSE(upper_->has_begun(static_cast<int>(rank_->odd_points().id)));
    ASSERT_EQ(put(*upper_, "v", 0, ascending<double>(count, first), Section{{first}, {count}}), true);
    EXPECT_EQ(upper_->has_begun(static_cast<int>(rank_->line().id)), first != 1U);
  }
  EXPECT_EQ(rank_->values<double>("v", 0), ascending<double>(line_cells, 0));
  EXPECT_THAT(rank_->received(), Contains("put v of 0"));
}

TEST_F(ClientPartEndpoint, a_part_of_a_map_lies_at_the_points_of_its_list) {
  make();
  // The odd points: the first endpoint lists those below 4001 downwards.
  Map below;
  below.global = {line_cells};
  for (std::int64_t point = 3999; point > 0; point -= 2) below.indices.push_back(point);
  Map above;
  above.global = {line_cells};
  above.base = 1;
  for (std::int64_t point = 4001; point < static_cast<std::int64_t>(line_cells); point += 2)
    above.indices.push_back(point + 1);
  ASSERT_TRUE(upper_->add_map(rank_->odd_points(), below));
  ASSERT_TRUE(lower_->add_map(rank_->odd_points(), above));
  std::vector<double> values;
  for (const std::int64_t point : below.indices) values.push_back(static_cast<double>(point));
  ASSERT_EQ(put(*upper_, "m", 0, values), true);
  values.clear();
  for (const std::int64_t index : above.indices) values.push_back(static_cast<double>(index - 1));
  ASSERT_EQ(put(*lower_, "m", 0, values), true);
  EXPECT_THAT(rank_->received(), Contains("put m of 0"));
  const auto got = rank_->values<double>("m", 0);
  ASSERT_EQ(got.size(), line_cells);
  for (std::uint64_t i = 1; i < line_cells; i += 2) ASSERT_EQ(got[i], static_cast<double>(i)) << i;
}

TEST_F(ClientPartEndpoint, a_variable_without_a_decomposition_is_put_by_who_was_given_such_variables) {
  make();
  ASSERT_TRUE(lower_->add_whole(nullptr));
  EXPECT_TRUE(lower_->has_part(-1));
  ASSERT_EQ(put(*lower_, "mark", 4, std::vector<double>{7.0}), true);
  EXPECT_EQ(rank_->values<double>("mark", 0), std::vector<double>{7.0});
  EXPECT_THAT(rank_->received(), ElementsAre("begin record 4 as 0", "mark[0] of 0", "put mark of 0"));
}

TEST_F(ClientPartEndpoint, who_has_no_points_owes_nothing) {
  make();
  const auto idle = rank_->endpoint("idle");
  ASSERT_TRUE(idle->add_block(rank_->line(), Block{{line_cells}, {0}, {0}}));
  EXPECT_TRUE(idle->put(rank_->file(), "v", 0, nullptr, Type::float64, {}, {}, true).value());
  EXPECT_THAT(rank_->received(), IsEmpty()) << "nobody has handed over a value";
  put_v(0);
  EXPECT_THAT(rank_->received(), Contains("put v of 0"));
  EXPECT_TRUE(idle->put(rank_->file(), "k", 0, nullptr, Type::float64, {}, {}, true).value());
  ASSERT_TRUE(idle->end_step());
  const Error missing = refusal_of([&]() -> Result<> {
    AFTERBAY_TRY(upper_->end_step());
    AFTERBAY_TRY(lower_->end_step());
    return rank_->end_session_step();
  }());
  EXPECT_THAT(missing.message,
              HasSubstr("8192 of 8192 values of variable 'k', record 0 of c.nc are missing: not "
                        "handed over by endpoint 1 ('upper'), endpoint 2 ('lower')"));
}

TEST_F(ClientPartEndpoint, data_go_through_the_sessions_thread_if_threads_share_no_links) {
  make({.one_thread = true});
  put_v(0);
  ASSERT_EQ(put(*upper_, "k", 0, ascending<double>(upper_cells, 0)), true);
  ASSERT_EQ(put(*lower_, "k", 0, ascending<double>(lower_cells, upper_cells)), true);
  EXPECT_THAT(rank_->received(), IsEmpty());
  end_steps();
  EXPECT_THAT(rank_->received(),
              ElementsAre("begin record 0 as 0", "v[0] of 0", "v[1] of 0", "v[2] of 0", "v[3] of 0",
                          "put v of 0", "k[0] of 0", "put k of 0", "end before 1 in step 1"));
  EXPECT_EQ(rank_->values<double>("v", 0), ascending<double>(line_cells, 0));
  EXPECT_EQ(rank_->values<std::int16_t>("k", 0), ascending<std::int16_t>(line_cells, 0));
}

// ---- the end of a step, and of the endpoint

TEST_F(ClientPartEndpoint, a_step_does_not_end_while_sections_are_missing) {
  make();
  const auto values = ascending<double>(upper_cells, 0);
  ASSERT_EQ(put(*upper_, "v", 7, values, Section{{0}, {4900}}), true);
  std::optional<std::uint64_t> steps;
  for (const Error& error : {refusal_of(upper_->end_step()), refusal_of(upper_->close()),
                             refusal_of(upper_->check_at_rest("give_back", steps))}) {
    EXPECT_EQ(error.code, ErrorCode::bad_state);
    EXPECT_EQ(error.file, "c.nc");
    EXPECT_EQ(error.variable, "v");
    EXPECT_EQ(error.rank, JointRank::session_rank);
    EXPECT_THAT(error.message,
                HasSubstr("by endpoint 1 ('upper'), which has put 4900 of the 5000 elements of its "
                          "part (record 7): put the other sections first"));
  }
  EXPECT_EQ(steps, 0U) << "the step is known all the same";
  ASSERT_EQ(put(*upper_, "v", 7, values, Section{{4900}, {100}}), true);
  EXPECT_TRUE(upper_->check_at_rest("give_back", steps));
  ASSERT_TRUE(upper_->end_step());
  EXPECT_EQ(upper_->steps(), 1U);
}

TEST_F(ClientPartEndpoint, a_closed_endpoint_refuses_calls_and_holds_up_nobody) {
  make();
  put_v(0);
  ASSERT_TRUE(upper_->end_step());
  ASSERT_TRUE(rank_->end_session_step());
  (void)rank_->received();
  ASSERT_TRUE(lower_->close());
  EXPECT_TRUE(lower_->is_closed());
  EXPECT_THAT(rank_->received(), ElementsAre("end before 1 in step 1"));
  EXPECT_TRUE(lower_->close()) << "once more does nothing";
  const Error put_after = refusal_of(put(*lower_, "v", 1, ascending<double>(lower_cells, 0)));
  EXPECT_EQ(put_after.code, ErrorCode::bad_state);
  EXPECT_EQ(put_after.message, "put by endpoint 2 ('lower'), which has been closed");
  EXPECT_EQ(refusal_of(lower_->end_step()).message,
            "end_step by endpoint 2 ('lower'), which has been closed");
  EXPECT_EQ(refusal_of(lower_->acquire(rank_->file(), "v", 1, Type::float64)).code, ErrorCode::bad_state);
  EXPECT_EQ(refusal_of(lower_->add_whole(nullptr)).code, ErrorCode::bad_state);
}

TEST_F(ClientPartEndpoint, what_an_endpoint_that_is_destroyed_has_begun_is_reported) {
  make();
  ASSERT_EQ(put(*upper_, "v", 0, ascending<double>(upper_cells, 0)), true);
  ASSERT_EQ(put(*lower_, "v", 0, ascending<double>(lower_cells, 0), Section{{0}, {92}}), true);
  lower_->give_up();
  EXPECT_TRUE(lower_->is_closed());
  ASSERT_TRUE(upper_->end_step());
  const Error missing = refusal_of(rank_->end_session_step());
  EXPECT_THAT(missing.message,
              HasSubstr("3100 of 8192 values of variable 'v', record 0 of c.nc are missing: not "
                        "handed over by endpoint 2 ('lower'), which was closed"));
}

TEST_F(ClientPartEndpoint, points_change_hands_from_the_next_put_on) {
  make();
  ASSERT_EQ(put(*lower_, "v", 0, ascending<double>(lower_cells, upper_cells)), true);
  ASSERT_TRUE(lower_->close());
  const auto heir = rank_->endpoint("heir", upper_cells, lower_cells);
  const auto values = ascending<double>(lower_cells, upper_cells);
  const Error early = refusal_of(put(*heir, "v", 0, values));
  EXPECT_EQ(early.code, ErrorCode::conflict);
  EXPECT_THAT(early.message,
              HasSubstr("it was begun while these points belonged to an endpoint that has been closed"));
  ASSERT_EQ(put(*upper_, "v", 0, ascending<double>(upper_cells, 0)), true)
      << "the put is complete without the heir";
  EXPECT_THAT(rank_->received(), Contains("put v of 0"));
  ASSERT_EQ(put(*heir, "v", 1, values), true);
  heir->contribute_after(static_cast<int>(rank_->line().id), 3);
  EXPECT_EQ(refusal_of(put(*heir, "k", 0, values)).code, ErrorCode::conflict) << "the third put of the rank";
  EXPECT_EQ(put(*heir, "k", 1, values), true);
}

TEST_F(ClientPartEndpoint, the_end_of_the_session_reaches_every_call) {
  make();
  rank_->joint().stop(Error(ErrorCode::bad_state, "the session has been finalized"));
  const auto values = ascending<double>(upper_cells, 0);
  for (const Error& error :
       {refusal_of(put(*upper_, "v", 0, values)), refusal_of(upper_->end_step()), refusal_of(upper_->close()),
        refusal_of(upper_->acquire(rank_->file(), "v", 0, Type::float64)),
        refusal_of(upper_->add_whole(nullptr))})
    EXPECT_EQ(error.message, "the session has been finalized");
}

}  // namespace
}  // namespace afterbay::client
