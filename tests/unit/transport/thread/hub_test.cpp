// SPDX-License-Identifier: Apache-2.0
// The shared segment between threads: messages, frames, waiting, and notifications when an end
// disappears. Suites named Thread* also run under ThreadSanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <thread>

#include "base/clock.hpp"
#include "transport/thread/hub.hpp"
#include "wire/frame_messages.hpp"

namespace afterbay::transport {
namespace {

using namespace std::chrono_literals;

LinkSizes small_sizes() {
  LinkSizes sizes;
  sizes.memory_bytes = 256 << 10;
  sizes.block_bytes = 64 << 10;
  sizes.small_block_bytes = 16 << 10;
  sizes.small_share = 0.25;
  sizes.ring_bytes = 4 << 10;
  sizes.reply_bytes = 2 << 10;
  sizes.instances = 4;
  sizes.max_frames = 64;
  return sizes;
}

ThreadHub hub_make_hub(std::size_t clients, const LinkSizes& sizes, Millis deadline = 20s) {
  auto hub = ThreadHub::make(clients, {sizes, WaitPolicy{deadline}, 0});
  EXPECT_TRUE(hub) << hub.error().text();
  return *std::move(hub);
}

Bytes pattern(std::size_t bytes, unsigned seed) {
  Bytes message(bytes);
  std::mt19937 random(seed);
  for (std::byte& byte : message) byte = static_cast<std::byte>(random());
  return message;
}

std::optional<Bytes> take(ServerPort& port, std::size_t peer) {
  const auto message = port.peek(peer);
  if (!message) return std::nullopt;
  Bytes bytes(message->begin(), message->end());
  port.pop(peer);
  return bytes;
}

TEST(ThreadHubMessages, arrive_in_order_with_their_contents) {
  ThreadHub hub = hub_make_hub(2, small_sizes());
  for (unsigned i = 0; i < 5; ++i) {
    ASSERT_TRUE(hub.clients[0]->send(pattern(i * 100, i), Wake::with_flush));
    ASSERT_TRUE(hub.clients[1]->send(pattern(i * 50 + 1, 100 + i), Wake::now));
  }
  for (unsigned i = 0; i < 5; ++i) {
    EXPECT_EQ(take(*hub.port, 0), pattern(i * 100, i));
    EXPECT_EQ(take(*hub.port, 1), pattern(i * 50 + 1, 100 + i));
  }
  EXPECT_FALSE(hub.port->peek(0));
  EXPECT_FALSE(hub.port->peek(1));
  EXPECT_EQ(hub.port->messages(), 10u);
  EXPECT_EQ(hub.clients[0]->messages(), 5u);
}

TEST(ThreadHubMessages, peek_gives_the_same_message_until_it_is_popped) {
  ThreadHub hub = hub_make_hub(1, small_sizes());
  ASSERT_TRUE(hub.clients[0]->send(pattern(10, 1), Wake::now));
  ASSERT_TRUE(hub.clients[0]->send(pattern(20, 2), Wake::now));
  EXPECT_EQ(hub.port->peek(0)->size(), 10u);
  EXPECT_EQ(hub.port->peek(0)->size(), 10u);
  hub.port->pop(0);
  EXPECT_EQ(hub.port->peek(0)->size(), 20u);
}

// Messages of all sizes around a quarter of the ring and far beyond it, in both directions, at the
// same time.
TEST(ThreadHubMessages, larger_than_the_ring_are_split_and_joined_both_ways) {
  ThreadHub hub = hub_make_hub(1, small_sizes());
  std::atomic<bool> done{false};
  const std::size_t sizes[] = {0, 1, 7, 8, 503, 504, 505, 1015, 1016, 1017, 4096, 100'000, 3};
  std::jthread client([&] {
    for (const std::size_t bytes : sizes) ASSERT_TRUE(hub.clients[0]->send(pattern(bytes, 7), Wake::now));
    for (const std::size_t bytes : sizes) {
      std::optional<Bytes> reply;
      while (!(reply = hub.clients[0]->receive().value())) hub.clients[0]->wait(1s);
      EXPECT_EQ(*reply, pattern(bytes, 8));
    }
    done = true;
  });
  for (const std::size_t bytes : sizes) {
    std::optional<Bytes> message;
    while (!(message = take(*hub.port, 0))) hub.port->wait(1s);
    ASSERT_EQ(*message, pattern(bytes, 7));
  }
  for (const std::size_t bytes : sizes) hub.port->send(0, pattern(bytes, 8));
  while (!done) hub.port->wait(5ms);  // what did not fit into the ring goes as the client reads
}

TEST(ThreadHubMessages, a_full_ring_blocks_the_sender_until_the_server_reads) {
  ThreadHub hub = hub_make_hub(1, small_sizes());
  std::atomic<int> sent{0};
  std::jthread client([&] {
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(hub.clients[0]->send(pattern(500, static_cast<unsigned>(i)), Wake::with_flush));
      ++sent;
    }
  });
  const std::uint64_t begin = now_ns();
  while (sent < 6 && now_ns() - begin < 5'000'000'000) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(50ms);
  EXPECT_LE(sent, 8);  // 4 KiB hold eight parts of 508 bytes
  for (int i = 0; i < 100; ++i) {
    std::optional<Bytes> message;
    while (!(message = take(*hub.port, 0))) hub.port->wait(1s);
    ASSERT_EQ(*message, pattern(500, static_cast<unsigned>(i)));
  }
  client.join();
  EXPECT_GT(hub.clients[0]->waited_ns(), 10'000'000u);
}

TEST(ThreadHubMessages, a_sender_fails_after_the_deadline_when_nobody_reads) {
  ThreadHub hub = hub_make_hub(1, small_sizes(), 150ms);
  Result<void> result;
  const std::uint64_t begin = now_ns();
  for (int i = 0; i < 20 && result; ++i) result = hub.clients[0]->send(pattern(900, 1), Wake::now);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::timed_out);
  EXPECT_NE(result.error().message.find("I/O server 0"), std::string::npos) << result.error().message;
  EXPECT_LT(now_ns() - begin, 5'000'000'000u);
}

TEST(ThreadHubWaiting, wait_sleeps_until_a_doorbell_or_a_wake) {
  ThreadHub hub = hub_make_hub(1, small_sizes());
  hub.port->wait(0ms);
  const auto woken_by = [&](auto action) {
    std::jthread other([&] {
      std::this_thread::sleep_for(20ms);
      action();
    });
    const std::uint64_t begin = now_ns();
    hub.port->wait(10s);
    return now_ns() - begin;
  };
  EXPECT_LT(woken_by([&] { ASSERT_TRUE(hub.clients[0]->send(pattern(3, 1), Wake::now)); }), 5'000'000'000u);
  EXPECT_LT(woken_by([&] { hub.port->wake(); }), 5'000'000'000u);
  EXPECT_LT(woken_by([&] {
              ASSERT_TRUE(hub.clients[0]->send(pattern(3, 1), Wake::with_flush));
              ASSERT_TRUE(hub.clients[0]->flush());
            }),
            5'000'000'000u);
}

TEST(ThreadHubWaiting, a_flush_wakes_nobody_when_nothing_asked_for_it) {
  ThreadHub hub = hub_make_hub(1, small_sizes());
  ASSERT_TRUE(hub.clients[0]->flush());
  hub.port->wait(0ms);
  ASSERT_TRUE(hub.clients[0]->send(pattern(3, 1), Wake::no));
  ASSERT_TRUE(hub.clients[0]->flush());
  const std::uint64_t begin = now_ns();
  hub.port->wait(50ms);
  EXPECT_GE(now_ns() - begin, 40'000'000u);
  EXPECT_TRUE(take(*hub.port, 0));  // a server that looks still finds it
}

TEST(ThreadHubWaiting, a_doorbell_before_the_sleep_is_not_lost) {
  ThreadHub hub = hub_make_hub(1, small_sizes());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(hub.clients[0]->send(pattern(3, 1), Wake::now));
    const std::uint64_t begin = now_ns();
    hub.port->wait(10s);
    EXPECT_LT(now_ns() - begin, 5'000'000'000u);
  }
}

TEST(ThreadHubWaiting, an_idle_callback_runs_instead_of_a_sleep) {
  ThreadHub hub = hub_make_hub(1, small_sizes(), 5s);
  int calls = 0;
  hub.clients[0]->set_idle([&] {
    ++calls;
    return take(*hub.port, 0).has_value();
  });
  for (unsigned i = 0; i < 50; ++i) ASSERT_TRUE(hub.clients[0]->send(pattern(1000, i), Wake::now));
  EXPECT_GT(calls, 10);
}

TEST(ThreadHubLife, a_client_is_told_that_the_server_has_ended) {
  ThreadHub hub = hub_make_hub(1, small_sizes());
  ASSERT_TRUE(hub.clients[0]->check_alive());
  hub.port.reset();
  const auto result = hub.clients[0]->check_alive();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::peer_lost);
}

TEST(ThreadHubLife, a_waiting_client_is_woken_when_the_server_ends) {
  ThreadHub hub = hub_make_hub(1, small_sizes());
  std::jthread server([&] {
    std::this_thread::sleep_for(30ms);
    hub.port.reset();
  });
  Result<void> result;
  for (int i = 0; i < 20 && result; ++i) result = hub.clients[0]->send(pattern(900, 1), Wake::now);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::peer_lost);
}

TEST(ThreadHubLife, a_client_that_left_is_reported_once_its_messages_are_read) {
  ThreadHub hub = hub_make_hub(2, small_sizes());
  ASSERT_TRUE(hub.clients[1]->send(pattern(5, 5), Wake::now));
  hub.clients[1].reset();
  EXPECT_FALSE(hub.port->lost_peer());
  EXPECT_EQ(take(*hub.port, 1), pattern(5, 5));
  const auto lost = hub.port->lost_peer();
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->peer, 1u);
  EXPECT_EQ(lost->error.code, ErrorCode::peer_lost);
  EXPECT_NE(lost->error.message.find("model rank 1"), std::string::npos);
  hub.port->forget(1);
  EXPECT_FALSE(hub.port->lost_peer());
}

}  // namespace
}  // namespace afterbay::transport
