// SPDX-License-Identifier: Apache-2.0
// What one caller of a rank's joint puts is refused.
#include "client/part_endpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
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

using ClientPartEndpointRefusals = test::TwoEndpoints;

TEST_F(ClientPartEndpointRefusals, a_refused_put_says_what_is_wrong_and_begins_nothing) {
  make();
  const auto values = ascending<double>(upper_cells, 0);
  const auto refused = [&](const std::string& variable, std::uint64_t record, const Section& section = {},
                           const MemoryLayout& memory = {}) {
    const Error error = refusal_of(put(*upper_, variable, record, values, section, true, memory));
    EXPECT_EQ(error.file, "c.nc") << error.text();
    EXPECT_EQ(error.variable, variable);
    EXPECT_EQ(error.rank, JointRank::session_rank);
    EXPECT_THAT(error.context, Contains("by endpoint 1 ('upper')"));
    return std::pair(error.code, error.message);
  };
  const auto is = [](ErrorCode code, const std::string& text) {
    return ::testing::Pair(code, HasSubstr(text));
  };
  EXPECT_THAT(refused("w", 0), is(ErrorCode::unknown_name, "collection 'c' has no variable 'w'"));
  EXPECT_THAT(refused("v", no_record), is(ErrorCode::invalid_argument, "give the record to put"));
  EXPECT_THAT(refused("fixed", 1), is(ErrorCode::invalid_argument, "so it has no record 1"));
  EXPECT_THAT(refused("m", 0),
              is(ErrorCode::bad_state, "this endpoint has no part of decomposition 'odd points'"));
  EXPECT_THAT(refused("mark", 0), is(ErrorCode::bad_state, "this endpoint was not given such variables"));
  EXPECT_THAT(
      refused("v", 0, Section{{0}, {5001}}),
      is(ErrorCode::invalid_argument, "the section [0:5001] of lengths 5001 leaves this caller's array"));
  EXPECT_THAT(refused("v", 0, Section{{5001}, {0}}),
              is(ErrorCode::invalid_argument, "leaves this caller's array"));
  EXPECT_THAT(refused("v", 0, Section{{0, 0}, {1, 1}}),
              is(ErrorCode::invalid_argument, "the section has 2 starts and 2 counts"));
  MemoryLayout short_array;
  short_array.shape = {upper_cells - 1};
  EXPECT_THAT(refused("v", 0, {}, short_array),
              is(ErrorCode::invalid_argument, "the array in memory has only 4999"));
  const Error null = refusal_of(upper_->put(rank_->file(), "v", 0, nullptr, Type::float64, {}, {}, true));
  EXPECT_EQ(null.code, ErrorCode::invalid_argument);
  EXPECT_THAT(null.message, HasSubstr("the data pointer is null, but there are 5000 values to put"));
  const Error text = refusal_of(upper_->put(rank_->file(), "v", 0, values.data(), Type::text, {}, {}, true));
  EXPECT_EQ(text.code, ErrorCode::wrong_type);
  EXPECT_EQ(upper_->member().puts, 0U);
  EXPECT_THAT(rank_->received(), IsEmpty());
  put_v(0);
  EXPECT_THAT(rank_->received(), Contains("put v of 0"));
}

TEST_F(ClientPartEndpointRefusals, values_out_of_range_are_refused_before_any_is_taken) {
  make();
  auto values = ascending<double>(upper_cells, 0);
  values[0] = 40000;
  values[4999] = -40000;
  const Error bad = refusal_of(put(*upper_, "k", 0, values));
  EXPECT_EQ(bad.code, ErrorCode::wrong_type);
  EXPECT_THAT(bad.message,
              HasSubstr("2 values of type float64 are out of range of the file's type int16; no value of "
                        "the put was taken: put the record again with other values"));
  EXPECT_THAT(rank_->received(), IsEmpty());
  ASSERT_EQ(put(*upper_, "k", 0, ascending<double>(upper_cells, 0)), true);
  ASSERT_EQ(put(*lower_, "k", 0, ascending<double>(lower_cells, upper_cells)), true);
  EXPECT_EQ(rank_->values<std::int16_t>("k", 0), ascending<std::int16_t>(line_cells, 0));
}

TEST_F(ClientPartEndpointRefusals, values_are_put_once_by_a_caller) {
  make();
  const auto values = ascending<double>(upper_cells, 0);
  ASSERT_EQ(put(*upper_, "v", 0, values, Section{{100}, {100}}), true);
  ASSERT_EQ(put(*upper_, "v", 0, values, Section{{300}, {100}}), true);
  const Error section = refusal_of(put(*upper_, "v", 0, values, Section{{150}, {100}}));
  EXPECT_EQ(section.code, ErrorCode::conflict);
  EXPECT_THAT(section.message,
              HasSubstr("the section [150:200] of record 0 of the variable was put already"));
  EXPECT_EQ(refusal_of(put(*upper_, "v", 0, values)).code, ErrorCode::conflict);
  EXPECT_EQ(put(*upper_, "v", 0, values, Section{{150}, {0}}), true) << "nothing is put twice";
  ASSERT_EQ(put(*upper_, "k", 0, values), true);
  const Error again = refusal_of(put(*upper_, "k", 0, values));
  EXPECT_EQ(again.code, ErrorCode::conflict);
  EXPECT_THAT(again.message, HasSubstr("record 0 of the variable was put already by this caller"));
  ASSERT_EQ(put(*upper_, "fixed", 0, values), true);
  EXPECT_THAT(refusal_of(put(*upper_, "fixed", 0, values)).message,
              HasSubstr("the variable was put already"));
  EXPECT_EQ(put(*upper_, "k", 1, values), true) << "another record";
  EXPECT_EQ(put(*lower_, "k", 0, ascending<double>(lower_cells, 0)), true) << "another caller";
}

