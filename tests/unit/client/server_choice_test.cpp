// SPDX-License-Identifier: Apache-2.0
// Which server a rank chooses for each file, and what it asks the server that chooses by load.
#include "client/server_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "unit/client/scripted_servers.hpp"

namespace afterbay::client {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::size_t choice_servers = 4;
constexpr std::uint32_t first_id = 7;  ///< the collection's id in its first pool
constexpr bool without_pools = false;
constexpr bool in_two_pools = true;

/// A rank of two, with four servers and one collection.
class ChoosingRank {
 public:
  /// `has_pools`: server 0 is in pool a, the others are in pool b.
  ChoosingRank(bool has_pools, test::Settings settings, int model_rank = 0) {
    if (has_pools)
      settings.insert(settings.begin(), {{"pools.a.servers", "1"}, {"pools.b.servers", "3"}});
    else
      settings.emplace_back("servers", "4");
    config_ = test::config_of(test::with_small_frames(std::move(settings)));
    test::ScriptedServers servers(choice_servers);
    ends = servers.ends;
    std::vector<std::size_t> pool_of_server;
    if (has_pools) pool_of_server = {0, 1, 1, 1};
    core.emplace(
        RankIdentity{.session_rank = model_rank,
                     .model_rank = model_rank,
                     .model_size = 2,
                     .pool_of_server = pool_of_server},
        config_, std::move(servers.links),
        SessionCore::Host{.handle = [this](std::size_t, std::span<const std::byte> message) -> Result<> {
                            choice_->answer(wire::decode<wire::Assigned>(message).value());
                            return {};
                          },
                          .add_work = [](Error&) {}});
    pools_.emplace(config_, pool_of_server, choice_servers);
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", 100'000);
    schema.variable("v", Type::float64, {"time", "x"});
    collections_ =
        Collection::make(
            {.id = first_id, .name = "c", .schema = schema, .options = {.store = "cdf5"}}, config_, {},
            {.model_rank = model_rank, .model_ranks = 2, .servers = choice_servers, .pools = &*pools_})
            .value();
    choice_.emplace(*core);
  }

  /// The choosing server gives file number `nth` of a collection to `server`.
  void assign(std::uint64_t nth, std::uint32_t server, std::uint32_t collection = first_id) {
    ends[wire::choosing_server]->answer(wire::Assigned{collection, nth, server});
  }
  Result<bool> choose(std::optional<std::size_t> earlier = {}) {
    file.emplace();
    file->collection = collections_.front().get();
    return choice_->choose(*file, earlier);
  }
  /// The server of the next file, and whether it was chosen by load.
  std::pair<std::size_t, bool> next(std::optional<std::size_t> earlier = {}) {
    const auto by_load = choose(earlier);
    EXPECT_TRUE(by_load) << by_load.error().text();
    return {file->server, by_load.value_or(false)};
  }
  /// The servers of the next files, none of which is chosen by load.
  std::vector<std::size_t> next_in_turn(std::size_t files) {
    std::vector<std::size_t> servers;
    for (std::size_t i = 0; i < files; ++i) {
      const auto [server, by_load] = next();
      EXPECT_FALSE(by_load);
      servers.push_back(server);
    }
    return servers;
  }
  /// What the choosing server was asked since the last call; the others must not be asked.
  std::vector<wire::AskServer> asked() {
    for (std::size_t s = 0; s < choice_servers; ++s)
      if (s != wire::choosing_server) {
        EXPECT_THAT(ends[s]->sent, IsEmpty()) << s;
      }
    auto questions = ends[wire::choosing_server]->all_sent<wire::AskServer>();
    EXPECT_EQ(ends[wire::choosing_server]->sent.size(), questions.size());
    ends[wire::choosing_server]->sent.clear();
    return questions;
  }

  std::vector<test::ScriptedLink*> ends;
  std::optional<SessionCore> core;
  std::optional<File> file;  ///< the last one

