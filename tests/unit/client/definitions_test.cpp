// SPDX-License-Identifier: Apache-2.0
// Which servers a model rank tells of its block of a decomposition.
#include "client/definitions.hpp"

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
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Rank 1 of 4, with four servers: 0 in pool a, 1 to 3 in pool b. Servers answer every batch.
class ClientDefinitions : public ::testing::Test {
 protected:
  void make(test::Settings settings) {
    settings.insert(settings.begin(), {{"pools.a.servers", "1"}, {"pools.b.servers", "3"}});
    config_ = test::config_of(test::with_small_frames(std::move(settings)));
    test::ScriptedServers servers(4);
    ends_ = servers.ends;
    core_.emplace(
        RankIdentity{.session_rank = 1, .model_rank = 1, .model_size = 4, .pool_of_server = {0, 1, 1, 1}},
        config_, std::move(servers.links),
        SessionCore::Host{
            .handle = [this](std::size_t server, std::span<const std::byte> message) -> Result<> {
              definitions_->answer(server, wire::decode<wire::Defined>(message).value());
              return {};
            },
            .add_work = [](Error&) {}});
    definitions_.emplace(*core_, config_, profile_, Logger({"test", "model", 1}, LogLevel::error));
  }

  void define_block(const std::string& name, std::uint64_t start, std::uint64_t count) {
    ASSERT_TRUE(definitions_->add_decomposition(name, Block{{points}, {start}, {count}}, Coverage{}));
  }
  void define_collection(const std::string& name, const std::string& on) {
    Schema schema;
    schema.dimension("time", unlimited).dimension("x", points);
    schema.variable("v", Type::float64, {"time", "x"}).on(on);
    const auto made =
        definitions_->add_collection(name, schema, {.file = "{collection}.nc", .store = "cdf5"});
    ASSERT_TRUE(made) << made.error().text();
  }
  /// Sends what is new; gives the messages about blocks that each server got.
  std::vector<std::vector<wire::DefineDecomposition>> send() {
    for (test::ScriptedLink* const end : ends_) end->sent.clear();
    test::answer_definitions(ends_, ++serial_);
    const auto sent = definitions_->send();
    EXPECT_TRUE(sent) << sent.error().text();
    std::vector<std::vector<wire::DefineDecomposition>> by_server;
    for (const test::ScriptedLink* const end : ends_)
      by_server.push_back(end->all_sent<wire::DefineDecomposition>());
    return by_server;
  }

  static constexpr std::uint64_t points = 400'000;  ///< a record is many frames
  config::Config config_;
  observe::Profile profile_;
  std::vector<test::ScriptedLink*> ends_;
  std::optional<SessionCore> core_;
  std::optional<Definitions> definitions_;
  std::uint64_t serial_ = 0;
};

TEST_F(ClientDefinitions, a_block_goes_to_the_server_that_checks_it_and_to_those_that_write_files_on_it) {
  make({{"collections.*.pool", "b"}, {"placement", "file"}});
  define_block("grid", points / 4, points / 4);
  define_collection("history", "grid");
  const auto sent = send();
  for (const auto& messages : sent) ASSERT_THAT(messages, SizeIs(1));
  const std::vector<std::uint64_t> start{points / 4};
  for (std::size_t s = 0; s < 4; ++s) {
    const wire::DefineDecomposition& message = sent[s].front();
    EXPECT_EQ(message.held, 1);
    EXPECT_EQ(message.check, s == 0 ? 1 : 0) << s;  // the first decomposition
    EXPECT_EQ(message.used, s == 0 ? 0 : 1) << s;
    EXPECT_EQ(message.here, s == 0 ? 0 : 1) << s;
    EXPECT_EQ(message.block.start, start) << s;
  }
}

TEST_F(ClientDefinitions, servers_check_in_turn_and_others_outside_the_pool_get_nothing) {
  make({{"collections.*.pool", "a"}});
  for (const char* name : {"zero", "one", "two"}) define_block(name, 0, 100);
  define_collection("history", "two");
  const auto sent = send();
  ASSERT_THAT(sent[0], SizeIs(2));
  EXPECT_EQ(sent[0][0].name, "zero");
  EXPECT_EQ(sent[0][1].name, "two");
  EXPECT_EQ(sent[0][1].used, 1);
  EXPECT_EQ(sent[0][1].check, 0);
  ASSERT_THAT(sent[1], SizeIs(1));
  EXPECT_EQ(sent[1][0].name, "one");
  ASSERT_THAT(sent[2], SizeIs(1));
  EXPECT_EQ(sent[2][0].name, "two");
  EXPECT_EQ(sent[2][0].used, 0);
  EXPECT_THAT(sent[3], IsEmpty());
}

