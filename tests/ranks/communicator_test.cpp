// SPDX-License-Identifier: Apache-2.0
// The end of a communicator.
#include <mpi.h>

#include <array>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "mpi/communicator.hpp"
#include "ranks/session_run.hpp"

namespace afterbay::testing {
namespace {

using mpi::Communicator;
using mpi::Millis;

/// A synchronous send is complete only when its message has been received.
RANK_TEST(MpiCommunicator, what_nobody_received_is_taken_at_its_end, 3) {
  MPI_Request request = MPI_REQUEST_NULL;
  const double value = 1;
  {
    auto duplicate = Communicator::duplicate(comm(), Millis(5000));
    ASSERT_TRUE(duplicate);
    duplicate->take_leave(Millis(10'000));
    if (rank() > 0) MPI_Issend(&value, 1, MPI_DOUBLE, 0, 7, duplicate->get(), &request);
  }
  int complete = 0;
  const auto end = std::chrono::steady_clock::now() + Millis(5000);  // its message may be in transit
  while (complete == 0 && std::chrono::steady_clock::now() < end)
    MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
  EXPECT_TRUE(complete != 0);
  barrier();
}

RANK_TEST(MpiCommunicator, its_end_waits_no_longer_than_it_was_told_for_a_rank_that_does_not_come, 2) {
  auto duplicate = Communicator::duplicate(comm(), Millis(5000));
  ASSERT_TRUE(duplicate);
  if (rank() == 0) {
    duplicate->take_leave(Millis(200));
    const auto start = std::chrono::steady_clock::now();
    *duplicate = Communicator();
    const auto waited = std::chrono::steady_clock::now() - start;
    EXPECT_TRUE(waited >= Millis(150));
    EXPECT_TRUE(waited < Millis(5000));
  } else {
    duplicate->leave_behind();
  }
  barrier();
}

/// Before, a rank that waited for others to open the session took the model's messages with these
/// tags.
RANK_TEST(MpiCommunicator, messages_of_the_model_are_left_alone_whatever_their_tags, 2) {
  int* highest = nullptr;
  int known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&highest), &known);
  ASSERT_TRUE(known != 0);
  std::vector<int> tags{32'741, 32'742, 32'743, 0};
  for (int i = 0; i < 4; ++i) tags.push_back(*highest - i);
  if (rank() == 0) {
    for (const int tag : tags) MPI_Send(nullptr, 0, MPI_INT, 1, tag, comm());
    std::this_thread::sleep_for(Millis(300));  // rank 1 waits for this rank meanwhile
  }
  const auto duplicate = Communicator::duplicate(comm(), Millis(5000));
  ASSERT_TRUE(duplicate);
  barrier();
  for (const int tag : tags) {
    if (rank() == 0) break;
    int there = 0;
    const auto end = std::chrono::steady_clock::now() + Millis(1000);
    while (there == 0 && std::chrono::steady_clock::now() < end)
      MPI_Iprobe(0, tag, comm(), &there, MPI_STATUS_IGNORE);
    EXPECT_TRUE(there != 0) << "the message with tag " << tag << " is gone";
    if (there != 0) MPI_Recv(nullptr, 0, MPI_INT, 0, tag, comm(), MPI_STATUS_IGNORE);
  }
  barrier();
}

/// Messages of `count` numbers with the tags of the roll call, sent to a rank that waits for
/// others.
void expect_left_alone(std::size_t count) {
  int* highest = nullptr;
  int known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&highest), &known);
  ASSERT_TRUE(known != 0);
  std::vector<int> sent(count);
  std::iota(sent.begin(), sent.end(), 1);
  const int length = static_cast<int>(count);
  if (rank() == 0) {
    for (int i = 0; i < 3; ++i) MPI_Send(sent.data(), length, MPI_INT, 1, *highest - i, comm());
    std::this_thread::sleep_for(Millis(300));  // rank 1 waits for this rank meanwhile
  }
  const auto duplicate = Communicator::duplicate(comm(), Millis(5000));
  ASSERT_TRUE(duplicate);
  barrier();
  for (int i = 0; i < 3 && rank() == 1; ++i) {
    int there = 0;
    const auto end = std::chrono::steady_clock::now() + Millis(1000);
    while (there == 0 && std::chrono::steady_clock::now() < end)
      MPI_Iprobe(0, *highest - i, comm(), &there, MPI_STATUS_IGNORE);
    EXPECT_TRUE(there != 0) << "the message with tag " << *highest - i << " is gone";
    if (there == 0) continue;
    std::vector<int> received(count);
    MPI_Recv(received.data(), length, MPI_INT, 0, *highest - i, comm(), MPI_STATUS_IGNORE);
    EXPECT_EQ(received, sent);
  }
  barrier();
}

/// Before, it also took messages of 16 bytes, the length of a question at that time.
RANK_TEST(MpiCommunicator, messages_of_the_model_are_left_alone_whatever_their_lengths, 2) {
  expect_left_alone(4);
}
/// Later a question had 61 numbers. Now its length is odd, which no message of numbers has.
RANK_TEST(MpiCommunicator, messages_of_61_to_63_numbers_are_left_alone, 2) {
  for (const std::size_t count : {61U, 62U, 63U}) expect_left_alone(count);
}

/// From its first message on, a session uses its own communicators.
RANK_TEST(SessionCommunicator, no_message_of_a_session_meets_a_receive_of_the_model, 4) {
  MPI_Request request = MPI_REQUEST_NULL;
  std::array<int, 64> received{};
  MPI_Irecv(received.data(), 64, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm(), &request);
  run_session(small_session(2), [](Session& session) {
    const auto [start, mine] = share(12, session.model_size(), session.model_rank());
    session.decomposition("line", Block{{12}, {start}, {mine}});
    Schema schema;
    schema.dimension("x", 12).variable("t", Type::int32, {"x"}).on("line");
    Collection collection = session.collection("c", schema, {.file = "c.nc"});
    OutputFile file = collection.open({});
    const std::vector<int> values(mine, 1);
    file.put("t", values.data());
    file.close();
  });
  int complete = 0;
  MPI_Test(&request, &complete, MPI_STATUS_IGNORE);
  EXPECT_EQ(complete, 0);
  barrier();
  const int own = 40 + rank();
  MPI_Send(&own, 1, MPI_INT, (rank() + 1) % size(), 7, comm());
  MPI_Status status;
  MPI_Wait(&request, &status);
  EXPECT_EQ(status.MPI_TAG, 7);
  EXPECT_EQ(received[0], 40 + (rank() + size() - 1) % size());
  barrier();
}

}  // namespace
}  // namespace afterbay::testing
