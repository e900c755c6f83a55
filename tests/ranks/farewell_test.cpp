// SPDX-License-Identifier: Apache-2.0
// The end of a server while model ranks on other nodes no longer receive.
#include <gtest/gtest.h>
#include <mpi.h>

#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "ranks/rank_test.hpp"
#include "transport/mpi/server.hpp"
#include "transport/shm/port.hpp"

namespace afterbay::transport {
namespace {

using testing::barrier;
using testing::rank;

constexpr std::size_t silent_peers = 20;
constexpr std::size_t message_bytes = 1 << 20;  // MPI does not take it before it is received
constexpr int first_tag = 100;

/// The server waited 200 ms for each of them.
RANK_TEST(TransportFarewell, a_server_waits_once_for_all_ranks_that_do_not_receive, 2) {
  const auto comm = std::make_shared<const mpi::Communicator>(
      mpi::Communicator::duplicate(testing::comm(), mpi::Millis(5000)).value());
  LinkSizes sizes;
  sizes.memory_bytes = 8 << 20;
  sizes.reply_bytes = 2 * message_bytes;
  if (rank() == 0) {
    const shm::Geometry geometry = shm::make_geometry(sizes, silent_peers, 0).value();
    auto segment = std::make_shared<shm::Segment>(
        shm::Segment::format(shm::Mapping::anonymous(geometry.total_bytes).value(), geometry).value());
    auto port = std::make_unique<shm::Port>(segment);
    for (std::size_t i = 0; i < silent_peers; ++i)
      port->add(std::make_unique<network::MpiPeer>(
          comm, *port, segment->header().progress,
          network::MpiPeerOptions{.peer = i,
                                  .rank = 1,
                                  .reply_bytes = sizes.reply_bytes,
                                  .policy = {},
                                  .process = {},
                                  .down_tag = first_tag + static_cast<int>(i)}));
    for (std::size_t i = 0; i < silent_peers; ++i) port->send(i, Bytes(message_bytes));
    const std::uint64_t begin = now_ns();
    port.reset();
    EXPECT_LT((now_ns() - begin) / 1'000'000, silent_peers * 200 / 2);
  }
  barrier();
  if (rank() == 1) {  // so that MPI can end
    Bytes message(2 * message_bytes);
    for (std::size_t i = 0; i < silent_peers; ++i)
      MPI_Recv(message.data(), static_cast<int>(message.size()), MPI_BYTE, 0, first_tag + static_cast<int>(i),
               comm->get(), MPI_STATUS_IGNORE);
  }
  barrier();
}

}  // namespace
}  // namespace afterbay::transport
