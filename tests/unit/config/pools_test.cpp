// SPDX-License-Identifier: Apache-2.0
// Pools of servers: their configuration, errors, and the assignment of collections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/pools.hpp"
#include "config/reference.hpp"
#include "unit/config/config_sources.hpp"

namespace afterbay::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Config pools_in_code(const std::vector<std::pair<std::string, std::string>>& settings) {
  Sources sources = no_environment();
  sources.settings = settings;
  auto config = load(sources);
  EXPECT_TRUE(config) << (config ? "" : config.error().text());
  return config.value_or(Config());
}

std::string pools_refusal(const std::vector<std::pair<std::string, std::string>>& settings) {
  Sources sources = no_environment();
  sources.settings = settings;
  const auto config = load(sources);
  return config ? "accepted" : config.error().message;
}

TEST(ConfigPools, WithoutPoolsThereIsOneWithoutAName) {
  const Config config;
  EXPECT_THAT(config.pools(), ElementsAre(""));
  EXPECT_EQ(config.of_pool("").servers.number, 1);
}

TEST(ConfigPools, AnEmptyMappingIsAPoolWithTheSettingsOfTheSession) {
  const YamlFile file(R"(
afterbay: {servers: 2}
pools:
  small: {}
  large: {collections_from: 1GiB}
collections:
  history: {pool: small}
)");
  const Config config = load(file.sources()).value();
  ASSERT_THAT(config.pools(), ElementsAre("small", "large"));
  EXPECT_EQ(config.of_pool("small").servers.number, 2);
  EXPECT_EQ(config.of_pool("small").servers.collections_from_bytes, 0u);
  EXPECT_THAT(show(config), HasSubstr("pools.small "));
}

TEST(ConfigPools, APoolHasItsOwnSettingsAndTheSessionsElse) {
  const YamlFile file(R"(
afterbay:
  servers: 2
  writers: 3
pools:
  fast:
    servers: 1
    memory:
      server: 64MiB
  slow: {placement: slab, collections_from: 1GiB}
collections:
  history: {pool: slow}
)");
  const Config config = load(file.sources()).value();
  ASSERT_THAT(config.pools(), ElementsAre("fast", "slow"));
  const Config fast = config.of_pool("fast");
  EXPECT_EQ(fast.servers.number, 1);
  EXPECT_EQ(fast.memory.server_bytes, 64u << 20);
  EXPECT_EQ(fast.writing.writers, 3);
  const Config slow = config.of_pool("slow");
  EXPECT_EQ(slow.servers.number, 2);
  EXPECT_EQ(slow.servers.placement, Placement::slab);
  EXPECT_EQ(slow.servers.collections_from_bytes, 1u << 30);
  EXPECT_TRUE(config.servers_talk());
  EXPECT_THAT(*config.settings_for("history").pools, ElementsAre("slow"));
  EXPECT_THAT(show(config), HasSubstr("pools.fast.memory.server"));
}

TEST(ConfigPools, TieredOnesPlaceFilesByTheLeastLoadUnlessToldOtherwise) {
  EXPECT_EQ(pools_in_code({}).of_pool("").servers.placement, Placement::collection);
  EXPECT_EQ(pools_in_code({{"topology", "tiered"}}).of_pool("").servers.placement, Placement::least);
  EXPECT_EQ(pools_in_code({{"topology", "tiered"}, {"placement", "slab"}}).of_pool("").servers.placement,
            Placement::slab);
  const Config two = pools_in_code({{"pools.a.topology", "tiered"}, {"pools.b.servers", "2"}});
  EXPECT_EQ(two.of_pool("a").servers.placement, Placement::least);
  EXPECT_EQ(two.of_pool("b").servers.placement, Placement::collection);
  EXPECT_TRUE(two.servers_talk());
}

TEST(ConfigPools, FlagsWinOverTheFile) {
  const YamlFile file("pools: {a: {servers: 1}}\n");
  Sources sources = file.sources();
  sources.environment->emplace("AFTERBAY_POOLS", "{a: {servers: 2}, b: {writers: 1}}");
  EXPECT_EQ(load(sources).value().of_pool("a").servers.number, 2);
  sources.arguments = {"--afterbay.pools.a.servers=3"};
  EXPECT_EQ(load(sources).value().of_pool("a").servers.number, 3);
  EXPECT_THAT(load(sources).value().pools(), ElementsAre("a", "b"));
}

