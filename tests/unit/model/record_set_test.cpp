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

TEST(RecordSets, of_recent_records_stay_small_and_right_within_reach) {
  constexpr std::uint64_t reach = 32;
  std::mt19937 random(6);
  RecordSet records;
  std::set<std::uint64_t> expected;
  std::uint64_t largest = 0;
  for (int i = 0; i < 20000; ++i) {
    largest += random() % 3;
    const std::uint64_t record = largest - std::min<std::uint64_t>(largest, random() % 4);
    records.insert_recent(record, reach);
    expected.insert(record);
    const std::uint64_t first = largest - std::min(largest, reach);
    for (std::uint64_t r = first; r < largest + 2; ++r)
      ASSERT_EQ(records.contains(r), expected.contains(r)) << r << " of " << largest;
    ASSERT_LE(records.runs(), 2 * reach + 1);
  }
  EXPECT_TRUE(records.contains(1)) << "counts as added";
}

}  // namespace
}  // namespace afterbay::model
