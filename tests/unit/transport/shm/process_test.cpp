// SPDX-License-Identifier: Apache-2.0
// The shared segment between real processes, one of which is killed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "base/clock.hpp"
#include "transport/shm/client.hpp"
#include "transport/shm/peer.hpp"
#include "transport/shm/port.hpp"
#include "unit/transport/huge_pages.hpp"

namespace afterbay::transport::shm {
namespace {

using namespace std::chrono_literals;

LinkSizes process_sizes() {
  LinkSizes process_sizes;
  process_sizes.block_bytes = process_sizes.small_block_bytes = process_sizes.memory_bytes = 16 << 10;
  process_sizes.small_share = 0.0;
  process_sizes.ring_bytes = 4 << 10;
  process_sizes.max_frames = 16;
  return process_sizes;
}

/// A child process that runs `body` and then sleeps until it is killed, at the latest by the
/// destructor.
class Child {
 public:
  explicit Child(const std::function<void()>& body) : pid_(::fork()) {
    if (pid_ != 0) return;
    ::alarm(60);
    body();
    for (;;) ::pause();
  }
  ~Child() { kill(); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_;
};

class ProcessDeath : public ::testing::Test {
 protected:
  void SetUp() override {
    geometry_ = make_geometry(process_sizes(), 1).value();
    auto memory = Mapping::create(geometry_.total_bytes);
    ASSERT_TRUE(memory) << memory.error().text();
    door_ = std::move(memory->door);
    address_ = door_.address();
  }

  std::shared_ptr<Segment> format() {
    auto mapping = Mapping::open(address_, geometry_.total_bytes);
    EXPECT_TRUE(mapping) << mapping.error().text();
    return std::make_shared<Segment>(Segment::format(*std::move(mapping), geometry_).value());
  }
  Result<std::shared_ptr<Segment>> attach() {
    AFTERBAY_TRY_ASSIGN(Mapping mapping, Mapping::open(address_, geometry_.total_bytes));
    AFTERBAY_TRY_ASSIGN(Segment segment, Segment::attach(std::move(mapping), geometry_));
    return std::make_shared<Segment>(std::move(segment));
  }
  /// The segment once the other process has formatted it.
  std::shared_ptr<Segment> attach_soon() {
    const std::uint64_t begin = now_ns();
    while (now_ns() - begin < 10'000'000'000) {
      if (auto segment = attach()) return *std::move(segment);
      ::usleep(1000);
    }
    return nullptr;
  }

