// SPDX-License-Identifier: Apache-2.0
// Layouts are computed: against a list of all pieces, made piece by piece, and with records whose
// pieces could not be listed. Owners of frames: each server counts its own.
#include "model/cutting.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "model/chunk_shape.hpp"
#include "model/frame_owners.hpp"
#include "model/layout.hpp"

namespace afterbay::model {
namespace {

/// Variables of many sizes; some with chunks of their own.
Schema schema_with(std::mt19937& random) {
  Schema schema;
  const auto length = [&](std::uint64_t most) { return 1 + random() % most; };
  schema.dimension("time", unlimited);
  for (int d = 0; d < 3; ++d)
    schema.dimension("d" + std::to_string(d), d == 0 ? length(12) : length(d == 1 ? 150 : 300));
  const std::array types{Type::int8, Type::int16, Type::float32, Type::float64};
  for (int v = 0; v < 9; ++v) {
    std::vector<std::string> dimensions;
    if (random() % 3 != 0) dimensions.emplace_back("time");
    for (int d = 0; d < 3; ++d)
      if (random() % 3 != 0) dimensions.push_back("d" + std::to_string(d));
    Variable& variable = schema.variable("v" + std::to_string(v), types[random() % types.size()], dimensions);
    if (random() % 4 != 0) continue;
    for (const std::string& name : dimensions)
      variable.chunk.push_back(name == "time" ? 1 : length(schema.find_dimension(name)->length));
  }
  return schema;
}

/// What every layout must have: pieces cover each variable once, in order, and frames hold them
/// without overlap and within the sizes.
void expect_sound(const FileLayout& layout, const Schema& schema, const LayoutSizes& sizes) {
  std::uint32_t next = 0;
  std::vector<std::uint64_t> points(schema.variables.size());
  std::vector<std::uint32_t> numbers(schema.variables.size());
  bool records = false;
  for (std::uint32_t f = 0; f < layout.frames.size(); ++f) {
    const Frame frame = layout.frames[f];
    ASSERT_EQ(frame.first_piece, next);
    ASSERT_GT(frame.piece_count, 0u);
    EXPECT_GE(frame.record, records);  // fixed ones come first
    records = frame.record;
    std::uint64_t end = 0;
    for (const Piece& piece : layout.pieces_of(frame)) {
      ASSERT_EQ(piece.frame, f);
      ASSERT_EQ(layout.cutting->frame_of(next), f);
      ASSERT_EQ(layout.cutting->variable_of(next), piece.variable);
      EXPECT_EQ(layout.variables[piece.variable].record, frame.record);
      EXPECT_EQ(piece.number, numbers[piece.variable]++);
      EXPECT_EQ(layout.variables[piece.variable].first_piece + piece.number, next);
      EXPECT_GE(piece.frame_offset, end);
      if (layout.format != Format::netcdf4) {
        const std::uint64_t in_section =
            layout.stored[piece.variable].section_offset + layout.slab_offset(piece);
        EXPECT_EQ((frame.phase + piece.frame_offset) % page_bytes, in_section % page_bytes);
      }
      end = piece.frame_offset + piece.bytes;
      points[piece.variable] += piece.box.points();
      std::vector<std::uint32_t> touching;
      layout.for_each_touching(piece.variable, piece.box, [&](std::uint32_t p) { touching.push_back(p); });
      EXPECT_EQ(touching, std::vector<std::uint32_t>{next});
      ++next;
    }
    EXPECT_EQ(end, frame.bytes);
    if (frame.piece_count > 1) {
      EXPECT_LE(frame.bytes, sizes.gathered_bytes());
    }
    EXPECT_LE(frame.bytes, sizes.frame_bytes);
  }
  EXPECT_EQ(next, layout.pieces.size());
  for (std::size_t v = 0; v < points.size(); ++v) {
    EXPECT_EQ(points[v], layout.variables[v].shape.product()) << schema.variables[v].name;
    EXPECT_EQ(numbers[v], layout.variables[v].piece_count);
  }
}

TEST(ModelCutting, pieces_and_frames_cover_every_variable_once) {
  std::mt19937 random(7);
  for (int n = 0; n < 60; ++n) {
    const Schema schema = schema_with(random);
    for (const Format format : {Format::netcdf4, Format::cdf5}) {
      const LayoutSizes sizes{256u << 10, (4u << 10) << random() % 5,
                              random() % 2 == 0 ? 0 : (8u << 10) << random() % 4};
      const auto layout = make_layout(schema, format, sizes);
      if (!layout) {
        EXPECT_EQ(layout.error().code, ErrorCode::resources) << layout.error().text();
        continue;
      }
      expect_sound(*layout, schema, sizes);
    }
  }
}

/// Neighbours in one frame, as few frames as the greedy rule gives.
TEST(ModelCutting, pieces_share_frames_as_far_as_they_fit) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", 100);
  for (int v = 0; v < 10; ++v)
    schema.variable("v" + std::to_string(v), Type::float64, {"time", "x"}).chunk = {1, 10};
  LayoutSizes sizes;
  sizes.frame_bytes = 10'000;
  const auto layout = make_layout(schema, Format::netcdf4, sizes).value();
  ASSERT_EQ(layout.pieces.size(), 100u);
  ASSERT_EQ(layout.frames.size(), 1u);  // 8000 bytes
  sizes.frame_bytes = 4'000;
  const auto halves = make_layout(schema, Format::netcdf4, sizes).value();
  ASSERT_EQ(halves.frames.size(), 2u);
  EXPECT_EQ(halves.frames[0].piece_count, 50u);
  EXPECT_EQ(halves.pieces[49].frame_offset, 49u * 80);
  EXPECT_EQ(halves.pieces[50].frame, 1u);
}

/// 256 bytes per piece and 24 per frame were listed before, on every rank: 12 GB for this record.
TEST(ModelCutting, memory_does_not_depend_on_the_size_of_a_record) {
  for (const Format format : {Format::netcdf4, Format::cdf5}) {
    const auto bytes_for = [&](std::uint64_t levels) {
      Schema schema;
      schema.dimension("time", unlimited).dimension("level", levels).dimension("y", 20'000);
      schema.dimension("x", 40'000);
      for (int v = 0; v < 200; ++v)
        schema.variable("v" + std::to_string(v), Type::float32, {"time", "level", "y", "x"});
      const auto layout = make_layout(schema, format, {}).value();
      EXPECT_GE(layout.pieces.size(), 200 * levels * 20'000 * 40'000 * 4 / (4u << 20));
      const Piece last = layout.pieces[layout.pieces.size() - 1];
      EXPECT_EQ(last.box.start[0], levels - 1);
      EXPECT_EQ(last.box.start[1] + last.box.count[1], 20'000u);
      EXPECT_EQ(layout.cutting->frame(last.frame).first_piece, layout.pieces.size() - 1);
      return layout.cutting->memory_bytes();
    };
    EXPECT_EQ(bytes_for(1), bytes_for(300));
    EXPECT_LT(bytes_for(300), 256u << 10);
  }
}

TEST(ModelCutting, refuses_more_pieces_than_can_be_counted) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 4'000).dimension("x", 1'000);
  for (int v = 0; v < 600; ++v)
    schema.variable("v" + std::to_string(v), Type::int8, {"time", "y", "x"}).chunk = {1, 1, 1};
  const auto layout = make_layout(schema, Format::netcdf4, {});
  ASSERT_FALSE(layout);
  EXPECT_EQ(layout.error().code, ErrorCode::resources);
  EXPECT_NE(layout.error().message.find("'v536'"), std::string::npos) << layout.error().text();
}

// ---- FrameOwners

/// Each frame belongs to one server, and these count their own.
void expect_counted(const FileLayout& layout, const FrameOwners& owners, std::size_t servers) {
  std::vector<std::uint32_t> frames(servers);
  std::vector<std::uint32_t> pieces(servers);
  for (std::uint32_t f = 0; f < layout.frames.size(); ++f) {
    const std::uint16_t owner = owners.owner(f);
    const FrameOwners::Range& range = owners.range_of(f);
    ASSERT_LT(owner, servers);
    ASSERT_EQ(range.number_of(f), frames[owner]);
    ASSERT_EQ(owners.frame(owner, frames[owner]), f);
    const Frame frame = layout.frames[f];
    ASSERT_EQ(range.piece_number + frame.first_piece - range.first_piece, pieces[owner]);
    frames[owner] += 1;
    pieces[owner] += frame.piece_count;
  }
  for (std::uint16_t s = 0; s < servers; ++s) {
    EXPECT_EQ(owners.frames_of(s), frames[s]);
    EXPECT_EQ(owners.pieces_of(s), pieces[s]);
    std::uint32_t in_ranges = 0;
    for (const FrameOwners::Range& range : owners.ranges_of(s)) in_ranges += range.end - range.first;
    EXPECT_EQ(in_ranges, frames[s]);
  }
  for (std::uint32_t v = 0; v < layout.variables.size(); ++v)
    for (std::uint16_t s = 0; s < servers; ++s) {
      const bool has = std::ranges::any_of(
          layout.pieces_of_variable(v), [&](const Piece& piece) { return owners.owner(piece.frame) == s; });
      const bool listed = std::ranges::any_of(owners.of_variable(v), [&](const FrameOwners::Owners& it) {
        return it.first <= s && s <= it.last;
      });
      EXPECT_EQ(has, listed) << "variable " << v << ", server " << s;
    }
}

TEST(ModelFrameOwners, every_server_counts_its_own_frames_and_pieces) {
  std::mt19937 random(11);
  for (int n = 0; n < 30; ++n) {
    const Schema schema = schema_with(random);
    for (const Format format : {Format::netcdf4, Format::cdf5})
      for (const FileSharing sharing : {FileSharing::none, FileSharing::slab, FileSharing::variable}) {
        const std::size_t servers = sharing == FileSharing::none ? 1 : 1 + random() % 7;
        const LayoutSizes sizes{256u << 10, 8u << 10, 8u << 10};
        const auto layout = make_layout(schema, format, sizes);
        if (!layout) continue;
        expect_counted(*layout, FrameOwners(*layout, sharing, servers), servers);
        std::vector<std::uint64_t> shares(servers);
        for (std::uint64_t& share : shares) share = 1 + random() % 5;
        expect_counted(*layout, FrameOwners(*layout, sharing, servers, shares), servers);
      }
  }
}

/// Bytes of a variable's pieces, by server, and whether the servers follow each other.
std::vector<double> parts_of_servers(const FileLayout& layout, const FrameOwners& owners,
                                     std::uint32_t variable, std::size_t servers) {
  std::vector<double> bytes(servers);
  std::uint16_t last = 0;
  double all = 0;
  for (const Piece& piece : layout.pieces_of_variable(variable)) {
    const std::uint16_t owner = owners.owner(piece.frame);
    EXPECT_GE(owner, last) << "variable " << variable;
    last = owner;
    bytes[owner] += static_cast<double>(piece.bytes);
    all += static_cast<double>(piece.bytes);
  }
  for (double& part : bytes) part /= all;
  return bytes;
}

/// On several nodes each server has its share of every large variable, so that a rank's data of all
/// variables go to the same server; small variables are divided together.
TEST(ModelFrameOwners, near_slabs_are_shares_of_each_large_variable) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("level", 20).dimension("y", 500).dimension("x", 400);
  for (const char* name : {"t", "u", "v"}) schema.variable(name, Type::float32, {"time", "level", "y", "x"});
  for (int v = 0; v < 40; ++v) schema.variable("s" + std::to_string(v), Type::float32, {"time", "y"});
  const std::vector<std::uint64_t> shares{2, 6, 4};
  for (const Format format : {Format::netcdf4, Format::cdf5}) {
    LayoutSizes sizes;
    sizes.gather_bytes = gather_bytes(schema, FileSharing::slab, 3, true);
    EXPECT_LE(sizes.gather_bytes, 20u * 500 * 400 * 4 / 12);
    const auto layout = make_layout(schema, format, sizes).value();
    const FrameOwners owners(layout, FileSharing::slab, 3, shares);
    expect_counted(layout, owners, 3);
    EXPECT_TRUE(owners.suffices_for_all());
    for (std::uint32_t v = 0; v < 3; ++v) {
      const std::vector<double> parts = parts_of_servers(layout, owners, v, 3);
      for (std::size_t s = 0; s < 3; ++s)
        EXPECT_NEAR(parts[s], static_cast<double>(shares[s]) / 12, 0.1)
            << "variable " << v << ", server " << s;
    }
    const FrameOwners together(layout, FileSharing::slab, 3);
    EXPECT_GT(parts_of_servers(layout, together, 0, 3)[0], 0.9) << "without nodes: of the whole record";
  }
}

TEST(ModelFrameOwners, shares_do_not_apply_to_a_record_with_too_few_frames) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", 1000);
  schema.variable("v", Type::float32, {"time", "x"});
  const auto layout = make_layout(schema, Format::netcdf4, {}).value();
  const FrameOwners owners(layout, FileSharing::slab, 3, std::vector<std::uint64_t>{1, 1, 4});
  EXPECT_FALSE(owners.suffices_for_all());
  EXPECT_EQ(owners.owner(0), FrameOwners(layout, FileSharing::slab, 3).owner(0));
}

