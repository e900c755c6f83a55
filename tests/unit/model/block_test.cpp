// SPDX-License-Identifier: Apache-2.0
// Block takes integers of any type; negative ones are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <limits>

#include "afterbay/decomposition.hpp"
#include "afterbay/error.hpp"

namespace afterbay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Block, accepts_signed_integers_without_casts) {
  const int rows = 12;
  const long columns = 8;
  const std::ptrdiff_t first = 4;
  const std::size_t mine = 3;
  enum { none };
  const Block block{{rows, columns}, {first, none}, {mine, columns}};
  EXPECT_THAT(block.global, ElementsAre(12, 8));
  EXPECT_THAT(block.start, ElementsAre(4, 0));
  EXPECT_THAT(block.count, ElementsAre(3, 8));
}

TEST(Block, accepts_containers_of_any_integer_type) {
  const std::vector<int> global{12, 8};
  const std::array<short, 2> start{4, 0};
  const std::vector<std::uint64_t> count{3, std::numeric_limits<std::uint64_t>::max()};
  const Block block{global, start, count};
  EXPECT_THAT(block.global, ElementsAre(12, 8));
  EXPECT_THAT(block.start, ElementsAre(4, 0));
  EXPECT_THAT(block.count, ElementsAre(3, std::numeric_limits<std::uint64_t>::max()));
  EXPECT_TRUE((Block{{}, {1}, {2}}.global.empty()));
}

template <typename Make>
std::string refused(Make make) {
  try {
    make();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::invalid_argument);
    return failure.what();
  }
  return "accepted";
}

TEST(Block, refuses_negative_integers_of_every_width) {
  const int start = -1;
  const signed char count = -3;
  const std::vector<long long> global{8, std::numeric_limits<long long>::min()};
  EXPECT_THAT(refused([&] { return Block{{8, 8}, {0, start}, {8, 1}}; }),
              HasSubstr("start in dimension 1 is -1"));
  EXPECT_THAT(refused([&] { return Block{{8}, {0}, {count}}; }), HasSubstr("count in dimension 0 is -3"));
  EXPECT_THAT(refused([&] { return Block{global, {0, 0}, {8, 1}}; }),
              HasSubstr("global length in dimension 1 is -9223372036854775808"));
}

/// Whether a Block of these values compiles.
template <typename T>
concept Accepted = requires(T value) { Block{{value}, {value}, {value}}; };

static_assert(Accepted<int> && Accepted<unsigned char> && Accepted<std::int64_t>);
static_assert(!Accepted<double> && !Accepted<bool> && !Accepted<const char*>);

}  // namespace
}  // namespace afterbay
