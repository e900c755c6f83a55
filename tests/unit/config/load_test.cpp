// SPDX-License-Identifier: Apache-2.0
// The sources of settings and their precedence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "config/config.hpp"
#include "config/reference.hpp"
#include "config/settings.hpp"
#include "unit/config/config_sources.hpp"

namespace afterbay::config {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(ConfigLoad, NothingGivesTheDefaults) {
  const Config config = load(no_environment()).value();
  EXPECT_EQ(config.servers.topology, Topology::dedicated);
  EXPECT_EQ(config.servers.number, 1);
  EXPECT_EQ(config.memory.server_bytes, std::uint64_t{512} << 20);
  EXPECT_EQ(config.deadline, 60s);
  EXPECT_EQ(config.report.progress_ms, 0ms);
  EXPECT_TRUE(config.network.nodes.empty());
  EXPECT_EQ(config.origin("servers").source, Source::fallback);
  EXPECT_EQ(config.origin("servers").place, "default");
}

// Before, a pipe under the name that every session reads blocked it.
TEST(ConfigLoad, APipeIsRefusedAndNotWaitedFor) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("afterbay_config_pipe_" + std::to_string(::getpid()) + ".yaml"))
                               .string();
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  Sources sources = no_environment();
  sources.config_file = path;
  const auto config = load(sources);
  std::filesystem::remove(path);
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, ErrorCode::io);
  EXPECT_THAT(config.error().text(), HasSubstr("named pipe"));
  sources.config_file = "/dev/null";
  EXPECT_TRUE(load(sources)) << "what the user names in /dev is read";
  sources.config_file = "/dev/zero";
  EXPECT_FALSE(load(sources)) << "to a bound";
}

