// SPDX-License-Identifier: Apache-2.0
// Frames in the shared segment, between threads: contributions, room, order, and that ranks that
// run ahead never take the memory that a slower one needs.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <thread>

#include "base/clock.hpp"
#include "transport/thread/hub.hpp"
#include "wire/frame_messages.hpp"

namespace afterbay::transport {
namespace {

using namespace std::chrono_literals;

/// `blocks` blocks of 16 KiB, all of one class.
LinkSizes sizes_of(std::uint32_t blocks) {
  LinkSizes sizes;
  sizes.block_bytes = 16 << 10;
  sizes.small_block_bytes = 16 << 10;
  sizes.small_share = 0.0;
  sizes.memory_bytes = blocks * sizes.block_bytes;
  sizes.ring_bytes = 4 << 10;
  sizes.reply_bytes = 2 << 10;
  sizes.instances = 4;
  sizes.max_frames = 64;
  return sizes;
}

ThreadHub make_hub(std::size_t clients, const LinkSizes& sizes, Millis deadline = 30s) {
  auto hub = ThreadHub::make(clients, {sizes, WaitPolicy{deadline}, 0});
  EXPECT_TRUE(hub) << hub.error().text();
  return *std::move(hub);
}

void put(ClientLink& link, const FrameSlot& slot, std::uint32_t piece) {
  const auto landing = link.reserve(slot, piece, 8, true);
  ASSERT_TRUE(landing) << landing.error().text();
  ASSERT_TRUE(link.commit(slot, piece));
}

std::optional<wire::FrameReady> take_ready(ServerPort& port, std::size_t peer) {
  const auto message = port.peek(peer);
  if (!message) return std::nullopt;
  const auto ready = wire::decode<wire::FrameReady>(*message);
  EXPECT_TRUE(ready);
  port.pop(peer);
  return ready ? std::optional(*ready) : std::nullopt;
}

TEST(ThreadHubFrames, the_last_contribution_reports_the_frame) {
  ThreadHub hub = make_hub(2, sizes_of(4));
  FramePool& pool = hub.port->frames();
  const auto first = pool.declare(std::vector<FrameDeclaration>{{9000, {2, 0, 1}}, {100, {1}}});
  ASSERT_EQ(first.value(), 0u);
  const FrameSlot slot{0, 5, 9000, 16, 0};
  EXPECT_FALSE(pool.find(0, 5));

  put(*hub.clients[0], slot, 0);
  const auto view = pool.find(0, 5);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->buffer.size(), 9016u);
  EXPECT_EQ(pool.state(*view, 0), PieceState::partial);
  EXPECT_EQ(pool.state(*view, 1), PieceState::untouched);
  put(*hub.clients[1], slot, 0);
  EXPECT_EQ(pool.state(*view, 0), PieceState::complete);
  EXPECT_FALSE(hub.port->peek(0));
  EXPECT_FALSE(hub.port->peek(1));
  put(*hub.clients[1], slot, 2);
  EXPECT_FALSE(hub.port->peek(0));
  const auto ready = take_ready(*hub.port, 1);
  ASSERT_TRUE(ready);
  EXPECT_EQ(ready->frame, 0u);
  EXPECT_EQ(ready->seq, 5u);
  EXPECT_EQ(pool.used_bytes(), 16u << 10);
  pool.release(*view);
  EXPECT_EQ(pool.used_bytes(), 0u);
  EXPECT_EQ(pool.peak_used_bytes(), 16u << 10);
  EXPECT_FALSE(pool.find(0, 5));
}

TEST(ThreadHubFrames, records_in_flight_are_bounded_by_memory_alone) {
  constexpr std::uint32_t blocks = 200;
  LinkSizes sizes = sizes_of(blocks);
  sizes.instances = LinkSizes().instances;
  ThreadHub hub = make_hub(1, sizes);
  ASSERT_TRUE(hub.port->frames().declare(std::vector<FrameDeclaration>{{8, {1}}}));
  const auto reserved = [&](std::uint64_t seq) {
    return hub.clients[0]->reserve({0, seq, 8, 0, seq}, 0, 8, false).has_value();
  };
  for (std::uint64_t seq = 0; seq < blocks - blocks / 8; ++seq) ASSERT_TRUE(reserved(seq)) << seq;
}

TEST(ThreadHubFrames, records_that_are_refused_though_there_is_room_are_counted) {
  LinkSizes sizes = sizes_of(64);
  sizes.instances = 4;
  ThreadHub hub = make_hub(1, sizes);
  FramePool& pool = hub.port->frames();
  ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>{{8, {1}}}));
  EXPECT_EQ(pool.most_instances(), 4u);
  for (std::uint64_t seq = 0; seq < 4; ++seq)
    ASSERT_TRUE(hub.clients[0]->reserve({0, seq, 8, 0, seq}, 0, 8, false));
  EXPECT_EQ(pool.older_refusals(), 0u);
  EXPECT_FALSE(hub.clients[0]->reserve({0, 4, 8, 0, 4}, 0, 8, false));
  EXPECT_EQ(pool.older_refusals(), 1u);
}

