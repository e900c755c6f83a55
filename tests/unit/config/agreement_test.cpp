// SPDX-License-Identifier: Apache-2.0
// Settings that must be equal on all ranks, and the message that names the differing one.
#include "config/agreement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/settings.hpp"

namespace afterbay::config {
namespace {

using ::testing::HasSubstr;

std::string difference(const Config& a, const Config& b) {
  return first_difference(agreed_settings(a), 0, agreed_settings(b), 3);
}

Config with(const std::string& name, const std::string& value) {
  Config config;
  const Setting<Config>* const setting = find_setting(session_settings(), name);
  EXPECT_NE(setting, nullptr) << name;
  EXPECT_TRUE(setting->assign(config, value)) << name;
  return config;
}

TEST(ConfigAgreement, EqualConfigurationsAgree) { EXPECT_EQ(difference(Config(), Config()), ""); }

TEST(ConfigAgreement, NamesTheSettingAndBothRanks) {
  EXPECT_EQ(difference(Config(), with("memory.server", "1GiB")),
            "memory.server is 512MiB on rank 0 and 1GiB on rank 3");
  EXPECT_EQ(difference(with("topology", "inline"), Config()),
            "topology is inline on rank 0 and dedicated on rank 3");
}

TEST(ConfigAgreement, EachFlaggedSettingCounts) {
  std::vector<std::string> flagged;
  for (const auto& setting : session_settings())
    if (setting.agreed) flagged.push_back(setting.name);
  EXPECT_THAT(flagged, testing::UnorderedElementsAreArray({"topology",
                                                           "servers",
                                                           "servers_per_node",
                                                           "server_nodes",
                                                           "server_offset",
                                                           "server_spacing",
                                                           "isolate_nodes",
                                                           "model_ranks",
                                                           "frontends_per_node",
                                                           "inline.mode",
                                                           "placement",
                                                           "pool_choice",
                                                           "input_pool",
                                                           "transport",
                                                           "memory.server",
                                                           "memory.block",
                                                           "memory.small_block",
                                                           "memory.small_share",
                                                           "memory.frames",
                                                           "memory.chunks",
                                                           "memory.input",
                                                           "memory.link",
                                                           "memory.maps",
                                                           "memory.receive",
                                                           "memory.ring",
                                                           "memory.frontend",
                                                           "memory.statistics",
                                                           "memory.endpoints",
                                                           "output.memory",
                                                           "deadline",
                                                           "checks",
                                                           "chunk"}));
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"servers", "7"},
                                                                                    {"deadline", "17s"},
                                                                                    {"chunk", "64KiB"},
                                                                                    {"transport", "mpi"},
                                                                                    {"memory.frames", "5"}})
    EXPECT_THAT(difference(Config(), with(name, value)), HasSubstr(name + " is ")) << name;
}

/// Stages decide what ranks hand over, and how much memory a server has for it.
TEST(ConfigAgreement, StagesOfVariablesCount) {
  Config one, other;
  one.overrides.collections.push_back({"history", "t", "multiply", "2", {}});
  EXPECT_EQ(difference(one, other),
            "collections.history.variables.t.multiply is 2 on rank 0 and not set on rank 3");
  other.overrides.collections.push_back({"history", "t", "deflate", "4", {}});
  other.overrides.collections.push_back({"history", "t", "multiply", "2", {}});
  EXPECT_EQ(difference(one, other), "");
}

TEST(ConfigAgreement, FlaggedSettingsOfCollectionsCount) {
  Config one;
  one.overrides.collections.push_back({"history", "", "pool", "large", {}});
  EXPECT_EQ(difference(one, Config()), "collections.history.pool is large on rank 0 and not set on rank 3");
  Config measures;
  measures.overrides.collections.push_back({"history", "", "compress", "auto", {}});
  EXPECT_EQ(difference(measures, Config()),
            "collections.history.compress is auto on rank 0 and not set on rank 3");
  Config another;
  another.overrides.collections.push_back({"history", "", "priority", "3", {}});
  another.overrides.collections.push_back({"history", "t", "access", "series", {}});
  EXPECT_EQ(difference(another, Config()), "");
}

TEST(ConfigAgreement, WhatRanksMayHaveForThemselvesIsNotCompared) {
  EXPECT_EQ(difference(Config(), with("log", "debug")), "");
  EXPECT_EQ(difference(Config(), with("report.table", "off")), "");
}

TEST(ConfigAgreement, PoolsAndTheirOrderCount) {
  Config one;
  one.overrides.pools = {{"a", "servers", "2", {}}, {"b", "servers", "1", {}}};
  Config other = one;
  std::swap(other.overrides.pools[0], other.overrides.pools[1]);
  EXPECT_EQ(difference(Config(), one), "pools.a.servers is not set on rank 0 and 2 on rank 3");
  EXPECT_THAT(difference(one, other), HasSubstr("the order of pools"));
}

TEST(ConfigAgreement, OfSeveralSourcesTheLastCounts) {
  Config one;
  one.overrides.pools = {{"a", "servers", "2", {}}, {"a", "servers", "3", {}}};
  Config other = one;
  other.overrides.pools[1].value = "4";
  EXPECT_EQ(difference(one, other), "pools.a.servers is 3 on rank 0 and 4 on rank 3");
}

TEST(ConfigAgreement, WhatFollowsFromOtherSettingsCounts) {
  Config none;
  none.writing.checksum = false;
  EXPECT_EQ(difference(Config(), none), "checksum with a journal is on on rank 0 and off on rank 3");
}

}  // namespace
}  // namespace afterbay::config
