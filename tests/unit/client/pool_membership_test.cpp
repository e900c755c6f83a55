// SPDX-License-Identifier: Apache-2.0
// Which servers of a pool write the files of a collection, and which of them writes what.
#include "client/pool_membership.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace afterbay::client {
namespace {

using config::Placement;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::size_t session_servers = 6;

/// Collection number `number` of a pool with the servers 1, 3 and 4.
PoolMembership member(Placement placement, std::size_t number = 0, Format format = Format::cdf5,
                      Existing existing = Existing::refuse) {
  return {{1, 3, 4}, session_servers, number, {placement, format, existing}};
}

std::vector<std::size_t> served_by(const PoolMembership& it) {
  std::vector<std::size_t> found;
  for (std::size_t s = 0; s < session_servers; ++s)
    if (it.serves(s)) found.push_back(s);
  return found;
}

/// The servers of the first files.
std::vector<std::size_t> servers_of_files(const PoolMembership& it) {
  return {it.server_of(0), it.server_of(1), it.server_of(2), it.server_of(3)};
}

std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> candidates_for(const PoolMembership& it,
                                                                                 std::uint64_t files) {
  std::vector<wire::Candidate> candidates;
  it.add_candidates(candidates, files);
  std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> found;
  for (const wire::Candidate& one : candidates) found.emplace_back(one.leader, one.servers);
  return found;
}

TEST(ClientPoolMembership, collections_of_a_pool_go_to_its_servers_in_turn) {
  EXPECT_THAT(servers_of_files(member(Placement::collection)), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(servers_of_files(member(Placement::collection, 1)), ElementsAre(3, 3, 3, 3));
  EXPECT_THAT(servers_of_files(member(Placement::collection, 4)), ElementsAre(3, 3, 3, 3));
  EXPECT_THAT(served_by(member(Placement::collection, 1)), ElementsAre(3)) << "one writes all files";
}

TEST(ClientPoolMembership, files_go_to_its_servers_in_turn) {
  EXPECT_THAT(servers_of_files(member(Placement::file, 1)), ElementsAre(3, 4, 1, 3));
  EXPECT_THAT(served_by(member(Placement::file)), ElementsAre(1, 3, 4));
  EXPECT_TRUE(member(Placement::file).takes_turns());
  EXPECT_FALSE(member(Placement::file).takes_least_loaded());
}

TEST(ClientPoolMembership, the_least_loaded_server_is_one_of_all_its_servers) {
  const PoolMembership it = member(Placement::least);
  EXPECT_TRUE(it.takes_least_loaded());
  EXPECT_THAT(candidates_for(it, 7),
              ElementsAre(Pair(1, ElementsAre(1)), Pair(3, ElementsAre(3)), Pair(4, ElementsAre(4))));
  const PoolMembership alone({5}, session_servers, 0, {Placement::least, Format::cdf5, Existing::refuse});
  EXPECT_FALSE(alone.takes_least_loaded()) << "there is no choice";
}

TEST(ClientPoolMembership, candidates_among_pools_are_the_servers_that_would_write) {
  EXPECT_THAT(candidates_for(member(Placement::file), 1), ElementsAre(Pair(3, ElementsAre(3))));
  EXPECT_THAT(candidates_for(member(Placement::slab, 1), 1), ElementsAre(Pair(3, ElementsAre(1, 3, 4))));
}

TEST(ClientPoolMembership, parts_of_split_files_begin_with_the_server_of_the_collection) {
  PoolMembership it = member(Placement::slab, 2);
  EXPECT_EQ(it.split(), model::Split::slab);
  EXPECT_THAT(served_by(it), ElementsAre(1, 3, 4));
  EXPECT_EQ(it.first_owner(), 4u);
  EXPECT_EQ(it.server_of_owner(0), 4u);
  EXPECT_EQ(it.server_of_owner(1), 1u);
  it.begin_with_first();
  EXPECT_EQ(it.first_owner(), 1u);
  EXPECT_EQ(it.server_of_owner(1), 3u);
  EXPECT_EQ(it.server_of(0), 4u) << "its leader stays";
}

TEST(ClientPoolMembership, only_files_that_several_servers_can_write_are_split) {
  EXPECT_EQ(member(Placement::variable).split(), model::Split::variable);
  EXPECT_FALSE(member(Placement::slab, 0, Format::memory).is_split());
  EXPECT_FALSE(member(Placement::slab, 0, Format::cdf5, Existing::append).is_split());
  const PoolMembership alone({5}, session_servers, 0, {Placement::slab, Format::cdf5, Existing::refuse});
  EXPECT_FALSE(alone.is_split());
}

TEST(ClientPoolMembership, a_collection_without_a_pool_has_no_servers) {
  EXPECT_THAT(PoolMembership().servers(), IsEmpty());
}

}  // namespace
}  // namespace afterbay::client