TEST(ThreadHubFrames, ranks_write_into_one_buffer_behind_the_phase) {
  ThreadHub hub = make_hub(2, sizes_of(2));
  FramePool& pool = hub.port->frames();
  ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>{{200, {2}}}));
  const FrameSlot slot{0, 0, 200, 24, 0};
  for (int rank = 0; rank < 2; ++rank) {
    const auto landing = hub.clients[rank]->reserve(slot, 0, 100, true);
    ASSERT_TRUE(landing);
    EXPECT_FALSE(landing->packed);
    std::memset(landing->base + 100 * rank, 1 + rank, 100);
    ASSERT_TRUE(hub.clients[rank]->commit(slot, 0));
  }
  const auto view = pool.find(0, 0);
  ASSERT_TRUE(view);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view->buffer.data()) % 4096, 0u);
  EXPECT_EQ(view->buffer[24], std::byte{1});
  EXPECT_EQ(view->buffer[123], std::byte{1});
  EXPECT_EQ(view->buffer[124], std::byte{2});
  EXPECT_EQ(view->buffer[223], std::byte{2});
}

TEST(ThreadHubFrames, a_frame_as_long_as_a_block_may_begin_anywhere_in_its_page) {
  ThreadHub hub = make_hub(1, sizes_of(2));
  FramePool& pool = hub.port->frames();
  constexpr std::uint32_t bytes = 16 << 10;
  ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>(2, FrameDeclaration{bytes, {1}})));
  for (std::uint32_t frame = 0; frame < 2; ++frame) {
    const FrameSlot slot{frame, 0, bytes, 4092, 0};
    const auto landing = hub.clients[0]->reserve(slot, 0, bytes, true);
    ASSERT_TRUE(landing) << landing.error().text();
    std::memset(landing->base, 1 + static_cast<int>(frame), bytes);
    ASSERT_TRUE(hub.clients[0]->commit(slot, 0));
  }
  EXPECT_EQ(pool.used_bytes(), pool.capacity_bytes());
  for (std::uint32_t frame = 0; frame < 2; ++frame) {
    const auto view = pool.find(frame, 0);
    ASSERT_TRUE(view);
    ASSERT_EQ(view->buffer.size(), 4092u + bytes);
    for (std::size_t i = 4092; i < view->buffer.size(); ++i)
      ASSERT_EQ(view->buffer[i], std::byte(1 + frame)) << "frame " << frame << ", byte " << i;
  }
}

TEST(ThreadHubFrames, a_reused_block_starts_with_no_contributions) {
  ThreadHub hub = make_hub(1, sizes_of(1));
  FramePool& pool = hub.port->frames();
  ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>{{200, {2, 1}}}));
  for (std::uint64_t seq = 0; seq < 9; ++seq) {
    const FrameSlot slot{0, seq, 200, 0, seq};
    put(*hub.clients[0], slot, 1);
    put(*hub.clients[0], slot, 0);
    EXPECT_FALSE(hub.port->peek(0));
    put(*hub.clients[0], slot, 0);
    ASSERT_EQ(take_ready(*hub.port, 0)->seq, seq);
    pool.release(*pool.find(0, seq));
  }
}

TEST(ThreadHubFrames, small_frames_take_small_blocks) {
  LinkSizes sizes = sizes_of(4);
  sizes.small_block_bytes = 4 << 10;
  sizes.small_share = 0.25;
  ThreadHub hub = make_hub(1, sizes);
  FramePool& pool = hub.port->frames();
  ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>{{100, {1}}, {5000, {1}}}));
  EXPECT_EQ(pool.capacity_bytes(), 64u << 10);
  put(*hub.clients[0], {0, 0, 100, 0, 0}, 0);
  EXPECT_EQ(pool.used_bytes(), 4u << 10);
  put(*hub.clients[0], {1, 0, 5000, 0, 1}, 0);
  EXPECT_EQ(pool.used_bytes(), 20u << 10);
}

