// SPDX-License-Identifier: Apache-2.0
// Messages are decoded as they were encoded, and bytes that are not a message never cause reads out
// of bounds.
#include <gtest/gtest.h>

#include "wire/archive.hpp"
#include "wire/frame_messages.hpp"

namespace afterbay::wire {
namespace {

struct Inner {
  std::int32_t a = 0;
  std::string text;
  template <class A>
  void fields(A& archive) {
    archive(a, text);
  }
  bool operator==(const Inner&) const = default;
};

struct Everything {
  static constexpr Kind kind{150};
  double number = 0;
  std::vector<std::uint16_t> list;
  std::vector<Inner> inners;
  std::vector<std::string> names;
  std::optional<Inner> maybe;
  std::optional<std::uint64_t> nothing;
  std::vector<std::byte> bytes;
  template <class A>
  void fields(A& archive) {
    archive(number, list, inners, names, maybe, nothing, bytes);
  }
  bool operator==(const Everything&) const = default;
};

Everything example() {
  return {-1.5e300,     {1, 2, 65535}, {{-7, "seven"}, {8, ""}}, {"a", "", "ccc"}, Inner{3, "x"},
          std::nullopt, {std::byte{9}}};
}

TEST(WireArchive, messages_come_back_as_they_were) {
  const auto back = decode<Everything>(encode(example()));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, example());
  const auto ready = decode<FrameReady>(encode(FrameReady{7, 1ull << 40}));
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->frame, 7u);
  EXPECT_EQ(ready->seq, 1ull << 40);
}

TEST(WireArchive, the_kind_is_checked) {
  const auto bytes = encode(example());
  EXPECT_EQ(kind_of(bytes), Everything::kind);
  EXPECT_FALSE(decode<FrameReady>(bytes));
  EXPECT_FALSE(kind_of(std::span(bytes).first(3)));
}

struct Flag {
  static constexpr Kind kind{151};
  bool flag = false;
  template <class A>
  void fields(A& archive) {
    archive(flag);
  }
};

TEST(WireArchive, a_flag_is_false_or_true) {
  std::vector<std::byte> bytes = encode(Flag{true});
  ASSERT_TRUE(decode<Flag>(bytes));
  EXPECT_TRUE(decode<Flag>(bytes)->flag);
  bytes.back() = std::byte{125};
  EXPECT_FALSE(decode<Flag>(bytes));
}

TEST(WireArchive, a_message_cut_off_anywhere_is_refused) {
  const auto bytes = encode(example());
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_FALSE(decode<Everything>(std::span(bytes).first(n))) << n;
}

// A length that exceeds the available bytes must neither be read nor allocated.
TEST(WireArchive, absurd_lengths_are_refused) {
  auto bytes = encode(example());
  const std::size_t length_at = sizeof(Kind) + sizeof(double);
  for (const std::uint64_t length : {std::uint64_t{1} << 62, ~std::uint64_t{0}, std::uint64_t{1000}}) {
    std::memcpy(bytes.data() + length_at, &length, sizeof length);
    EXPECT_FALSE(decode<Everything>(bytes));
  }
}

}  // namespace
}  // namespace afterbay::wire
