// SPDX-License-Identifier: Apache-2.0
// Memory of segments: of a rank (Staging), of a server (ReceiveMemory), of a frontend (Channel).
#include "transport/mpi/staging.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>

#include "transport/mpi/joint_segments.hpp"
#include "transport/mpi/receive_memory.hpp"
#include "transport/mpi/waiting_senders.hpp"
#include "transport/relay/channel.hpp"

namespace afterbay::transport {
namespace {

using network::ReceiveMemory;
using network::segment_capacity;
using network::SegmentMemory;
using network::small_segment_bytes;
using network::Staging;
using relay::Channel;
using relay::channel_geometry;
using relay::ChannelEnd;
using ::testing::HasSubstr;

constexpr std::uint64_t staging_kib = 1024;

LinkSizes sizes_with(std::uint32_t segments) {
  LinkSizes sizes;
  sizes.block_bytes = sizes.segment_bytes = 256 * staging_kib;
  sizes.segments = segments;
  return sizes;
}

TEST(TransportStaging, memory_of_a_rank_does_not_depend_on_the_number_of_servers) {
  const LinkSizes sizes;  // the defaults
  const auto few = Staging::make(sizes, 1, true).value();
  const auto many = Staging::make(sizes, 1000, true).value();
  for (const auto& staging : {few, many}) {
    EXPECT_EQ(staging->segments(), sizes.segments);
    EXPECT_EQ(staging->allocated_bytes(), 0u);
    std::uint64_t taken = 0;
    while (const auto segment = staging->take({.bytes = 100})) {
      ASSERT_TRUE(staging->allocate(*segment, segment->capacity));
      std::memset(segment->data, 1, segment->capacity);
      taken += segment->capacity;
    }
    EXPECT_EQ(staging->allocated_bytes(), taken);
    EXPECT_LE(taken, std::uint64_t{50} << 20);
  }
}

TEST(TransportStaging, links_between_servers_take_kibibytes) {
  const auto staging = Staging::make(LinkSizes(), 1000, false).value();
  EXPECT_EQ(staging->capacity(), small_segment_bytes);
  EXPECT_FALSE(staging->take({.bytes = small_segment_bytes + 1}));
  std::uint64_t taken = 0;
  while (const auto segment = staging->take({.bytes = 1, .prefers_large = true})) taken += segment->capacity;
  EXPECT_LE(taken, std::uint64_t{16} << 20);
}

TEST(TransportStaging, segments_do_not_overlap_and_come_back) {
  const auto staging = Staging::make(sizes_with(3), 2, true).value();
  std::vector<SegmentMemory> taken;
  while (const auto segment = staging->take({.bytes = 1, .prefers_large = true})) {
    ASSERT_TRUE(staging->allocate(*segment, segment->capacity));
    std::memset(segment->data, static_cast<int>(taken.size() + 1), segment->capacity);
    taken.push_back(*segment);
  }
  ASSERT_EQ(taken.size(), 3u + 4u) << "three large ones, two small ones for each link";
  for (std::size_t i = 0; i < taken.size(); ++i)
    for (const std::size_t at : {std::uint64_t{0}, taken[i].capacity - 1})
      EXPECT_EQ(taken[i].data[at], std::byte(i + 1));
  for (const SegmentMemory& segment : taken) staging->give_back(segment);
  const std::uint64_t allocated = staging->allocated_bytes();
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const auto again = staging->take({.bytes = 1, .prefers_large = true});
    ASSERT_TRUE(again && staging->allocate(*again, again->capacity));
  }
  EXPECT_EQ(staging->allocated_bytes(), allocated) << "memory is used again";
}

TEST(TransportStaging, small_data_take_small_segments_and_a_busy_link_leaves_the_last_large_one) {
  const auto staging = Staging::make(sizes_with(3), 2, true).value();
  EXPECT_FALSE(staging->take({.bytes = 100})->large);
  EXPECT_TRUE(staging->take({.bytes = small_segment_bytes + 1})->large);
  EXPECT_TRUE(staging->take({.bytes = 100, .prefers_large = true, .large_held = 1})->large);
  EXPECT_FALSE(staging->take({.bytes = small_segment_bytes + 1, .large_held = 2}));
  EXPECT_FALSE(staging->take({.bytes = 100, .prefers_large = true, .large_held = 2})->large);
  EXPECT_TRUE(staging->take({.bytes = small_segment_bytes + 1, .large_held = 1})->large);
  const auto alone = Staging::make(sizes_with(3), 1, true).value();
  for (std::size_t held = 0; held < 3; ++held)
    EXPECT_TRUE(alone->take({.bytes = small_segment_bytes + 1, .large_held = held}));
}

TEST(TransportReceiveMemory, large_buffers_are_bounded_and_used_again) {
  LinkSizes sizes = sizes_with(8);
  constexpr std::size_t senders = 2;
  const std::uint64_t prompt = senders * sizes.credits * sizes.prompt_bytes;
  sizes.receive_bytes = prompt + 3 * segment_capacity(sizes) + 1;
  ReceiveMemory memory(sizes, senders);
  ASSERT_EQ(memory.free_large(), 3u);
  std::vector<ReceiveMemory::Buffer> taken;
  while (memory.free_large() > 0) taken.push_back(memory.take(small_segment_bytes + 64));
  EXPECT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken[0].capacity, segment_capacity(sizes));
  for (int i = 0; i < 100; ++i) memory.give_back(memory.take(128));
  const std::byte* const first = taken.back().data.get();
  memory.give_back(std::move(taken.back()));
  EXPECT_EQ(memory.free_large(), 1u);
  EXPECT_EQ(memory.take(small_segment_bytes + 64).data.get(), first);
  EXPECT_EQ(memory.allocated_bytes(), 3 * segment_capacity(sizes) + sizes.prompt_bytes);
  sizes.receive_bytes = 1;
  EXPECT_EQ(ReceiveMemory::large_count(sizes, senders), 2u) << "one is for the slowest rank";
}

