// SPDX-License-Identifier: Apache-2.0
#include "model/record_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace afterbay::model {
namespace {

TEST(RecordSets, hold_what_was_inserted_and_not_erased) {
  std::mt19937 random(5);
  for (int run = 0; run < 200; ++run) {
    RecordSet records;
    std::set<std::uint64_t> expected;
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t record = random() % 12;
      if (random() % 3 != 0) {
        records.insert(record);
        expected.insert(record);
      } else {
        records.erase(record);
        expected.erase(record);
      }
      for (std::uint64_t r = 0; r < 14; ++r) ASSERT_EQ(records.contains(r), expected.contains(r)) << r;
      ASSERT_EQ(records.end(), expected.empty() ? 0 : *expected.rbegin() + 1);
    }
  }
}

}  // namespace
}  // namespace afterbay::model
