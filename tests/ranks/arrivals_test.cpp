// SPDX-License-Identifier: Apache-2.0
// What a frontend takes in from ranks on other nodes: in order, and no more large
// segments than it has memory for.
#include "transport/mpi/arrivals.hpp"

#include <mpi.h>

#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "mpi/communicator.hpp"
#include "ranks/rank_test.hpp"

namespace afterbay::testing {
namespace {

using namespace transport::network;
using transport::Bytes;

constexpr int messages = 60;

/// Small ones of several lengths, and now and then a large one.
Bytes nth_segment(int n) {
  const std::uint64_t alignments = n % 13 == 7 ? 3000 : n % 3 == 0 ? 1024 : 2 + n * 7;
  Bytes bytes(alignments * alignment);
  const SegmentHeader header{SegmentKind::data, 0, bytes.size() - alignment, static_cast<std::uint64_t>(n)};
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

bool is_small_one(const Bytes& bytes) { return bytes.size() <= small_segment_bytes; }

/// Two servers answer by turns or not at all: what has been delivered stays for a while.
RANK_TEST(TransportArrivals, are_in_order_and_no_more_large_ones_than_there_is_memory_for, 2) {
  const auto ranks = std::make_shared<const mpi::Communicator>(
      mpi::Communicator::duplicate(comm(), std::chrono::seconds(20)).value());
  if (rank() == 1) {
    std::vector<Bytes> sent;
    std::vector<mpi::Request> requests(messages);
    for (int n = 0; n < messages; ++n) sent.push_back(nth_segment(n));
    for (int n = 0; n < messages; ++n)
      MPI_Isend(sent[static_cast<std::size_t>(n)].data(),
                static_cast<int>(sent[static_cast<std::size_t>(n)].size()), MPI_BYTE, 0,
                relay_tag(static_cast<std::size_t>(n % 2)), ranks->get(),
                requests[static_cast<std::size_t>(n)].handle());
    for (mpi::Request& it : requests) EXPECT_TRUE(it.wait_until(std::chrono::seconds(20), "sent"));
    barrier();
    return;
  }
  Arrivals arrivals(ranks, {1}, 1);
  std::deque<Bytes> here;
  std::size_t large = 0;
  int next = 0;
  const auto deliver = [&](int source, int tag, Bytes message) {
    EXPECT_EQ(source, 1);
    EXPECT_EQ(tag, relay_tag(static_cast<std::size_t>(next % 2)));
    EXPECT_EQ(message, nth_segment(next++));
    if (!is_small_one(message)) ++large;
    EXPECT_LE(large, 2U);
    here.push_back(std::move(message));
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  int quiet = 0;
  while (next < messages && std::chrono::steady_clock::now() < end) {
    const int before = next;
    ASSERT_TRUE(arrivals.look(deliver, [](int, int, std::size_t, MPI_Message) {}));
    quiet = next == before ? quiet + 1 : 0;
    if (quiet < 50 || here.empty()) continue;  // nothing more comes: a server consumes one
    quiet = 0;
    if (!is_small_one(here.front())) --large;
    arrivals.give_back(1, std::move(here.front()));
    here.pop_front();
  }
  EXPECT_EQ(next, messages);
  EXPECT_FALSE(arrivals.holds_back(1));
  barrier();
}

}  // namespace
}  // namespace afterbay::testing
