// SPDX-License-Identifier: Apache-2.0
// Whole sessions on maps, in one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "map_session.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

using maps::map_of;

LocalRun::Settings small_memory() {
  return {{"memory.server", "2MiB"},
          {"memory.block", "64KiB"},
          {"memory.small_block", "16KiB"},
          {"chunk", "8KiB"},
          {"deadline", "20s"}};
}

struct MapCase {
  const char* store;
  int models;
  int servers;
  int deflate;
};

class ThreadSessionMap : public testing::TestWithParam<MapCase> {};

TEST_P(ThreadSessionMap, every_point_of_every_record_is_right) {
  const Directory directory;
  LocalRun run(GetParam().models, GetParam().servers, small_memory());
  const auto errors = run.run([&](Session& session, int) {
    maps::write(session, GetParam().store, directory.path, GetParam().deflate);
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  maps::expect_right(directory.path / "mesh.nc");
}

INSTANTIATE_TEST_SUITE_P(, ThreadSessionMap,
                         testing::Values(MapCase{"netcdf4", 4, 1, 0}, MapCase{"netcdf4", 3, 2, 4},
                                         MapCase{"cdf5", 4, 1, 0}, MapCase{"cdf2", 7, 1, 0},
                                         MapCase{"cdf5", 1, 1, 0}),
                         [](const auto& parameter) {
                           const MapCase& it = parameter.param;
                           return fmt::format("{}_{}_ranks_{}_servers{}", it.store, it.models, it.servers,
                                              it.deflate > 0 ? "_deflated" : "");
                         });

/// Runs `model` on three ranks; returns the error of rank 0.
std::string map_refusal(const LocalRun::Model& model) {
  LocalRun run(3, 1, small_memory());
  const auto errors = run.run([&](Session& session, int rank) {
    model(session, rank);
    session.finalize();
  });
  return errors[0] ? errors[0]->text() : "";
}

Schema map_line(std::uint64_t n) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", n);
  schema.variable("v", Type::float32, {"time", "x"}).on("map");
  return schema;
}

TEST(ThreadSessionMapErrors, a_point_of_two_ranks_names_both) {
  const std::string text = map_refusal([](Session& session, int rank) {
    session.decomposition("map", map_of({9}, {rank, rank + 1}));
    session.start();
  });
  EXPECT_NE(text.find("ranks 0 and 1 both hold the point at offset 1"), std::string::npos) << text;
}

TEST(ThreadSessionMapErrors, gaps_are_refused_where_they_are_declared_away) {
  const std::string text = map_refusal([](Session& session, int rank) {
    session.decomposition("map", map_of({9}, {rank}), Coverage{});
    session.start();
  });
  EXPECT_NE(text.find("6 of 9 points belong to no rank"), std::string::npos) << text;
}

TEST(ThreadSessionMapErrors, a_map_on_one_rank_and_a_block_on_another_is_a_conflict) {
  const std::string text = map_refusal([](Session& session, int rank) {
    if (rank == 1)
      session.decomposition("map", Block{{9}, {0}, {9}});
    else
      session.decomposition("map", map_of({9}, {}));
    session.start();
  });
  EXPECT_NE(text.find("kind, name, global lengths and coverage must be equal"), std::string::npos) << text;
}

TEST(ThreadSessionMapErrors, a_list_longer_than_the_array_in_memory_is_refused) {
  const Directory directory;
  const std::string text = map_refusal([&](Session& session, int rank) {
    session.decomposition("map", map_of({9}, {rank, rank + 3, rank + 6}));
    Collection c =
        session.collection("c", map_line(9), {.file = "c.nc", .directory = directory.path.string()});
    const float values[3]{};
    c.open().put("v", 0, values, MemoryLayout{.shape = {2}, .offset = {}, .strides = {}});
  });
  EXPECT_NE(text.find("the part needs 3 values"), std::string::npos) << text;
}

TEST(ThreadSessionMapErrors, a_variable_without_the_maps_lengths_is_refused) {
  const std::string text = map_refusal([&](Session& session, int) {
    session.decomposition("map", map_of({8}, {}));
    session.collection("c", map_line(9));
  });
  EXPECT_NE(text.find("nowhere among them are the 8 of decomposition 'map'"), std::string::npos) << text;
}

TEST(ThreadSessionMapErrors, a_variable_of_records_alone_cannot_lie_on_a_map) {
  const std::string text = map_refusal([&](Session& session, int) {
    Schema schema;
    schema.dimension("time", unlimited);
    schema.variable("v", Type::float32, {"time"}).on("map");
    session.decomposition("map", map_of({8}, {}));
    session.collection("c", schema);
  });
  EXPECT_NE(text.find("has 0 dimensions besides the unlimited one, too few for decomposition 'map' over 8"),
            std::string::npos)
      << text;
}

TEST(ThreadSessionMapErrors, a_rank_that_leaves_a_decomposition_out_is_named) {
  const std::string text = map_refusal([](Session& session, int rank) {
    session.decomposition("always", map_of({9}, {}));
    if (rank != 1) session.decomposition("map", map_of({9}, {}));
    session.start();
  });
  EXPECT_NE(text.find("model rank 1 did not register decomposition 'map', model ranks 0 and 2 did"),
            std::string::npos)
      << text;
}

TEST(ThreadSessionMapErrors, ranks_that_disagree_are_told_in_what) {
  const std::string text = map_refusal([](Session& session, int rank) {
    session.decomposition("map", map_of({3, 4}, {}),
                          {.gaps_allowed = true, .repeats = rank == 2 ? Repeats::last : Repeats::refuse});
    session.start();
  });
  // Either of the two may have been first.
  EXPECT_THAT(text, testing::HasSubstr("model rank 2 "));
  EXPECT_THAT(text, testing::HasSubstr(" registers map 'map' over 3 x 4 points (gaps allowed, "));
  EXPECT_THAT(text, testing::HasSubstr(
                        "map 'map' over 3 x 4 points (gaps allowed, the last of repeated points counts)"));
  EXPECT_THAT(text, testing::HasSubstr("map 'map' over 3 x 4 points (gaps allowed, no repeats)"));
}

TEST(ThreadSessionMapErrors, a_name_is_needed_and_blocks_cannot_repeat_points) {
  EXPECT_NE(map_refusal([](Session& session, int) {
              session.decomposition("", map_of({9}, {}));
            }).find("needs a name"),
            std::string::npos);
  EXPECT_NE(map_refusal([](Session& session, int) {
              session.decomposition("b", Block{{9}, {0}, {9}},
                                    {.gaps_allowed = false, .repeats = Repeats::first});
            }).find("repeats can be declared for maps only"),
            std::string::npos);
}

class ThreadSessionMapEmpty : public testing::TestWithParam<const char*> {};

/// Holes everywhere, on every rank: the record still exists and has fill values.
TEST_P(ThreadSessionMapEmpty, a_record_of_which_nobody_holds_a_point_is_in_the_file) {
  const Directory directory;
  auto settings = small_memory();
  settings.emplace_back("placement", "slab");
  LocalRun run(3, 2, settings);
  const auto errors = run.run([&](Session& session, int) {
    session.decomposition("map", map_of({9}, {-1, -1}));
    Schema schema = map_line(9);
    schema.variables[0].with_fill(Values{-5.0F});
    Collection c = session.collection(
        "c", schema, {.file = "c.nc", .directory = directory.path.string(), .store = GetParam()});
    OutputFile file = c.open();
    const float values[]{1, 2};
    for (std::uint64_t record : {0, 1}) {
      file.put("v", record, values);
      session.end_step();
    }
    file.close();
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  EXPECT_EQ(read<float>(directory.path / "c.nc", "v"), std::vector<float>(18, -5.0F));
}

INSTANTIATE_TEST_SUITE_P(, ThreadSessionMapEmpty, testing::Values("netcdf4", "cdf5"));

TEST(ThreadSessionMapStrings, strings_along_a_maps_dimension_are_written) {
  const Directory directory;
  LocalRun run(3, 1, small_memory());
  const auto errors = run.run([&](Session& session, int rank) {
    session.decomposition("map", map_of({3}, {rank}));
    Schema schema = map_line(3);
    schema.variable("names", Type::string, {"x"}).on("map");
    Collection c = session.collection("c", schema, {.file = "c.nc", .directory = directory.path.string()});
    OutputFile file = c.open();
    file.put_strings("names", no_record, std::vector<std::string>{"a", "b", "c"});
    const auto value = static_cast<float>(rank);
    file.put("v", 0, &value);
    file.close();
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  EXPECT_EQ(read<std::string>(directory.path / "c.nc", "names"), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(read<float>(directory.path / "c.nc", "v"), (std::vector<float>{0, 1, 2}));
}

class ThreadSessionMapRepeats : public testing::TestWithParam<Repeats> {};

TEST_P(ThreadSessionMapRepeats, of_points_that_several_hold_one_is_written) {
  const bool first = GetParam() == Repeats::first;
  const Directory directory;
  LocalRun run(3, 2, small_memory());
  const auto errors = run.run([&](Session& session, int rank) {
    // Rank r holds [3r, 3r + 6), each point twice: first with 100 r, then with 100 r + 50 more.
    std::vector<std::int64_t> indices;
    std::vector<float> values;
    for (int again = 0; again < 2; ++again)
      for (int i = 0; i < 6; ++i) {
        indices.push_back(3 * rank + i);
        values.push_back(static_cast<float>(100 * rank + 50 * again + 3 * rank + i));
      }
    session.decomposition("map", map_of({12}, indices), {.gaps_allowed = false, .repeats = GetParam()});
    Collection c =
        session.collection("c", map_line(12), {.file = "c.nc", .directory = directory.path.string()});
    OutputFile file = c.open();
    file.put("v", 0, values.data());
    file.close();
    session.finalize();
  });
  for (const auto& error : errors) EXPECT_FALSE(error) << error->text();
  const auto values = read<float>(directory.path / "c.nc", "v");
  ASSERT_EQ(values.size(), 12u);
  for (int i = 0; i < 12; ++i) {
    const int rank = first ? std::max(0, (i - 3) / 3) : std::min(2, i / 3);
    EXPECT_EQ(values[static_cast<std::size_t>(i)], static_cast<float>(100 * rank + (first ? 0 : 50) + i))
        << i;
  }
}

INSTANTIATE_TEST_SUITE_P(, ThreadSessionMapRepeats, testing::Values(Repeats::first, Repeats::last),
                         [](const auto& parameter) {
                           return parameter.param == Repeats::first ? "first" : "last";
                         });

}  // namespace
}  // namespace afterbay::test
