// SPDX-License-Identifier: Apache-2.0
// The callers of one rank, their parts, and what is said about those that are late.
#include "client/team.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/pools.hpp"
#include "unit/client/scripted_servers.hpp"

namespace afterbay::client {
namespace {

using ::testing::HasSubstr;

constexpr int grid = 0;
constexpr int cells = 1;
constexpr std::uint64_t all_rows = 100;
constexpr std::uint64_t rank_rows = 40;  ///< rows [0, 40) are those of the rank

Decomposition grid_of_rank() {
  return {.id = grid,
          .name = "grid",
          .coverage = {},
          .block = Block{{all_rows}, {0}, {rank_rows}},
          .map = nullptr};
}

std::shared_ptr<MapPart> map_of(std::int64_t first, std::int64_t count) {
  Map map;
  map.global = {all_rows};
  for (std::int64_t i = 0; i < count; ++i) map.indices.push_back(first + i);
  return std::make_shared<MapPart>(model::Index(map.global),
                                   model::make_listed_runs("cells", map, Repeats::refuse).value());
}

Decomposition cells_of_rank() {
  return {.id = cells, .name = "cells", .coverage = {}, .block = {}, .map = map_of(10, 20)};
}

EndpointPart rows(std::uint64_t first, std::uint64_t count) {
  EndpointPart part;
  part.decomposition = grid;
  part.name = "grid";
  part.block = Block{{all_rows}, {first}, {count}};
  return part;
}

EndpointPart some_cells(std::int64_t first, std::int64_t count) {
  EndpointPart part;
  part.decomposition = cells;
  part.name = "cells";
  part.map = map_of(first, count);
  return part;
}

EndpointPart whole_of(int decomposition) {
  EndpointPart part;
  part.decomposition = decomposition;
  part.name = decomposition == grid ? "grid" : "";
  part.whole = true;
  return part;
}

Result<std::uint64_t> add(Team& team, Member& member, EndpointPart part) {
  const Decomposition of = grid_of_rank();
  const bool lies_on_it = part.decomposition == grid;
  return team.add(member, std::move(part), lies_on_it ? &of : nullptr);
}

/// The number of the put after which the part counts.
std::uint64_t added(Team& team, Member& member, EndpointPart part) {
  const auto after = add(team, member, std::move(part));
  EXPECT_TRUE(after) << after.error().text();
  return after.value_or(~std::uint64_t{0});
}

Error refused(Team& team, Member& member, EndpointPart part) {
  const auto after = add(team, member, std::move(part));
  return after ? Error(ErrorCode::internal, "nothing was refused") : after.error();
}

TEST(ClientTeam, a_member_begins_with_the_step_of_the_session) {
  Team team;
  EXPECT_TRUE(team.has_only_session());
  EXPECT_FALSE(team.has_had_endpoints());
  team.session()->steps = 3;
  const auto upper = team.join("upper");
  const auto other = team.join("");
  EXPECT_EQ(upper->steps, 3U);
  EXPECT_EQ(upper->first_step, 3U);
  EXPECT_EQ(team.session()->text(), "the session itself");
  EXPECT_EQ(upper->text(), "endpoint 1 ('upper')");
  EXPECT_EQ(other->text(), "endpoint 2");
  EXPECT_EQ(team.name_of(1), "endpoint 1 ('upper')");
  EXPECT_EQ(team.name_of(9), "endpoint 9");
  EXPECT_FALSE(team.has_only_session());
  team.leave(*upper, 0);
  team.leave(*other, 0);
  EXPECT_TRUE(team.has_only_session());
  EXPECT_TRUE(team.has_had_endpoints());
}

TEST(ClientTeam, numbers_are_not_used_again_and_places_are) {
  Team team;
  const auto first = team.join("first");
  const auto second = team.join("second");
  EXPECT_EQ(first->place, 1U);
  EXPECT_EQ(second->place, 2U);
  team.leave(*first, 0);
  EXPECT_EQ(team.join("third")->place, 3U) << "the first one is still remembered";
  team.forget_closed(1);
  const auto fourth = team.join("fourth");
  EXPECT_EQ(fourth->place, 1U);
  EXPECT_EQ(fourth->number, 4U);
  EXPECT_EQ(team.name_of(1), "endpoint 1");
  EXPECT_EQ(team.name_of(2), "endpoint 2 ('second')") << "it is open";
}

TEST(ClientTeam, every_point_belongs_to_one_open_member) {
  Team team;
  const auto upper = team.join("upper");
  const auto lower = team.join("lower");
  EXPECT_EQ(added(team, *upper, rows(0, 10)), 0U);
  const Error overlap = refused(team, *lower, rows(9, 10));
  EXPECT_EQ(overlap.code, ErrorCode::conflict);
  EXPECT_THAT(overlap.message,
              HasSubstr("the part of decomposition 'grid' that endpoint 2 ('lower') registers "
                        "overlaps with that of endpoint 1 ('upper')"));
  EXPECT_EQ(refused(team, *lower, whole_of(grid)).code, ErrorCode::conflict);
  EXPECT_TRUE(lower->parts.empty()) << "what was refused is not registered";
  EXPECT_EQ(added(team, *lower, rows(10, 30)), 0U);
  const Error again = refused(team, *upper, rows(50, 1));
  EXPECT_EQ(again.code, ErrorCode::conflict);
  EXPECT_THAT(
      again.message,
      HasSubstr("endpoint 1 ('upper') has a part of decomposition 'grid' already: an endpoint has one"));
  EXPECT_EQ(added(team, *team.join("idle"), rows(0, 0)), 0U) << "it has no point";
}

TEST(ClientTeam, parts_of_different_decompositions_do_not_overlap) {
  Team team;
  const auto one = team.join("one");
  const auto other = team.join("other");
  EXPECT_EQ(added(team, *one, whole_of(grid)), 0U);
  EXPECT_EQ(added(team, *other, whole_of(-1)), 0U);
  const Error twice = refused(team, *one, whole_of(-1));
  EXPECT_EQ(twice.code, ErrorCode::conflict);
  EXPECT_THAT(twice.message, HasSubstr("the part of the variables without a decomposition that endpoint 1"));
}

TEST(ClientTeam, parts_of_maps_overlap_if_they_have_a_point_of_the_rank_in_common) {
  Team team;
  const Decomposition of = cells_of_rank();
  const auto one = team.join("one");
  ASSERT_TRUE(team.add(*one, some_cells(10, 5), &of));
  EXPECT_TRUE(team.add(*team.join(""), some_cells(15, 5), &of));
  const auto common = team.add(*team.join(""), some_cells(14, 3), &of);
  ASSERT_FALSE(common);
  EXPECT_THAT(common.error().message, HasSubstr("overlaps with that of endpoint 1 ('one')"));
  EXPECT_TRUE(team.add(*team.join(""), some_cells(20, 0), &of));
}

TEST(ClientTeam, points_of_a_closed_member_change_hands_after_its_last_put) {
  Team team;
  const auto before = team.join("before");
  added(team, *before, rows(0, 10));
  before->last_put = 7;
  const auto after = team.join("after");
  EXPECT_EQ(refused(team, *after, rows(0, 5)).code, ErrorCode::conflict);
  team.leave(*before, 9);
  EXPECT_EQ(before->closed_after, 9U);
  EXPECT_EQ(team.last_put_of_closed(grid), 7U);
  EXPECT_EQ(team.last_put_of_closed(cells), 0U);
  EXPECT_EQ(added(team, *after, rows(0, 5)), 7U);
  EXPECT_EQ(after->parts.back().after, 7U);
  EXPECT_TRUE(before->parts.back().taken_over);
  EXPECT_EQ(added(team, *team.join("elsewhere"), rows(10, 5)), 0U) << "nobody had these points";
}

TEST(ClientTeam, nobody_gets_points_that_the_session_is_just_putting) {
  Team team;
  const auto member = team.join("late");
  team.note_whole(grid, Team::under_way);
  const Error early = refused(team, *member, rows(0, 5));
  EXPECT_EQ(early.code, ErrorCode::conflict);
  EXPECT_THAT(early.message, HasSubstr("the session is putting a variable on decomposition 'grid': register "
                                       "the part of endpoint 1 ('late') after that"));
  EXPECT_EQ(added(team, *team.join(""), whole_of(-1)), 0U) << "the session puts another decomposition";
  team.note_whole(grid, 5);
  EXPECT_EQ(added(team, *member, rows(0, 5)), 5U);
}

TEST(ClientTeam, a_closed_member_is_remembered_until_its_puts_and_its_step_have_ended) {
  Team team;
  const auto owner = team.join("owner");
  added(team, *owner, rows(0, 10));
  owner->last_put = 4;
  team.leave(*owner, 4);
  team.forget_closed(4);
  EXPECT_EQ(team.last_put_of_closed(grid), 4U) << "its last put is open";
  team.forget_closed(5);
  EXPECT_EQ(team.last_put_of_closed(grid), 4U) << "nobody has its points, and the step goes on";
  ++team.session()->steps;
  team.forget_closed(5);
  EXPECT_EQ(team.last_put_of_closed(grid), 0U);
  EXPECT_EQ(team.members().size(), 1U);
}

TEST(ClientTeam, a_closed_member_whose_points_another_has_is_forgotten_with_its_puts) {
  Team team;
  const auto owner = team.join("owner");
  added(team, *owner, rows(0, 10));
  owner->last_put = 4;
  team.leave(*owner, 4);
  added(team, *team.join("heir"), rows(0, 1));
  team.forget_closed(4);
  EXPECT_EQ(team.members().size(), 3U);
  team.forget_closed(5);
  EXPECT_EQ(team.members().size(), 2U);
}

TEST(ClientTeam, the_session_learns_who_else_has_a_part) {
  Team team;
  EXPECT_EQ(team.other_with(*team.session(), grid), nullptr);
  const auto upper = team.join("upper");
  added(team, *upper, rows(0, 10));
  EXPECT_EQ(team.other_with(*team.session(), grid), upper.get());
  EXPECT_EQ(team.other_with(*team.session(), cells), nullptr);
  EXPECT_EQ(team.other_with(*upper, grid), nullptr);
  team.leave(*upper, 0);
  EXPECT_EQ(team.other_with(*team.session(), grid), nullptr);
}

TEST(ClientTeam, names_those_that_have_points) {
  Team team;
  EXPECT_EQ(team.holders(grid), "");
  added(team, *team.join("upper"), rows(0, 1));
  EXPECT_EQ(team.holders(grid), "endpoint 1 ('upper') has a part");
  EXPECT_EQ(team.holders(cells), "");
  added(team, *team.join("idle"), rows(0, 0));
  const auto closed = team.join("closed");
  added(team, *closed, rows(1, 1));
  team.leave(*closed, 0);
  added(team, *team.join(""), rows(2, 1));
  EXPECT_EQ(team.holders(grid), "endpoint 1 ('upper') and endpoint 4 have parts");
  for (std::uint64_t row = 3; row < 11; ++row) added(team, *team.join(""), rows(row, 1));
  EXPECT_EQ(team.holders(grid),
            "endpoint 1 ('upper'), endpoint 4, endpoint 5, endpoint 6, endpoint 7, endpoint 8, endpoint 9, "
            "endpoint 10 and 2 more endpoints have parts");
}

TEST(ClientTeam, a_step_ends_with_the_slowest_open_member) {
  Team team;
  const auto fast = team.join("fast");
  const auto slow = team.join("slow");
  team.session()->steps = 2;
  fast->steps = 1;
  slow->puts = 5;
  EXPECT_EQ(team.ended_steps(), 0U);
  EXPECT_EQ(team.late(2),
            "endpoint 2 ('slow') has ended 0 of 2 steps and made 5 puts; others are ahead of it: endpoint 1 "
            "('fast') (1 steps)");
  EXPECT_EQ(team.late(1), "endpoint 2 ('slow') has ended 0 of 1 steps and made 5 puts");
  team.leave(*slow, 0);
  EXPECT_EQ(team.ended_steps(), 1U);
  EXPECT_EQ(team.late(2), "endpoint 1 ('fast') has ended 1 of 2 steps and made 0 puts");
  fast->steps = 2;
  EXPECT_EQ(team.ended_steps(), 2U);
  EXPECT_EQ(team.late(2), "");
}

TEST(ClientTeam, progress_and_calls_are_those_of_endpoints_only) {
  Team team;
  const auto member = team.join("");
  const std::uint64_t before = team.progress_of_endpoints();
  team.session()->puts = 10;
  team.session()->steps = 10;
  team.session()->use = EndpointUse::in_call;
  EXPECT_EQ(team.progress_of_endpoints(), before);
  EXPECT_FALSE(team.is_busy());
  ++member->puts;
  const std::uint64_t after_put = team.progress_of_endpoints();
  EXPECT_NE(after_put, before);
  ++member->steps;
  EXPECT_NE(team.progress_of_endpoints(), after_put);
  member->use = EndpointUse::in_call;
  EXPECT_TRUE(team.is_busy());
}

TEST(ClientTeam, who_has_put_into_a_later_step_will_not_put_into_an_earlier_one) {
  Team team;
  const auto ahead = team.join("ahead");
  added(team, *ahead, rows(0, 10));
  ahead->steps = 1;
  ahead->put_steps = 1;
  EXPECT_EQ(team.ahead_of(grid, 0), nullptr) << "it may have left out a variable";
  ahead->put_steps = 2;
  EXPECT_EQ(team.ahead_of(grid, 0), ahead.get());
  EXPECT_EQ(team.ahead_of(grid, 1), nullptr);
  EXPECT_EQ(team.ahead_of(cells, 0), nullptr);
  team.leave(*ahead, 3);
  EXPECT_EQ(team.ahead_of(grid, 0), ahead.get()) << "nobody else has its points";
  added(team, *team.join("heir"), rows(0, 10));
  EXPECT_EQ(team.ahead_of(grid, 0), nullptr);
}

/// Put number 5 of the rank, in step 1: variable "v" on the grid, or "m" on the map.
class ClientTeamPut : public ::testing::Test {
 protected:
  static constexpr std::uint64_t number = 5;
  static constexpr std::uint64_t step = 1;

