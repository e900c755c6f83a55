// SPDX-License-Identifier: Apache-2.0
#include "client/collection_records.hpp"

#include <gtest/gtest.h>

namespace afterbay::client {
namespace {

TEST(ClientCollectionRecords, are_found_until_they_end) {
  CollectionRecords records(2);
  EXPECT_EQ(records.next_seq(1), 0U);
  records.begin(1, {.file = 7, .record = 3, .fixed = false, .seq = 0});
  records.begin(1, {.file = 7, .record = 0, .fixed = true, .seq = 1});
  EXPECT_EQ(records.find(1, 7, 3, false), 0U);
  EXPECT_EQ(records.find(1, 7, 0, true), 1U);
  EXPECT_EQ(records.find(1, 7, 0, false), std::nullopt);
  EXPECT_EQ(records.find(1, 8, 3, false), std::nullopt);
  EXPECT_EQ(records.find(0, 7, 3, false), std::nullopt) << "another server";
  EXPECT_EQ(records.next_seq(1), 2U);
  EXPECT_EQ(records.end_all(1), 2U);
  EXPECT_EQ(records.find(1, 7, 3, false), std::nullopt);
  EXPECT_EQ(records.end_all(1), std::nullopt) << "nothing has ended since";
  EXPECT_EQ(records.end_all(0), std::nullopt);
  EXPECT_EQ(records.next_seq(1), 2U) << "numbers are not used again";
}

TEST(ClientCollectionRecords, end_oldest_first_if_too_many_are_open) {
  CollectionRecords records(1);
  for (std::uint64_t seq = 0; seq < CollectionRecords::most_open; ++seq) {
    EXPECT_FALSE(records.is_full(0));
    records.begin(0, {.file = 1, .record = 100 + seq, .fixed = false, .seq = seq});
  }
  EXPECT_TRUE(records.is_full(0));
  EXPECT_EQ(records.oldest(0), 0U);
  EXPECT_EQ(records.end_oldest(0), 1U);
  EXPECT_FALSE(records.is_full(0));
  EXPECT_EQ(records.oldest(0), 1U);
  EXPECT_EQ(records.find(0, 1, 100, false), std::nullopt);
  EXPECT_EQ(records.find(0, 1, 101, false), 1U);
}

TEST(ClientCollectionRecords, of_a_closed_file_are_not_open) {
  CollectionRecords records(1);
  records.begin(0, {.file = 1, .record = 0, .fixed = false, .seq = 0});
  records.begin(0, {.file = 2, .record = 0, .fixed = false, .seq = 1});
  records.end_file(0, 1);
  EXPECT_EQ(records.find(0, 1, 0, false), std::nullopt);
  EXPECT_EQ(records.find(0, 2, 0, false), 1U);
  EXPECT_EQ(records.end_all(0), 2U) << "the server learns at the end of the step that both have ended";
}

}  // namespace
}  // namespace afterbay::client
