// SPDX-License-Identifier: Apache-2.0
#include "storage/sealed.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "afterbay/schema.hpp"
#include "storage/netcdf4/variable_storage.hpp"

namespace afterbay::storage {
namespace {

constexpr std::uint64_t layout_digest = 0x1234567890abcdefu;

std::vector<std::byte> sealed(const std::vector<std::uint64_t>& numbers,
                              SealedKind kind = SealedKind::pieces) {
  SealedWriter writer(kind, layout_digest);
  for (const std::uint64_t number : numbers) writer.number(number);
  return std::move(writer).finish();
}

ErrorCode code_of(std::span<const std::byte> bytes, SealedKind kind = SealedKind::pieces,
                  std::uint64_t digest = layout_digest) {
  const auto opened = SealedReader::open(bytes, kind, digest);
  return opened ? ErrorCode::ok : opened.error().code;
}

TEST(Sealed, gives_back_the_numbers) {
  const std::vector<std::uint64_t> numbers{0, 1, 127, 128, 300, 1u << 31, ~std::uint64_t{0}};
  const auto bytes = sealed(numbers);
  auto reader = SealedReader::open(bytes, SealedKind::pieces, layout_digest);
  ASSERT_TRUE(reader) << reader.error().text();
  for (const std::uint64_t number : numbers) EXPECT_EQ(reader->number().value(), number);
  EXPECT_TRUE(reader->end());
  const auto past = reader->number();
  ASSERT_FALSE(past);
  EXPECT_EQ(past.error().code, ErrorCode::format);
}

TEST(Sealed, refuses_what_is_cut_or_changed_or_something_else) {
  const auto bytes = sealed({1, 2, 3'000'000});
  EXPECT_EQ(code_of(bytes), ErrorCode::ok);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_EQ(code_of(std::span(bytes).first(i)), ErrorCode::format) << i;
    auto changed = bytes;
    changed[i] ^= std::byte{0x40};
    EXPECT_EQ(code_of(changed), ErrorCode::format) << i;
  }
  EXPECT_EQ(code_of(bytes, SealedKind::cdf_share), ErrorCode::format);
  EXPECT_EQ(code_of(bytes, SealedKind::pieces, layout_digest + 1), ErrorCode::conflict);
}

TEST(Sealed, refuses_numbers_out_of_range_and_too_many) {
  const auto bytes = sealed({10, 10});
  auto reader = SealedReader::open(bytes, SealedKind::pieces, layout_digest);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->number(10).value(), 10u);
  EXPECT_EQ(reader->end().error().code, ErrorCode::format);
  EXPECT_EQ(reader->number(9).error().code, ErrorCode::format);
}

TEST(Sealed, layouts_differ_when_their_pieces_do) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("y", 64).dimension("x", 64);
  schema.variable("a", Type::float32, {"time", "y", "x"});
  const auto layout = [&](Format format, const model::LayoutSizes& sizes) {
    return *model::make_layout(schema, format, sizes);
  };
  const std::uint64_t one = digest_of(layout(Format::cdf5, {8192, 4096}));
  EXPECT_EQ(digest_of(layout(Format::cdf5, {8192, 4096})), one);
  EXPECT_NE(digest_of(layout(Format::cdf5, {4096, 4096})), one);
  EXPECT_NE(digest_of(layout(Format::cdf2, {8192, 4096})), one);
  schema.dimensions[2].length = 63;
  EXPECT_NE(digest_of(layout(Format::cdf5, {8192, 4096})), one);
}

TEST(Sealed, a_netcdf4_share_keeps_how_variables_are_stored) {
  Schema schema;
  schema.dimension("time", unlimited).dimension("x", 64);
  schema.variable("a", Type::float32, {"time", "x"}).with_chunk({4, 64}).with_deflate(3);
  schema.variable("b", Type::float64, {"x"});
  const auto layout = *model::make_layout(schema, Format::netcdf4, {});
  Netcdf4Share share;
  share.part.direct = true;
  const auto codec = codec::ChunkCodec::make({{3, {}}, {2, {}}, {1, {3}}}, 4);
  share.variables = {{StorageKind::chunks, 4, codec.value()}, {StorageKind::dense, 1, {}}};
  const auto opened = open_netcdf4_share(seal(share, layout), layout);
  ASSERT_TRUE(opened) << opened.error().text();
  EXPECT_TRUE(opened->part.direct);
  ASSERT_EQ(opened->variables.size(), 2u);
  for (std::size_t v = 0; v < 2; ++v) {
    EXPECT_EQ(opened->variables[v].kind, share.variables[v].kind);
    EXPECT_EQ(opened->variables[v].span, share.variables[v].span);
    EXPECT_TRUE(opened->variables[v].codec == share.variables[v].codec);
  }
  share.variables[0].span = 0;
  EXPECT_EQ(open_netcdf4_share(seal(share, layout), layout).error().code, ErrorCode::format);
  share.variables.pop_back();
  EXPECT_EQ(open_netcdf4_share(seal(share, layout), layout).error().code, ErrorCode::format);
}

}  // namespace
}  // namespace afterbay::storage