TEST_F(ClientPartEndpointRefusals, nothing_is_put_into_a_closed_file) {
  make();
  rank_->file()->closed = true;
  const Error closed = refusal_of(put(*upper_, "v", 0, ascending<double>(upper_cells, 0)));
  EXPECT_EQ(closed.code, ErrorCode::bad_state);
  EXPECT_THAT(closed.message, HasSubstr("the file is closed on this rank: open it again before putting"));
}

TEST_F(ClientPartEndpointRefusals, a_part_must_fit_the_decomposition_and_lie_in_that_of_the_rank) {
  make();
  const auto other = rank_->endpoint("other");
  const auto refused = [&](const Result<>& result) {
    const Error error = refusal_of(result);
    EXPECT_EQ(error.rank, JointRank::session_rank) << error.text();
    EXPECT_THAT(error.context, ElementsAre("by endpoint 3 ('other')"));
    return std::pair(error.code, error.message);
  };
  const auto is = [](ErrorCode code, const std::string& text) {
    return ::testing::Pair(code, HasSubstr(text));
  };
  Map points;
  points.global = {line_cells};
  points.indices = {1, 2};
  EXPECT_THAT(
      refused(other->add_map(rank_->line(), points)),
      is(ErrorCode::wrong_type, "decomposition 'line' is a block: register the endpoint's part as a block"));
  EXPECT_THAT(refused(other->add_block(rank_->odd_points(), Block{{line_cells}, {0}, {1}})),
              is(ErrorCode::wrong_type, "decomposition 'odd points' is a map"));
  EXPECT_THAT(
      refused(other->add_block(rank_->line(), Block{{line_cells + 1}, {0}, {1}})),
      is(ErrorCode::invalid_argument, "decomposition 'line' has the lengths 8192, the endpoint's part 8193"));
  EXPECT_THAT(refused(other->add_map(rank_->odd_points(), points)),
              is(ErrorCode::invalid_argument,
                 "points that its rank does not have, the first of them with the linear "
                 "index 2"));
  points.global = {line_cells / 2};
  EXPECT_THAT(refused(other->add_map(rank_->odd_points(), points)),
              is(ErrorCode::invalid_argument, "decomposition 'odd points' has the lengths 8192"));
  Decomposition band = rank_->line();
  band.block = Block{{line_cells}, {1000}, {1000}};
  EXPECT_THAT(refused(other->add_block(band, Block{{line_cells}, {1999}, {2}})),
              is(ErrorCode::invalid_argument,
                 "the endpoint's part [1999:2001] of decomposition 'line' is not inside "
                 "that of its rank, [1000:2000]"));
  EXPECT_FALSE(other->has_part(static_cast<int>(rank_->line().id)));
  const Error overlap = refusal_of(other->add_whole(&rank_->line()));
  EXPECT_EQ(overlap.code, ErrorCode::conflict);
  EXPECT_EQ(overlap.rank, JointRank::session_rank);
  EXPECT_FALSE(other->has_part(static_cast<int>(rank_->line().id)));
}

TEST_F(ClientPartEndpointRefusals, only_one_thread_may_be_in_a_call) {
  make();
  const auto values = ascending<double>(upper_cells, 0);
  auto slot = upper_->acquire(rank_->file(), "k", 0, Type::int16);
  ASSERT_TRUE(slot);
  const auto member = rank_->joint().in_team([](Team& team) { return team.members().at(1); });
  member->use = EndpointUse::in_call;  // as if another thread were in a call
  std::optional<std::uint64_t> steps;
  const std::map<std::string, Error> refused{
      {"put", refusal_of(put(*upper_, "v", 0, values))},
      {"acquire", refusal_of(upper_->acquire(rank_->file(), "v", 0, Type::float64))},
      {"commit", refusal_of(upper_->commit(*slot, values.data()))},
      {"end_step", refusal_of(upper_->end_step())},
      {"close", refusal_of(upper_->close())},
      {"lending", refusal_of(upper_->check_at_rest("lending", steps))},
      {"registering a part", refusal_of(upper_->add_whole(nullptr))},
  };
  for (const auto& [call, error] : refused) {
    EXPECT_EQ(error.code, ErrorCode::bad_state) << call;
    EXPECT_EQ(error.rank, JointRank::session_rank);
    EXPECT_THAT(error.message,
                HasSubstr(call + " by endpoint 1 ('upper') while another thread is in a call of it"));
  }
  EXPECT_FALSE(steps) << "it is not known in which step the other thread leaves it";
  EXPECT_EQ(member->use, EndpointUse::in_call) << "the call of the other thread goes on";
  member->use = EndpointUse::none;
  EXPECT_TRUE(upper_->is_out(*slot));
  EXPECT_EQ(put(*upper_, "v", 0, values), true);
  EXPECT_EQ(member->use, EndpointUse::none);
}

}  // namespace
}  // namespace afterbay::client
