// SPDX-License-Identifier: Apache-2.0
// The MPI calls of this process, counted by MPI's profiling interface.
#pragma once

#include <atomic>
#include <bitset>

namespace afterbay::testing {

struct MpiCalls {
  std::atomic<int> sends{0};
  std::atomic<int> receives{0};
  std::atomic<int> others{0};         ///< probes, receives and tests
  std::atomic<int> probes_of_one{0};  ///< for a message of a certain rank
  std::atomic<int> all_to_all{0};     ///< exchanges of all ranks with all ranks
  std::bitset<64> destinations;       ///< destinations of sends; used by the MPI thread
};
MpiCalls& mpi_calls();

}  // namespace afterbay::testing
