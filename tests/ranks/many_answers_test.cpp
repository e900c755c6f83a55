// SPDX-License-Identifier: Apache-2.0
// Answers to very many ranks at once.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "mpi/communicator.hpp"
#include "ranks/rank_test.hpp"
#include "transport/mpi/server.hpp"
#include "transport/shm/port.hpp"

namespace afterbay::transport {
namespace {

using testing::barrier;
using testing::rank;

constexpr std::size_t peers = 3000;  // all of them are rank 1, each with a tag of its own
constexpr int first_tag = 100;

/// Receives messages for `time` at most, and until there are `most`. Returns their number.
std::size_t receive(const mpi::Communicator& comm, std::size_t most, std::chrono::milliseconds time) {
  std::size_t received = 0;
  Bytes bytes(4096);
  const auto end = std::chrono::steady_clock::now() + time;
  while (received < most && std::chrono::steady_clock::now() < end) {
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Improbe(0, MPI_ANY_TAG, comm.get(), &found, &message, &status);
    if (found == 0) continue;
    MPI_Mrecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, &message, &status);
    EXPECT_GE(status.MPI_TAG, first_tag);
    ++received;
  }
  return received;
}

/// The port of a server that has sent a message to each peer; `ends` gets those of the peers.
std::unique_ptr<shm::Port> port_with_messages(const std::shared_ptr<const mpi::Communicator>& comm,
                                              std::vector<const network::MpiPeer*>* ends = nullptr) {
  LinkSizes sizes;
  sizes.memory_bytes = 8 << 20;
  const shm::Geometry geometry = shm::make_geometry(sizes, peers, 0).value();
  auto segment = std::make_shared<shm::Segment>(
      shm::Segment::format(shm::Mapping::anonymous(geometry.total_bytes).value(), geometry).value());
  auto port = std::make_unique<shm::Port>(segment);
  auto network = std::make_unique<network::MpiNetwork>(comm, port->pool(), sizes, peers);
  for (std::size_t i = 0; i < peers; ++i) {
    auto peer = std::make_unique<network::MpiPeer>(
        comm, *port, segment->header().progress,
        network::MpiPeerOptions{.peer = i,
                                .rank = 1,
                                .reply_bytes = sizes.reply_bytes,
                                .policy = {},
                                .process = {},
                                .down_tag = first_tag + static_cast<int>(i)});
    network->add(static_cast<int>(i), *peer);
    if (ends != nullptr) ends->push_back(peer.get());
    port->add(std::move(peer));
  }
  port->add_network(std::move(network));
  for (std::size_t i = 0; i < peers; ++i) port->send(i, Bytes(100));
  return port;
}

constexpr std::chrono::seconds patience(20);

/// MPI needs memory for each send that is pending: 200 MiB with 100 000 ranks. Ranks that do not
/// receive, as while they compute, do not hold up answers to others.
RANK_TEST(TransportManyAnswers, begin_a_part_at_a_time_whether_or_not_they_are_received, 2) {
  const auto comm = std::make_shared<const mpi::Communicator>(
      mpi::Communicator::duplicate(testing::comm(), mpi::Millis(5000)).value());
  const std::unique_ptr<shm::Port> port = rank() == 0 ? port_with_messages(comm) : nullptr;
  barrier();
  constexpr std::size_t first = network::SendTurn::most;
  static_assert(first < peers / 2);
  if (rank() == 1) {
    EXPECT_EQ(receive(*comm, first, patience), first);
    EXPECT_EQ(receive(*comm, 1, std::chrono::milliseconds(50)), 0U) << "more were begun at once";
  }
  barrier();
  for (std::size_t sent = first; rank() == 0 && sent < peers; sent += first) port->wait(transport::Millis(0));
  barrier();
  if (rank() == 1) {
    EXPECT_EQ(receive(*comm, peers - first, patience), peers - first);
  }
  barrier();
}

/// A server that runs in calls of its rank may not look at the network again for a long time.
RANK_TEST(TransportManyAnswers, all_begin_if_the_server_may_not_run_again_soon, 2) {
  const auto comm = std::make_shared<const mpi::Communicator>(
      mpi::Communicator::duplicate(testing::comm(), mpi::Millis(5000)).value());
  const std::unique_ptr<shm::Port> port = rank() == 0 ? port_with_messages(comm) : nullptr;
  if (rank() == 0) port->begin_messages();
  barrier();
  if (rank() == 1) {
    EXPECT_EQ(receive(*comm, peers, patience), peers);
  }
  barrier();
}

/// While ranks compute, the server does not visit their ends; what it sends next waits for them.
RANK_TEST(TransportManyAnswers, ends_whose_ranks_receive_nothing_are_not_visited, 2) {
  const auto comm = std::make_shared<const mpi::Communicator>(
      mpi::Communicator::duplicate(testing::comm(), mpi::Millis(5000)).value());
  std::vector<const network::MpiPeer*> ends;
  const std::unique_ptr<shm::Port> port = rank() == 0 ? port_with_messages(comm, &ends) : nullptr;
  const auto visited = [&ends] {
    return std::ranges::count_if(ends, [](const auto* end) { return end->needs().pump; });
  };
  if (rank() == 0) {
    EXPECT_EQ(visited(), peers);
    const auto end = std::chrono::steady_clock::now() + patience;
    while (visited() > 0 && std::chrono::steady_clock::now() < end) port->wait(transport::Millis(5));
    EXPECT_EQ(visited(), 0);
    for (std::size_t i = 0; i < peers; ++i) port->send(i, Bytes(100));
    EXPECT_EQ(visited(), 0) << "the second message waits for the first";
    EXPECT_TRUE(port->sending());
  }
  barrier();
  if (rank() == 1) {
    EXPECT_EQ(receive(*comm, 2 * peers, patience), 2 * peers);
  }
  for (const auto end = std::chrono::steady_clock::now() + 2 * patience;
       rank() == 0 && port->sending() && std::chrono::steady_clock::now() < end;)
    port->wait(transport::Millis(5));
  if (rank() == 0) {
    EXPECT_FALSE(port->sending());
  }
  barrier();
}

}  // namespace
}  // namespace afterbay::transport