TEST(ConfigLoad, EverySettingIsRead) {
  const YamlFile file(R"(
afterbay:
  topology: dedicated
  servers: 3
  transport: mpi
  nodes: [0, 0, 1]
  memory: {server: 1GiB, block: 8MiB, small_block: 64KiB, small_share: 0.25, link: 16MiB,
           receive: 32MiB, ring: 64KiB}
  deadline: 5s
  writers: 4
  direct_io: off
  chunk: 1MiB
  placement: file
  report: {table: on, json: r.json, trace: t.json, progress: 500ms}
  log: debug
)");
  const Config config = load(file.sources()).value();
  EXPECT_EQ(config.servers.number, 3);
  EXPECT_EQ(config.network.transport, Transport::mpi);
  EXPECT_THAT(config.network.nodes, ElementsAre(0, 0, 1));
  EXPECT_EQ(config.memory.server_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(config.memory.block_bytes, std::uint64_t{8} << 20);
  EXPECT_EQ(config.memory.small_block_bytes, std::uint64_t{64} << 10);
  EXPECT_EQ(config.memory.small_share, 0.25);
  EXPECT_EQ(config.memory.link_bytes, std::uint64_t{16} << 20);
  EXPECT_EQ(config.memory.receive_bytes, std::uint64_t{32} << 20);
  EXPECT_EQ(config.memory.ring_bytes, std::uint64_t{64} << 10);
  EXPECT_EQ(config.deadline, 5s);
  EXPECT_EQ(config.writing.writers, 4);
  EXPECT_EQ(config.writing.direct_io, DirectIo::off);
  EXPECT_EQ(config.writing.chunk_bytes, std::uint64_t{1} << 20);
  EXPECT_EQ(config.servers.placement, Placement::file);
  EXPECT_EQ(config.report.table, ReportTable::on);
  EXPECT_EQ(config.report.json, "r.json");
  EXPECT_EQ(config.report.trace, "t.json");
  EXPECT_EQ(config.report.progress_ms, 500ms);
  EXPECT_EQ(config.log, LogLevel::debug);
  EXPECT_EQ(config.memory.blocks(), 96U);
  EXPECT_EQ(config.memory.small_blocks(), 4096U);
}

TEST(ConfigLoad, InlineModeIsRead) {
  Sources sources = no_environment();
  sources.settings = {{"topology", "inline"}, {"inline.mode", "thread"}};
  const Config config = load(sources).value();
  EXPECT_EQ(config.servers.topology, Topology::inline_);
  EXPECT_EQ(config.servers.inline_mode, InlineMode::thread);
}

/// Code, file, environment and flags in turn; each overrides the earlier ones.
TEST(ConfigLoad, LaterSourcesWin) {
  const YamlFile file("afterbay:\n  servers: 3\n");
  Sources sources = no_environment();
  sources.settings = {{"servers", "2"}};
  EXPECT_EQ(load(sources).value().servers.number, 2);
  EXPECT_EQ(load(sources).value().origin("servers").place, "set in code");
  sources.config_file = file.path();
  EXPECT_EQ(load(sources).value().servers.number, 3);
  EXPECT_EQ(load(sources).value().origin("servers").place, file.path() + ":2:12");
  sources.environment->emplace("AFTERBAY_SERVERS", "4");
  EXPECT_EQ(load(sources).value().servers.number, 4);
  EXPECT_EQ(load(sources).value().origin("servers").place, "AFTERBAY_SERVERS");
  sources.arguments = {"model", "--afterbay.servers=5"};
  EXPECT_EQ(load(sources).value().servers.number, 5);
  EXPECT_EQ(load(sources).value().origin("servers").place, "--afterbay.servers");
  EXPECT_EQ(load(sources).value().origin("servers").source, Source::flag);
}

TEST(ConfigLoad, EverySettingHasItsVariable) {
  Sources sources = no_environment();
  sources.environment = Variables{{"AFTERBAY_MEMORY_SMALL_SHARE", "0"},
                                  {"AFTERBAY_REPORT_PROGRESS", "2s"},
                                  {"AFTERBAY_DIRECT_IO", "on"},
                                  {"PATH", "/bin"}};
  const Config config = load(sources).value();
  EXPECT_EQ(config.memory.small_share, 0.0);
  EXPECT_EQ(config.memory.small_blocks(), 0U);
  EXPECT_EQ(config.report.progress_ms, 2s);
  EXPECT_EQ(config.writing.direct_io, DirectIo::on);
}

TEST(ConfigLoad, TheVariableNamesTheFile) {
  const YamlFile file("afterbay: {servers: 3}\n");
  const YamlFile other("afterbay: {servers: 4}\n");
  const YamlFile third("afterbay: {servers: 5}\n");
  Sources sources = no_environment();
  sources.environment->emplace("AFTERBAY_CONFIG", file.path());
  EXPECT_EQ(load(sources).value().servers.number, 3);
  sources.config_file = other.path();
  EXPECT_EQ(load(sources).value().servers.number, 4);
  sources.arguments = {"--afterbay.config", third.path()};
  EXPECT_EQ(load(sources).value().servers.number, 5);
}

TEST(ConfigLoad, FlagsTakeTheirValueEitherWay) {
  Sources sources = no_environment();
  sources.arguments = {"--steps", "10", "--afterbay.servers", "2", "input.nml", "--afterbay.log=info", "-v"};
  const Config config = load(sources).value();
  EXPECT_EQ(config.servers.number, 2);
  EXPECT_EQ(config.log, LogLevel::info);
  sources.arguments = {"--afterbay.servers=2", "--afterbay.servers=3", "--", "--afterbay.servers=4"};
  EXPECT_EQ(load(sources).value().servers.number, 3);
}

TEST(ConfigLoad, EmptyFilesAndSectionsAreRight) {
  EXPECT_TRUE(load(YamlFile("").sources()));
  EXPECT_TRUE(load(YamlFile("# nothing yet\n").sources()));
  EXPECT_TRUE(load(YamlFile("afterbay:\n  memory:\n").sources()));
}

TEST(ConfigLoad, DottedNamesAndSynonymsOfYaml) {
  const Config config =
      load(YamlFile("afterbay:\n  memory.block: 2MiB\n  report: {table: false}\n").sources()).value();
  EXPECT_EQ(config.memory.block_bytes, std::uint64_t{2} << 20);
  EXPECT_EQ(config.report.table, ReportTable::off);
}

/// A default must not contradict what was set.
TEST(ConfigLoad, DefaultsFollowTheBlockSize) {
  Sources sources = no_environment();
  sources.settings = {{"memory.block", "128KiB"}};
  const Config config = load(sources).value();
  EXPECT_EQ(config.writing.chunk_bytes, std::uint64_t{128} << 10);
  EXPECT_EQ(config.memory.small_block_bytes, std::uint64_t{32} << 10);
  EXPECT_EQ(config.origin("chunk").source, Source::fallback);
}

TEST(ConfigLoad, TheInstallationsVariablesAreLeftAlone) {
  Sources sources = no_environment();
  sources.environment =
      Variables{{"AFTERBAY_ROOT", "/opt/afterbay"}, {"AFTERBAY_TEST_NODES", "2"}, {"AFTERBAY_BUILD", "b"}};
  EXPECT_TRUE(load(sources));
}

TEST(ConfigLoad, ReadsTheProcessEnvironment) {
  ASSERT_EQ(setenv("AFTERBAY_WRITERS", "7", 1), 0);
  const auto config = load(Sources{});
  unsetenv("AFTERBAY_WRITERS");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->writing.writers, 7);
}

/// For every setting of the table, `assign` accepts the output of `print`.
TEST(ConfigTable, DefaultsAreAccepted) {
  const Config defaults;
  for (const auto& setting : session_settings()) {
    const std::string text = setting.print(defaults);
    EXPECT_FALSE(setting.documentation.empty()) << setting.name;
    EXPECT_FALSE(setting.accepted.empty()) << setting.name;
    if (text.empty()) continue;
    Config other;
    EXPECT_TRUE(setting.assign(other, text)) << setting.name << "=" << text;
    EXPECT_EQ(setting.print(other), text) << setting.name;
  }
}

TEST(ConfigTable, ShowGivesValuesWithOrigins) {
  const YamlFile file("afterbay:\n  servers: 2\ncollections:\n  \"hist*\": {store: cdf5}\n");
  Sources sources = file.sources();
  sources.arguments = {"--afterbay.memory.server=1GiB"};
  const std::string text = show(load(sources).value());
  EXPECT_THAT(text, testing::ContainsRegex("servers +2 +.*\\.yaml:2:12\n"));
  EXPECT_THAT(text, testing::ContainsRegex("memory\\.server +1GiB +--afterbay\\.memory\\.server\n"));
  EXPECT_THAT(text, testing::ContainsRegex("memory\\.block +4MiB +default\n"));
  EXPECT_THAT(text, testing::ContainsRegex("collections\\.hist\\*\\.store +cdf5 +.*\\.yaml:4:20\n"));
}

}  // namespace
}  // namespace afterbay::config
