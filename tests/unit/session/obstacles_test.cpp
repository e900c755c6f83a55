// SPDX-License-Identifier: Apache-2.0
// Preflight checks: obstacles to a run are found before it, all at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>

#include "base/units.hpp"
#include "scratch_directory.hpp"
#include "session/obstacles.hpp"
#include "unit/session/generous_system.hpp"

namespace afterbay::session {
namespace {

using testing::HasSubstr;

config::Config obstacles_config_of(std::vector<std::pair<std::string, std::string>> settings) {
  config::Sources sources;
  sources.settings = std::move(settings);
  sources.environment.emplace();
  auto config = config::load(sources);
  EXPECT_TRUE(config) << config.error().text();
  return *config;
}

TEST(Obstacles, a_run_with_room_for_everything_meets_none) {
  const auto config = obstacles_config_of({{"collections.history.expected_volume", "900GiB"}});
  EXPECT_TRUE(find_obstacles(config, {2, 8}, generous()).empty());
  EXPECT_FALSE(join_obstacles({}));
}

TEST(Obstacles, all_are_said_at_once) {
  const auto config = obstacles_config_of({{"collections.history.expected_volume", "900GiB"},
                                           {"collections.restart.expected_size", "60GiB"},
                                           {"collections.restart.expected_files", "10"},
                                           {"collections.restart.directory", "/restarts"},
                                           {"memory.server", "64GiB"}});
  SystemFacts system = generous();
  system.write_error = [](const std::string&) { return EROFS; };
  system.quotas = [](const std::string&) { return std::vector<DiskQuota>{{"user 7", 5 * GiB}}; };
  system.most_open_files = [] { return 20; };
  system.largest_file = [] { return 50 * GiB; };
  system.free_memory = [] { return 100 * GiB; };
  system.locked_memory = [] { return 64 * KiB; };
  const auto all = join_obstacles(find_obstacles(config, {2, 8, true, 0, 0, {16, 14, 2, 0}}, system));
  ASSERT_TRUE(all);
  for (const char* part : {"/restarts", "Read-only", "1000.0 GiB are free", "history, restart", "1.5 TiB",
                           "quota of user 7", "ulimit -n", "20 files", "ulimit -f", "ulimit -l",
                           "2 I/O servers", "133.6 GiB", "memory.server 64GiB"})
    EXPECT_THAT(all->message, HasSubstr(part));
}

TEST(Obstacles, so_is_what_stands_beside_the_output) {
  const auto config = obstacles_config_of({{"when_full", "spill"},
                                           {"spill.directory", "/spilled"},
                                           {"spill.quota", "2TiB"},
                                           {"statistics.directory", "/pages"},
                                           {"report.html", "/reports/run.html"},
                                           {"topology", "tiered"},
                                           {"memory.frontend", "200GiB"},
                                           {"memory.input", "64GiB"}});
  SystemFacts system = generous();
  system.write_error = [](const std::string&) { return EROFS; };
  system.free_memory = [] { return 50 * GiB; };
  const auto all = join_obstacles(find_obstacles(config, {1, 4, false, 1, 0, {}}, system));
  ASSERT_TRUE(all);
  for (const char* part :
       {"/spilled (spill.directory)", "/pages (statistics.directory)", "/reports (report.html)",
        "1 I/O servers may spill 2.0 TiB", "memory.input 64GiB", "1 frontend: "})
    EXPECT_THAT(all->message, HasSubstr(part));
}

TEST(Obstacles, the_number_of_files_is_compared_too) {
  const auto config = obstacles_config_of({{"collections.a.expected_files", "1000000"},
                                           {"collections.b.expected_files", "500000"},
                                           {"collections.c.expected_volume", "1KiB"}});
  SystemFacts system = generous();
  system.room = [](const std::string&) { return SystemFacts::Room{1, GiB, 1400000}; };
  system.quotas = [](const std::string&) {
    return std::vector<DiskQuota>{{"user 7", std::nullopt, 1200000}, {"group 8", GiB, 1500000}};
  };
  const auto found = find_obstacles(config, {}, system);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(
      found[0].message,
      HasSubstr("1400000 files (inodes) are free, and the collections a, b are declared to write 1500000"));
  EXPECT_THAT(found[1].message, HasSubstr("1200000 files (inodes) are free of the quota of user 7"));
}

/// Two file systems, each with room for its files.
TEST(Obstacles, volumes_are_compared_by_file_system) {
  const auto config = obstacles_config_of({{"collections.a.expected_volume", "8GiB"},
                                           {"collections.b.expected_volume", "8GiB"},
                                           {"collections.b.directory", "/"}});
  SystemFacts system = generous();
  std::uint64_t next = 0;
  system.room = [&](const std::string& directory) {
    return SystemFacts::Room{directory == "/" ? 2U : 1U, 10 * GiB + next};
  };
  EXPECT_TRUE(find_obstacles(config, {}, system).empty());
  system.room = [](const std::string&) { return SystemFacts::Room{1, 10 * GiB}; };
  EXPECT_EQ(find_obstacles(config, {}, system).size(), 1U);
}

TEST(Obstacles, a_directory_that_is_missing_is_judged_by_the_one_above) {
  const test::Directory scratch;
  const auto config =
      obstacles_config_of({{"collections.a.directory", (scratch.path / "new/deep").string()}});
  EXPECT_TRUE(find_obstacles(config, {}, this_system()).empty());
  std::string asked;
  SystemFacts system = generous();
  system.write_error = [&](const std::string& directory) {
    if (directory.ends_with("new")) asked = directory;
    return 0;
  };
  std::filesystem::create_directory(scratch.path / "new");
  EXPECT_TRUE(find_obstacles(config, {}, system).empty());
  EXPECT_EQ(asked, (scratch.path / "new").string());
}

TEST(Obstacles, more_memory_than_any_node_has_is_found_by_the_real_system) {
  const auto config = obstacles_config_of({{"memory.server", "8TiB"}});
  const auto found = find_obstacles(config, {4, 5}, this_system());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.front().code, ErrorCode::resources);
}

TEST(Obstacles, a_directory_in_which_nobody_can_make_files_is_found_by_the_real_system) {
  EXPECT_NE(this_system().write_error("/proc"), 0) << "root may do what it cannot";
  EXPECT_EQ(this_system().write_error(test::Directory().path.string()), 0);
}

}  // namespace
}  // namespace afterbay::session