/// Beyond a number of servers times variables, slabs are those of the record: the table stays
/// small.
TEST(ModelFrameOwners, memory_of_near_slabs_is_bounded) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("level", 100).dimension("y", 10'000).dimension("x", 20'000);
  for (int v = 0; v < 200; ++v)
    schema.variable("v" + std::to_string(v), Type::float32, {"time", "level", "y", "x"});
  const auto layout = make_layout(schema, Format::netcdf4, {}).value();
  const std::vector<std::uint64_t> shares(1000, 100);
  const FrameOwners owners(layout, FileSharing::slab, 1000, shares);
  EXPECT_LT(owners.memory_bytes(), 3u << 20);
  const FrameOwners fewer(layout, FileSharing::slab, 300, std::vector<std::uint64_t>(300, 100));
  EXPECT_EQ(fewer.owner(layout.pieces[layout.variables[7].first_piece].frame), 0);
  EXPECT_LT(fewer.memory_bytes(), 3u << 20);
}

/// A server of 1000 counts a thousandth of the frames, and the table of owners does not grow with
/// the record.
TEST(ModelFrameOwners, a_thousand_servers_share_a_large_record) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("level", 100).dimension("y", 10'000).dimension("x", 20'000);
  for (int v = 0; v < 50; ++v)
    schema.variable("v" + std::to_string(v), Type::float32, {"time", "level", "y", "x"});
  const auto layout = make_layout(schema, Format::netcdf4, {}).value();
  const FrameOwners owners(layout, FileSharing::slab, 1000);
  const std::uint32_t all = static_cast<std::uint32_t>(layout.frames.size());
  ASSERT_GT(all, 900'000u);
  std::uint32_t sum = 0;
  for (std::uint16_t s = 0; s < 1000; ++s) {
    sum += owners.frames_of(s);
    EXPECT_NEAR(owners.frames_of(s), all / 1000.0, 2);
  }
  EXPECT_EQ(sum, all);
  EXPECT_LT(owners.memory_bytes(), 128u << 10);
  EXPECT_EQ(owners.of_variable(0).size(), 1u);
}

}  // namespace
}  // namespace afterbay::model
