// SPDX-License-Identifier: Apache-2.0
// The harness itself: the declared number of ranks, and one directory shared by all of them.
#include <filesystem>
#include <fstream>

#include "ranks/rank_test.hpp"

namespace afterbay::testing {

RANK_TEST(Harness, has_the_declared_number_of_ranks, 3) {
  ASSERT_EQ(size(), 3);
  int ranks_sum = 0;
  const int mine = rank();
  MPI_Allreduce(&mine, &ranks_sum, 1, MPI_INT, MPI_SUM, comm());
  EXPECT_EQ(ranks_sum, 0 + 1 + 2);
}

RANK_TEST(Harness, starts_in_a_fresh_shared_directory, 2) {
  ASSERT_TRUE(std::filesystem::is_empty("."));
  barrier();
  if (rank() == 0) std::ofstream("written_by_rank_0") << "x";
  barrier();
  EXPECT_TRUE(std::filesystem::exists("written_by_rank_0"));
}

}  // namespace afterbay::testing
