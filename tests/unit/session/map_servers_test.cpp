// SPDX-License-Identifier: Apache-2.0
// Maps of which each server gets its part: whole sessions with many servers, in one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netcdf.h>

#include <algorithm>
#include <chrono>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "expect_all.hpp"
#include "map_session.hpp"
#include "sanitized.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

using maps::map_of;
using ::testing::HasSubstr;

struct MapServersCase {
  const char* placement;
  int servers;
  const char* maps = "1GiB";  ///< memory.maps; 0: servers get maps with their first file
};

LocalRun::Settings settings_of(const MapServersCase& it) {
  return {{"memory.server", "2MiB"}, {"memory.block", "64KiB"},   {"memory.small_block", "16KiB"},
          {"chunk", "8KiB"},         {"placement", it.placement}, {"memory.maps", it.maps},
          {"deadline", "20s"}};
}

constexpr std::uint64_t map_servers_wide =
    70'000;  ///< points: several frames per record for each of several servers

Schema line(std::uint64_t n) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", n);
  schema.variable("v", Type::float32, {"time", "x"}).on("map").with_fill(Values{-5.0F});
  return schema;
}

class ThreadSessionMapServers : public testing::TestWithParam<MapServersCase> {
 protected:
  /// Runs `model` on four ranks; expects that every rank fails and gives the text of the last one's
  /// error.
  static std::string refusal(const LocalRun::Model& model) {
    LocalRun run(4, GetParam().servers, settings_of(GetParam()));
    const auto errors = run.run([&](Session& session, int rank) {
      model(session, rank);
      session.finalize();
    });
    for (std::size_t r = 0; r < 4; ++r) EXPECT_TRUE(errors[r]) << "rank " << r;
    for (std::size_t s = 0; s < static_cast<std::size_t>(GetParam().servers); ++s)
      EXPECT_TRUE(errors[4 + s]) << "server " << s;
    return errors[3] ? errors[3]->text() : "";
  }
  /// Each rank holds every fourth point, but none of [first, end).
  static std::vector<std::int64_t> every_fourth(int rank, std::int64_t first, std::int64_t end) {
    std::vector<std::int64_t> indices;
    for (std::int64_t p = rank; p < static_cast<std::int64_t>(map_servers_wide); p += 4)
      if (p < first || p >= end) indices.push_back(p);
    return indices;
  }
};