/// Whatever the number of ranks, and also if the setting is the least that is possible.
TEST(TransportReceiveMemory, what_all_ranks_may_send_is_bounded) {
  const std::uint64_t least = network::least_receive_bytes(LinkSizes(), {.models = 1, .relayed = true});
  EXPECT_EQ(least, 2 * segment_capacity(LinkSizes()) + 2 * network::most_joint_bytes);
  for (const std::uint64_t receive :
       {least, std::uint64_t{9} << 20, std::uint64_t{16} << 20, std::uint64_t{40} << 20,
        std::uint64_t{128} << 20, std::uint64_t{1} << 30}) {
    SCOPED_TRACE(receive);
    LinkSizes sizes;
    sizes.receive_bytes = receive;
    std::uint64_t most = 0;
    std::uint64_t most_relayed = 0;
    for (std::size_t senders = 1; senders < 2'000'000; senders += 1 + senders / 9) {
      const LinkSizes shared = network::shared_by(sizes, senders);
      ASSERT_GE(shared.credits, 2u) << senders;
      ASSERT_LE(shared.credits, sizes.credits) << senders;
      ASSERT_EQ(shared.prompt_bytes % 64, 0u) << senders;
      ASSERT_LE(ReceiveMemory::most_prompt_bytes(shared, senders), receive / 2) << senders;
      most = std::max(most, ReceiveMemory::most_bytes(shared, senders));
      const LinkSizes relayed = network::shared_by(sizes, {.models = senders, .relayed = true});
      ASSERT_EQ(relayed.prompt_bytes, shared.prompt_bytes) << "what ranks send does not depend on it";
      ASSERT_EQ(relayed.joined_bytes > 0,
                relayed.prompt_bytes < network::most_joined_bytes && receive > least)
          << senders;
      most_relayed =
          std::max(most_relayed, ReceiveMemory::most_bytes(relayed, senders) + relayed.joint_bytes);
    }
    EXPECT_LE(most, receive);
    EXPECT_LE(most_relayed, receive);
  }
}

