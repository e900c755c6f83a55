// SPDX-License-Identifier: Apache-2.0
// RANK_TEST(Suite, name, ranks): a GoogleTest that runs under mpirun with that number of ranks, in
// a fresh working directory shared by all of them. It fails if it fails on any rank. CMake reads
// the macro from the source, so it must be on one line, and `ranks` must be a number.
// Suites whose names end with Serialized or Multiple run with that level of MPI_Init_thread, others
// with FUNNELED.
#pragma once

#include <gtest/gtest.h>
#include <mpi.h>

namespace afterbay::testing {

/// The ranks of this test: a duplicate of MPI_COMM_WORLD, valid during the test.
[[nodiscard]] MPI_Comm comm();
[[nodiscard]] int rank();
[[nodiscard]] int size();
void barrier();

/// Where each RANK_TEST registers its number of ranks before main starts.
class RankTestEntry {
 public:
  RankTestEntry(const char* suite, const char* name, int ranks);
};

}  // namespace afterbay::testing

#define RANK_TEST(suite, name, ranks)                                                                     \
  static const ::afterbay::testing::RankTestEntry rank_test_entry_##suite##_##name(#suite, #name, ranks); \
  TEST(suite, name)
