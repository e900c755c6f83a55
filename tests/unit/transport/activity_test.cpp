// SPDX-License-Identifier: Apache-2.0
// The lists by which a server finds the few ranks that need it among all: calls are counted, so
// that a scan of all ranks fails the test.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "transport/active_list.hpp"
#include "transport/parked_peers.hpp"
#include "transport/shm/marks.hpp"
#include "transport/shm/peer.hpp"
#include "transport/shm/port.hpp"
#include "transport/shm/ring.hpp"
#include "transport/thread/hub.hpp"

namespace afterbay::transport {
namespace {

using namespace std::chrono_literals;
using Peers = std::vector<std::size_t>;

TEST(TransportActiveList, visits_what_is_in_it_once_and_keeps_what_is_asked_for) {
  ActiveList list;
  for (const std::size_t i : {7, 3, 7, 100'000}) list.add(i);
  EXPECT_EQ(list.size(), 3u);
  Peers visited;
  list.visit([&](std::size_t i) {
    visited.push_back(i);
    if (i == 3) list.add(3);   // asks for itself
    if (i == 3) list.add(50);  // is visited next time
    return i == 7;
  });
  EXPECT_EQ(visited, (Peers{7, 3, 100'000}));
  visited.clear();
  list.visit([&](std::size_t i) {
    visited.push_back(i);
    return false;
  });
  EXPECT_EQ(visited, (Peers{7, 3, 50}));
  EXPECT_TRUE(list.empty());
}

TEST(TransportMarks, of_all_ranks_are_taken_once_in_order) {
  for (const std::size_t ranks : {1U, 64U, 65U, 4096U, 4097U, 100'000U}) {
    SCOPED_TRACE(ranks);
    std::vector<std::atomic<std::uint64_t>> words(shm::Marks::bytes_for(ranks) / 8);
    shm::Marks marks(words.data(), ranks);
    std::mt19937 random(static_cast<unsigned>(ranks));
    std::set<std::size_t> set{0, ranks - 1};
    for (int i = 0; i < 100; ++i) set.insert(random() % ranks);
    for (const std::size_t rank : set) marks.set(rank);
    marks.set(0);
    Peers taken;
    marks.take([&](std::size_t rank) { taken.push_back(rank); });
    EXPECT_EQ(taken, Peers(set.begin(), set.end()));
    marks.take([&](std::size_t rank) { ADD_FAILURE() << rank; });
  }
  EXPECT_EQ(shm::Marks::bytes_for(100'000), (1563 + 25) * 8u);
}

/// What a rank leaves behind that dies between its two bits: the next rank of the same word must
/// not rely on it.
TEST(TransportMarks, a_rank_that_died_between_its_two_bits_hides_no_other) {
  std::vector<std::atomic<std::uint64_t>> words(shm::Marks::bytes_for(200) / 8);
  shm::Marks marks(words.data(), 200);
  words[2].fetch_or(1U << 5);
  marks.take([&](std::size_t rank) { ADD_FAILURE() << rank; });
  marks.set(128 + 9);
  Peers taken;
  marks.take([&](std::size_t rank) { taken.push_back(rank); });
  EXPECT_EQ(taken, (Peers{128 + 5, 128 + 9}));
}

/// It counts how often it is looked at.
class CountedNetwork final : public Network {
 public:
  CountedNetwork(int& looks, bool transferring) : looks_(looks), transferring_(transferring) {}
  bool progress() override {
    ++looks_;
    return false;
  }
  [[nodiscard]] bool transferring() const override { return transferring_; }

 private:
  int& looks_;
  bool transferring_;
};

/// The number of looks of a server in 200 ms.
int looks_in_a_while(bool transferring) {
  int looks = 0;
  LinkSizes sizes;
  sizes.memory_bytes = 16u << 20;
  const auto geometry = shm::make_geometry(sizes, 1, 0).value();
  shm::Port port(std::make_shared<shm::Segment>(
      shm::Segment::format(shm::Mapping::anonymous(geometry.total_bytes).value(), geometry).value()));
  port.add_network(std::make_unique<CountedNetwork>(looks, transferring));
  port.wait(200ms);
  return looks;
}

/// Before, a server slept ever longer while joint segments of a frontend were on their way: they
/// belong to no end until they have arrived. A busy machine may wake it late.
TEST(TransportPortPause, looks_often_at_a_network_that_receives_something) {
  const int idle = looks_in_a_while(false);
  int receiving = 0;
  for (int attempt = 0; attempt < 10 && receiving <= 3 * idle; ++attempt) receiving = looks_in_a_while(true);
  EXPECT_GT(receiving, 3 * idle);
}

TEST(TransportParkedPeers, one_attempt_answers_for_all_that_need_the_same_instance) {
  ParkedPeers parked;
  for (std::size_t peer = 0; peer < 1000; ++peer) parked.set(peer, AwaitedRoom{peer % 2, 5});
  int attempts = 0;
  Peers gone_on;
  const auto retry = [&](bool room) {
    return [&attempts, &parked, room](std::size_t peer) {
      ++attempts;
      if (room) parked.set(peer, std::nullopt);
      return room;
    };
  };
  const auto go_on = [&](std::size_t peer) { gone_on.push_back(peer); };
  parked.try_again(retry(false), go_on);
  EXPECT_EQ(attempts, 2);
  EXPECT_TRUE(gone_on.empty());
  parked.set(0, std::nullopt);  // it has failed: the next one of its group is asked
  parked.try_again(retry(true), go_on);
  EXPECT_EQ(attempts, 4);
  EXPECT_EQ(gone_on.size(), 997u);
  EXPECT_TRUE(parked.empty());
  EXPECT_EQ(parked.size(), 0u);
}

/// Every group is tried after a bounded number of passes, and the first one, which may take the
/// reserve, in every pass.
TEST(TransportParkedPeers, a_pass_is_bounded_and_no_group_is_forgotten) {
  ParkedPeers parked;
  constexpr std::size_t groups = 5000;
  for (std::size_t peer = 0; peer < groups; ++peer) parked.set(peer, AwaitedRoom{groups - peer, 1});
  std::map<std::size_t, int> tried;
  constexpr int passes = 2 * groups / ParkedPeers::most_refusals;
  for (int pass = 0; pass < passes; ++pass) {
    std::size_t attempts = 0;
    parked.try_again(
        [&](std::size_t peer) {
          ++attempts;
          ++tried[peer];
          return false;
        },
        [](std::size_t) { FAIL(); });
    ASSERT_LE(attempts, ParkedPeers::most_refusals_in_order + ParkedPeers::most_refusals);
  }
  EXPECT_EQ(tried.size(), groups);
  EXPECT_EQ(tried[groups - 1], passes);
  EXPECT_EQ(parked.size(), groups);
}

TEST(TransportParkedPeers, behave_as_a_plain_list_under_random_operations) {
  std::mt19937 random(5);
  ParkedPeers parked;
  std::map<std::size_t, AwaitedRoom> plain;
  std::set<AwaitedRoom> with_room;
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t peer = random() % 300;
    const AwaitedRoom room{random() % 8, random() % 4};
    if (random() % 3 != 0) {
      parked.set(peer, room);
      plain[peer] = room;
    } else {
      parked.set(peer, std::nullopt);
      plain.erase(peer);
    }
    if (random() % 50 == 0) {
      with_room.insert(room);
      std::set<std::size_t> gone;
      parked.try_again(
          [&](std::size_t tried) {
            const bool found = with_room.contains(plain.at(tried));
            if (found) {
              parked.set(tried, std::nullopt);
              gone.insert(tried);
            }
            return found;
          },
          [&](std::size_t other) { gone.insert(other); });
      for (const std::size_t it : gone) {
        EXPECT_TRUE(with_room.contains(plain.at(it)));
        plain.erase(it);
      }
      for (const auto& [it, awaited] : plain) EXPECT_FALSE(with_room.contains(awaited)) << it;
      if (random() % 4 == 0) with_room.clear();
    }
    ASSERT_EQ(parked.size(), plain.size());
  }
}

// ---- the port

/// An end that does what the test says, and counts its calls.
class CountedEnd final : public PeerEnd {
 public:
  struct Script {
    PeerNeeds needs;
    bool alive = true;
    std::size_t messages = 0;
    bool room = false;  ///< for its next attempt
    std::size_t calls = 0, pumps = 0, checks = 0;
    std::function<bool()> leave;  ///< empty: it has nothing to send
  };
  explicit CountedEnd(Script& script) : script_(script) {}
  std::optional<std::span<const std::byte>> peek() override {
    ++script_.calls;
    if (script_.messages == 0) return std::nullopt;
    return std::span<const std::byte>(&byte_, 1);
  }
  void pop() override { --script_.messages; }
  void send(std::span<const std::byte>) override { script_.needs.pump = script_.needs.sending = true; }
  bool pump() override {
    ++script_.calls;
    ++script_.pumps;
    if (script_.needs.room && script_.room) script_.needs.room.reset();
    return false;
  }
  [[nodiscard]] PeerNeeds needs() const override { return script_.needs; }
  Result<void> check_alive() override {
    ++script_.calls;
    ++script_.checks;
    if (script_.alive) return {};
    return afterbay::fail(ErrorCode::peer_lost, "gone");
  }
  [[nodiscard]] bool has_ended() const override { return false; }
  void forget() override {
    script_.alive = true;
    script_.needs = {};
  }
  void fail() override {}
  bool leave() override { return !script_.leave || script_.leave(); }
  [[nodiscard]] std::string transport() const override { return "counted"; }
  [[nodiscard]] std::uint64_t messages() const override { return 0; }

 private:
  Script& script_;
  std::byte byte_{};
};

class TransportPort : public ::testing::Test {
 protected:
  void make(std::size_t peers) {
    LinkSizes sizes;
    sizes.memory_bytes = 1 << 20;
    sizes.block_bytes = 64 << 10;
    sizes.small_block_bytes = 4096;
    sizes.ring_bytes = sizes.reply_bytes = 1024;
    sizes.max_frames = 16;
    const shm::Geometry geometry = shm::make_geometry(sizes, peers).value();
    segment_ = std::make_shared<shm::Segment>(
        shm::Segment::format(shm::Mapping::anonymous(geometry.total_bytes).value(), geometry).value());
    port_ = std::make_unique<shm::Port>(segment_);
    scripts_.resize(peers);
    for (CountedEnd::Script& script : scripts_) port_->add(std::make_unique<CountedEnd>(script));
  }
  Peers ready() {
    Peers peers;
    port_->ready(0, scripts_.size(), peers);
    return peers;
  }
  [[nodiscard]] std::size_t calls() const {
    std::size_t sum = 0;
    for (const auto& script : scripts_) sum += script.calls;
    return sum;
  }

  std::shared_ptr<shm::Segment> segment_;
  std::vector<CountedEnd::Script> scripts_;
  std::unique_ptr<shm::Port> port_;
};

TEST_F(TransportPort, a_pass_visits_only_ends_that_need_it) {
  make(20'000);
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(port_->pump());
    EXPECT_EQ(ready(), Peers{});
    EXPECT_FALSE(port_->sending());
    port_->wait(Millis(0));
  }
  EXPECT_EQ(calls(), 0u);
  segment_->marks().set(12'345);
  segment_->marks().set(70);
  scripts_[12'345].messages = 1;
  EXPECT_EQ(ready(), (Peers{70, 12'345}));
  EXPECT_EQ(ready(), (Peers{70, 12'345})) << "they have not been read";
  EXPECT_FALSE(port_->peek(70));
  EXPECT_TRUE(port_->peek(12'345));
  EXPECT_EQ(ready(), Peers{12'345});
  port_->pop(12'345);
  EXPECT_EQ(ready(), Peers{12'345});
  EXPECT_FALSE(port_->peek(12'345));
  EXPECT_EQ(ready(), Peers{});
  Peers others;
  segment_->marks().set(70);
  port_->ready(100, 20'000, others);
  EXPECT_EQ(others, Peers{});
  EXPECT_EQ(ready(), Peers{70}) << "a mark outside the range that was asked for is kept";
  EXPECT_EQ(calls(), 3u);
}

TEST_F(TransportPort, ends_are_pumped_until_they_need_it_no_longer) {
  make(5000);
  port_->send(3, {});
  EXPECT_TRUE(port_->sending());
  port_->activate(4000);
  port_->pump();
  port_->pump();
  EXPECT_EQ(scripts_[3].pumps, 2u);
  EXPECT_EQ(scripts_[4000].pumps, 1u) << "had nothing to do";
  scripts_[3].needs = {};
  port_->pump();
  port_->pump();
  EXPECT_EQ(scripts_[3].pumps, 3u);
  EXPECT_FALSE(port_->sending());
  EXPECT_EQ(calls(), 4u);
}

TEST_F(TransportPort, what_an_end_has_received_itself_is_listed) {
  make(5000);
  scripts_[7].needs.message = true;
  port_->activate(7);
  EXPECT_EQ(ready(), Peers{});
  port_->pump();
  EXPECT_EQ(ready(), Peers{7});
}

TEST_F(TransportPort, ends_without_room_are_retried_in_groups_until_there_is_room) {
  make(5000);
  for (std::size_t peer = 0; peer < 5000; ++peer) {
    scripts_[peer].needs.room = AwaitedRoom{peer % 4, 1};
    port_->activate(peer);
  }
  port_->pump();
  const std::size_t before = calls();
  port_->pump();
  EXPECT_EQ(calls() - before, 4u) << "one per instance";
  scripts_[2].room = true;
  EXPECT_TRUE(port_->pump());
  EXPECT_FALSE(scripts_[2].needs.room);
  for (std::size_t peer = 6; peer < 5000; peer += 4) scripts_[peer].room = true;
  port_->pump();
  for (std::size_t peer = 2; peer < 5000; peer += 4) ASSERT_FALSE(scripts_[peer].needs.room) << peer;
  EXPECT_TRUE(scripts_[1].needs.room);
}

/// The end of each took 200 ms, one after the other.
TEST_F(TransportPort, ranks_that_no_longer_receive_are_waited_for_together_at_its_end) {
  constexpr std::size_t peers = 50;
  make(peers);
  std::vector<std::size_t> told;
  for (std::size_t peer = 0; peer < peers; ++peer)
    scripts_[peer].leave = [&told, peer] {
      told.push_back(peer);
      return peer == 7;
    };
  const std::uint64_t begin = now_ns();
  port_.reset();
  const std::uint64_t took_ms = (now_ns() - begin) / 1'000'000;
  EXPECT_GE(took_ms, 150u);
  EXPECT_LT(took_ms, 5'000u);
  ASSERT_GT(told.size(), peers);
  for (std::size_t peer = 0; peer < peers; ++peer) ASSERT_EQ(told[peer], peer) << "all before the first wait";
  EXPECT_EQ(std::ranges::count(told, 7U), 1) << "nothing was left to send";
}

TEST_F(TransportPort, a_lost_rank_of_few_is_found_at_once) {
  make(1000);
  scripts_[999].alive = false;
  scripts_[998].alive = false;
  for (const std::size_t expected : {998U, 999U}) {
    const auto lost = port_->lost_peer();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->peer, expected);
    port_->forget(lost->peer);
  }
  EXPECT_FALSE(port_->lost_peer());
}

TEST_F(TransportPort, a_lost_rank_of_many_is_found_after_a_bounded_number_of_calls) {
  constexpr std::size_t peers = 20'000;
  make(peers);
  EXPECT_FALSE(port_->lost_peer());
  EXPECT_LE(calls(), shm::Port::most_checked);
  scripts_[5].alive = false;  // has just been checked
  std::size_t looks = 1;
  while (!port_->lost_peer() && looks < 100) ++looks;
  EXPECT_LE(looks, peers / shm::Port::most_checked + 1);
  port_->forget(5);

  scripts_[17'000].alive = false;
  scripts_[17'000].needs.check = true;
  port_->activate(17'000);  // what it received says that it has failed
  port_->pump();
  const auto lost = port_->lost_peer();
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->peer, 17'000u);
  port_->forget(17'000);
  for (int i = 0; i < 30; ++i) EXPECT_FALSE(port_->lost_peer());
}

/// It wrote to its ring and died before it set its mark: nothing lists it, until its death is
/// found.
TEST(TransportPortOfRanks, the_last_message_of_a_rank_that_died_before_its_mark_is_read) {
  const shm::Geometry geometry = shm::make_geometry(LinkSizes{.memory_bytes = 8 << 20}, 2).value();
  auto segment = std::make_shared<shm::Segment>(
      shm::Segment::format(shm::Mapping::anonymous(geometry.total_bytes).value(), geometry).value());
  shm::Port port(segment);
  for (std::size_t i = 0; i < 2; ++i)
    port.add(std::make_unique<shm::ShmPeer>(segment, i, "shm", "model rank " + std::to_string(i)));
  shm::RingWriter writer(segment->peer(1).up, segment->up_ring(1));
  writer.write(Bytes(10), 0);
  Peers ready;
  port.ready(0, 2, ready);
  EXPECT_EQ(ready, Peers{});
  segment->peer(1).life = shm::Life::ended;
  EXPECT_FALSE(port.lost_peer()) << "its last message can still be read";
  port.ready(0, 2, ready);
  ASSERT_EQ(ready, Peers{1});
  ASSERT_TRUE(port.peek(1));
  port.pop(1);
  EXPECT_FALSE(port.peek(1));
  const auto lost = port.lost_peer();
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->peer, 1u);
}

/// Threads write for many ranks while the server sleeps and wakes: each message arrives, in order,
/// though the server reads marked rings only.
TEST(TransportPortOfRanks, messages_of_many_ranks_arrive_in_order_while_the_server_sleeps_and_wakes) {
  constexpr std::size_t threads = 4, ranks_of_thread = 33, ranks = threads * ranks_of_thread;
  constexpr std::uint32_t messages = 100;
  ThreadHub::Options options;
  options.sizes.memory_bytes = 8 << 20;
  options.sizes.ring_bytes = 1024;  // full now and then
  options.policy.deadline = Millis(60'000);
  ThreadHub hub = ThreadHub::make(ranks, options).value();
  std::vector<std::jthread> writers;
  for (std::size_t t = 0; t < threads; ++t)
    writers.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<std::uint32_t> sent(ranks_of_thread);
      for (std::size_t left = ranks_of_thread * messages; left > 0;) {
        const std::size_t r = random() % ranks_of_thread;
        if (sent[r] == messages) continue;
        Bytes message(sizeof(std::uint32_t) + random() % 300);
        std::memcpy(message.data(), &sent[r], sizeof sent[r]);
        ASSERT_TRUE(hub.clients[t * ranks_of_thread + r]->send(message, Wake::now));
        ++sent[r];
        --left;
      }
    });
  std::vector<std::uint32_t> taken(ranks);
  std::size_t left = ranks * messages;
  int quiet_waits = 0;
  Peers ready;
  while (left > 0 && quiet_waits < 3) {
    bool did = hub.port->pump();
    ready.clear();
    hub.port->ready(0, ranks, ready);
    for (const std::size_t peer : ready)
      while (const auto message = hub.port->peek(peer)) {
        std::uint32_t number = 0;
        std::memcpy(&number, message->data(), sizeof number);
        ASSERT_EQ(number, taken[peer]++);
        hub.port->pop(peer);
        --left;
        did = true;
      }
    if (did) {
      quiet_waits = 0;
      continue;
    }
    const std::uint64_t begin = now_ns();
    hub.port->wait(10s);
    quiet_waits = now_ns() - begin > 9'000'000'000 ? quiet_waits + 1 : 0;
  }
  EXPECT_EQ(left, 0u) << "a message was not found, or no doorbell was heard for it";
}

}  // namespace
}  // namespace afterbay::transport
