// SPDX-License-Identifier: Apache-2.0
// A small session that uses only the transport: model ranks put records of a few frames, with
// messages between them; servers check every byte and every message, and answer at the end.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "transport/mpi/connect.hpp"

namespace afterbay::testing {

struct Exercise {
  std::uint64_t records = 20;
  std::uint32_t frames = 5;
  std::uint32_t pieces = 3;
  std::uint32_t words = 100;        ///< words of one rank in one piece
  std::size_t message_bytes = 300;  ///< mean size of the one message per record; the size varies around this
  bool inline_servers = false;      ///< servers are served while their own rank waits
};

/// Sizes that cause waits.
transport::LinkSizes tight_sizes();
/// Runs this rank's part; fails the test if anything is wrong.
void run_exercise(transport::Connection& connection, const Exercise& exercise);
/// Servers send data messages of these sizes to ranks with which they share no memory, several of
/// them at a time. The ranks check them and keep some for a while.
void run_data_exercise(transport::Connection& connection, const std::vector<std::size_t>& sizes);
/// How many pairs of this rank use which transport: {"shm": 2}.
std::map<std::string, int> transports(const transport::Connection& connection);

}  // namespace afterbay::testing