/// The first such point lies in one server's part, another one in the part of another server.
TEST_P(ThreadSessionMapServers, a_point_of_two_ranks_fails_every_rank_and_server) {
  const std::string text = refusal([](Session& session, int rank) {
    std::vector<std::int64_t> indices = every_fourth(rank, 0, 0);
    if (rank == 2) indices.insert(indices.end(), {map_servers_wide - 1, 41'001});
    session.decomposition("map", map_of({map_servers_wide}, indices), Coverage{});
    session.collection("c", line(map_servers_wide));
    session.start();
  });
  EXPECT_THAT(text, HasSubstr("ranks 1 and 2 both hold the point at offset 41001"));
}

TEST_P(ThreadSessionMapServers, gaps_are_counted_over_all_servers) {
  const std::string text = refusal([](Session& session, int rank) {
    session.decomposition("map", map_of({map_servers_wide}, every_fourth(rank, 30'000, 60'000)), Coverage{});
    session.collection("c", line(map_servers_wide));
    session.start();
  });
  EXPECT_THAT(text,
              HasSubstr("30000 of 70000 points belong to no rank, the first are those at offsets 30000 to "
                        "59999"));
}

/// A map that no collection uses is checked, too.
TEST_P(ThreadSessionMapServers, a_map_without_a_collection_is_checked) {
  const std::string text = refusal([](Session& session, int rank) {
    session.decomposition("map", map_of({map_servers_wide}, every_fourth(rank, 69'990, 69'991)), Coverage{});
    session.start();
  });
  EXPECT_THAT(text, HasSubstr("1 of 70000 points belong to no rank"));
}

float map_servers_value(int rank, std::int64_t point, std::uint64_t record) {
  return static_cast<float>(point + 100'000 * rank) + static_cast<float>(record) / 4;
}

/// Value i of a file of records of which each rank holds every fourth point.
float every_fourth_value(std::uint64_t i) {
  const auto p = static_cast<std::int64_t>(i % map_servers_wide);
  return map_servers_value(static_cast<int>(p % 4), p, i / map_servers_wide);
}

/// Ranks hold points in another order than the file, with holes that nobody holds.
TEST_P(ThreadSessionMapServers, every_point_is_right_and_holes_get_the_fill_value) {
  const Directory directory;
  LocalRun run(4, GetParam().servers, settings_of(GetParam()));
  const auto errors = run.run([&](Session& session, int rank) {
    std::vector<std::int64_t> mine = every_fourth(rank, 20'000, 23'456);
    std::ranges::reverse(mine);
    session.decomposition("map", map_of({map_servers_wide}, mine));
    OutputFile file =
        session
            .collection("c", line(map_servers_wide), {.file = "c.nc", .directory = directory.path.string()})
            .open();
    std::vector<float> values(mine.size());
    for (const std::uint64_t record : {0u, 1u}) {
      for (std::size_t i = 0; i < mine.size(); ++i) values[i] = map_servers_value(rank, mine[i], record);
      file.put("v", record, values.data());
      session.end_step();
    }
    file.close();
    session.finalize();
  });
  for (const auto& error : errors) ASSERT_FALSE(error) << error->text();
  expect_all(
      read<float>(directory.path / "c.nc", "v"), 2 * map_servers_wide,
      [](std::uint64_t i) {
        const auto p = static_cast<std::int64_t>(i % map_servers_wide);
        const bool hole = p >= 20'000 && p < 23'456;
        return hole ? -5.0F : every_fourth_value(i);
      },
      "c.nc");
}

/// Rank r holds [15 000 r, 15 000 r + 25 000): points that two ranks hold lie in the parts of
/// several servers.
TEST_P(ThreadSessionMapServers, of_points_that_two_ranks_hold_one_is_written) {
  for (const Repeats repeats : {Repeats::first, Repeats::last}) {
    const Directory directory;
    LocalRun run(4, GetParam().servers, settings_of(GetParam()));
    const auto errors = run.run([&](Session& session, int rank) {
      std::vector<std::int64_t> mine(25'000);
      for (std::size_t i = 0; i < mine.size(); ++i)
        mine[i] = 15'000 * rank + static_cast<std::int64_t>(mine.size() - 1 - i);
      session.decomposition("map", map_of({map_servers_wide}, mine),
                            {.gaps_allowed = false, .repeats = repeats});
      OutputFile file =
          session
              .collection("c", line(map_servers_wide), {.file = "c.nc", .directory = directory.path.string()})
              .open();
      std::vector<float> values(mine.size());
      for (std::size_t i = 0; i < mine.size(); ++i) values[i] = map_servers_value(rank, mine[i], 0);
      file.put("v", 0, values.data());
      file.close();
      // A collection that is defined later, on the same map.
      OutputFile later = session
                             .collection("later", line(map_servers_wide),
                                         {.file = "later.nc", .directory = directory.path.string()})
                             .open();
      later.put("v", 0, values.data());
      later.close();
      session.finalize();
    });
    for (const auto& error : errors) ASSERT_FALSE(error) << error->text();
    for (const char* const name : {"c.nc", "later.nc"}) {
      expect_all(
          read<float>(directory.path / name, "v"), map_servers_wide,
          [repeats](std::uint64_t i) {
            const auto p = static_cast<std::int64_t>(i);
            const std::int64_t first = p < 25'000 ? 0 : (p - 10'000) / 15'000;
            const std::int64_t last = std::min<std::int64_t>(3, p / 15'000);
            return map_servers_value(static_cast<int>(repeats == Repeats::first ? first : last), p, 0);
          },
          name);
    }
  }
}

/// Later collections need other cells of maps that were defined, and checked, before; and other
/// servers.
TEST_P(ThreadSessionMapServers, later_collections_use_earlier_maps) {
  const Directory directory;
  LocalRun run(4, GetParam().servers, settings_of(GetParam()));
  const auto errors = run.run([&](Session& session, int rank) {
    std::vector<std::int64_t> mine = every_fourth(rank, 0, 0);
    std::ranges::reverse(mine);
    session.decomposition("map", map_of({map_servers_wide}, mine), Coverage{});
    session.start();
    std::vector<float> values(mine.size());
    for (std::size_t i = 0; i < mine.size(); ++i) values[i] = map_servers_value(rank, mine[i], 0);
    std::vector<OutputFile> files;
    for (int n = 0; n < 3; ++n) {
      Schema schema = line(map_servers_wide);
      schema.dimension("lev", 2);
      schema.variable("w", Type::float32, {"time", "lev", "x"}).on("map");
      if (n == 1) schema.variables[0].chunk = {1, 3'001};
      const std::string name = "c" + std::to_string(n);
      files.push_back(
          session.collection(name, schema, {.file = name + ".nc", .directory = directory.path.string()})
              .open());
      std::vector<float> twice = values;
      twice.insert(twice.end(), values.begin(), values.end());
      for (OutputFile& file : files) {  // earlier ones too
        file.put("v", static_cast<std::uint64_t>(n), values.data());
        file.put("w", static_cast<std::uint64_t>(n), twice.data());
      }
      session.end_step();
    }
    for (OutputFile& file : files) file.close();
    session.finalize();
  });
  for (const auto& error : errors) ASSERT_FALSE(error) << error->text();
  for (std::size_t n = 0; n < 3; ++n) {
    const auto path = directory.path / ("c" + std::to_string(n) + ".nc");
    // Records before the first put of a file have the fill value.
    const auto expected = [n](float fill, std::uint64_t levels) {
      return [fill, first = n * levels * map_servers_wide](std::uint64_t i) {
        return i < first ? fill : every_fourth_value(i % map_servers_wide);
      };
    };
    expect_all(read<float>(path, "v"), 3 * map_servers_wide, expected(-5.0F, 1), path.string());
    expect_all(read<float>(path, "w"), 6 * map_servers_wide, expected(NC_FILL_FLOAT, 2), path.string());
  }
}

/// One rank puts into an earlier collection after the others have described the map again, of which
/// a later collection needs other cells.
TEST_P(ThreadSessionMapServers, puts_go_on_while_other_ranks_describe_the_map_again) {
  const Directory directory;
  constexpr std::uint64_t records = 5;
  LocalRun run(4, GetParam().servers, settings_of(GetParam()));
  std::latch others_come(3);
  const auto errors = run.run([&](Session& session, int rank) {
    std::vector<std::int64_t> mine = every_fourth(rank, 0, 0);
    std::ranges::reverse(mine);
    session.decomposition("map", map_of({map_servers_wide}, mine), Coverage{});
    std::vector<float> values(mine.size());
    const auto put = [&](OutputFile& file, std::uint64_t record) {
      for (std::size_t i = 0; i < mine.size(); ++i) values[i] = map_servers_value(rank, mine[i], record);
      file.put("v", record, values.data());
      session.end_step();
    };
    OutputFile earlier =
        session
            .collection("c0", line(map_servers_wide), {.file = "c0.nc", .directory = directory.path.string()})
            .open();
    put(earlier, 0);
    session.wait(session.flush());
    if (rank == 0) {
      others_come.wait();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      for (std::uint64_t record = 1; record < records; ++record) put(earlier, record);
    } else {
      others_come.count_down();
    }
    Schema schema = line(map_servers_wide);
    schema.variables[0].chunk = {1, 3'001};
    OutputFile later =
        session.collection("c1", schema, {.file = "c1.nc", .directory = directory.path.string()}).open();
    for (std::uint64_t record = 1; rank != 0 && record < records; ++record) put(earlier, record);
    for (std::uint64_t record = 0; record < records; ++record) put(later, record);
    earlier.close();
    later.close();
    session.finalize();
  });
  for (const auto& error : errors) ASSERT_FALSE(error) << error->text();
  for (const char* const name : {"c0.nc", "c1.nc"}) {
    expect_all(read<float>(directory.path / name, "v"), records * map_servers_wide, every_fourth_value, name);
  }
}

/// More files than servers, and two collections on the same map at a time: a server gets the map
/// and each collection once, whenever that is. If two ranks hold a point, the first rank's counts.
TEST_P(ThreadSessionMapServers, files_in_turn_on_all_servers) {
  const Directory directory;
  constexpr int files = 7;
  LocalRun run(4, GetParam().servers, settings_of(GetParam()));
  const auto errors = run.run([&](Session& session, int rank) {
    std::vector<std::int64_t> mine = every_fourth(rank, 0, 0);
    std::ranges::reverse(mine);
    if (rank == 3) mine.push_back(0);
    session.decomposition("map", map_of({map_servers_wide}, mine),
                          {.gaps_allowed = false, .repeats = Repeats::first});
    session.decomposition("block", Block{{8}, {2 * static_cast<std::uint64_t>(rank)}, {2}});
    Schema schema = line(map_servers_wide);
    schema.dimension("b", 8).variable("block", Type::int32, {"b"}).on("block");
    std::vector<Collection> collections;
    for (const char* const name : {"c0", "c1"})
      collections.push_back(session.collection(
          name, schema, {.file = std::string(name) + "_{step}.nc", .directory = directory.path.string()}));
    std::vector<float> values(mine.size());
    const std::vector<std::int32_t> two{2 * rank, 2 * rank + 1};
    for (int f = 0; f < files; ++f) {
      std::vector<OutputFile> open;
      for (Collection& collection : collections) open.push_back(collection.open({.step = f}));
      for (std::size_t i = 0; i < mine.size(); ++i)
        values[i] = map_servers_value(rank, mine[i], static_cast<std::uint64_t>(f));
      for (OutputFile& file : open) {
        file.put("block", 0, two.data());
        file.put("v", 0, values.data());
      }
      session.end_step();
      for (OutputFile& file : open) file.close();
    }
    session.finalize();
  });
  for (const auto& error : errors) ASSERT_FALSE(error) << error->text();
  for (int n = 0; n < 2 * files; ++n) {
    const auto path = directory.path / fmt::format("c{}_{}.nc", n / files, n % files);
    expect_all(
        read<float>(path, "v"), map_servers_wide,
        [n](std::uint64_t i) {
          return map_servers_value(static_cast<int>(i % 4), static_cast<std::int64_t>(i),
                                   static_cast<std::uint64_t>(n % files));
        },
        path.string());
    EXPECT_EQ(read<std::int32_t>(path, "block"), (std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  }
}

INSTANTIATE_TEST_SUITE_P(, ThreadSessionMapServers,
                         testing::ValuesIn(cases<MapServersCase>(5, {{"slab", 1},
                                                                     {"slab", 5},
                                                                     {"variable", 3},
                                                                     {"least", 3},
                                                                     {"file", 3, "0"},
                                                                     {"least", 1},
                                                                     {"slab", 2},
                                                                     {"slab", 9},
                                                                     {"collection", 3},
                                                                     {"file", 2},
                                                                     {"least", 3, "0"},
                                                                     {"slab", 2, "0"}})),
                         [](const auto& parameter) {
                           return fmt::format("{}_{}_servers{}", parameter.param.placement,
                                              parameter.param.servers,
                                              std::string_view(parameter.param.maps) == "0" ? "_later" : "");
                         });

}  // namespace
}  // namespace afterbay::test
