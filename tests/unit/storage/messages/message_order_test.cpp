// SPDX-License-Identifier: Apache-2.0
#include "storage/messages/message_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "scratch_directory.hpp"

namespace afterbay::storage {
namespace {

MessageOrder::Waiting message(std::uint64_t bytes, std::uint64_t epochs = 0) {
  MessageOrder::Waiting made;
  made.kept.size_bytes = bytes;
  made.epochs = epochs;
  return made;
}

TEST(MessageOrder, messages_have_the_same_offsets_in_any_order) {
  std::vector<MessageKey> keys;
  for (std::uint64_t record = 0; record < 4; ++record)
    for (std::uint32_t number = 0; number < 3; ++number) keys.push_back({record, number});
  std::mt19937 random(5);
  for (int trial = 0; trial < 20; ++trial) {
    std::ranges::shuffle(keys, random);
    MessageOrder order(3);
    std::vector<MessageOrder::Placed> placed;
    for (const MessageKey& key : keys) {
      EXPECT_TRUE(order.add(key, message(10 * key.record + key.number + 1)));
      while (order.next()) placed.push_back(order.place_first().place);
    }
    ASSERT_EQ(placed.size(), keys.size());
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < placed.size(); ++i) {
      EXPECT_EQ(placed[i].key, (MessageKey{i / 3, static_cast<std::uint32_t>(i % 3)}));
      EXPECT_EQ(placed[i].offset, offset);
      offset += 10 * (i / 3) + i % 3 + 1;
    }
    EXPECT_EQ(order.end_bytes(), offset);
  }
}

TEST(MessageOrder, waits_for_earlier_messages_and_skips_them_when_told) {
  MessageOrder order(2);
  EXPECT_TRUE(order.add({0, 1}, message(5)));
  EXPECT_TRUE(order.add({no_record, 0}, message(7)));
  EXPECT_FALSE(order.next());
  EXPECT_EQ(order.place_first().place.key, (MessageKey{0, 1}));
  EXPECT_EQ(order.after_placed(), (MessageKey{1, 0}));
  const auto last = order.place_first().place;
  EXPECT_EQ(last.key, (MessageKey{no_record, 0}));
  EXPECT_EQ(last.offset, 5u);
}

TEST(MessageOrder, refuses_a_message_twice) {
  MessageOrder order(2);
  EXPECT_TRUE(order.add({0, 0}, message(5)));
  EXPECT_FALSE(order.add({0, 0}, message(5)));
  order.place_first();
  EXPECT_FALSE(order.add({0, 0}, message(5)));
}

TEST(MessageOrder, forgets_placed_messages_before_a_key) {
  MessageOrder order(1);
  for (std::uint64_t record = 0; record < 5; ++record) {
    EXPECT_TRUE(order.add({record, 0}, message(1)));
    order.place_first();
  }
  order.forget_before({3, 0});
  ASSERT_EQ(order.placed().size(), 2u);
  EXPECT_EQ(order.placed().front().offset, 3u);
}

TEST(WaitingMessages, come_back_from_memory_and_from_the_file) {
  const test::Directory directory;
  const auto allowance = std::make_shared<ByteAllowance>(100);
  const auto bytes_of = [](int n) { return std::vector<std::byte>(40, static_cast<std::byte>(n)); };
  {
    WaitingMessages waiting((directory.path / "out.part").string(), Disk::real(), allowance);
    std::vector<WaitingMessages::Kept> kept;
    for (int n = 0; n < 5; ++n) {
      auto one = waiting.keep(bytes_of(n));
      ASSERT_TRUE(one) << one.error().text();
      kept.push_back(*std::move(one));
    }
    EXPECT_EQ(allowance->used_bytes(), 80u);
    EXPECT_EQ(waiting.spilled_bytes(), 120u);
    for (const int n : {4, 0, 3, 2}) {
      EXPECT_EQ(waiting.copy(kept[static_cast<std::size_t>(n)]).value(), bytes_of(n));
      EXPECT_EQ(waiting.take(std::move(kept[static_cast<std::size_t>(n)])).value(), bytes_of(n));
    }
    EXPECT_EQ(allowance->used_bytes(), 40u);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path), {}), 0);
  }
  EXPECT_EQ(allowance->used_bytes(), 0u);
}

}  // namespace
}  // namespace afterbay::storage
