// SPDX-License-Identifier: Apache-2.0
// The formulas of transport/mpi/footprint.hpp against what the objects take: a member, a list or a
// segment more, and a formula that is not changed with it, fail a test.
#include "transport/mpi/footprint.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "transport/mpi/client.hpp"
#include "transport/mpi/mpi_carrier.hpp"
#include "transport/mpi/receive_memory.hpp"
#include "transport/mpi/relay.hpp"
#include "transport/mpi/server.hpp"
#include "transport/mpi/staging.hpp"
#include "transport/relay/channel.hpp"
#include "transport/relay/relay_carrier.hpp"
#include "transport/shm/client.hpp"
#include "transport/shm/mapped_blocks.hpp"
#include "transport/shm/peer.hpp"
#include "transport/shm/port.hpp"
#include "unit/allocation_count.hpp"

namespace afterbay::transport {
namespace {

using testing::HasSubstr;

constexpr double tolerance = 0.15;

std::uint64_t heap_bytes() {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::uint64_t system_page_table_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmPTE:")) return std::stoull(line.substr(6)) * 1024;
  return 0;
}

/// The heap grew by about as much as the formula says since `before`.
void expect_about(std::uint64_t formula, std::uint64_t before) {
  const auto taken = static_cast<double>(heap_bytes() - before);
  EXPECT_NEAR(taken, static_cast<double>(formula), tolerance * static_cast<double>(formula));
}

class TransportFootprint : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::allocations()) GTEST_SKIP() << "the sanitizer has an allocator of its own";
  }

  std::string label(const char* what, std::size_t number) {
    return fmt::format("{} {} (rank {})", what, number, number);
  }

  LinkSizes sizes_;
};

TEST_F(TransportFootprint, of_a_server_is_that_of_its_segment_and_its_ends) {
  constexpr std::size_t models = 20'000;
  constexpr std::size_t near = 50;
  sizes_.memory_bytes = 64u << 20;
  const Footprint print = footprint_of(ServerPairs{models, near, 0, 0}, sizes_).value();
  const auto geometry = shm::make_geometry(sizes_, models, near).value();
  // Except for what lies between its parts: classes of blocks begin at huge pages.
  EXPECT_NEAR(static_cast<double>(print.data + print.tables + print.frames + print.rings),
              static_cast<double>(geometry.total_bytes), 4 << 20);
  EXPECT_LE(print.data + print.tables + print.frames + print.rings, geometry.total_bytes);
  const auto segment = std::make_shared<shm::Segment>(
      shm::Segment::format(shm::Mapping::anonymous(geometry.total_bytes).value(), geometry).value());
  for (std::uint32_t i = 0; i < near; ++i) segment->give_ring(i, i);

  const std::uint64_t before = heap_bytes();
  shm::Port port(segment);
  auto network = std::make_unique<network::MpiNetwork>(nullptr, port.pool(), sizes_, models - near);
  for (std::size_t i = 0; i < models; ++i) {
    if (i < near) {
      port.add(std::make_unique<shm::ShmPeer>(segment, i, "shm", label("model rank", i)));
      continue;
    }
    auto peer = std::make_unique<network::MpiPeer>(
        nullptr, port, segment->header().progress,
        network::MpiPeerOptions{
            i, static_cast<int>(i), {"model rank", i, static_cast<int>(i)}, sizes_.reply_bytes, {}, {}});
    network->add(static_cast<int>(i), *peer);
    port.add(std::move(peer));
  }
  port.add_network(std::move(network));
  expect_about(print.ends, before);
}

