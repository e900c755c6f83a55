// SPDX-License-Identifier: Apache-2.0
// Decompositions in blocks of which each server gets its part: whole sessions with several pools
// and servers, in one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "read_back.hpp"
#include "scratch_directory.hpp"
#include "unit/local_run.hpp"

namespace afterbay::test {
namespace {

using ::testing::HasSubstr;

constexpr int ranks = 4;
constexpr std::uint64_t block_rows = 64;
constexpr std::uint64_t block_columns = 900;

struct Case {
  const char* placement;
  const char* pool;
};

/// Server 0 in pool a, servers 1 to 4 in pool b; the first decomposition is checked by server 0.
class ThreadSessionBlocks : public testing::TestWithParam<Case> {
 protected:
  static LocalRun::Settings settings() {
    return {{"pools.a.servers", "1"},
            {"pools.b.servers", "4"},
            {"collections.c.pool", GetParam().pool},
            {"collections.later.pool", "b"},
            {"placement", GetParam().placement},
            {"memory.server", "2MiB"},
            {"memory.block", "64KiB"},
            {"memory.small_block", "16KiB"},
            {"chunk", "8KiB"},
            {"deadline", "20s"}};
  }
  /// Blocks of two dimensions: halves of the rows, halves of the columns.
  static Block block_of(int rank) {
    return Block{{block_rows, block_columns},
                 {rank / 2 * (block_rows / 2), rank % 2 * (block_columns / 2)},
                 {block_rows / 2, block_columns / 2}};
  }
  static Schema schema(std::uint64_t chunk_rows) {
    Schema schema;
    schema.dimension("time", unlimited)
        .dimension("lev", 3)
        .dimension("y", block_rows)
        .dimension("x", block_columns);
    schema.variable("t", Type::float32, {"time", "lev", "y", "x"}).on("grid");
    schema.variables.back().chunk = {1, 1, chunk_rows, block_columns};
    schema.variable("area", Type::float32, {"y", "x"}).on("grid");
    return schema;
  }
  static float value(std::uint64_t level, std::uint64_t y, std::uint64_t x) {
    return static_cast<float>(level * block_rows * block_columns + y * block_columns + x) / 4;
  }
  static void write(OutputFile file, int rank) {
    const Block mine = block_of(rank);
    std::vector<float> values;
    for (std::uint64_t level = 0; level < 3; ++level)
      for (std::uint64_t y = 0; y < mine.count[0]; ++y)
        for (std::uint64_t x = 0; x < mine.count[1]; ++x)
          values.push_back(value(level, mine.start[0] + y, mine.start[1] + x));
    file.put("area", values.data());
    file.put("t", 0, values.data());
    file.close();
  }
  static void expect_file(const std::filesystem::path& path) {
    const auto t = read<float>(path, "t");
    ASSERT_EQ(t.size(), 3 * block_rows * block_columns);
    for (std::uint64_t i = 0; i < t.size(); ++i) ASSERT_EQ(t[i], static_cast<float>(i) / 4) << i;
    const auto area = read<float>(path, "area");
    ASSERT_EQ(area.size(), block_rows * block_columns);
    for (std::uint64_t i = 0; i < area.size(); ++i) ASSERT_EQ(area[i], static_cast<float>(i) / 4) << i;
  }
  /// Expects that every rank and server fails; gives the text of the last rank's error.
  static std::string refusal(const LocalRun::Model& model) {
    LocalRun run(ranks, 5, settings());
    const auto errors = run.run(model);
    for (std::size_t i = 0; i < errors.size(); ++i) EXPECT_TRUE(errors[i]) << "process " << i;
    return errors[ranks - 1] ? errors[ranks - 1]->text() : "";
  }
};

TEST_P(ThreadSessionBlocks, files_of_collections_that_are_defined_one_after_the_other_are_right) {
  const Directory directory;
  LocalRun run(ranks, 5, settings());
  const CollectionOptions options{.file = "{collection}.nc", .directory = directory.path.string()};
  const auto errors = run.run([&](Session& session, int rank) {
    session.decomposition("grid", block_of(rank));
    session.start();
    Collection c = session.collection("c", schema(7), options);
    write(c.open(), rank);
    Collection later = session.collection("later", schema(16), options);
    write(later.open(), rank);
    session.finalize();
  });
  for (const auto& error : errors) ASSERT_FALSE(error) << error->text();
  expect_file(directory.path / "c.nc");
  expect_file(directory.path / "later.nc");
}

TEST_P(ThreadSessionBlocks, an_overlap_fails_every_rank_and_server_before_a_file_is_opened) {
  const Directory directory;
  const std::string text = refusal([&](Session& session, int rank) {
    Block mine = block_of(rank);
    if (rank == 1) --mine.start[1], ++mine.count[1];
    session.decomposition("grid", mine);
    Collection c = session.collection("c", schema(7), {.file = "c.nc", .directory = directory.path.string()});
    write(c.open(), rank);
    session.finalize();
  });
  EXPECT_THAT(text, HasSubstr("ranks 0 and 1 both hold [0:32, 449:450] (32 points"));
  EXPECT_TRUE(std::filesystem::is_empty(directory.path));
}

TEST_P(ThreadSessionBlocks, a_gap_of_a_decomposition_without_a_collection_is_found) {
  const std::string text = refusal([](Session& session, int rank) {
    session.decomposition("grid", block_of(rank));
    Block mine = block_of(rank);
    if (rank == 2) mine.count[0] -= 1;
    session.decomposition("unused", mine);
    session.collection("c", schema(7));
    session.start();
  });
  EXPECT_THAT(text, HasSubstr("decomposition 'unused': 450 of 57600 points belong to no rank"));
}

TEST_P(ThreadSessionBlocks, a_rank_that_registers_none_is_named) {
  const std::string text = refusal([](Session& session, int rank) {
    session.decomposition("always", block_of(rank));
    if (rank != 2) session.decomposition("grid", block_of(rank));
    session.start();
  });
  EXPECT_THAT(text,
              HasSubstr("model rank 2 did not register decomposition 'grid', model ranks 0, 1 and 3 did"));
}

/// Also if the rank defines no other collection on it, and the servers of the pool hear nothing
/// from it.
TEST_P(ThreadSessionBlocks, a_rank_that_defines_no_collection_on_it_is_named) {
  const std::string text = refusal([](Session& session, int rank) {
    session.decomposition("grid", block_of(rank));
    if (rank != 2) session.collection("later", schema(7));
    session.start();
  });
  EXPECT_THAT(text,
              HasSubstr("model rank 2 registered no decomposition 'grid' or defined no collection on it, "
                        "model ranks 0, 1 and 3 did"));
}

INSTANTIATE_TEST_SUITE_P(Placements, ThreadSessionBlocks,
                         testing::Values(Case{"collection", "a"}, Case{"collection", "b"}, Case{"file", "b"},
                                         Case{"slab", "b"}, Case{"variable", "b"}, Case{"slab", "a"},
                                         Case{"least", "b"}),
                         [](const auto& tested) {
                           return std::string(tested.param.placement) + "_" + tested.param.pool;
                         });

}  // namespace
}  // namespace afterbay::test