TEST(ConfigPools, WhatMakesNoSenseIsRefused) {
  EXPECT_THAT(pools_refusal({{"pools.a.sevrers", "2"}}),
              HasSubstr("unknown setting \"pools.a.sevrers\"; did you mean \"servers\"?"));
  EXPECT_THAT(pools_refusal({{"pools.a", "2"}}), HasSubstr("expected pools.NAME.SETTING, found \"pools.a\""));
  EXPECT_THAT(pools_refusal({{"pools.a.deadline", "2s"}}), HasSubstr("unknown setting \"pools.a.deadline\""));
  EXPECT_THAT(pools_refusal({{"pools.a.topology", "inline"}}), HasSubstr("expected dedicated or tiered"));
  EXPECT_THAT(pools_refusal({{"pools.small.servers", "1"}, {"collections.x.pool", "smal"}}),
              HasSubstr("collections.x.pool: there is no pool \"smal\"; did you mean \"small\"?"));
  EXPECT_THAT(pools_refusal({{"collections.x.pool", "a"}}),
              HasSubstr("there is no pool \"a\": none is configured"));
  EXPECT_THAT(pools_refusal({{"pools.a.servers", "1"}, {"input_pool", "b"}}),
              HasSubstr("input_pool: there is no pool \"b\""));
  EXPECT_THAT(pools_refusal({{"pools.a.collections_from", "1MiB"}}),
              HasSubstr("no pool would take collections of smaller files"));
  EXPECT_THAT(pools_refusal({{"pools.a.servers", "1"}, {"topology", "inline"}}),
              HasSubstr("with the inline topology there are no pools"));
  EXPECT_THAT(pools_refusal({{"pools.a.memory.server", "4MiB"}}),
              HasSubstr("leaves 3584KiB for large blocks"));
  EXPECT_THAT(pools_refusal({{"frontends_per_node", "2"}}),
              HasSubstr("only the tiered topology has frontends"));
  EXPECT_THAT(pools_refusal({{"pools.a.topology", "tiered"},
                             {"pools.a.isolate_nodes", "on"},
                             {"pools.a.frontends_per_node", "2"}}),
              HasSubstr("all ranks of a server's node that are not servers are its frontends"));
  EXPECT_THAT(pools_refusal({{"topology", "inline"}, {"servers_per_node", "2"}}),
              HasSubstr("remove servers_per_node"));
}

// ---- which pool gets a collection

using client::Pools;

std::string pool_for(Pools& pools, std::uint64_t bytes, const std::string& named = "") {
  CollectionSettings settings;
  if (!named.empty()) settings.pools = {named};
  return pools.choose(settings, bytes).front()->name;
}

TEST(ClientPools, TakeCollectionsByNameAndBySize) {
  const Config config = pools_in_code({{"pools.small.servers", "1"},
                                       {"pools.large.collections_from", "1GiB"},
                                       {"pools.huge.collections_from", "1TiB"}});
  Pools pools(config, {0, 1, 2}, 3);
  EXPECT_EQ(pool_for(pools, 1), "small");
  EXPECT_EQ(pool_for(pools, (1u << 30) - 1), "small");
  EXPECT_EQ(pool_for(pools, 1u << 30), "large");
  EXPECT_EQ(pool_for(pools, std::uint64_t{1} << 41), "huge");
  EXPECT_EQ(pool_for(pools, std::uint64_t{1} << 41, "small"), "small");
}

TEST(ConfigPools, ACollectionMayHaveSeveralPools) {
  const YamlFile file(R"(
pools:
  a: {servers: 1}
  b: {servers: 2}
collections:
  history: {pool: [b, a], pool_choice: least}
  restart: {pool: "a, b"}
)");
  const Config config = load(file.sources()).value();
  EXPECT_THAT(*config.settings_for("history").pools, ElementsAre("b", "a"));
  EXPECT_EQ(config.settings_for("history").pool_choice, PoolChoice::least);
  EXPECT_THAT(*config.settings_for("restart").pools, ElementsAre("a", "b"));
  EXPECT_TRUE(config.servers_talk());
  EXPECT_FALSE(
      pools_in_code({{"pools.a.servers", "1"}, {"pools.b.servers", "1"}, {"collections.x.pool", "a,b"}})
          .servers_talk());
  EXPECT_THAT(pools_refusal({{"pools.a.servers", "1"}, {"collections.x.pool", "a,b"}}),
              HasSubstr("collections.x.pool: there is no pool \"b\""));
  EXPECT_THAT(pools_refusal({{"pools.a.servers", "1"}, {"collections.x.pool", "a,a"}}),
              HasSubstr("the pool \"a\" is named twice"));
  EXPECT_THAT(pools_refusal({{"pools.a.servers", "2"},
                             {"pools.b.servers", "1"},
                             {"pools.a.placement", "slab"},
                             {"collections.x.pool", "b,a"},
                             {"collections.x.readable", "on"}}),
              HasSubstr("with the placement slab several servers write each file"));
}

TEST(ClientPools, TakeCollectionsInTurn) {
  const Config config = pools_in_code({{"pools.a.servers", "1"}, {"pools.b.servers", "1"}});
  Pools pools(config, {0, 1}, 2);
  EXPECT_EQ(pool_for(pools, 100), "a");
  EXPECT_EQ(pool_for(pools, 100, "a"), "a");
  EXPECT_EQ(pool_for(pools, 1), "b");
  EXPECT_EQ(pool_for(pools, 1), "a");
}

TEST(ClientPools, TakeCollectionsByTheLeastExpectedBytesAServer) {
  const Config config =
      pools_in_code({{"pools.a.servers", "1"}, {"pools.b.servers", "2"}, {"pool_choice", "least"}});
  Pools pools(config, {0, 1, 1}, 3);
  EXPECT_EQ(pool_for(pools, 100), "a");
  EXPECT_EQ(pool_for(pools, 150), "b");
  EXPECT_EQ(pool_for(pools, 10), "b");
  EXPECT_EQ(pool_for(pools, 100), "b");
  EXPECT_EQ(pool_for(pools, 10), "a");
}

TEST(ClientPools, ReadWithAllServersOrThoseOfOnePool) {
  const Config all = pools_in_code({{"pools.a.servers", "1"}, {"pools.b.servers", "2"}});
  EXPECT_THAT(Pools(all, {1, 0, 1}, 3).readers(), ElementsAre(0, 1, 2));
  const Config one = pools_in_code({{"pools.a.servers", "1"}, {"pools.b.servers", "2"}, {"input_pool", "b"}});
  EXPECT_THAT(Pools(one, {1, 0, 1}, 3).readers(), ElementsAre(0, 2));
}

}  // namespace
}  // namespace afterbay::config