TEST(ThreadHubFrames, small_frames_take_spare_large_blocks_when_the_small_ones_are_used_up) {
  LinkSizes sizes = sizes_of(0);
  sizes.small_block_bytes = 4 << 10;
  sizes.memory_bytes = 16 * sizes.block_bytes;
  sizes.small_share = 0.125;  // 8 small blocks and 14 large ones, one of each reserved for the
                              // slowest rank
  ThreadHub hub = make_hub(2, sizes);
  std::vector<FrameDeclaration> frames(30, FrameDeclaration{2000, {2}});
  frames.push_back({9000, {2}});
  ASSERT_TRUE(hub.port->frames().declare(frames));
  std::uint32_t taken = 0;
  while (taken < 30 && hub.clients[0]->reserve({taken, 0, 2000, 0, taken + 1}, 0, 8, false)) ++taken;
  EXPECT_EQ(taken, 20u);
  // The rank that is behind still gets the blocks reserved for it, of either size.
  EXPECT_TRUE(hub.clients[1]->reserve({20, 0, 2000, 0, 1}, 0, 8, false));
  EXPECT_TRUE(hub.clients[1]->reserve({30, 0, 9000, 0, 1}, 0, 8, false));
}

TEST(ThreadHubFrames, no_room_is_would_block_or_a_wait_until_a_release) {
  ThreadHub hub = make_hub(1, sizes_of(1));
  FramePool& pool = hub.port->frames();
  ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>{{200, {1}}, {200, {1}}}));
  put(*hub.clients[0], {0, 0, 200, 0, 0}, 0);
  const FrameSlot next{1, 0, 200, 0, 1};
  const auto refused = hub.clients[0]->reserve(next, 0, 8, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::would_block);
  EXPECT_FALSE(hub.clients[0]->make_room(std::vector{next}, 8, RoomFor::put).value());

  std::jthread server([&] {
    while (hub.port->waiting_for_room() == 0) std::this_thread::yield();
    std::this_thread::sleep_for(10ms);
    pool.release(*pool.find(0, 0));
  });
  put(*hub.clients[0], next, 0);
  EXPECT_GT(hub.clients[0]->waited_ns(), 1'000'000u);
}

TEST(ThreadHubFrames, make_room_takes_the_room_of_a_whole_put) {
  ThreadHub hub = make_hub(2, sizes_of(4));
  FramePool& pool = hub.port->frames();
  ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>(4, FrameDeclaration{200, {1}})));
  std::vector<FrameSlot> slots;
  for (std::uint32_t frame = 0; frame < 4; ++frame) slots.push_back({frame, 0, 200, 0, 0});
  EXPECT_FALSE(hub.clients[0]
                   ->make_room(slots, 800, RoomFor::put)
                   .value());  // the other rank may need the last one first
  hub.clients[1]->set_position(1);
  EXPECT_TRUE(hub.clients[0]->make_room(slots, 800, RoomFor::put).value());
  EXPECT_EQ(pool.used_bytes(), pool.capacity_bytes());
  for (const FrameSlot& slot : slots) {
    const auto landing = hub.clients[0]->reserve(slot, 0, 200, false);
    EXPECT_TRUE(landing);
  }
}

// Slots are not committed while the model computes and puts other fields: those need a block that
// no slot holds.
TEST(ThreadHubFrames, make_room_for_a_slot_leaves_the_reserved_blocks) {
  ThreadHub hub = make_hub(1, sizes_of(4));
  FramePool& pool = hub.port->frames();
  ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>(5, FrameDeclaration{200, {1}})));
  std::vector<FrameSlot> slots;
  for (std::uint32_t frame = 0; frame < 4; ++frame) slots.push_back({frame, 0, 200, 0, 1});
  EXPECT_FALSE(hub.clients[0]->make_room(slots, 800, RoomFor::slot).value());
  EXPECT_EQ(pool.used_bytes(), 0U);  // no block is taken unnecessarily
  slots.pop_back();
  EXPECT_TRUE(hub.clients[0]->make_room(slots, 600, RoomFor::slot).value());
  EXPECT_EQ(pool.used_bytes(), 3 * pool.capacity_bytes() / 4);
  EXPECT_TRUE(hub.clients[0]->make_room(slots, 600, RoomFor::slot).value());  // they are there
  const FrameSlot put{4, 0, 200, 0, 2};
  EXPECT_TRUE(hub.clients[0]->reserve(put, 0, 8, false));
}

