// SPDX-License-Identifier: Apache-2.0
// How a communicator ends.
#include <mpi.h>

#include <chrono>
#include <thread>
#include <vector>

#include "mpi/communicator.hpp"
#include "ranks/rank_test.hpp"

namespace afterbay::testing {
namespace {

using mpi::Communicator;
using mpi::Millis;

/// A synchronous send is complete only when somebody has received it.
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
  const auto end = std::chrono::steady_clock::now() + Millis(5000);  // the word of it may be on its way
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

/// A rank that waits for others to open the session once took what the model had sent with these tags.
RANK_TEST(MpiCommunicator, messages_of_the_model_are_left_alone_whatever_their_tags, 2) {
  int* highest = nullptr;
  int known = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&highest), &known);
  ASSERT_TRUE(known != 0);
  std::vector<int> tags{32'741, 32'742, 32'743, 0};
  for (int i = 0; i < 4; ++i) tags.push_back(*highest - i);
  if (rank() == 0) {
    for (const int tag : tags) MPI_Send(nullptr, 0, MPI_INT, 1, tag, comm());
    std::this_thread::sleep_for(Millis(300));  // rank 1 waits for this one meanwhile
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

}  // namespace
}  // namespace afterbay::testing