  ClientTeamPut() {
    Schema schema;
    schema.dimension("time", unlimited).dimension("y", all_rows);
    schema.variable("v", Type::float64, {"time", "y"}).on("grid");
    schema.variable("m", Type::float64, {"time", "y"}).on("cells");
    collection_ =
        std::move(Collection::make({.id = 0, .name = "c", .schema = schema, .options = {.store = "cdf5"}},
                                   config_, {grid_of_rank(), cells_of_rank()},
                                   {.model_rank = 0, .model_ranks = 1, .servers = 1, .pools = &pools_})
                      .value()
                      .front());
    file_.collection = collection_.get();
    file_.servers = {0};
    file_.path = "c.nc";
    plans_.emplace(*collection_, nullptr);
    team_.session()->steps = step;
    begin("v");
  }

  void begin(const std::string& variable) {
    const std::uint32_t v = collection_->index_of(variable).value();
    put_.begin(number, {&file_, v, 0, step}, {&file_, v, plans_->stored_plan(v).value(), 0, 0, 0}, true);
  }
  std::shared_ptr<Member> member(const std::string& name, EndpointPart part) {
    const auto made = team_.join(name);
    const Decomposition of = part.decomposition == grid ? grid_of_rank() : rank_cells_;
    const auto after = team_.add(*made, std::move(part), &of);
    EXPECT_TRUE(after) << after.error().text();
    return made;
  }