TEST(ThreadHubFrames, check_fits_refuses_what_needs_more_blocks_than_there_are) {
  ThreadHub hub = make_hub(1, sizes_of(4));
  ASSERT_TRUE(hub.port->frames().declare(std::vector<FrameDeclaration>(5, FrameDeclaration{200, {1}})));
  std::vector<FrameSlot> slots;
  for (std::uint32_t frame = 0; frame < 5; ++frame) slots.push_back({frame, 0, 200, 0, 0});
  EXPECT_EQ(hub.clients[0]->check_fits(slots).error().code, ErrorCode::resources);
  slots.pop_back();
  EXPECT_TRUE(hub.clients[0]->check_fits(slots));
}

TEST(ThreadHubFrames, a_refused_rank_wakes_the_server_that_nobody_has_told) {
  ThreadHub hub = make_hub(1, sizes_of(1));
  ASSERT_TRUE(hub.port->frames().declare(std::vector<FrameDeclaration>{{100, {1}}}));
  put(*hub.clients[0], {0, 0, 100, 0, 1}, 0);  // complete, to be announced with the next flush
  hub.port->wait(0ms);
  const FrameSlot next{0, 1, 100, 0, 2};
  EXPECT_FALSE(hub.clients[0]->make_room(std::span(&next, 1), 8, RoomFor::put).value());
  const std::uint64_t begin = now_ns();
  hub.port->wait(10s);
  EXPECT_LT(now_ns() - begin, 5'000'000'000u);
}

// Before, a rank that found no block slept a tenth of a second although another rank had created
// the frame.
TEST(ThreadHubFrames, a_rank_refused_a_block_is_woken_by_the_frame_that_another_rank_makes) {
  constexpr std::uint64_t rounds = 40;
  ThreadHub hub = make_hub(2, sizes_of(1));
  FramePool& pool = hub.port->frames();
  ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>{{200, {2}}}));
  std::uint64_t shortest_ns = ~std::uint64_t{0};
  for (std::uint64_t seq = 0; seq < rounds; ++seq) {
    const std::uint64_t begin = now_ns();
    const FrameSlot slot{0, seq, 200, 0, seq + 1};
    // The block is reserved for rank 0, which is behind: rank 1 waits.
    std::jthread ahead([&] { put(*hub.clients[1], slot, 0); });
    while (hub.port->waiting_for_room() == 0) std::this_thread::yield();
    std::this_thread::sleep_for(1ms);
    put(*hub.clients[0], slot, 0);
    ahead.join();
    shortest_ns = std::min(shortest_ns, now_ns() - begin);
    hub.clients[0]->set_position(seq + 1);
    pool.release(*pool.find(0, seq));
  }
  EXPECT_LT(shortest_ns, 60'000'000u);
}

TEST(ThreadHubFrames, a_frame_completed_while_others_wait_wakes_the_server) {
  ThreadHub hub = make_hub(2, sizes_of(1));
  FramePool& pool = hub.port->frames();
  ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>{{200, {1}}, {200, {1}}}));
  const FrameSlot small{0, 0, 200, 0, 1};
  hub.clients[1]->set_position(2);
  ASSERT_TRUE(hub.clients[0]->reserve(small, 0, 8, true));
  std::jthread other([&] { put(*hub.clients[1], {1, 0, 200, 0, 2}, 0); });
  while (hub.port->waiting_for_room() == 0) std::this_thread::yield();
  hub.port->wait(0ms);  // rings that came before
  std::this_thread::sleep_for(20ms);
  hub.port->wait(0ms);
  ASSERT_TRUE(hub.clients[0]->commit(small, 0));
  const std::uint64_t begin = now_ns();
  hub.port->wait(10s);
  EXPECT_LT(now_ns() - begin, 5'000'000'000u);
  EXPECT_TRUE(take_ready(*hub.port, 0));
  pool.release(*pool.find(0, 0));
  hub.clients[0]->set_position(3);
}

