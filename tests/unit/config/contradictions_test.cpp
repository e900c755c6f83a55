// SPDX-License-Identifier: Apache-2.0
// Settings that are valid on their own but contradict each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/config.hpp"
#include "unit/config/config_sources.hpp"

namespace afterbay::config {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Settings = std::vector<std::pair<std::string, std::string>>;

Error contradiction(const Settings& settings) {
  Sources sources = no_environment();
  sources.settings = settings;
  const auto config = load(sources);
  EXPECT_FALSE(config) << "accepted";
  if (config) return {};
  EXPECT_EQ(config.error().code, ErrorCode::conflict);
  return config.error();
}

TEST(ConfigContradictions, BlocksMustFitTwice) {
  EXPECT_THAT(
      contradiction({{"memory.server", "512MiB"}, {"memory.block", "300MiB"}}).message,
      HasSubstr(
          "set in code: memory.server is 512MiB (set in code) leaves 448MiB for large blocks, since "
          "memory.small_share is 0.125 (default); that must hold at least two, but memory.block is 300MiB "
          "(set in code); raise memory.server to 686MiB or lower memory.block"));
}

TEST(ConfigContradictions, BlocksMustFitTwiceBesideTheBuffersOfStages) {
  const Settings settings{{"memory.server", "16MiB"},
                          {"memory.small_share", "0"},
                          {"writers", "3"},
                          {"collections.c.variables.t.multiply", "2"}};
  EXPECT_THAT(contradiction(settings).message,
              HasSubstr("since memory.small_share is 0 (set in code) and the writers have 3 buffers of a "
                        "block and a page each, for stages of variables or spilled data; that must hold at "
                        "least two, but memory.block is "
                        "4MiB (default); raise memory.server to 21MiB or lower memory.block"));
  Sources sources = no_environment();
  sources.settings = settings;
  sources.settings.front().second = "21MiB";
  EXPECT_TRUE(load(sources));
}

TEST(ConfigContradictions, ThePoolsMemoryHoldsTheBuffersOfItsWriters) {
  EXPECT_THAT(contradiction({{"memory.server", "20MiB"},
                             {"memory.small_share", "0"},
                             {"pools.a.servers", "1"},
                             {"pools.a.writers", "8"},
                             {"collections.c.variables.t.multiply", "2"}})
                  .message,
              HasSubstr("the writers have 8 buffers"));
}

TEST(ConfigContradictions, TheAdviceHolds) {
  Sources sources = no_environment();
  sources.settings = {{"memory.server", "686MiB"}, {"memory.block", "300MiB"}};
  EXPECT_TRUE(load(sources));
}

TEST(ConfigContradictions, SmallBlocksAreSmaller) {
  EXPECT_THAT(
      contradiction({{"memory.small_block", "4MiB"}}).message,
      HasSubstr(
          "memory.small_block is 4MiB (set in code), but memory.block is 4MiB (default); small blocks must "
          "be smaller"));
  EXPECT_THAT(contradiction({{"memory.small_block", "2MiB"}, {"memory.server", "20MiB"}}).message,
              HasSubstr("leave 2560KiB for small blocks; that must hold at least two"));
  Sources sources = no_environment();
  sources.settings = {{"memory.server", "8MiB"}, {"memory.small_share", "0"}};
  EXPECT_TRUE(load(sources));
}

TEST(ConfigContradictions, MemoryForTheNetworkHoldsTwoBlocks) {
  EXPECT_THAT(contradiction({{"memory.link", "4MiB"}}).message,
              HasSubstr("memory.link is 4MiB (set in code), but memory.block is 4MiB (default); it must hold "
                        "at least two blocks: raise memory.link to 8MiB or lower memory.block"));
  EXPECT_THAT(contradiction({{"memory.receive", "8MiB"}}).message,
              HasSubstr("memory.receive is 8MiB (set in code), but memory.block is 4MiB (default); it must "
                        "hold at least two blocks and 256KiB: raise memory.receive to 8448KiB or lower "
                        "memory.block"));
  Sources sources = no_environment();
  sources.settings = {{"memory.link", "8MiB"}, {"memory.receive", "8448KiB"}};
  EXPECT_TRUE(load(sources));
}

TEST(ConfigContradictions, ChunksFitInBlocks) {
  EXPECT_THAT(
      contradiction({{"chunk", "8MiB"}}).message,
      HasSubstr(
          "chunk is 8MiB (set in code), but memory.block is 4MiB (default); a chunk must fit in a block"));
}

TEST(ConfigContradictions, a_quota_that_holds_no_block_puts_nothing_aside) {
  EXPECT_THAT(
      contradiction({{"when_full", "spill"}, {"spill.quota", "2MiB"}}).message,
      HasSubstr("spill.quota is 2MiB (set in code), but memory.block is 4MiB (default); at least one block "
                "must fit in the quota"));
}

TEST(ConfigContradictions, InlineHasNoServers) {
  EXPECT_THAT(
      contradiction({{"topology", "inline"}, {"servers", "2"}}).message,
      HasSubstr(
          "servers is 2 (set in code), but topology is inline (set in code): with the inline topology the "
          "model's own processes write; remove servers"));
}

TEST(ConfigContradictions, DedicatedHasNoInlineMode) {
  EXPECT_THAT(
      contradiction({{"inline.mode", "thread"}}).message,
      HasSubstr(
          "inline.mode is thread (set in code), but topology is dedicated (default): with the dedicated "
          "topology it has no effect"));
}

/// A flag alone switches a run to the other topology.
TEST(ConfigContradictions, AHigherSourceMaySwitchTheTopology) {
  const YamlFile dedicated("afterbay: {servers: 2}");
  Sources sources = dedicated.sources();
  sources.arguments = {"--afterbay.topology=inline"};
  EXPECT_EQ(load(sources).value().check_against(4).value().servers, 0);
  EXPECT_EQ(load(sources).value().servers.number, Config().servers.number);
  EXPECT_EQ(load(sources).value().origin("servers").source, Source::fallback);
  sources.arguments.push_back("--afterbay.servers=2");
  EXPECT_FALSE(load(sources));
}

TEST(ConfigContradictions, SharedMemoryEndsAtTheNode) {
  const Error error = contradiction({{"transport", "shm"}, {"nodes", "0,0,1"}});
  EXPECT_THAT(error.message,
              HasSubstr("transport is shm (set in code), but nodes is 0,0,1 (set in code) declares ranks on "
                        "different nodes, which share no memory; set transport to auto or mpi"));
  Sources sources = no_environment();
  sources.settings = {{"transport", "shm"}, {"nodes", "1,1,1"}};
  EXPECT_TRUE(load(sources));
}

TEST(ConfigContradictions, ReportsHaveTheirOwnFiles) {
  EXPECT_THAT(contradiction({{"report.json", "a"}, {"report.trace", "a"}}).message,
              HasSubstr("both would write the same file"));
}

TEST(ConfigContradictions, ClassicFormatsHaveNoFilters) {
  EXPECT_THAT(
      contradiction({{"collections.h.store", "cdf5"}, {"collections.h.deflate", "4"}}).message,
      HasSubstr("collections.h.deflate is 4 (set in code), but collections.h.store is cdf5 (set in code), a "
                "format without filters; remove deflate or use the store netcdf4"));
  // A checksum is no compression.
  EXPECT_THAT(
      contradiction({{"collections.h.store", "cdf5"}, {"collections.h.fletcher32", "on"}}).message,
      HasSubstr("collections.h.fletcher32 is on (set in code), but collections.h.store is cdf5 (set in "
                "code), a format without filters; remove fletcher32 or use the store netcdf4"));
  EXPECT_THAT(contradiction({{"collections.*.deflate", "1"}, {"collections.h.store", "cdf2"}}).message,
              HasSubstr("collections.*.deflate is 1"));
  EXPECT_THAT(
      contradiction({{"collections.*.store", "cdf2"}, {"collections.h.variables.t.shuffle", "true"}}).message,
      HasSubstr("collections.h.variables.t.shuffle is on (set in code), but collections.*.store is cdf2"));
}

TEST(ConfigContradictions, ChosenFiltersExcludeOthers) {
  EXPECT_THAT(
      contradiction({{"collections.*.compress", "auto"}, {"collections.h.deflate", "4"}}).message,
      HasSubstr("collections.h.deflate is 4 (set in code), but collections.*.compress is auto (set in code), "
                "which chooses the filters; remove one of them"));
  EXPECT_THAT(
      contradiction({{"collections.h.compress", "portable"}, {"collections.h.variables.t.shuffle", "on"}})
          .message,
      HasSubstr("collections.h.variables.t.shuffle is on (set in code), but collections.h.compress is "
                "portable"));
  EXPECT_THAT(
      contradiction({{"collections.h.store", "grib2"}, {"collections.h.compress", "auto"}}).message,
      HasSubstr("collections.h.compress is auto (set in code), but collections.h.store is grib2 (set in "
                "code), a format without filters; remove compress or use the store netcdf4"));
  Sources sources = no_environment();
  sources.settings = {{"collections.*.compress", "auto"}, {"collections.h.fletcher32", "on"},
                      {"collections.h.deflate", "0"},     {"collections.c.store", "cdf5"},
                      {"collections.c.compress", "off"},  {"collections.d.compress", "off"},
                      {"collections.d.deflate", "3"}};
  EXPECT_TRUE(load(sources));
}

TEST(ConfigContradictions, CompressionThatIsSwitchedOffIsRight) {
  Sources sources = no_environment();
  sources.settings = {
      {"collections.*.deflate", "1"}, {"collections.h.store", "cdf2"}, {"collections.h.deflate", "0"}};
  EXPECT_TRUE(load(sources));
  sources.settings = {
      {"collections.*.store", "cdf5"}, {"collections.h.store", "netcdf4"}, {"collections.h.deflate", "1"}};
  EXPECT_TRUE(load(sources));
}

TEST(ConfigContradictions, StandBesideOtherProblems) {
  Sources sources = no_environment();
  sources.settings = {{"chunk", "8MiB"}, {"servers", "x"}, {"topology", "inline"}};
  const std::string text = load(sources).error().message;
  EXPECT_THAT(text, HasSubstr("has 2 problems"));  // not a third about servers with inline
  EXPECT_THAT(text, HasSubstr("a chunk must fit"));
}

TEST(ConfigContradictions, WrongValuesAreNotJudgedTwice) {
  Sources sources = no_environment();
  sources.settings = {{"memory.block", "huge"}, {"chunk", "8MiB"}};
  EXPECT_THAT(load(sources).error().message, Not(HasSubstr("a chunk must fit")));
}

TEST(ConfigRanks, DivideIntoModelAndServers) {
  Config config;
  config.servers.number = 2;
  EXPECT_EQ(config.check_against(6).value().model_ranks, 4);
  EXPECT_EQ(config.check_against(6).value().servers, 2);
}

TEST(ConfigRanks, OneMustBeLeftForTheModel) {
  Sources sources = no_environment();
  sources.arguments = {"--afterbay.servers=4"};
  const auto split = load(sources).value().check_against(4);
  ASSERT_FALSE(split);
  EXPECT_EQ(split.error().code, ErrorCode::conflict);
  EXPECT_EQ(split.error().message,
            "--afterbay.servers: servers is 4, but the communicator has 4 ranks, which leaves 0 for the "
            "model; start at "
            "least 5 ranks, lower servers, or set topology to inline");
  EXPECT_THAT(Config().check_against(1).error().message,
              HasSubstr("default: servers is 1, but the communicator has 1 rank,"));
}

TEST(ConfigRanks, EveryRankHasADeclaredNode) {
  Sources sources = no_environment();
  sources.environment->emplace("AFTERBAY_NODES", "0,0,1");
  const Config config = load(sources).value();
  EXPECT_TRUE(config.check_against(3));
  EXPECT_EQ(config.check_against(4).error().message,
            "AFTERBAY_NODES: nodes declares the nodes of 3 ranks, but the communicator has 4; give one "
            "number per rank");
}

}  // namespace
}  // namespace afterbay::config
