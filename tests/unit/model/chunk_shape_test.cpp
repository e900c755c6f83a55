// SPDX-License-Identifier: Apache-2.0
// Automatic chunk lengths, and the distribution of a record over servers.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/units.hpp"
#include "model/chunk_choice.hpp"
#include "model/frame_owners.hpp"

namespace afterbay::model {
namespace {

using Lengths = std::vector<std::uint64_t>;

Index index(const Lengths& lengths) { return Index(std::span(lengths)); }
Lengths lengths(const Index& index) { return {index.begin(), index.end()}; }

/// Levels first, of 4-byte numbers, with records.
ChunkWish atmosphere(Access access) {
  ChunkWish wish;
  wish.access = access;
  wish.record = true;
  wish.levels[0] = true;
  return wish;
}

TEST(ModelChunkShape, maps_are_whole_planes_of_an_even_range_of_levels) {
  const ChunkShape shape = choose_chunk(index({72, 181, 360}), 4, atmosphere(Access::map));
  EXPECT_EQ(lengths(shape.lengths), (Lengths{12, 181, 360}));
  EXPECT_EQ(shape.records, 1u);
}

TEST(ModelChunkShape, a_plane_too_large_is_cut_where_ranks_begin) {
  ChunkWish wish = atmosphere(Access::map);
  wish.bands = 12;  // 120 rows each
  wish.band_dimension = 1;
  // 4 MiB hold 364 rows: three bands would be 360.
  EXPECT_EQ(lengths(choose_chunk(index({5, 1440, 2880}), 4, wish).lengths), (Lengths{1, 360, 2880}));
  wish.most_bytes = MiB;  // 91 rows: half a band
  EXPECT_EQ(lengths(choose_chunk(index({5, 1440, 2880}), 4, wish).lengths), (Lengths{1, 60, 2880}));
  wish.bands = 7;  // no equal parts: evenly, whatever the ranks
  EXPECT_EQ(lengths(choose_chunk(index({5, 1440, 2880}), 4, wish).lengths), (Lengths{1, 90, 2880}));
}

TEST(ModelChunkShape, series_take_many_records_of_a_small_tile) {
  ChunkWish wish = atmosphere(Access::series);
  const ChunkShape usual = choose_chunk(index({72, 181, 360}), 4, wish);
  EXPECT_EQ(usual.records, usual_records);
  EXPECT_LE(usual.lengths.product() * 4, 32 * KiB);
  wish.records = 1000;
  const ChunkShape long_file = choose_chunk(index({72, 181, 360}), 4, wish);
  EXPECT_EQ(long_file.records, 250u);
  EXPECT_LE(long_file.records * long_file.lengths.product() * 4, 4 * MiB);
  wish.records = 24;  // a 25th record would double the file if all 24 were one chunk
  EXPECT_EQ(choose_chunk(index({72, 181, 360}), 4, wish).records, 12u);
}

TEST(ModelChunkShape, profiles_take_all_levels_wherever_these_stand) {
  const ChunkShape first = choose_chunk(index({72, 181, 360}), 4, atmosphere(Access::profile));
  EXPECT_EQ(first.lengths[0], 72u);
  EXPECT_EQ(first.records, 1u);
  EXPECT_LE(first.lengths.product() * 4, 64 * KiB);
  ChunkWish mesh = atmosphere(Access::profile);
  mesh.levels = {false, true};
  const ChunkShape last = choose_chunk(index({100'000, 80}), 8, mesh);
  EXPECT_EQ(last.lengths[1], 80u);
  EXPECT_LE(last.lengths.product() * 8, 64 * KiB);
}

TEST(ModelChunkShape, balanced_files_need_as_many_chunks_for_a_plane_as_for_a_series) {
  ChunkWish wish = atmosphere(Access::balanced);
  wish.records = 64;
  const ChunkShape shape = choose_chunk(index({20, 512, 512}), 4, wish);
  const std::uint64_t of_a_series = 64 / shape.records;
  const std::uint64_t of_a_plane = 512 / shape.lengths[1] * 512 / shape.lengths[2];
  EXPECT_EQ(of_a_series, 8u);
  EXPECT_EQ(of_a_plane, 8u);
}

TEST(ModelChunkShape, small_records_are_put_together_to_fill_a_page) {
  for (const Access access : all_accesses) {
    EXPECT_EQ(choose_chunk({}, 8, atmosphere(access)).records, 512u);
    EXPECT_GE(choose_chunk(index({10}), 4, atmosphere(access)).records, 102u);
  }
}

TEST(ModelChunkShape, nothing_exceeds_the_bytes_allowed) {
  const std::vector<Lengths> shapes{{1},         {7},          {72, 181, 360}, {3, 5, 7, 11, 13},
                                    {1'000'003}, {48'602, 72}, {4, 3'000'000}};
  for (const Access access : all_accesses)
    for (const Lengths& of : shapes)
      for (const std::uint64_t most : {4 * KiB, 100 * KiB, 4 * MiB})
        for (const std::uint64_t records : {1u, 16u, 365u, 100'000u}) {
          ChunkWish wish = atmosphere(access);
          wish.most_bytes = most;
          wish.most_record_bytes = std::min(most, 60 * KiB);
          wish.records = records;
          const ChunkShape shape = choose_chunk(index(of), 8, wish);
          ASSERT_EQ(shape.lengths.size, of.size());
          for (std::size_t d = 0; d < of.size(); ++d) {
            EXPECT_GE(shape.lengths[d], 1u);
            EXPECT_LE(shape.lengths[d], of[d]);
          }
          EXPECT_LE(shape.lengths.product() * 8, wish.most_record_bytes) << name_of(access);
          EXPECT_LE(shape.lengths.product() * 8 * shape.records, std::max(most, page_bytes))
              << name_of(access);
        }
}

Schema ocean() {
  Schema schema;
  schema.dimension("time", unlimited).dimension("depth", 40).dimension("y", 300).dimension("x", 400);
  schema.variable("depth", Type::float64, {"depth"}).attribute("positive", "down");
  schema.variable("temperature", Type::float32, {"time", "depth", "y", "x"});
  schema.variable("salinity", Type::float32, {"time", "depth", "y", "x"}).with_deflate(1);
  schema.variable("mask", Type::int32, {"y", "x"});
  schema.variable("given", Type::float32, {"time", "y", "x"}).with_chunk({1, 30, 400});
  return schema;
}

std::vector<VariableFacts> all_of(Access access, std::size_t count) {
  std::vector<VariableFacts> facts(count);
  for (VariableFacts& it : facts) it.access = access;
  return facts;
}

TEST(ModelChunkChoice, says_who_chose_and_leaves_what_was_given) {
  Schema schema = ocean();
  auto facts = all_of(Access::profile, schema.variables.size());
  const auto choices = choose_chunks(schema, facts, {});
  EXPECT_EQ(text_of(choices[0]), "contiguous");
  EXPECT_EQ(text_of(choices[1]), "access profile");
  EXPECT_EQ(text_of(choices[3]), "contiguous");
  EXPECT_EQ(text_of(choices[4]), "schema");
  EXPECT_EQ(schema.variables[4].chunk, (Lengths{1, 30, 400}));
  EXPECT_TRUE(schema.variables[3].chunk.empty());
  ASSERT_EQ(schema.variables[1].chunk.size(), 4u);
  EXPECT_EQ(schema.variables[1].chunk[1], 40u);  // the total of all variables with `positive`
}

TEST(ModelChunkChoice, compressed_series_stay_within_the_memory_for_their_chunks) {
  const std::uint64_t record = 40 * 300 * 400 * 4;
  for (const std::uint64_t memory : {64 * KiB, 64 * MiB, 4096 * MiB}) {
    Schema schema = ocean();
    ChunkFacts facts;
    facts.assembly_bytes = memory;
    facts.expected_bytes = 100 * record * 3;
    const auto choices = choose_chunks(schema, all_of(Access::series, schema.variables.size()), facts);
    const std::uint64_t records = schema.variables[2].chunk[0];
    EXPECT_TRUE(records == 1 || records * record <= memory) << records;
    EXPECT_EQ(choices[2].short_of_memory, records < schema.variables[1].chunk[0]);
    EXPECT_FALSE(choices[1].short_of_memory);      // written in place
    EXPECT_EQ(schema.variables[1].chunk[0], 38u);  // a quarter of 150
  }
}

TEST(ModelChunkChoice, levels_are_what_the_map_does_not_cover) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("cell", 50'000).dimension("layer", 60);
  schema.variable("t", Type::float64, {"time", "cell", "layer"});
  std::vector<VariableFacts> facts(1);
  facts[0].access = Access::profile;
  facts[0].mapped = MapDimensions{0, 1};
  choose_chunks(schema, facts, {});
  EXPECT_EQ(schema.variables[0].chunk[2], 60u);
  EXPECT_LT(schema.variables[0].chunk[1], 200u);
}

// Without a bound, a record of 4 MiB was one frame and so belonged to one server.
TEST(ModelFrameOwners, every_server_gets_its_part_of_a_record_that_one_frame_would_hold) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 1024).dimension("x", 1000);
  schema.variable("v", Type::float32, {"time", "y", "x"});
  for (const Format format : {Format::netcdf4, Format::cdf5}) {
    LayoutSizes sizes;
    sizes.gather_bytes = gather_bytes(schema, FileSharing::slab, 3);
    const FileLayout layout = make_layout(schema, format, sizes).value();
    const FrameOwners owners(layout, FileSharing::slab, 3);
    std::vector<std::uint64_t> bytes(3);
    for (std::uint32_t f = 0; f < layout.frames.size(); ++f) bytes[owners.owner(f)] += layout.frames[f].bytes;
    const auto [least, most] = std::ranges::minmax(bytes);
    EXPECT_GT(least, 0u);
    EXPECT_LE(most - least, 1024u * 1000 * 4 / 3 / 4) << name_of(format);
  }
  EXPECT_EQ(gather_bytes(schema, FileSharing::none, 3), 0u);
}

}  // namespace
}  // namespace afterbay::model