  config::Config config_ = test::config_of({});
  Pools pools_{config_, {}, 1};
  Decomposition rank_cells_ = cells_of_rank();
  std::unique_ptr<Collection> collection_;
  File file_;
  std::optional<PutPlans> plans_;
  Team team_;
  JointPut put_;
};

TEST_F(ClientTeamPut, names_the_open_members_that_have_not_handed_over_their_part) {
  const auto upper = member("upper", rows(0, 10));
  const auto lower = member("lower", rows(10, 30));
  member("idle", rows(0, 0));
  EXPECT_EQ(team_.without(put_), "not handed over by endpoint 1 ('upper'), endpoint 2 ('lower')");
  put_.note_member(upper->place);
  EXPECT_EQ(team_.without(put_), "not handed over by endpoint 2 ('lower')");
  put_.note_member(lower->place);
  EXPECT_EQ(team_.without(put_), "");
}

TEST_F(ClientTeamPut, says_who_was_opened_after_the_step) {
  ++team_.session()->steps;
  member("late", rows(0, rank_rows));
  EXPECT_EQ(team_.without(put_),
            "not handed over by endpoint 1 ('late'), which was opened after the session had ended the step");
}

TEST_F(ClientTeamPut, names_a_closed_member_unless_it_has_contributed_or_another_has_its_points) {
  const auto upper = member("upper", rows(0, 10));
  const auto lower = member("lower", rows(10, 30));
  put_.note_member(upper->place);
  team_.leave(*upper, number);
  team_.leave(*lower, number - 1);
  EXPECT_EQ(team_.without(put_), "not handed over by endpoint 2 ('lower'), which was closed");
  const auto heir = member("heir", rows(10, 30));
  EXPECT_EQ(team_.without(put_), "not handed over by endpoint 3 ('heir')");
  put_.note_member(heir->place);
  EXPECT_EQ(team_.without(put_), "");
}

TEST_F(ClientTeamPut, a_place_that_is_used_again_does_not_count_for_the_member_before) {
  const auto before = member("before", rows(0, rank_rows));
  team_.leave(*before, number - 1);
  put_.note_member(before->place);
  EXPECT_EQ(team_.without(put_), "not handed over by endpoint 1 ('before'), which was closed")
      << "it was closed before the put began";
}

TEST_F(ClientTeamPut, counts_the_points_that_nobody_has) {
  put_.note_member(member("middle", rows(8, 20))->place);
  EXPECT_EQ(team_.without(put_), "20 points of decomposition 'grid' belong to no endpoint, among them [0:8]");
  put_.note_member(member("upper", rows(0, 8))->place);
  EXPECT_EQ(team_.without(put_),
            "12 points of decomposition 'grid' belong to no endpoint, among them [28:40]");
  member("lower", rows(28, 10));
  EXPECT_EQ(
      team_.without(put_),
      "not handed over by endpoint 3 ('lower'); 2 points of decomposition 'grid' belong to no endpoint, "
      "among them [38:40]");
  team_.note_whole(grid, number);
  EXPECT_EQ(team_.without(put_), "not handed over by endpoint 3 ('lower')") << "the session puts the rest";
}

TEST_F(ClientTeamPut, counts_the_points_of_a_map_that_nobody_has) {
  begin("m");
  put_.note_member(member("first", some_cells(10, 4))->place);
  put_.note_member(member("last", some_cells(17, 13))->place);
  EXPECT_EQ(
      team_.without(put_),
      "3 points of decomposition 'cells' belong to no endpoint, the first of them with the linear index 14");
}

TEST_F(ClientTeamPut, a_part_does_not_count_in_puts_that_were_begun_before_it) {
  const auto before = member("before", rows(0, rank_rows));
  before->last_put = number;
  put_.note_member(before->place);
  team_.leave(*before, number);
  const auto after = member("after", rows(0, rank_rows));
  EXPECT_EQ(after->parts.back().after, number);
  EXPECT_EQ(team_.without(put_), "");
}

TEST_F(ClientTeamPut, may_owe_a_part_of_a_member_until_it_has_handed_it_over) {
  const auto upper = member("upper", rows(0, 10));
  const auto elsewhere = member("elsewhere", some_cells(10, 4));
  EXPECT_TRUE(team_.may_owe(*upper, put_));
  EXPECT_FALSE(team_.may_owe(*elsewhere, put_));
  EXPECT_TRUE(team_.may_owe(*team_.session(), put_)) << "its thread may use endpoints";
  put_.note_member(upper->place);
  EXPECT_FALSE(team_.may_owe(*upper, put_));
  EXPECT_TRUE(team_.may_owe(*team_.session(), put_));
  put_.set_complete();
  EXPECT_FALSE(team_.may_owe(*team_.session(), put_));
}

}  // namespace
}  // namespace afterbay::client