TEST(ThreadHubFrames, an_entry_of_an_older_instance_is_waited_for) {
  ThreadHub hub = make_hub(1, sizes_of(8));
  FramePool& pool = hub.port->frames();
  ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>{{200, {1}}}));
  for (std::uint64_t seq = 0; seq < 4; ++seq) put(*hub.clients[0], {0, seq, 200, 0, seq}, 0);
  EXPECT_EQ(hub.clients[0]->reserve({0, 4, 200, 0, 4}, 0, 8, false).error().code, ErrorCode::would_block);
  pool.release(*pool.find(0, 0));
  put(*hub.clients[0], {0, 4, 200, 0, 4}, 0);
  const auto late = hub.clients[0]->reserve({0, 0, 200, 0, 5}, 0, 8, true);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::bad_state);
}

TEST(ThreadHubFrames, mistakes_are_errors) {
  ThreadHub hub = make_hub(1, sizes_of(2));
  FramePool& pool = hub.port->frames();
  EXPECT_EQ(pool.declare(std::vector<FrameDeclaration>{{17 << 10, {1}}}).error().code, ErrorCode::resources);
  EXPECT_EQ(pool.declare(std::vector<FrameDeclaration>(65, FrameDeclaration{200, {1}})).error().code,
            ErrorCode::resources);
  ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>{{16000, {1}}}));
  ClientLink& link = *hub.clients[0];
  EXPECT_EQ(link.reserve({1, 0, 200, 0, 0}, 0, 8, true).error().code, ErrorCode::internal);
  EXPECT_EQ(link.reserve({0, 0, 200, 0, 0}, 1, 8, true).error().code, ErrorCode::internal);
  EXPECT_EQ(link.reserve({0, 0, 16000, 5000, 0}, 0, 8, true).error().code, ErrorCode::resources);
  EXPECT_EQ(link.commit({0, 0, 200, 0, 0}, 0).error().code, ErrorCode::internal);
  put(link, {0, 0, 200, 0, 0}, 0);
  ASSERT_TRUE(link.reserve({0, 0, 200, 0, 0}, 0, 8, true));
  EXPECT_EQ(link.commit({0, 0, 200, 0, 0}, 0).error().code, ErrorCode::conflict);
}

TEST(ThreadHubFrames, a_wait_for_room_ends_at_the_deadline_and_says_why) {
  ThreadHub hub = make_hub(2, sizes_of(2), 200ms);
  ASSERT_TRUE(hub.port->frames().declare(std::vector<FrameDeclaration>(3, FrameDeclaration{200, {2}})));
  put(*hub.clients[0], {0, 0, 200, 0, 0}, 0);
  put(*hub.clients[0], {1, 0, 200, 0, 0},
      0);  // the last block: given after half the deadline, because no rank makes progress
  const auto result = hub.clients[0]->reserve({2, 0, 200, 0, 0}, 0, 8, true);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::timed_out);
  EXPECT_NE(result.error().message.find("32768 of 32768 bytes"), std::string::npos) << result.error().message;
}

TEST(ThreadHubFrames, a_failed_server_ends_waits_at_once) {
  ThreadHub hub = make_hub(1, sizes_of(1));
  ASSERT_TRUE(hub.port->frames().declare(std::vector<FrameDeclaration>(2, FrameDeclaration{200, {2}})));
  put(*hub.clients[0], {0, 0, 200, 0, 0}, 0);
  std::jthread server([&] {
    std::this_thread::sleep_for(20ms);
    hub.port->fail();
  });
  const std::uint64_t begin = now_ns();
  const auto result = hub.clients[0]->reserve({1, 0, 200, 0, 0}, 0, 8, true);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::bad_state);
  EXPECT_LT(now_ns() - begin, 5'000'000'000u);
}

// Rank 0 is ahead; the last block stays reserved for rank 1, which is behind, until rank 1 has
// advanced.
TEST(ThreadHubOrder, the_last_block_waits_for_the_slowest_rank) {
  ThreadHub hub = make_hub(2, sizes_of(2));
  FramePool& pool = hub.port->frames();
  ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>(3, FrameDeclaration{200, {1, 1}})));
  put(*hub.clients[0], {1, 0, 200, 0, 10}, 0);
  const FrameSlot ahead{2, 0, 200, 0, 11};
  EXPECT_EQ(hub.clients[0]->reserve(ahead, 0, 8, false).error().code, ErrorCode::would_block);
  put(*hub.clients[1], {0, 0, 200, 0, 5}, 0);  // behind: may have it
  pool.release(*pool.find(0, 0));
  EXPECT_EQ(hub.clients[0]->reserve(ahead, 0, 8, false).error().code, ErrorCode::would_block);
  std::jthread slow([&] {
    std::this_thread::sleep_for(20ms);
    hub.clients[1]->set_position(12);
  });
  put(*hub.clients[0], ahead, 0);
}