/// Rings exist for ranks of the node only: 100 000 ranks on other nodes take no address space.
TEST_F(TransportFootprint, ranks_on_other_nodes_have_no_rings) {
  const auto near = footprint_of(ServerPairs{100, 100, 0, 0}, sizes_).value();
  const auto far = footprint_of(ServerPairs{100'000, 100, 0, 0}, sizes_).value();
  EXPECT_EQ(near.rings, 100 * (sizes_.ring_bytes + sizes_.reply_bytes));
  EXPECT_EQ(far.rings, near.rings);
  const auto segment = shm::make_geometry(sizes_, 100'000, 100).value().total_bytes;
  EXPECT_LT(segment - shm::make_geometry(sizes_, 100, 100).value().total_bytes, 8u << 20);
}

TEST_F(TransportFootprint, of_segments_that_arrive_is_their_buffers) {
  for (const auto& [models, near] : {std::pair<std::size_t, std::size_t>{10, 4}, {20'000, 100}}) {
    SCOPED_TRACE(models);
    const Footprint print = footprint_of(ServerPairs{models, near, 0, 0}, sizes_).value();
    const LinkSizes sizes = network::shared_by(sizes_, models);
    network::ReceiveMemory memory(sizes, models - near);
    std::vector<network::ReceiveMemory::Buffer> buffers;
    while (memory.free_large() > 0) buffers.push_back(memory.take(network::segment_capacity(sizes)));
    for (std::size_t i = 0; i < (models - near) * sizes.credits; ++i)
      buffers.push_back(memory.take(sizes.prompt_bytes));
    EXPECT_EQ(memory.allocated_bytes(), print.receive);
    EXPECT_EQ(memory.peak_bytes(), print.receive);
    EXPECT_EQ(footprint_of(ServerPairs{models, models, 0, 0}, sizes_).value().receive, 0u);
  }
}

TEST_F(TransportFootprint, of_messages_between_servers_is_bounded) {
  for (const std::size_t servers : {2U, 100U, 1000U, 10'000U}) {
    SCOPED_TRACE(servers);
    const Footprint print = footprint_of(ServerPairs{10, 10, servers, 1}, sizes_).value();
    const LinkSizes sizes = network::shared_by_servers(sizes_, servers);
    EXPECT_EQ(print.receive, (servers - 1) * sizes.credits * sizes.prompt_bytes) << "no rank is far";
    EXPECT_LE(print.receive, std::max<std::uint64_t>(sizes_.receive_bytes / 8, servers * 2048));
    const auto staging = network::Staging::make(sizes, servers, false).value();
    EXPECT_EQ(staging->capacity(), sizes.prompt_bytes) << "all that one server sends another is prompt";
    EXPECT_EQ(print.staging, staging->segments() * staging->capacity());
  }
}

TEST_F(TransportFootprint, of_a_model_rank_is_its_staging_memory_and_its_links) {
  for (const std::size_t servers : {1U, 1000U}) {
    SCOPED_TRACE(servers);
    const Footprint print = footprint_of(ModelPairs{.by_mpi = servers}, sizes_);
    const auto staging = network::Staging::make(sizes_, servers, true).value();
    for (const std::uint64_t bytes : {std::uint64_t{1}, staging->capacity()})
      while (const auto segment = staging->take({.bytes = bytes}))
        ASSERT_TRUE(staging->allocate(*segment, segment->capacity));
    EXPECT_EQ(staging->allocated_bytes(), print.staging);
  }
  constexpr std::size_t servers = 1000;
  const auto staging = network::Staging::make(sizes_, servers, true).value();
  const auto rank_links = std::make_shared<RankLinks>();
  const std::uint64_t before = heap_bytes();
  std::vector<std::unique_ptr<ClientLink>> links;
  for (std::size_t s = 0; s < servers; ++s)
    links.push_back(std::make_unique<network::MpiClientLink>(
        std::make_unique<network::MpiCarrier>(nullptr, network::MpiShared{staging, nullptr}, sizes_.credits,
                                              network::MpiRoute{}),
        network::MpiClientOptions{.server = label("I/O server", s),
                                  .sizes = sizes_,
                                  .policy = {},
                                  .process = {},
                                  .rank_links = rank_links,
                                  .dedicated = label("I/O server", s) + " on host node"}));
  expect_about(footprint_of(ModelPairs{.by_mpi = servers}, sizes_).ends, before);
}

TEST_F(TransportFootprint, of_a_frontend_is_its_channel_and_its_lanes) {
  constexpr std::size_t clients = 64;
  constexpr std::size_t servers = 500;
  const Footprint print = footprint_of(FrontendPairs{clients, clients, servers}, 0, sizes_).value();
  const auto shares = relay::divide(0, clients, servers, sizes_).value();
  const auto geometry = relay::channel_geometry(clients, servers, shares, sizes_);
  EXPECT_EQ(print.data + print.tables + print.rings, geometry.total_bytes());
  EXPECT_EQ(print.receive, 0u);
  auto memory = shm::Mapping::anonymous(geometry.total_bytes()).value();
  network::RelayOptions options;
  options.channel = relay::Channel::format(std::move(memory), geometry).value();
  options.sizes = sizes_;

  const std::uint64_t before = heap_bytes();
  for (std::size_t c = 0; c < clients; ++c)
    options.clients.push_back({c, static_cast<int>(c), label("model rank", c), c});
  for (std::size_t s = 0; s < servers; ++s)
    options.servers.push_back({s, static_cast<int>(s), label("I/O server", s), {}, label("I/O server", s)});
  const network::Relay relay(nullptr, std::move(options));
  expect_about(print.ends, before);
}

/// Links to servers of its node: with what they note about mapped pages, which depends on the
/// server's memory.
TEST_F(TransportFootprint, of_links_that_share_memory_is_that_of_their_objects) {
  for (const std::uint64_t memory : {std::uint64_t{64} << 20, std::uint64_t{4} << 30}) {
    SCOPED_TRACE(memory);
    constexpr std::size_t ranks = 40;
    sizes_.memory_bytes = memory;
    const auto geometry = shm::make_geometry(sizes_, ranks, ranks).value();
    const auto owned = shm::Mapping::create(geometry.total_bytes).value();
    const auto map = [&] { return shm::Mapping::open(owned.door.address(), geometry.total_bytes).value(); };
    const auto server = shm::Segment::format(map(), geometry).value();
    std::vector<std::shared_ptr<shm::Segment>> segments;
    const auto rank_links = std::make_shared<RankLinks>();
    std::vector<std::unique_ptr<ClientLink>> links;
    const std::uint64_t before = heap_bytes();
    for (std::size_t i = 0; i < ranks; ++i)
      links.push_back(std::make_unique<shm::ShmClientLink>(
          std::make_shared<shm::Segment>(shm::Segment::attach(map(), geometry).value()),
          shm::ClientOptions{i, {}, "shm", label("I/O server", i), rank_links, label("I/O server", i)}));
    const auto shared = shared_servers(ranks, ServerPairs{ranks, ranks, 0, 0}, sizes_).value();
    expect_about(footprint_of(ModelPairs{.shared = {shared}}, sizes_).ends, before);
    EXPECT_GT(shared.mapped, memory / 4 / (2u << 20) / 8) << "more with more memory";
  }
}

/// What a rank has in its page tables when it has written to all of the memory.
TEST_F(TransportFootprint, of_page_tables_is_at_least_what_a_rank_fills) {
  sizes_.memory_bytes = std::uint64_t{256} << 20;
  for (const std::size_t ranks : {1U, 100U}) {
    SCOPED_TRACE(ranks);
    const auto geometry = shm::make_geometry(sizes_, ranks, ranks).value();
    auto owned = shm::Mapping::create(geometry.total_bytes).value();
    auto server = shm::Segment::format(std::move(owned.mapping), geometry).value();
    auto rank =
        shm::Segment::attach(shm::Mapping::open(owned.door.address(), geometry.total_bytes).value(), geometry)
            .value();
    for (std::uint32_t b = 0; b < geometry.blocks(); b += 16) ASSERT_TRUE(server.allocate_block(b));
    const std::uint64_t before = system_page_table_bytes();
    shm::MappedBlocks blocks(rank);
    for (std::uint32_t b = 0; b < geometry.blocks(); b += 16) {
      blocks.will_write(rank.blocks_at(b, 1));
      std::memset(rank.block(b), 1, 4096);
    }
    const auto shared = shared_servers(1, ServerPairs{ranks, ranks, 0, 0}, sizes_).value();
    EXPECT_LE(system_page_table_bytes() - before, shared.page_tables);
    // All of the memory in entries of 8 bytes per page; not more than the share of one rank.
    const std::uint64_t all = geometry.total_bytes / 512;
    EXPECT_LE(shared.page_tables, all + (64u << 10));
    const std::uint64_t share = std::max<std::uint64_t>(sizes_.memory_bytes / 16 / ranks, 1u << 20);
    EXPECT_GE(shared.page_tables, std::min(share, sizes_.memory_bytes / 512));
  }
}

/// The rank's own memory: the frontend's is counted there.
TEST_F(TransportFootprint, of_a_rank_behind_a_frontend_is_its_links) {
  constexpr std::size_t servers = 500;
  const auto shares = relay::divide(0, 1, servers, sizes_).value();
  const auto geometry = relay::channel_geometry(1, servers, shares, sizes_);
  auto memory = shm::Mapping::anonymous(geometry.total_bytes()).value();
  const auto channel = relay::Channel::format(std::move(memory), geometry).value();
  const auto rank_links = std::make_shared<RankLinks>();
  const std::uint64_t before = heap_bytes();
  const auto end = std::make_shared<relay::ChannelEnd>(channel, 0, "the frontend", "here", Millis(1000));
  std::vector<std::unique_ptr<ClientLink>> links;
  for (std::size_t s = 0; s < servers; ++s)
    links.push_back(std::make_unique<network::MpiClientLink>(
        std::make_unique<relay::RelayCarrier>(end, s),
        network::MpiClientOptions{.server = label("I/O server", s) + ", through the frontend at rank 1,",
                                  .sizes = sizes_,
                                  .policy = {},
                                  .process = {},
                                  .rank_links = rank_links,
                                  .dedicated = label("I/O server", s) + " on host node"}));
  expect_about(footprint_of(ModelPairs{.relayed = servers, .near_frontends = 1}, sizes_).ends, before);
}

/// Any ranks may have the rings, in any order; the positions of all ranks count.
TEST(TransportRings, of_a_few_of_many_ranks_carry_their_messages) {
  LinkSizes sizes;
  sizes.memory_bytes = 16u << 20;
  const auto geometry = shm::make_geometry(sizes, 1000, 2).value();
  const auto segment = std::make_shared<shm::Segment>(
      shm::Segment::format(shm::Mapping::anonymous(geometry.total_bytes).value(), geometry).value());
  segment->give_ring(700, 0);
  segment->give_ring(3, 1);
  EXPECT_TRUE(segment->has_ring(700));
  EXPECT_FALSE(segment->has_ring(4));
  shm::Port port(segment);
  for (std::size_t i = 0; i < 1000; ++i) {
    if (segment->has_ring(i))
      port.add(std::make_unique<shm::ShmPeer>(segment, i, "shm", "a rank"));
    else
      port.add(std::make_unique<network::MpiPeer>(
          nullptr, port, segment->header().progress,
          network::MpiPeerOptions{.peer = i, .policy = {}, .process = {}}));
  }
  EXPECT_FALSE(port.pool().nobody_before(1));
  std::vector<std::unique_ptr<shm::ShmClientLink>> links;
  for (const std::size_t rank : {3U, 700U}) {
    links.push_back(
        std::make_unique<shm::ShmClientLink>(segment, shm::ClientOptions{.peer = rank, .policy = {}}));
    const std::byte message{static_cast<unsigned char>(rank % 251)};
    ASSERT_TRUE(links.back()->send(std::span(&message, 1), Wake::now));
  }
  std::vector<std::size_t> ready;
  port.ready(0, 1000, ready);
  EXPECT_EQ(ready, (std::vector<std::size_t>{3, 700}));
  for (const std::size_t rank : ready) {
    const auto message = port.peek(rank);
    ASSERT_TRUE(message && message->size() == 1);
    EXPECT_EQ((*message)[0], std::byte{static_cast<unsigned char>(rank % 251)});
    port.pop(rank);
  }
  for (std::size_t i = 0; i < 1000; ++i)
    if (i != 500) port.pool().publish(i, shm::order_end);
  EXPECT_FALSE(port.pool().nobody_before(1)) << "rank 500 has no ring, and is behind";
  port.pool().publish(500, 5);
  EXPECT_TRUE(port.pool().nobody_before(5));
}

TEST(TransportFootprintLimits, tags_that_mpi_lacks_are_refused_with_the_number_that_fits) {
  EXPECT_TRUE(check_tags(1000, 10, 2017));
  const auto refused = check_tags(1000, 10, 2016);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::resources);
  for (const char* part : {"tags up to 2016 only", "1000 model ranks and 10 servers need tags up to 2017",
                           "topology dedicated", "at most 999 model ranks"})
    EXPECT_THAT(refused.error().message, HasSubstr(part));
}

}  // namespace
}  // namespace afterbay::transport
