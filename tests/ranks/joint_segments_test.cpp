// SPDX-License-Identifier: Apache-2.0
// Small segments that travel together: what a frontend joins, a server takes apart in order, also
// with larger messages in between.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "mpi/communicator.hpp"
#include "ranks/rank_test.hpp"
#include "transport/mpi/joint_segments.hpp"
#include "transport/mpi/receive_memory.hpp"

namespace afterbay::testing {
namespace {

using namespace transport::network;
using transport::Bytes;

constexpr std::size_t peers = 40;

/// What sender and receiver both know: the n-th segment of a rank.
Bytes segment(std::size_t peer, std::size_t n) {
  std::mt19937 random(static_cast<unsigned>(peer * 1000 + n));
  const std::size_t most = n % 7 == 3 ? 3 * most_joined_bytes : n % 3 == 0 ? 200 : most_joined_bytes;
  Bytes bytes(1 + random() % most);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

struct Sender {
  explicit Sender(const std::shared_ptr<const mpi::Communicator>& ranks)
      : comm(ranks), joints(ranks, std::vector<int>{1}) {}

  void send(std::size_t peer, std::size_t n) {
    Bytes bytes = segment(peer, n);
    ++segments;
    if (joints.add(0, peer, bytes).value()) return;
    ASSERT_TRUE(joints.flush(0));
    ++single;
    Bytes& kept = large.emplace_back(std::move(bytes));
    MPI_Isend(kept.data(), static_cast<int>(kept.size()), MPI_BYTE, 1, relay_tag(peer), comm->get(),
              requests.emplace_back().handle());
  }
  void finish() {
    ASSERT_TRUE(joints.flush_all());
    for (mpi::Request& it : requests) ASSERT_TRUE(it.wait_until(std::chrono::seconds(20), "sent"));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (joints.in_transit().value()) ASSERT_LT(std::chrono::steady_clock::now(), end);
  }

  std::shared_ptr<const mpi::Communicator> comm;
  JointSegments joints;
  std::deque<Bytes> large;
  std::deque<mpi::Request> requests;
  std::size_t segments = 0;
  std::size_t single = 0;
};

/// Receives `count` segments and compares each with the one that is due from its rank. `slots`:
/// joint messages that are received at a time.
void receive(const mpi::Communicator& comm, std::size_t count, std::size_t slots = JointMemory::messages) {
  JointMemory memory;
  memory.free = slots;
  JointArrivals arrivals(memory);
  std::map<std::size_t, std::size_t> next;
  std::size_t seen = 0;
  const auto check = [&](std::size_t peer, std::span<const std::byte> bytes) {
    const Bytes expected = segment(peer, next[peer]++);
    ASSERT_TRUE(std::ranges::equal(bytes, expected)) << "rank " << peer << ", segment " << next[peer] - 1;
    ++seen;
  };
  const auto joint = [&](std::span<const std::byte> message) -> Result<void> {
    const auto parts = parts_of_joint(message);
    if (!parts) return fail(ErrorCode::internal, "invalid");
    for (const JointPart& part : *parts) check(part.peer, part.segment);
    return {};
  };
  const auto single = [&](const JointArrivals::Found& found) -> Result<void> {
    Bytes bytes(found.bytes);
    MPI_Message message = found.message;
    MPI_Mrecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, &message, MPI_STATUS_IGNORE);
    check(number_of_relay_tag(found.tag), bytes);
    return {};
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (seen < count && !::testing::Test::HasFailure()) {
    ASSERT_LT(std::chrono::steady_clock::now(), end) << seen << " of " << count;
    int any = 0;
    JointArrivals::Found found;
    MPI_Status status;
    MPI_Improbe(0, MPI_ANY_TAG, comm.get(), &any, &found.message, &status);
    if (any != 0) {
      int bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      found.tag = status.MPI_TAG;
      found.bytes = static_cast<std::size_t>(bytes);
      ASSERT_TRUE(arrivals.add(found));
    }
    ASSERT_TRUE(arrivals.deliver(joint, single));
  }
  EXPECT_TRUE(arrivals.empty());
  EXPECT_EQ(memory.free, slots);
}

RANK_TEST(TransportJointSegments, arrive_in_order_and_unchanged, 2) {
  const auto comm = std::make_shared<const mpi::Communicator>(
      mpi::Communicator::duplicate(testing::comm(), mpi::Millis(5000)).value());
  constexpr std::size_t each = 60;
  if (rank() == 0) {
    Sender sender(comm);
    std::mt19937 random(5);
    std::vector<std::size_t> next(peers);
    for (std::size_t left = peers * each; left > 0; --left) {
      std::size_t peer = random() % peers;
      while (next[peer] == each) peer = (peer + 1) % peers;
      sender.send(peer, next[peer]++);
    }
    sender.finish();
    EXPECT_LT(sender.joints.messages() + sender.single, sender.segments);
  } else {
    receive(*comm, peers * each);
  }
  barrier();
}

RANK_TEST(TransportJointSegments, wait_for_memory_of_the_server, 2) {
  const auto comm = std::make_shared<const mpi::Communicator>(
      mpi::Communicator::duplicate(testing::comm(), mpi::Millis(5000)).value());
  constexpr std::size_t each = 60;
  if (rank() == 0) {
    Sender sender(comm);
    for (std::size_t n = 0; n < each; ++n)
      for (std::size_t peer = 0; peer < peers; ++peer) sender.send(peer, n);
    sender.finish();
    EXPECT_GT(sender.joints.messages(), 20u);
  } else {
    receive(*comm, peers * each, 1);
  }
  barrier();
}

/// A server that has not allowed it has no memory for them when a joint message arrives.
RANK_TEST(TransportJointSegments, longer_ones_than_prompt_segments_are_not_joined_at_first, 1) {
  const auto comm = std::make_shared<const mpi::Communicator>(
      mpi::Communicator::duplicate(testing::comm(), mpi::Millis(5000)).value());
  JointSegments joints(comm, {0}, JointSegments::usual_most_bytes, 320);
  EXPECT_TRUE(joints.add(0, 0, Bytes(320)).value());
  EXPECT_FALSE(joints.add(0, 0, Bytes(384)).value());
  joints.drop(0);
}

/// A frontend of 100 of 100 000 ranks, which fill segments of 3 KiB, and its server, which consumes
/// a step before the next one. `frontends` send to this server. Returns the messages of the steps.
std::vector<std::size_t> messages_of_steps(const std::shared_ptr<const mpi::Communicator>& comm,
                                           std::size_t frontends, std::size_t steps) {
  constexpr std::size_t ranks = 100;
  const auto sizes = shared_by(transport::LinkSizes(), {.models = 100'000, .relayed = true});
  ReceiveMemory memory(sizes, 100'000);
  JoinedMemory shares(sizes.joined_bytes);
  for (std::size_t i = 0; i < frontends; ++i) shares.add_frontend();
  JointSegments joints(comm, {0}, JointSegments::usual_most_bytes, sizes.prompt_bytes);
  const Bytes segment(3072, std::byte{7});
  EXPECT_EQ(memory.kind_of(segment.size()), ReceiveMemory::Kind::large);
  std::uint64_t share = 0;
  std::vector<std::size_t> messages;
  for (std::size_t step = 0; step < steps; ++step) {
    const std::uint64_t before = joints.messages();
    std::size_t single = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (joints.add(0, rank, segment).value()) continue;
      ++single;
      share = shares.raise(share);  // told with the credits
    }
    EXPECT_TRUE(joints.flush_all());
    messages.push_back(single + joints.messages() - before);
    std::vector<ReceiveMemory::Buffer> buffers;
    for (std::uint64_t left = joints.messages() - before; left > 0; --left) {
      Bytes bytes(most_joint_bytes);
      MPI_Status status;
      MPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, joint_tag, comm->get(), &status);
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      const auto parts = parts_of_joint(std::span(bytes).first(static_cast<std::size_t>(count)));
      for (const JointPart& part : *parts) {
        auto buffer = memory.take_joined(part.segment.size());
        EXPECT_TRUE(buffer) << buffer.error().text();
        if (buffer) buffers.push_back(std::move(*buffer));
      }
    }
    joints.allow(0, share);
    for (ReceiveMemory::Buffer& buffer : buffers) {
      joints.consumed(0, buffer.capacity);
      memory.give_back(std::move(buffer));
    }
    while (joints.in_transit().value()) {
    }
  }
  return messages;
}

RANK_TEST(TransportJointSegments, longer_ones_are_joined_as_far_as_the_server_allows, 1) {
  const auto comm = std::make_shared<const mpi::Communicator>(
      mpi::Communicator::duplicate(testing::comm(), mpi::Millis(5000)).value());
  // Only one of the frontends sends to this server: those of the ranks near it.
  const auto alone = messages_of_steps(comm, 1000, 8);
  EXPECT_LE(alone.back(), 25u) << "85 segments in five messages";
  EXPECT_EQ(alone.front(), 100u) << "the server has not heard of them";
  EXPECT_LE(messages_of_steps(comm, 1, 8).back(), 25u);
  const auto none = std::make_unique<JointSegments>(comm, std::vector<int>{0}, 4 * most_joint_bytes, 320);
  none->allow(0, 1024);
  EXPECT_FALSE(none->add(0, 0, Bytes(1088)).value());
  EXPECT_TRUE(none->add(0, 0, Bytes(1024)).value());
  EXPECT_FALSE(none->add(0, 0, Bytes(384)).value()) << "the share is used up";
  EXPECT_TRUE(none->add(0, 0, Bytes(320)).value());
  none->consumed(0, 1024);
  EXPECT_TRUE(none->add(0, 0, Bytes(384)).value());
  EXPECT_FALSE(none->add(0, 0, Bytes(most_joined_bytes + 64)).value());
  none->drop(0);
}

/// Whatever frontends ask for, and in which order, their shares fit into the server's memory.
RANK_TEST(TransportJointSegments, shares_of_frontends_fit_into_the_memory, 1) {
  std::mt19937 random(11);
  for (const std::size_t frontends : {1U, 3U, 64U, 1000U, 20'000U}) {
    constexpr std::uint64_t bytes = 16U << 20;
    JoinedMemory memory(bytes);
    for (std::size_t i = 0; i < frontends; ++i) memory.add_frontend();
    std::vector<std::uint64_t> shares(frontends);
    for (std::size_t n = 0; n < 20 * frontends; ++n) {
      std::uint64_t& share = shares[n % 2 == 0 ? random() % frontends : n % frontends];
      const std::uint64_t raised = memory.raise(share);
      ASSERT_GE(raised, share);
      ASSERT_EQ(raised % JoinedMemory::unit_bytes, 0u);
      share = raised;
    }
    EXPECT_LE(std::accumulate(shares.begin(), shares.end(), std::uint64_t{0}), bytes);
    EXPECT_LE(std::ranges::max(shares), JoinedMemory::most_share_bytes);
    const std::uint64_t equal = bytes / 2 / frontends / JoinedMemory::unit_bytes * JoinedMemory::unit_bytes;
    EXPECT_GE(std::ranges::min(shares), std::min(equal, JoinedMemory::most_share_bytes)) << frontends;
  }
  EXPECT_EQ(JoinedMemory(0).raise(0), 0u);
}

RANK_TEST(TransportJointSegments, a_hundred_ranks_need_a_few_messages, 2) {
  const auto comm = std::make_shared<const mpi::Communicator>(
      mpi::Communicator::duplicate(testing::comm(), mpi::Millis(5000)).value());
  const Bytes small(300, std::byte{1});
  if (rank() == 0) {
    JointSegments joints(comm, {1});
    for (std::size_t peer = 0; peer < 100; ++peer) ASSERT_TRUE(joints.add(0, peer, small).value());
    ASSERT_TRUE(joints.flush_all());
    EXPECT_EQ(joints.messages(), 1U);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (joints.in_transit().value()) ASSERT_LT(std::chrono::steady_clock::now(), end);
  } else {
    Bytes bytes(most_joint_bytes);
    MPI_Status status;
    MPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, joint_tag, comm->get(), &status);
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    const auto parts = parts_of_joint(std::span(bytes).first(static_cast<std::size_t>(count)));
    ASSERT_TRUE(parts);
    EXPECT_EQ(parts->size(), 100U);
  }
  barrier();
}

RANK_TEST(TransportJointSegments, a_thousand_servers_share_the_memory, 2) {
  const auto comm = std::make_shared<const mpi::Communicator>(
      mpi::Communicator::duplicate(testing::comm(), mpi::Millis(5000)).value());
  constexpr std::size_t servers = 1000;
  constexpr std::size_t peers = 100;
  const Bytes small(100, std::byte{3});
  if (rank() == 0) {
    JointSegments joints(comm, std::vector<int>(servers, 1));  // messages for all of them go to rank 1
    std::uint64_t joined = 0;
    std::uint64_t most = 0;
    for (std::size_t peer = 0; peer < peers; ++peer)
      for (std::size_t server = 0; server < servers; ++server) {
        joined += joints.add(server, peer, small).value() ? 1 : 0;
        most = std::max(most, joints.bytes());
      }
    ASSERT_TRUE(joints.flush_all());
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (joints.in_transit().value()) ASSERT_LT(std::chrono::steady_clock::now(), end);
    EXPECT_LE(most, JointSegments::usual_most_bytes);
    EXPECT_EQ(joints.bytes(), 0U);
    EXPECT_GT(joined, peers * servers / 2) << "the others are sent by themselves";
    EXPECT_LT(joints.messages(), joined / 4);
    const std::uint64_t end_of_segments[] = {joined};
    MPI_Send(end_of_segments, 1, MPI_UINT64_T, 1, 0, comm->get());
  } else {
    std::uint64_t received = 0;
    std::uint64_t sent = 0;
    Bytes bytes(most_joint_bytes);
    for (MPI_Status status; sent == 0;) {
      MPI_Probe(0, MPI_ANY_TAG, comm->get(), &status);
      if (status.MPI_TAG == 0) {
        MPI_Recv(&sent, 1, MPI_UINT64_T, 0, 0, comm->get(), MPI_STATUS_IGNORE);
        break;
      }
      int count = 0;
      MPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, joint_tag, comm->get(), &status);
      MPI_Get_count(&status, MPI_BYTE, &count);
      const auto parts = parts_of_joint(std::span(bytes).first(static_cast<std::size_t>(count)));
      ASSERT_TRUE(parts);
      received += parts->size();
    }
    EXPECT_EQ(received, sent);
  }
  barrier();
}

RANK_TEST(TransportJointSegments, what_is_in_transit_is_bounded, 2) {
  const auto comm = std::make_shared<const mpi::Communicator>(
      mpi::Communicator::duplicate(testing::comm(), mpi::Millis(5000)).value());
  constexpr std::size_t most = 3;
  const Bytes full(most_joined_bytes, std::byte{2});
  if (rank() == 0) {
    JointSegments joints(comm, {1}, most * most_joint_bytes);
    std::size_t joined = 0;
    while (joined < 1000 && joints.add(0, 7, full).value()) ++joined;  // the other rank does not receive yet
    EXPECT_EQ(joints.messages(), most);
    EXPECT_EQ(joined, most * (most_joint_bytes / joint_part_bytes(full.size())));
    barrier();
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (joints.in_transit().value()) ASSERT_LT(std::chrono::steady_clock::now(), end);
    EXPECT_TRUE(joints.add(0, 7, full).value()) << "there is room again";
    ASSERT_TRUE(joints.flush_all());
    while (joints.in_transit().value()) ASSERT_LT(std::chrono::steady_clock::now(), end);
    ASSERT_TRUE(joints.add(0, 7, full).value());
    joints.drop(0);
    EXPECT_FALSE(joints.flush_all().value()) << "nothing is sent to a server that is gone";
  } else {
    barrier();
    Bytes bytes(most_joint_bytes);
    for (std::size_t i = 0; i < most + 1; ++i)
      MPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, joint_tag, comm->get(),
               MPI_STATUS_IGNORE);
  }
  barrier();
}

RANK_TEST(TransportJointSegments, invalid_ones_are_refused, 1) {
  Bytes message(joint_part_bytes(100));
  const JointHeader header{3, 100};
  std::memcpy(message.data(), &header, sizeof header);
  ASSERT_TRUE(parts_of_joint(message));
  for (std::size_t cut = 1; cut < message.size(); ++cut)
    EXPECT_FALSE(parts_of_joint(std::span(message).first(message.size() - cut))) << cut;
  for (const std::uint64_t bytes : {std::uint64_t{101}, most_joined_bytes + 1, ~std::uint64_t{0}}) {
    const JointHeader wrong{3, bytes + (bytes == 101 ? 64 : 0)};
    std::memcpy(message.data(), &wrong, sizeof wrong);
    EXPECT_FALSE(parts_of_joint(message)) << bytes;
  }
}

}  // namespace
}  // namespace afterbay::testing