// The session's thread of rank 1 has come to position 11, but threads of the rank still need memory
// for the put at position 5.
TEST(ThreadHubOrder, a_link_that_is_held_states_nothing_beyond) {
  ThreadHub hub = make_hub(2, sizes_of(2));
  FramePool& pool = hub.port->frames();
  ASSERT_TRUE(pool.declare(std::vector<FrameDeclaration>(3, FrameDeclaration{200, {1, 1}})));
  put(*hub.clients[0], {1, 0, 200, 0, 6}, 0);
  hub.clients[1]->hold(5);
  put(*hub.clients[1], {1, 0, 200, 0, 11}, 1);
  hub.clients[1]->set_position(12);
  hub.clients[1]->advance(12, 3);
  const FrameSlot ahead{2, 0, 200, 0, 11};
  EXPECT_EQ(hub.clients[0]->reserve(ahead, 0, 8, false).error().code, ErrorCode::would_block);
  put(*hub.clients[1], {0, 0, 200, 0, 5}, 0);
  pool.release(*pool.find(0, 0));
  hub.clients[1]->hold(ClientLink::no_position);
  hub.clients[1]->set_position(12);
  put(*hub.clients[0], ahead, 0);
}

TEST(ThreadHubOrder, a_rank_that_has_ended_holds_nobody_up) {
  ThreadHub hub = make_hub(3, sizes_of(1));
  ASSERT_TRUE(hub.port->frames().declare(std::vector<FrameDeclaration>(1, FrameDeclaration{200, {2}})));
  EXPECT_EQ(hub.clients[0]->reserve({0, 0, 200, 0, 9}, 0, 8, false).error().code, ErrorCode::would_block);
  hub.clients[1].reset();
  hub.port->forget(2);
  put(*hub.clients[0], {0, 0, 200, 0, 9}, 0);
}