  Geometry geometry_;
  Door door_;
  std::string address_;
};

TEST_F(ProcessDeath, a_killed_model_rank_is_reported_by_its_server) {
  auto segment = format();
  Port port(segment);
  port.add(std::make_unique<ShmPeer>(segment, 0, "shm", "model rank 0 (rank 3)"));
  Child rank([&] {
    auto* link = new ShmClientLink(attach().value(), {});  // never destroyed: the process is killed
    static_cast<void>(link->send(Bytes(10), Wake::now));
  });
  const std::uint64_t begin = now_ns();
  while (!port.peek(0) && now_ns() - begin < 10'000'000'000) port.wait(100ms);
  ASSERT_TRUE(port.peek(0));
  EXPECT_FALSE(port.lost_peer());
  rank.kill();
  EXPECT_FALSE(port.lost_peer());  // its last message can still be read
  port.pop(0);
  const auto lost = port.lost_peer();
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->error.code, ErrorCode::peer_lost);
  EXPECT_NE(lost->error.message.find("model rank 0 (rank 3)"), std::string::npos) << lost->error.message;
  EXPECT_NE(lost->error.message.find("has died"), std::string::npos) << lost->error.message;
}

TEST_F(ProcessDeath, a_rank_that_waits_hears_of_its_killed_server_long_before_the_deadline) {
  Child server([&] { new Port(format()); });
  auto segment = attach_soon();
  ASSERT_TRUE(segment);
  ShmClientLink link(segment, {0, WaitPolicy{60s}, "shm", "I/O server 0 (rank 4)"});
  ASSERT_TRUE(link.check_alive());
  Child killer([&] {
    ::usleep(100'000);
    server.kill();
  });
  Result<void> sent;
  const std::uint64_t begin = now_ns();
  while (sent) sent = link.send(Bytes(900), Wake::now);
  EXPECT_EQ(sent.error().code, ErrorCode::peer_lost);
  EXPECT_NE(sent.error().message.find("I/O server 0 (rank 4)"), std::string::npos) << sent.error().message;
  EXPECT_LT(now_ns() - begin, 5'000'000'000u);
}

TEST(SharedMapping, more_than_there_is_is_an_error_with_the_arithmetic) {
  const auto memory = Mapping::create(std::uint64_t{1} << 45);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code, ErrorCode::no_space);
  EXPECT_NE(memory.error().message.find("33554432.0 MiB"), std::string::npos) << memory.error().message;
  EXPECT_NE(memory.error().message.find("are free"), std::string::npos) << memory.error().message;
}

TEST(SharedMapping, processes_with_other_sizes_are_refused) {
  auto memory = Mapping::create(8192);
  ASSERT_TRUE(memory);
  const std::string address = memory->door.address();
  EXPECT_EQ(Mapping::open(address, 4096).error().code, ErrorCode::conflict);
  const auto same = Mapping::open(address, 8192);
  ASSERT_TRUE(same);
  ASSERT_TRUE(memory->mapping.allocate({{0, 8192}}));
  memory->mapping.data()[5000] = std::byte{7};
  EXPECT_EQ(same->data()[5000], std::byte{7});
  memory->door = {};
  EXPECT_FALSE(Mapping::open(address, 8192));
  EXPECT_EQ(same->data()[5000], std::byte{7});  // processes that have mapped it keep it
}

/// The number of kB in the line `name` of the process's mapping at `at`.
long kib_of_mapping(const std::byte* at, const std::string& name) {
  std::ifstream maps("/proc/self/smaps");
  const std::string begin = fmt::format("{:x}-", reinterpret_cast<std::uintptr_t>(at));
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    here = here || line.starts_with(begin);
    if (here && line.starts_with(name + ":")) return std::stol(line.substr(name.size() + 1));
  }
  return -1;
}

TEST(SharedMapping, large_ones_begin_where_huge_pages_can_be_mapped) {
  constexpr std::uint64_t huge = 2 << 20, bytes = 16 * huge + 4096;
  auto memory = Mapping::create(bytes).value();
  const auto other = Mapping::open(memory.door.address(), bytes).value();
  const auto own = Mapping::anonymous(bytes).value();
  for (const std::byte* const at : {memory.mapping.data(), other.data(), own.data()})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % huge, 0U);
  ASSERT_TRUE(memory.mapping.allocate({{bytes - 4096, 4096}}));
  memory.mapping.data()[bytes - 1] = std::byte{9};
  EXPECT_EQ(other.data()[bytes - 1], std::byte{9});
}

TEST(SharedMapping, huge_pages_are_used_where_the_system_permits_them) {
  if (!huge_pages_are_permitted()) GTEST_SKIP() << "this system uses no huge pages for shared memory";
  constexpr std::uint64_t bytes = 16 << 20;
  auto memory = Mapping::create(bytes).value();
  const auto other = Mapping::open(memory.door.address(), bytes).value();
  for (std::uint64_t at = 0; at < bytes; at += 1 << 20) ASSERT_TRUE(memory.mapping.allocate({{at, 1 << 20}}));
  EXPECT_EQ(kib_of_mapping(memory.mapping.data(), "ShmemPmdMapped"), 16 << 10);
  for (std::uint64_t at = 0; at < bytes; at += 2 << 20) EXPECT_EQ(other.data()[at], std::byte{0});
  EXPECT_EQ(kib_of_mapping(other.data(), "ShmemPmdMapped"), 16 << 10);
}

TEST(TransportGeometry, parts_do_not_overlap_and_blocks_are_aligned) {
  LinkSizes process_sizes;
  process_sizes.memory_bytes = 40 << 20;
  const Geometry g = make_geometry(process_sizes, 7).value();
  EXPECT_EQ(g.classes[small_blocks].count, 20u);  // 5 MiB
  EXPECT_EQ(g.classes[large_blocks].count, 8u);   // the other 35 MiB
  EXPECT_LE(sizeof(SegmentHeader), g.peers_at);
  EXPECT_LE(g.peers_at + 7 * sizeof(PeerSlot), g.rings_at);
  EXPECT_LE(g.rings_at + 7 * (process_sizes.ring_bytes + process_sizes.reply_bytes), g.frames_at);
  EXPECT_LE(g.frames_at + process_sizes.max_frames * sizeof(FrameRecord), g.expected_at);
  EXPECT_LE(g.expected_at + g.max_pieces * 4, g.table_at);
  EXPECT_LE(g.table_at + g.places * 8, g.meta_at);
  EXPECT_LE(g.classes[small_blocks].counters_at +
                g.classes[small_blocks].count * g.classes[small_blocks].pieces * 4,
            g.classes[large_blocks].at);
  EXPECT_EQ(g.classes[large_blocks].at % (2 << 20), 0u);
  EXPECT_EQ(g.classes[small_blocks].at % (2 << 20), 0u);
  EXPECT_LE(g.classes[small_blocks].at + g.classes[small_blocks].count * g.classes[small_blocks].stride(),
            g.total_bytes);
}

TEST(TransportGeometry, sizes_that_cannot_be_are_named) {
  const auto refused = [](auto change) {
    LinkSizes process_sizes;
    change(process_sizes);
    const auto geometry = make_geometry(process_sizes, 1);
    return geometry ? std::string() : geometry.error().message;
  };
  EXPECT_NE(refused([](LinkSizes& s) { s.block_bytes = 1000; }).find("block_bytes is 1000"),
            std::string::npos);
  EXPECT_NE(refused([](LinkSizes& s) { s.small_block_bytes = 8 << 20; }).find("small_block_bytes"),
            std::string::npos);
  EXPECT_NE(refused([](LinkSizes& s) { s.instances = 3; }).find("power of two"), std::string::npos);
  EXPECT_NE(refused([](LinkSizes& s) { s.memory_bytes = 1 << 20; }).find("at least"), std::string::npos);
  EXPECT_NE(refused([](LinkSizes& s) { s.small_share = 1.0; }).find("small_share"), std::string::npos);
}

}  // namespace
}  // namespace afterbay::transport::shm