TEST_F(ClientDefinitions, a_slab_server_gets_the_block_only_if_its_pieces_lie_there) {
  make({{"collections.*.pool", "b"}, {"placement", "slab"}});
  define_block("grid", 0, 100);  // in the first slab
  define_collection("history", "grid");
  const auto sent = send();
  ASSERT_THAT(sent[1], SizeIs(1));
  EXPECT_EQ(sent[1].front().here, 1);
  for (const std::size_t s : {2, 3}) {
    ASSERT_THAT(sent[s], SizeIs(1)) << s;
    EXPECT_EQ(sent[s].front().used, 1);
    EXPECT_EQ(sent[s].front().held, 1);
    EXPECT_EQ(sent[s].front().here, 0);
    EXPECT_THAT(sent[s].front().block.start, IsEmpty());
    EXPECT_THAT(sent[s].front().block.global, ElementsAre(points));
  }
}

TEST_F(ClientDefinitions, a_server_gets_a_block_with_the_first_collection_that_needs_it) {
  make({{"collections.first.pool", "a"},
        {"collections.second.pool", "b"},
        {"collections.third.pool", "b"},
        {"pools.b.placement", "slab"}});
  define_block("grid", 0, 100);
  const auto unused = send();
  ASSERT_THAT(unused[0], SizeIs(1));
  EXPECT_EQ(unused[0].front().check, 1);
  for (const std::size_t s : {1, 2, 3}) EXPECT_THAT(unused[s], IsEmpty());
  define_collection("first", "grid");
  const auto first = send();
  ASSERT_THAT(first[0], SizeIs(1));
  EXPECT_EQ(first[0].front().check, 0) << "it was checked when it was registered";
  EXPECT_EQ(first[0].front().here, 1);
  for (const std::size_t s : {1, 2, 3}) EXPECT_THAT(first[s], IsEmpty());
  define_collection("second", "grid");
  const auto second = send();
  EXPECT_THAT(second[0], IsEmpty());
  for (const std::size_t s : {1, 2, 3}) EXPECT_THAT(second[s], SizeIs(1));
  define_collection("third", "grid");
  for (const auto& messages : send()) EXPECT_THAT(messages, IsEmpty());
}

TEST_F(ClientDefinitions, a_rank_that_holds_nothing_says_so) {
  make({{"collections.*.pool", "b"}});
  define_block("grid", 0, 0);
  define_collection("history", "grid");
  const auto sent = send();
  for (const std::size_t s : {0, 1}) {
    ASSERT_THAT(sent[s], SizeIs(1)) << s;
    EXPECT_EQ(sent[s].front().held, 0);
    EXPECT_THAT(sent[s].front().block.start, IsEmpty());
  }
}

TEST_F(ClientDefinitions, default_file_names_end_as_the_store_says) {
  make({{"collections.set.store", "fieldsfile"}});
  Schema schema;
  schema.dimension("time", unlimited).dimension("lat", 2).dimension("lon", 2);
  schema.variable("time", Type::float64, {"time"})
      .attribute("units", "hours since 2000-01-01")
      .attribute("calendar", "360_day");
  schema.variable("lat", Type::float64, {"lat"})
      .attribute("units", "degrees_north")
      .with_constant(Values({-30.0, 30.0}));
  schema.variable("lon", Type::float64, {"lon"})
      .attribute("units", "degrees_east")
      .with_constant(Values({0.0, 180.0}));
  schema.variable("ps", Type::float64, {"time", "lat", "lon"})
      .attribute("standard_name", "surface_air_pressure")
      .attribute("units", "Pa");
  const auto path_of = [&](const std::string& name, const CollectionOptions& options) {
    const auto made = definitions_->add_collection(name, schema, options);
    return made ? made->back()->path({}).value_or("no name") : made.error().text();
  };
  EXPECT_EQ(path_of("plain", {}), "plain.nc");
  EXPECT_EQ(path_of("chosen", {.directory = "out", .store = "pp"}), "out/chosen.pp");
  EXPECT_EQ(path_of("set", {}), "set.ff");
  EXPECT_EQ(path_of("named", {.file = "{collection}.um", .store = "pp"}), "named.um");
  EXPECT_EQ(path_of("bare", {.file = "{collection}", .store = "pp"}), "bare");
}

}  // namespace
}  // namespace afterbay::client