// Two ranks, each waiting on another server for the slower one, which is the other: the servers
// must be informed that both have advanced, although neither rank put anything there.
TEST(ThreadHubOrder, ranks_that_wait_on_two_servers_do_not_wait_for_each_other) {
  std::vector<std::shared_ptr<RankLinks>> ranks = {std::make_shared<RankLinks>(),
                                                   std::make_shared<RankLinks>()};
  std::vector<ThreadHub> hubs;
  for (std::size_t s = 0; s < 2; ++s) {
    hubs.push_back(ThreadHub::make(2, {sizes_of(1), WaitPolicy{20s}, s, ranks}).value());
    ASSERT_TRUE(hubs[s].port->frames().declare(std::vector<FrameDeclaration>(1, FrameDeclaration{200, {1}})));
  }
  const std::uint64_t begin = now_ns();
  {
    std::jthread first([&] {
      put(*hubs[0].clients[0], {0, 0, 200, 0, 10}, 0);
      hubs[0].clients[0]->set_position(12);
      for (ThreadHub& hub : hubs) ASSERT_TRUE(hub.clients[0]->flush());
    });
    std::jthread second([&] { put(*hubs[1].clients[1], {0, 0, 200, 0, 11}, 0); });
  }
  EXPECT_LT(now_ns() - begin, 5'000'000'000u);
}

/// The bytes that a rank writes into its part of a piece.
std::uint64_t word_of(std::size_t rank, std::uint32_t frame, std::uint32_t piece, std::uint64_t seq) {
  return (((seq * 64 + frame) * 16 + piece) * 16 + rank) * 0x9E37'79B9'7F4A'7C15ULL;
}

/// Ranks put records of several frames through few blocks, each at its own speed; the server checks
/// every byte. The decomposition is random, so that ranks hold nothing in some frames.
class Stress {
 public:
  static constexpr std::size_t ranks = 4;
  static constexpr std::uint32_t frames = 6;
  static constexpr std::uint32_t pieces = 3;
  static constexpr std::uint32_t words = 8;  ///< words of one rank in one piece

  Stress(std::uint32_t blocks, std::uint64_t records, unsigned seed)
      : records_(records), hub_(make_hub(ranks, sizes_of(blocks))) {
    std::mt19937 random(seed);
    std::vector<FrameDeclaration> declarations(frames);
    for (std::uint32_t f = 0; f < frames; ++f) {
      declarations[f].bytes = frame_bytes;
      for (std::uint32_t p = 0; p < pieces; ++p) {
        for (std::size_t r = 0; r < ranks; ++r) holds_[r][f][p] = random() % 2 == 0;
        if (p == 0) holds_[random() % ranks][f][p] = true;
        std::uint32_t expected = 0;
        for (std::size_t r = 0; r < ranks; ++r) expected += holds_[r][f][p];
        declarations[f].expected.push_back(expected);
      }
    }
    EXPECT_EQ(hub_.port->frames().declare(declarations).value(), 0u);
  }

  void run() {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < ranks; ++rank) threads.emplace_back([this, rank] { put_all(rank); });
    serve();
  }
  [[nodiscard]] std::uint64_t seen() const { return seen_; }

 private:
  static constexpr std::uint64_t frame_bytes = pieces * ranks * words * 8;

  void put_all(std::size_t rank) {
    ClientLink& link = *hub_.clients[rank];
    std::mt19937 random(static_cast<unsigned>(rank));
    for (std::uint64_t seq = 0; seq < records_ && !broken_; ++seq) {
      link.set_position(seq);
      for (std::uint32_t f = 0; f < frames; ++f)
        for (std::uint32_t p = 0; p < pieces; ++p)
          if (holds_[rank][f][p]) put_one(link, rank, {f, seq, frame_bytes, seq % 8 * 8, seq}, p);
      link.set_position(seq + 1);
      if (random() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    }
    link.set_position(records_ + 1);
  }

  void put_one(ClientLink& link, std::size_t rank, const FrameSlot& slot, std::uint32_t piece) {
    const auto landing = link.reserve(slot, piece, words * 8, true);
    if (!landing) {
      broken_ = true;
      ADD_FAILURE() << landing.error().text();
      return;
    }
    auto* at = reinterpret_cast<std::uint64_t*>(landing->base) + (piece * ranks + rank) * words;
    for (std::uint32_t w = 0; w < words; ++w) at[w] = word_of(rank, slot.frame, piece, slot.seq) + w;
    EXPECT_TRUE(link.commit(slot, piece));
  }

  void serve() {
    const std::uint64_t begin = now_ns();
    while (seen_ < records_ * frames && !broken_ && now_ns() - begin < 60'000'000'000) {
      for (std::size_t rank = 0; rank < ranks; ++rank)
        while (const auto ready = take_ready(*hub_.port, rank)) check(*ready);
      hub_.port->wait(100ms);
    }
  }

  void check(const wire::FrameReady& ready) {
    FramePool& pool = hub_.port->frames();
    const auto view = pool.find(ready.frame, ready.seq);
    ASSERT_TRUE(view);
    const auto* at = reinterpret_cast<const std::uint64_t*>(view->buffer.data() + ready.seq % 8 * 8);
    for (std::uint32_t p = 0; p < pieces; ++p)
      for (std::size_t r = 0; r < ranks; ++r)
        for (std::uint32_t w = 0; holds_[r][ready.frame][p] && w < words; ++w)
          ASSERT_EQ(at[(p * ranks + r) * words + w], word_of(r, ready.frame, p, ready.seq) + w);
    pool.release(*view);
    ++seen_;
  }

  std::uint64_t records_;
  ThreadHub hub_;
  bool holds_[ranks][frames][pieces] = {};
  std::atomic<bool> broken_{false};
  std::uint64_t seen_ = 0;
};

TEST(ThreadHubStress, two_blocks_are_enough_for_ranks_at_any_pace) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    Stress stress(2, 150, seed);
    stress.run();
    EXPECT_EQ(stress.seen(), 150u * Stress::frames);
  }
}

TEST(ThreadHubStress, one_block_is_enough_too) {
  Stress stress(1, 60, 11);
  stress.run();
  EXPECT_EQ(stress.seen(), 60u * Stress::frames);
}

TEST(ThreadHubStress, with_many_blocks_every_byte_is_where_it_belongs) {
  Stress stress(24, 600, 21);
  stress.run();
  EXPECT_EQ(stress.seen(), 600u * Stress::frames);
}

}  // namespace
}  // namespace afterbay::transport