 private:
  config::Config config_;
  std::optional<Pools> pools_;
  std::vector<std::unique_ptr<Collection>> collections_;
  std::optional<ServerChoice> choice_;
};

using Candidates = std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>>;

/// Leaders, with the servers whose load counts.
Candidates candidates_of(const wire::AskServer& question) {
  Candidates found;
  for (const wire::Candidate& it : question.candidates) found.emplace_back(it.leader, it.servers);
  return found;
}

TEST(ClientServerChoice, files_go_to_the_servers_in_turn_or_all_to_one_without_a_message) {
  ChoosingRank by_file(without_pools, {{"placement", "file"}});
  EXPECT_THAT(by_file.next_in_turn(6), ElementsAre(0, 1, 2, 3, 0, 1));
  EXPECT_THAT(by_file.asked(), IsEmpty());
  ChoosingRank by_collection(without_pools, {{"placement", "collection"}});
  EXPECT_THAT(by_collection.next_in_turn(3), ElementsAre(0, 0, 0));
  EXPECT_THAT(by_collection.asked(), IsEmpty());
}

TEST(ClientServerChoice, a_path_that_was_written_before_goes_to_the_same_server_and_takes_no_turn) {
  ChoosingRank rank(without_pools, {{"placement", "file"}});
  EXPECT_THAT(rank.next(), Pair(0U, false));
  EXPECT_THAT(rank.next(2), Pair(2U, false));
  EXPECT_THAT(rank.next(3), Pair(3U, false));
  EXPECT_THAT(rank.next(), Pair(1U, false)) << "as if there had been no files in between";
}

TEST(ClientServerChoice, a_server_that_the_collection_may_not_use_does_not_get_its_earlier_paths) {
  ChoosingRank in_pool(in_two_pools, {{"collections.c.pool", "b"}, {"placement", "file"}});
  EXPECT_THAT(in_pool.next(0), Pair(1U, false)) << "server 0 is in another pool";
  EXPECT_THAT(in_pool.next(), Pair(2U, false)) << "the file before took its turn";
  ChoosingRank at_one(without_pools, {{"placement", "collection"}});
  EXPECT_THAT(at_one.next(2), Pair(0U, false)) << "one server writes all files";
}

TEST(ClientServerChoice, pools_take_turns_and_so_do_the_servers_of_each) {
  ChoosingRank rank(in_two_pools, {{"collections.c.pool", "a,b"}, {"placement", "file"}});
  std::vector<std::pair<std::size_t, std::uint32_t>> chosen;
  for (int i = 0; i < 6; ++i) {
    const std::size_t server = rank.next().first;
    chosen.emplace_back(server, rank.file->collection->id());
  }
  constexpr std::uint32_t a = first_id;
  constexpr std::uint32_t b = first_id + 1;
  EXPECT_THAT(chosen,
              ElementsAre(Pair(0U, a), Pair(1U, b), Pair(0U, a), Pair(2U, b), Pair(0U, a), Pair(3U, b)));
  EXPECT_THAT(rank.next(2), Pair(2U, false));
  EXPECT_EQ(rank.file->collection->id(), b) << "the collection is the one in the server's pool";
  EXPECT_THAT(rank.next(), Pair(0U, false)) << "that file took no turn of a pool either";
}

TEST(ClientServerChoice, the_least_loaded_server_is_asked_for_one_file_ahead) {
  ChoosingRank rank(without_pools, {{"placement", "least"}, {"collections.c.expected_size", "1MiB"}});
  rank.assign(0, 2);
  EXPECT_THAT(rank.next(), Pair(2U, true));
  const auto first = rank.asked();
  ASSERT_EQ(first.size(), 2U);
  for (std::uint64_t nth = 0; nth < 2; ++nth) {
    EXPECT_EQ(first[nth].nth, nth);
    EXPECT_EQ(first[nth].collection, first_id);
    EXPECT_EQ(first[nth].expected_bytes, 1U << 20);
    EXPECT_EQ(candidates_of(first[nth]), (Candidates{{0, {0}}, {1, {1}}, {2, {2}}, {3, {3}}}));
  }
  rank.assign(1, 3);
  EXPECT_THAT(rank.next(), Pair(3U, true));
  const auto second = rank.asked();
  ASSERT_EQ(second.size(), 1U) << "the question for this file was asked before";
  EXPECT_EQ(second[0].nth, 2U);
}

TEST(ClientServerChoice, a_path_that_was_written_before_needs_no_choice_by_load) {
  ChoosingRank rank(without_pools, {{"placement", "least"}});
  EXPECT_THAT(rank.next(1), Pair(1U, false));
  EXPECT_THAT(rank.asked(), IsEmpty());
  rank.assign(0, 3);
  EXPECT_THAT(rank.next(), Pair(3U, true));
  EXPECT_EQ(rank.asked().front().nth, 0U) << "the file before was not counted";
}

TEST(ClientServerChoice, only_the_lowest_rank_asks_and_all_ranks_take_the_answers) {
  ChoosingRank lowest(without_pools, {{"placement", "least"}});
  ChoosingRank other(without_pools, {{"placement", "least"}}, 1);
  for (ChoosingRank* const rank : {&lowest, &other}) {
    rank->assign(1, 0);  // before it is needed
    rank->assign(0, 2);
    rank->assign(2, 2);
    EXPECT_THAT(rank->next(), Pair(2U, true));
    EXPECT_THAT(rank->next(3), Pair(3U, false));
    EXPECT_THAT(rank->next(), Pair(0U, true));
    EXPECT_THAT(rank->next(), Pair(2U, true));
  }
  EXPECT_EQ(lowest.asked().size(), 4U);
  EXPECT_THAT(other.asked(), IsEmpty());
}

TEST(ClientServerChoice, a_choice_among_pools_is_for_the_leaders_of_their_next_files) {
  ChoosingRank rank(in_two_pools,
                    {{"collections.c.pool", "a,b"}, {"pool_choice", "least"}, {"placement", "file"}});
  rank.assign(0, 1);
  EXPECT_THAT(rank.next(), Pair(1U, true));
  EXPECT_EQ(rank.file->collection->id(), first_id + 1);
  rank.assign(1, 0);
  EXPECT_THAT(rank.next(), Pair(0U, true));
  EXPECT_EQ(rank.file->collection->id(), first_id);
  const auto asked = rank.asked();
  ASSERT_EQ(asked.size(), 3U);
  for (const wire::AskServer& question : asked) EXPECT_EQ(question.collection, first_id);
  EXPECT_EQ(candidates_of(asked[0]), (Candidates{{0, {0}}, {1, {1}}}));
  EXPECT_EQ(candidates_of(asked[1]), (Candidates{{0, {0}}, {2, {2}}})) << "a file went to pool b";
  EXPECT_EQ(candidates_of(asked[2]), (Candidates{{0, {0}}, {2, {2}}})) << "then one to pool a";
}

TEST(ClientServerChoice, the_load_of_all_servers_counts_that_share_a_file) {
  ChoosingRank rank(in_two_pools,
                    {{"collections.c.pool", "b,a"}, {"pool_choice", "least"}, {"placement", "slab"}});
  rank.assign(0, 0);
  EXPECT_THAT(rank.next(), Pair(0U, true));
  EXPECT_EQ(candidates_of(rank.asked().front()), (Candidates{{0, {0}}, {1, {1, 2, 3}}}));
}

TEST(ClientServerChoice, servers_of_a_pool_in_turn_may_still_be_chosen_by_load) {
  ChoosingRank rank(in_two_pools, {{"collections.c.pool", "a,b"}, {"placement", "least"}});
  EXPECT_THAT(rank.next(), Pair(0U, false)) << "pool a has one server";
  rank.assign(0, 3, first_id + 1);
  EXPECT_THAT(rank.next(), Pair(3U, true));
  const auto asked = rank.asked();
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_EQ(asked[0].collection, first_id + 1);
  EXPECT_EQ(asked[0].nth, 0U) << "the first file of this pool";
  EXPECT_EQ(candidates_of(asked[0]), (Candidates{{1, {1}}, {2, {2}}, {3, {3}}}));
}

TEST(ClientServerChoice, a_choice_that_does_not_come_ends_the_session_and_names_the_collection) {
  ChoosingRank rank(without_pools, {{"placement", "least"}, {"deadline", "100ms"}});
  const auto failed = rank.choose();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::timed_out);
  EXPECT_THAT(failed.error().message, HasSubstr("the choice of a server for a file of collection 'c'"));
  EXPECT_FALSE(rank.core->is_usable());
}

TEST(ClientServerChoice, synchronous_ranks_wait_until_all_know_the_server) {
  ChoosingRank rank(without_pools, {{"placement", "least"}});
  int arrived = 0;
  int tested = 0;
  rank.core->set_synchronous([&]() -> Result<std::function<Result<bool>()>> {
    ++arrived;
    return [&]() -> Result<bool> { return ++tested >= 3; };
  });
  rank.assign(0, 1);
  EXPECT_THAT(rank.next(), Pair(1U, true));
  EXPECT_EQ(arrived, 1);
  EXPECT_EQ(tested, 3) << "it asks until all ranks are there";
  EXPECT_THAT(rank.next(2), Pair(2U, false));
  EXPECT_EQ(arrived, 1) << "every rank knows this one without an answer";
}

}  // namespace
}  // namespace afterbay::client