/// Joint messages and messages of other servers are part of the same memory, and each sender has
/// its share of it in any case: law 7.
TEST(TransportReceiveMemory, all_that_arrives_at_a_server_is_one_memory) {
  for (const std::uint64_t more : {0U, 1U << 10, 100U << 10, 1U << 20, 8U << 20, 88U << 20, 1016U << 20})
    for (const std::size_t servers : {1U, 2U, 10U, 100U, 1000U, 10'000U})
      for (const std::size_t models : {1U, 256U, 10'000U, 100'000U})
        for (const bool relayed : {false, true}) {
          SCOPED_TRACE(std::to_string(more) + " " + std::to_string(servers) + " " + std::to_string(models));
          const network::Senders senders{.models = models, .relayed = relayed, .servers = servers};
          LinkSizes sizes;
          const std::uint64_t receive = network::least_receive_bytes(sizes, senders) + more;
          sizes.receive_bytes = receive;
          ASSERT_TRUE(network::check_receive_bytes(sizes, senders));
          const LinkSizes shared = network::shared_by(sizes, senders);
          // What ranks may send does not depend on frontends, of which they do not know.
          const LinkSizes alone = network::shared_by(sizes, {.models = models, .servers = servers});
          ASSERT_EQ(shared.credits, alone.credits);
          ASSERT_EQ(shared.prompt_bytes, alone.prompt_bytes);
          const LinkSizes between = network::shared_by_servers(sizes, servers);
          ASSERT_GE(between.credits, 2U);
          ASSERT_GE(between.prompt_bytes, 1024U);
          ASSERT_EQ(shared.between_bytes, (servers - 1) * between.credits * between.prompt_bytes);
          ASSERT_LE(shared.between_bytes, std::max<std::uint64_t>(receive / 8, (servers - 1) * 2048));
          ASSERT_EQ(shared.joint_bytes > 0, relayed);
          ASSERT_LE(shared.joint_bytes, std::max(receive / 16, 2 * network::most_joint_bytes));
          ASSERT_GE(ReceiveMemory::large_count(shared, models), 2U) << "one is for the slowest rank";
          const std::uint64_t all =
              ReceiveMemory::most_bytes(shared, models) + shared.joint_bytes + shared.between_bytes;
          ASSERT_LE(all, receive);
          ASSERT_GT(all + segment_capacity(sizes), receive) << "nothing is left over";
        }
  LinkSizes defaults = network::shared_by(LinkSizes(), {100'000, true, 1000});
  EXPECT_LE(ReceiveMemory::most_bytes(defaults, 100'000) + defaults.joint_bytes + defaults.between_bytes,
            LinkSizes().receive_bytes);
}

/// A server that cannot keep the bound does not start.
TEST(TransportReceiveMemory, less_than_the_least_is_refused_with_the_value_that_suffices) {
  LinkSizes sizes;
  sizes.receive_bytes = 8u << 20;
  EXPECT_EQ(
      network::check_receive_bytes(sizes, {.models = 5, .relayed = true, .servers = 100}).error().message,
      "memory.receive is 8MiB, but a server needs at least 8.3 MiB for what arrives over MPI (8.0 MiB "
      "for 2 segments of memory.block, 198.0 KiB for messages of 99 other servers, 128.0 KiB for joint "
      "messages of frontends): raise memory.receive to 8520KiB or lower memory.block");
  sizes.receive_bytes = 8520u << 10;
  EXPECT_TRUE(network::check_receive_bytes(sizes, {.models = 5, .relayed = true, .servers = 100}));
  for (const std::size_t servers : {0U, 1U, 64U, 65U}) {  // the settings accept two blocks and 256 KiB
    sizes.receive_bytes = 2 * sizes.block_bytes + (256u << 10);
    EXPECT_EQ(
        network::check_receive_bytes(sizes, {.models = 5, .relayed = true, .servers = servers}).has_value(),
        servers < 65);
  }
}

/// Small settings are divided in the same proportions as large ones.
TEST(TransportReceiveMemory, little_memory_is_shared_by_all_that_arrives) {
  LinkSizes sizes;
  sizes.receive_bytes = 16u << 20;
  const LinkSizes shared = network::shared_by(sizes, {.models = 100'000, .relayed = true, .servers = 10});
  EXPECT_NEAR(static_cast<double>(shared.joined_bytes) / (1 << 20), 1.2, 0.05);
  EXPECT_NEAR(static_cast<double>(shared.between_bytes) / (1 << 20), 1.1, 0.1);
  EXPECT_EQ(network::shared_by(sizes, {.models = 40, .servers = 10}).prompt_bytes, 63'360u);
}

/// What a rank may send at once, as long as that does not need a budget, and as it shrinks.
TEST(TransportReceiveMemory, shares_shrink_with_the_number_of_ranks) {
  const auto of = [](std::size_t senders) {
    const LinkSizes sizes = network::shared_by(LinkSizes(), senders);
    return std::pair(sizes.credits, sizes.prompt_bytes);
  };
  EXPECT_EQ(of(1), std::pair(4U, small_segment_bytes));
  EXPECT_EQ(of(192), std::pair(4U, small_segment_bytes));
  EXPECT_EQ(of(193), std::pair(3U, small_segment_bytes));
  EXPECT_EQ(of(384), std::pair(2U, small_segment_bytes));
  EXPECT_EQ(of(768), std::pair(2U, small_segment_bytes / 2));
  EXPECT_EQ(of(100'000), std::pair(2U, std::uint64_t{192}));
  EXPECT_EQ(of(1'000'000), std::pair(2U, std::uint64_t{0})) << "everything waits for a large buffer";
  LinkSizes one;
  one.credits = 1;
  EXPECT_EQ(network::shared_by(one, 100'000).credits, 1u);
}

TEST(TransportReceiveMemory, joined_segments_that_are_not_prompt_are_bounded) {
  const LinkSizes sizes = network::shared_by(LinkSizes(), {.models = 100'000, .relayed = true});
  ASSERT_EQ(sizes.prompt_bytes, 192u);
  ReceiveMemory memory(sizes, 100'000);
  const std::size_t large = memory.free_large();
  std::vector<ReceiveMemory::Buffer> taken;
  for (std::uint64_t bytes = 0; bytes + 4096 <= sizes.joined_bytes; bytes += 4096)
    taken.push_back(memory.take_joined(4096).value());
  EXPECT_EQ(memory.allocated_bytes(), sizes.joined_bytes);
  EXPECT_FALSE(memory.take_joined(4096));
  EXPECT_TRUE(memory.take_joined(192)) << "a prompt one has memory of its rank";
  EXPECT_EQ(memory.free_large(), large);
  memory.give_back(std::move(taken.back()));
  EXPECT_TRUE(memory.take_joined(4096));
  EXPECT_FALSE(ReceiveMemory(network::shared_by(LinkSizes(), 100'000), 100'000).take_joined(4096));
}

/// Headers and words are received in any case, in as much memory as they need.
TEST(TransportReceiveMemory, headers_and_words_are_told_from_segments_by_their_length) {
  LinkSizes sizes;
  sizes.prompt_bytes = 0;
  ReceiveMemory memory(sizes, 1);
  EXPECT_EQ(memory.kind_of(sizeof(network::SegmentHeader)), ReceiveMemory::Kind::header);
  for (std::size_t bytes = 0; bytes < 200; ++bytes) {
    const Bytes word = network::make_word(Bytes(bytes), 0);
    EXPECT_EQ(memory.kind_of(word.size()), ReceiveMemory::Kind::header) << bytes;
    EXPECT_EQ(network::read_header<network::SegmentHeader>(word.data()).bytes, bytes);
    EXPECT_EQ(memory.take(word.size()).capacity, word.size());
  }
  EXPECT_EQ(memory.allocated_bytes(), 0u);
  EXPECT_EQ(memory.kind_of(network::alignment + network::item_bytes(0)), ReceiveMemory::Kind::large);
}

struct Sender {
  std::uint64_t at = 0;
  [[nodiscard]] std::uint64_t order() const { return at; }
};

/// Against a search among all, while orders grow.
TEST(TransportWaitingSenders, the_first_has_the_earliest_order_and_has_waited_longest) {
  std::mt19937 random(7);
  std::vector<Sender> senders(20);
  network::WaitingSenders<Sender> waiting;
  std::vector<Sender*> plain;  // in the order in which they were added
  for (int turn = 0; turn < 5000; ++turn) {
    senders[random() % senders.size()].at += random() % 4;
    if (random() % 2 == 0) {
      Sender& sender = senders[random() % senders.size()];
      waiting.add(sender);
      plain.push_back(&sender);
    } else if (!plain.empty()) {
      const auto first = std::ranges::min_element(plain, {}, [](const Sender* it) { return it->at; });
      ASSERT_EQ(waiting.first().at, (*first)->at);
      plain.erase(std::ranges::find(plain, &waiting.first()));
      waiting.remove_first();
    }
    ASSERT_EQ(waiting.size(), plain.size());
  }
}

TEST(TransportWaitingSenders, the_first_that_meets_a_condition_is_taken_and_others_keep_their_places) {
  std::vector<Sender> senders{{5}, {1}, {3}, {3}, {9}};
  network::WaitingSenders<Sender> waiting;
  for (Sender& it : senders) waiting.add(it);
  const auto take = [&](std::uint64_t least, std::size_t most) {
    return waiting.take_first_that([&](const Sender& it) { return it.at >= least; }, most);
  };
  EXPECT_EQ(take(3, 1), nullptr) << "the first one has 1, and no other was looked at";
  EXPECT_EQ(take(3, 2), &senders[2]);
  EXPECT_EQ(take(100, 100), nullptr);
  ASSERT_EQ(waiting.size(), 4u);
  for (const std::size_t next : {1, 3, 0, 4}) EXPECT_EQ(take(0, 1), &senders[next]);
  EXPECT_EQ(take(0, 1), nullptr);
}

TEST(TransportChannel, a_frontend_of_many_ranks_and_servers_starts_with_the_default) {
  const LinkSizes sizes;
  for (const std::size_t ranks : {1, 64, 65, 128})
    for (const std::size_t servers : {1, 16, 1000}) {
      const auto shares = relay::divide(0, ranks, servers, sizes);
      ASSERT_TRUE(shares) << shares.error().text();
      EXPECT_GE(shares->common, ranks / 2);
      EXPECT_GE(shares->small, 2u);
      const auto geometry = channel_geometry(ranks, servers, *shares, sizes);
      EXPECT_LE(geometry.total_bytes(), std::uint64_t{1} << 30)
          << ranks << " ranks, " << servers << " servers";
    }
}

TEST(TransportChannel, too_little_memory_is_refused_with_the_calculation) {
  const auto shares = relay::divide(std::uint64_t{1} << 30, 300, 2, LinkSizes());
  ASSERT_FALSE(shares);
  EXPECT_EQ(shares.error().code, ErrorCode::resources);
  EXPECT_THAT(shares.error().message, HasSubstr("for each of its 300 model ranks"));
  EXPECT_THAT(shares.error().message, HasSubstr("raise memory.frontend or frontends_per_node"));
}

/// The channel of two ranks, in this process.
class ChannelOfTwo : public ::testing::Test {
 protected:
  ChannelOfTwo() {
    const LinkSizes sizes = sizes_with(8);
    const auto geometry = channel_geometry(2, 3, {.small = 2, .common = 2}, sizes);
    channel_ = Channel::format(shm::Mapping::anonymous(geometry.total_bytes()).value(), geometry).value();
    for (std::size_t r = 0; r < 2; ++r)
      ends_.push_back(
          std::make_unique<ChannelEnd>(channel_, r, "the frontend", "host", std::chrono::milliseconds(1000)));
  }
  /// What the frontend writes into a rank's ring.
  void answer(std::size_t rank, const relay::Answer& answer, std::span<const std::byte> rest) {
    const auto head = std::as_bytes(std::span(&answer, 1));
    Bytes message(head.begin(), head.end());
    message.insert(message.end(), rest.begin(), rest.end());
    auto& writer = answers_[rank];
    if (!writer)
      writer = std::make_unique<shm::RingWriter>(channel_->slot(rank).down, channel_->down_ring(rank));
    writer->write(message, 0);
    ASSERT_TRUE(writer->message_done());
  }
  std::vector<SegmentMemory> take_all_large(std::size_t rank) {
    std::vector<SegmentMemory> taken;
    while (const auto it = ends_[rank]->take({.bytes = 100 * staging_kib, .large_held = 0}))
      taken.push_back(*it);
    return taken;
  }
  [[nodiscard]] bool wants(std::size_t rank) const { return channel_->slot(rank).wants_segment.load() != 0; }

  std::shared_ptr<Channel> channel_;
  std::vector<std::unique_ptr<ChannelEnd>> ends_;
  std::array<std::unique_ptr<shm::RingWriter>, 2> answers_;
};

TEST_F(ChannelOfTwo, a_rank_that_takes_all_leaves_the_other_its_own_segment) {
  const auto first = take_all_large(0);
  EXPECT_EQ(first.size(), 3u) << "its own and both common ones";
  EXPECT_TRUE(wants(0)) << "the frontend wakes it for the next";
  const auto second = take_all_large(1);
  ASSERT_EQ(second.size(), 1u);
  std::set<std::byte*> memory;
  for (const auto& all : {first, second})
    for (const SegmentMemory& it : all) {
      memory.insert(it.data);
      ASSERT_TRUE(ends_[0]->allocate(it, it.capacity));
      std::memset(it.data, 1, it.capacity);
    }
  EXPECT_EQ(memory.size(), 4u);
  channel_->state(first[1].number).free();  // the frontend has sent it
  EXPECT_TRUE(ends_[0]->returned(first[1]));
  EXPECT_FALSE(ends_[0]->returned(first[2]));
  EXPECT_EQ(take_all_large(1).size(), 1u);
}

TEST_F(ChannelOfTwo, a_segment_that_comes_back_in_another_turn_counts_as_returned) {
  const auto one = ends_[0]->take({.bytes = 100 * staging_kib}).value();
  const auto before = one;
  channel_->state(one.number).free();
  const auto again = ends_[1]->take({.bytes = 100 * staging_kib});  // its own
  ASSERT_TRUE(again);
  EXPECT_NE(again->number, one.number);
  EXPECT_TRUE(ends_[0]->returned(before));
  const auto next = ends_[0]->take({.bytes = 100 * staging_kib}).value();
  EXPECT_EQ(next.number, before.number);
  EXPECT_TRUE(ends_[0]->returned(before)) << "although the rank has the memory again, for another link";
  EXPECT_FALSE(ends_[0]->returned(next));
  EXPECT_TRUE(channel_->state(again->number).is_held_by(1));
  EXPECT_FALSE(channel_->may_use(0, again->number)) << "a note about another rank's segment is ignored";
  EXPECT_FALSE(channel_->may_use(0, 1000));
}

TEST_F(ChannelOfTwo, only_the_turn_that_has_a_segment_frees_it) {
  relay::SegmentState& state = channel_->state(channel_->geometry().first_common());
  const auto before = state.take(0);
  state.free();
  const auto now = state.take(1);
  EXPECT_FALSE(state.free(before));
  EXPECT_TRUE(state.is_held(now)) << "another rank has it";
  EXPECT_TRUE(state.free(now));
  EXPECT_TRUE(state.is_free());
  EXPECT_FALSE(state.free(now));
  EXPECT_NE(state.take(0), 0u);
}

TEST_F(ChannelOfTwo, a_rank_waits_a_short_while_for_a_segment_that_it_has_used) {
  const network::SegmentRequest busy{.bytes = 200 * staging_kib, .large_held = 8, .may_wait = true};
  network::SegmentRequest at_once = busy;
  at_once.may_wait = false;
  ASSERT_TRUE(ends_[0]->take({.bytes = 200 * staging_kib})) << "its own";
  EXPECT_FALSE(ends_[0]->take(busy)) << "a new one would have to be allocated";
  EXPECT_TRUE(ends_[0]->awaits_used());
  EXPECT_TRUE(wants(0));
  const auto common = ends_[0]->take(at_once);
  ASSERT_TRUE(common);
  ASSERT_TRUE(ends_[0]->allocate(*common, 200 * staging_kib));
  EXPECT_FALSE(ends_[0]->take(busy));
  channel_->give_back(common->number, 0);
  const auto again = ends_[0]->take(busy);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->number, common->number);
  EXPECT_FALSE(ends_[0]->awaits_used());
  EXPECT_FALSE(ends_[0]->take(busy));
  std::this_thread::sleep_for(std::chrono::milliseconds(3));  // 200 KiB take half a millisecond
  EXPECT_TRUE(ends_[0]->take(busy)) << "none came back";
}

TEST_F(ChannelOfTwo, data_in_a_segment_come_back_when_the_last_copy_is_gone) {
  const std::uint32_t common = channel_->geometry().first_common();
  const auto turn = channel_->state(common).take(1);
  ASSERT_NE(turn, 0u);
  const SegmentMemory memory = channel_->segment(common);
  ASSERT_TRUE(channel_->allocate(memory, 0, 100 * staging_kib));
  std::memset(memory.data, 7, 100 * staging_kib);
  answer(1, {relay::Answer::Kind::segment, 2, common, 0, 100 * staging_kib, turn}, {});
  EXPECT_FALSE(ends_[1]->next_data(0));
  auto data = ends_[1]->next_data(2);
  ASSERT_TRUE(data);
  ASSERT_EQ(data->bytes.size(), 100 * staging_kib);
  EXPECT_EQ(data->bytes.data(), memory.data) << "without a copy";
  EXPECT_EQ(data->bytes.back(), std::byte{7});
  auto copy = *data;
  data.reset();
  EXPECT_TRUE(channel_->state(common).is_held_by(1));
  const std::uint32_t rung = channel_->header().doorbell.count();
  channel_->header().wants_segment = 1;
  ends_.clear();  // the rank's links may end before
  const std::uint32_t ended = channel_->header().doorbell.count();
  copy = {};
  EXPECT_TRUE(channel_->state(common).is_free());
  EXPECT_GE(ended, rung);
  EXPECT_GT(channel_->header().doorbell.count(), ended) << "the frontend waits for it";
}

TEST_F(ChannelOfTwo, data_and_batches_in_the_ring_are_told_apart) {
  const Bytes some(1000, std::byte{3}), batch(50, std::byte{4});
  answer(0, {relay::Answer::Kind::data, 1, 0, 0, some.size(), 0}, some);
  answer(0, {relay::Answer::Kind::batch, 1, 0, 0, 0, 0}, batch);
  answer(0, {relay::Answer::Kind::batch, 77, 0, 0, 0, 0}, batch);  // no such server
  EXPECT_EQ(ends_[0]->next(1), batch);
  EXPECT_FALSE(ends_[0]->next(1));
  const auto data = ends_[0]->next_data(1);
  ASSERT_TRUE(data);
  EXPECT_TRUE(std::ranges::equal(data->bytes, some));
}

TEST_F(ChannelOfTwo, small_segments_are_the_ranks_own) {
  for (std::size_t rank = 0; rank < 2; ++rank) {
    EXPECT_FALSE(ends_[rank]->take({.bytes = 100})->large);
    EXPECT_FALSE(ends_[rank]->take({.bytes = 100})->large);
    EXPECT_TRUE(ends_[rank]->take({.bytes = 100})->large) << "its small ones are in use";
  }
}

}  // namespace
}  // namespace afterbay::transport
